"""Solution files: HiGHS reads them back on the same model, in the signs of that model, with all digits."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest

from batchlp_cli.files.write import BatchArchive, solution_text
from batchlp_cli.problem import LinearProgram, canonical_matrix
from batchlp_cli.solution import Basis, Solution, Status

MAXIMUM = "max\n o: 2 x + 3.1 y + 5\nst\n c1: x + y <= 4\n c2: x + 3 y <= 6.3\nbounds\n x <= 3\nend\n"
# x = 2.85, y = 1.15, value 14.265; duals 1.45 and 0.55 (more of c1, c2 raises the maximum)
MINIMUM = "min\n o: x + 2 y + z\nst\n c1: x + y >= 1\n c2: x - y = 0.2\nbounds\n z <= 0.3\n z free\n z >= -7\nend\n"
ODD_NAMES = """NAME odd
ROWS
 N o
 G c(1)
 L d~'2
 L 7
COLUMNS
 x[1] o 1 c(1) 1
 x[1] d~'2 1 7 1
 é;#9 o 2 c(1) 1
 1e5 o -1 d~'2 1
 # o 1 7 1
RHS
 RHS c(1) 1 d~'2 9
 RHS 7 0.7
ENDATA
"""


def solver_of(path: Path) -> highspy.Highs:
    """Returns HiGHS with a model read from a file."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) != highspy.HighsStatus.kError
    return solver


def problem_of(solver: highspy.Highs) -> LinearProgram:
    """Returns HiGHS' model as a LinearProgram, stored for minimisation."""
    lp = solver.getLp()
    maximize = lp.sense_ == highspy.ObjSense.kMaximize
    sign = -1.0 if maximize else 1.0
    dense = np.zeros((lp.num_row_, lp.num_col_))
    for j in range(lp.num_col_):
        for k in range(lp.a_matrix_.start_[j], lp.a_matrix_.start_[j + 1]):
            dense[lp.a_matrix_.index_[k], j] = lp.a_matrix_.value_[k]
    row_lower, row_upper, col_lower, col_upper = (
        np.array(v, dtype=np.float64) for v in (lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_)
    )
    return LinearProgram(
        name="t",
        c=sign * np.array(lp.col_cost_),
        A=canonical_matrix(dense),
        row_lower=row_lower,
        row_upper=row_upper,
        col_lower=col_lower,
        col_upper=col_upper,
        offset=sign * lp.offset_,
        maximize=maximize,
        row_names=tuple(lp.row_names_),
        col_names=tuple(lp.col_names_),
    )


def solve(solver: highspy.Highs, sign: float) -> tuple[Solution, float]:
    """Returns HiGHS' optimal solution and value, both for minimisation."""
    solver.setOptionValue("presolve", "off")
    solver.run()
    found, basis = solver.getSolution(), solver.getBasis()
    vectors = (np.array(found.col_value), sign * np.array(found.row_dual), sign * np.array(found.col_dual))
    codes = (np.array([int(s) for s in statuses], dtype=np.int8) for statuses in (basis.col_status, basis.row_status))
    solution = Solution(Status.OPTIMAL, *vectors, basis=Basis(*codes))
    return solution, sign * solver.getInfo().objective_function_value


def write_model(folder: Path, text: str) -> Path:
    """Writes an LP or MPS file."""
    path = folder / ("model.mps" if text.startswith("NAME") else "model.lp")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [MAXIMUM, MINIMUM, ODD_NAMES])
def test_highs_reads_back_every_number(text: str, tmp_path: Path) -> None:
    """On a fresh copy of the model HiGHS accepts the file and has exactly the x, y and r of that model's own signs."""
    path = write_model(tmp_path, text)
    solver = solver_of(path)
    lp = problem_of(solver)
    solution, value = solve(solver, lp.sign)
    (tmp_path / "t.sol").write_text(solution_text(lp, solution, value), encoding="utf-8")
    fresh = solver_of(path)
    assert fresh.readSolution(str(tmp_path / "t.sol"), 0) == highspy.HighsStatus.kOk
    again, first = fresh.getSolution(), solver.getSolution()
    for of in ("col_value", "col_dual", "row_dual"):
        assert list(getattr(again, of)) == list(getattr(first, of))
    np.testing.assert_allclose(again.row_value, first.row_value, rtol=1e-14, atol=1e-14)


def blunt(text: str) -> str:
    """Rounds all numbers to ten digits, as HiGHS writes fewer digits than we do."""
    return re.sub(r"(?<= )-?\d[\d.e+-]*", lambda found: f"{float(found[0]):.10g}", text).rstrip()


@pytest.mark.parametrize("text", [MAXIMUM, MINIMUM, ODD_NAMES, "min\n o: x\nbounds\n x >= 1\nend\n"])
def test_the_text_is_what_highs_writes(text: str, tmp_path: Path) -> None:
    """Sections, names, statuses and basis codes are those of HiGHS' own file; the numbers agree to ten digits."""
    solver = solver_of(write_model(tmp_path, text))
    lp = problem_of(solver)
    solution, value = solve(solver, lp.sign)
    solver.writeSolution(str(tmp_path / "highs.sol"), 0)
    assert blunt(solution_text(lp, solution, value)) == blunt((tmp_path / "highs.sol").read_text(encoding="utf-8"))


def test_a_maximum_shows_its_own_signs() -> None:
    """Value, row duals and reduced costs of a maximisation are negated back; x and rays are not."""
    inf = np.inf
    shape = canonical_matrix(np.array([[1.0, 2.0]]))
    lp = LinearProgram(
        "t", np.array([-3.0, -1.0]), shape, np.array([-inf]), np.array([4.0]), np.zeros(2), np.full(2, inf), -5.0, True
    )
    solution = Solution(Status.OPTIMAL, np.array([4.0, 0.0]), np.array([-3.0]), np.array([0.0, 5.0]))
    lines = solution_text(lp, solution, -17.0).splitlines()
    assert lines[5:11] == ["Objective 17", "# Columns 2", "c0 4", "c1 0", "# Rows 1", "r0 4"]
    assert lines[14:19] == ["# Columns 2", "c0 0", "c1 -5", "# Rows 1", "r0 3"]


def test_a_model_without_names_is_read_back(tmp_path: Path) -> None:
    """Columns and rows without names get those that HiGHS gives them, so that it finds them again."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.addRow(3.0, 9.0, 0, [], [])
    for cost, coefficient in ((1.0, 1.0), (2.0, 1 / 3)):
        solver.addCol(cost, 0.0, 5.0, 1, np.zeros(1, dtype=np.int32), np.array([coefficient]))
    lp = problem_of(solver)
    lp = replace(lp, row_names=(), col_names=())
    solution, value = solve(solver, 1.0)
    (tmp_path / "t.sol").write_text(solution_text(lp, solution, value))
    solver.clearSolver()
    assert solver.readSolution(str(tmp_path / "t.sol"), 0) == highspy.HighsStatus.kOk
    assert solution.x is not None
    assert list(solver.getSolution().col_value) == solution.x.tolist()


def test_blanks_in_names_become_underscores() -> None:
    """A name with blanks stays one word, as in the files that HiGHS writes."""
    zero = np.zeros(1)
    lp = LinearProgram("t", np.ones(1), canonical_matrix(np.ones((1, 1))), zero, zero, zero, zero)
    lp = replace(lp, row_names=("row a",), col_names=("my x",))
    text = solution_text(lp, Solution(Status.OPTIMAL, np.zeros(1), np.zeros(1), np.ones(1)), 0.0)
    assert "my_x 0\n" in text
    assert "row_a 0\n" in text


@pytest.mark.parametrize(
    ("status", "words"),
    [(Status.INFEASIBLE, "Infeasible"), (Status.UNBOUNDED, "Unbounded"), (Status.TIME_LIMIT, "Time limit reached")],
)
def test_without_values_the_sections_say_none(status: Status, words: str, tmp_path: Path) -> None:
    """A verdict without values has None in every section, as HiGHS writes it, and HiGHS reads it without an error."""
    path = write_model(tmp_path, MINIMUM)
    text = solution_text(problem_of(solver_of(path)), Solution(status), None)
    none = "# Primal solution values\nNone\n\n# Dual solution values\nNone\n\n# Basis\nHiGHS_basis_file v2\nNone\n"
    assert text == f"Model status\n{words}\n\n{none}"
    (tmp_path / "t.sol").write_text(text)
    assert solver_of(path).readSolution(str(tmp_path / "t.sol"), 0) != highspy.HighsStatus.kError


@pytest.mark.parametrize(("status", "title", "size"), [(Status.INFEASIBLE, "Dual ray", 2), (Status.UNBOUNDED, "Primal ray", 3)])
def test_a_ray_follows_and_does_not_disturb_highs(status: Status, title: str, size: int, tmp_path: Path) -> None:
    """The certificate stands after what HiGHS reads, with the names of its rows or columns."""
    path = write_model(tmp_path, MINIMUM)
    lp = problem_of(solver_of(path))
    x = np.array([1.0, 0.8, 0.0]) if status is Status.UNBOUNDED else None
    text = solution_text(lp, Solution(status, x=x, ray=np.arange(1.0, size + 1)), None)
    names: Sequence[str] = lp.row_names if status is Status.INFEASIBLE else lp.col_names
    assert text.endswith("".join(f"{name} {k}\n" for k, name in enumerate(names, 1)))
    assert f"# {title}\n" in text
    (tmp_path / "t.sol").write_text(text)
    solver = solver_of(path)
    assert solver.readSolution(str(tmp_path / "t.sol"), 0) != highspy.HighsStatus.kError
    assert solver.getSolution().value_valid is (x is not None)


@pytest.mark.parametrize(
    ("x", "words"), [([0.6, 0.4, 0.0], "Feasible"), ([0.0, 0.0, 0.0], "Infeasible"), ([np.nan, 0, 0], "Infeasible")]
)
def test_an_unfinished_point_is_measured(x: list[float], words: str, tmp_path: Path) -> None:
    """The last point of a solve that hit a limit is called feasible only when it is; NaN is not."""
    lp = problem_of(solver_of(write_model(tmp_path, MINIMUM)))
    text = solution_text(lp, Solution(Status.TIME_LIMIT, x=np.array(x)), None)
    assert text.splitlines()[4] == words


@pytest.mark.parametrize(("y", "words"), [([1.0, 0.0], "Feasible"), ([-1.0, 0.0], "Infeasible"), ([np.nan, 0.0], "Infeasible")])
def test_unfinished_duals_are_measured(y: list[float], words: str, tmp_path: Path) -> None:
    """The last duals of a solve that hit a limit are called feasible only when their signs and r = c - A.T @ y hold."""
    lp = problem_of(solver_of(write_model(tmp_path, MINIMUM)))
    dual = np.array(y)
    found = Solution(Status.ITERATION_LIMIT, x=np.zeros(3), y=dual, r=lp.c - lp.A.T @ dual)
    text = solution_text(lp, found, None)
    assert text.split("# Dual solution values\n")[1].splitlines()[0] == words


def test_an_archive_holds_what_was_added(tmp_path: Path) -> None:
    """Loaded without pickle, an archive has each member's vectors in its own signs, NaN where there is none, and rays."""
    lp = problem_of(solver_of(write_model(tmp_path, MAXIMUM)))
    archive = BatchArchive(lp)
    x, y, r = np.array([1.0, 2.0]), np.array([-3.0, 0.0]), np.array([5.0, 6.0])
    archive.add("a\udcff.mps", (lp.m, lp.n), lp.maximize, Solution(Status.OPTIMAL, x, y, r))
    archive.add("b", (lp.m, lp.n), lp.maximize, Solution(Status.INFEASIBLE, ray=np.array([7.0, 8.0])))
    archive.add("c", (lp.m, lp.n), False, Solution(Status.TIME_LIMIT, x, y, r))
    got = np.load(io.BytesIO(archive.to_bytes()), allow_pickle=False)
    assert got["name"].tolist() == ["a\udcff.mps", "b", "c"]
    assert got["status"].tolist() == ["optimal", "infeasible", "time_limit"]
    assert got["maximize"].tolist() == [True, True, False]
    assert (got["col_names"].tolist(), got["row_names"].tolist()) == (["x", "y"], ["c1", "c2"])
    nan = [np.nan, np.nan]
    np.testing.assert_array_equal(got["x"], [x, nan, x])
    np.testing.assert_array_equal(got["dual"], [-y, nan, y])
    np.testing.assert_array_equal(got["reduced_cost"], [-r, nan, r])
    np.testing.assert_array_equal(got["dual_ray"], [nan, [7.0, 8.0], nan])
    assert "primal_ray" not in got
    assert archive.memory_bytes > 0
    assert len(archive) == 3


def test_archives_are_deterministic_and_refuse_another_shape(tmp_path: Path) -> None:
    """The same members give the same bytes, and an LP of another shape is not taken in silence."""
    lp = problem_of(solver_of(write_model(tmp_path, MAXIMUM)))
    other = problem_of(solver_of(write_model(tmp_path, MINIMUM)))
    archives = [BatchArchive(lp), BatchArchive(lp)]
    for archive in archives:
        archive.add("a", (lp.m, lp.n), lp.maximize, Solution(Status.OPTIMAL, np.ones(2)))
    assert archives[0].to_bytes() == archives[1].to_bytes()
    with pytest.raises(ValueError, match="2 x 3, expected 2 x 2"):
        archives[0].add("b", (other.m, other.n), other.maximize, Solution(Status.OPTIMAL, np.ones(3)))
