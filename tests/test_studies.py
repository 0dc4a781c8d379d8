"""Studies: bounds that never pass the truth, rankings, fixings, ranges, and the commands and the library around them."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.dispatch import deserves_second_try
from batchlp_cli.errors import ModelError, ReadError, UsageError
from batchlp_cli.exact import exact_bound
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.kkt import verify
from batchlp_cli.library import linear_program, solve, tighten
from batchlp_cli.nearness import is_near
from batchlp_cli.problem import LinearProgram
from batchlp_cli.report.rows import Source
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from batchlp_cli.solving import Solver
from batchlp_cli.studies.branching import BranchOptions, BranchResult, ChildState, branch_model, children_of
from batchlp_cli.studies.choosing import choose
from batchlp_cli.studies.incumbent import incumbent_point, objective_of, read_values
from batchlp_cli.studies.records import branch_rows, draw_branching
from batchlp_cli.studies.scores import Interval, ScoreRule, gain, rank, score, score_interval
from batchlp_cli.studies.tightening import EndState, TightenOptions, slack_optimum, tighten_model
from tests.command import batchlp, environment, rows_in, rows_of


def knapsacks(seed: int = 1, n: int = 30, m: int = 12) -> LinearProgram:
    """Returns a seeded multidimensional knapsack, a maximisation of 0-1 columns."""
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 5, (m, n)).astype(float)
    upper = 0.4 * A.sum(axis=1)
    return linear_program(rng.integers(1, 20, n), A, row_upper=upper, col_upper=1, integer=True, maximize=True, name="k")


def triangle(least_sum: float | None = None) -> LinearProgram:
    """Returns {0 <= x, y <= 10, x + y <= 7, x - y >= -2, 1000 x <= 2500.001}, with x + y >= least_sum where one is given."""
    rows = [([1.0, 1.0], least_sum if least_sum is not None else -np.inf, 7.0), ([1.0, -1.0], -2.0, np.inf)]
    rows.append(([1000.0, 0.0], -np.inf, 2500.001))
    A, lower, upper = zip(*rows, strict=True)
    return linear_program([0, 0], np.array(A), lower, upper, col_upper=10)


def branched(lp: LinearProgram, backend: str = "highs", tol: float = 1e-6, **options: object) -> BranchResult:
    """Returns full strong branching on an LP."""
    from batchlp_cli.settings import BackendName

    with Solver(SolveSettings(jobs=1, backend=BackendName(backend), tol=tol)) as solver:
        return branch_model(lp, BranchOptions(**options), solver, lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["highs", pytest.param("pdhg", marks=pytest.mark.slow)])
def test_no_bound_of_a_child_passes_its_exact_optimum(backend: str) -> None:
    """Each child's bound is at most its optimum, and near it; a child's optimum is taken from an exact dual bound and a value."""
    lp = knapsacks()
    result = branched(lp, backend)
    assert result.candidates
    x = result.root[0].x
    assert x is not None
    columns = np.array([c.column for c in result.candidates])
    batch = children_of(lp, columns, x)
    answers = solve(batch, backend="highs", tol=1e-9, jobs=1)
    for k, candidate in enumerate(result.candidates):
        for side, child in enumerate((candidate.down, candidate.up)):
            answer = answers[2 * k + side]
            assert answer.objective is not None
            assert answer.dual is not None
            optimum = -answer.objective
            exact = exact_bound(batch.member(2 * k + side), -answer.dual)
            assert exact is not None
            assert exact <= Fraction(optimum) + Fraction(1, 10**8)
            assert child.bound <= optimum + 1e-9 * abs(optimum)
            assert child.bound >= optimum - 1e-5 * abs(optimum)


def test_the_best_candidate_is_that_of_full_strong_branching() -> None:
    """The first candidate by our bounds has the largest product of gains computed from separate solves."""
    lp = knapsacks(seed=3)
    result = branched(lp)
    root = result.interval.high
    values = [score(c.down.value - root, c.up.value - root, ScoreRule.PRODUCT) for c in result.candidates]
    assert result.best is not None
    assert result.best == int(np.argmax(values)) or int(np.argmax(values)) in result.contenders


def test_a_cutoff_prunes_children_and_fixes_bounds_that_no_better_point_breaks() -> None:
    """No 0-1 point better than the cutoff is lost by the fixings, and some children are cut off (small enough to enumerate)."""
    lp = knapsacks(seed=5, n=10, m=4)
    points = np.array([[k >> j & 1 for j in range(10)] for k in range(1024)], dtype=float)
    feasible = points[(points @ lp.A.T <= lp.row_upper + 1e-9).all(axis=1)]
    values = feasible @ -lp.c
    cutoff = float(np.sort(np.unique(values))[-3])
    result = branched(lp, cutoff=cutoff)
    better = feasible[values > cutoff]
    tightened = result.tightened()
    assert result.fixings
    assert ((better >= tightened.col_lower) & (better <= tightened.col_upper)).all()
    assert any(child.state is ChildState.CUTOFF for c in result.candidates for child in (c.down, c.up))
    assert all(c.place is None for c in result.candidates if c.down.pruned or c.up.pruned)


def test_children_that_root_duals_cut_off_are_not_solved() -> None:
    """With a cutoff at the root's value every child is dropped before any iteration."""
    lp = knapsacks(seed=3)
    root = branched(lp).interval
    result = branched(lp, cutoff=-root.low)
    assert all(not child.tries for c in result.candidates for child in (c.down, c.up))
    assert result.closed


@pytest.mark.parametrize("backend", ["highs", "auto", "pdhg"])
def test_children_stop_at_the_cutoff_and_their_bound_is_proved(backend: str) -> None:
    """With a cutoff between root and optima, simplex and lanes end with status cutoff and a safe bound beyond it."""
    lp = replace(knapsacks(seed=7, n=60, m=25), offset=-1000.0)
    free = branched(lp, backend)
    values = sorted(child.value for c in free.candidates for child in (c.down, c.up))
    cutoff = free.interval.high + 0.5 * (values[len(values) // 2] - free.interval.high)
    cut = branched(lp, backend, cutoff=-cutoff)
    children = [child for c in cut.candidates for child in (c.down, c.up)]
    stopped = [child for child in children if child.tries and child.tries[-1][0].status is Status.CUTOFF]
    assert stopped
    assert all(child.state is ChildState.CUTOFF and child.bound >= cutoff for child in stopped)
    assert all(len(child.tries) == 1 and child.tries[0][0].y is not None for child in stopped)
    for child, whole in zip(children, (child for c in free.candidates for child in (c.down, c.up)), strict=True):
        assert (child.state is ChildState.CUTOFF) == (whole.value >= cutoff)
        assert child.bound <= whole.high


@pytest.fixture
def beside_a_large_bound() -> LinearProgram:
    """Returns min s + z / 1000, s >= 10 |y - 1/2|, z = 1e5, y binary: both children cost 5 more than the root, whose point breaks
    their rows by 5, which is little beside 1e5."""
    A = [[1, 10, 0], [1, -10, 0], [0, 0, 1]]
    upper = [np.inf, np.inf, 1e5]
    return linear_program([1, 0, 0.001], A, [5, -5, 1e5], upper, col_upper=[100, 1, 2e5], integer=[False, True, False])


@pytest.mark.parametrize("tol", [1e-3, 1e-4])
def test_lanes_go_on_from_a_point_that_is_feasible_only_beside_a_large_bound(
    beside_a_large_bound: LinearProgram, tol: float
) -> None:
    """Children are not taken for solved at the root's point: lanes bring them, and the bounds, near the optima themselves."""
    (candidate,) = branched(beside_a_large_bound, "pdhg", tol).candidates
    for child in (candidate.down, candidate.up):
        assert [solution.backend for solution, _ in child.tries] == ["pdhg"]
        assert 105 * (1 - 10 * tol) <= child.bound <= 105
        assert child.bound <= 105 <= child.high + 1e-9


def test_a_child_that_is_not_near_in_the_end_is_solved_by_simplex(
    beside_a_large_bound: LinearProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where lanes answer with the root's point all the same, simplex solves the children too, and its bounds count."""
    monkeypatch.setattr("batchlp_cli.backends.pdhg.course.is_near", lambda *_: True)
    (candidate,) = branched(beside_a_large_bound, "pdhg", 1e-4).candidates
    for child in (candidate.down, candidate.up):
        assert [solution.backend for solution, _ in child.tries] == ["pdhg", "highs"]
        assert child.bound == pytest.approx(105, rel=1e-9)


def test_near_is_what_each_row_and_column_say_by_their_own_measure() -> None:
    """A point is near where no row, no column and no bound is off; each alone makes it far."""
    lp = linear_program([1, 1], [[1, 1], [0, 1]], row_lower=[2, 1e6], col_upper=[10, 2e6])
    x, y = np.array([0.0, 1e6]), np.array([0.0, 1.0])
    assert is_near(lp, x, y, 1e6, 1e-6)
    assert is_near(lp, np.array([0.0, 1e6 - 0.5]), y, 1e6, 1e-6)  # within 1e-6 of its own side
    assert not is_near(lp, x - [1e-3, 0], y, 1e6, 1e-6)
    assert not is_near(replace(lp, row_lower=np.array([1e6 + 2.0, 1e6])), x, y, 1e6, 1e-6)
    assert not is_near(lp, x, y, 1e6 - 10, 1e-6)
    assert not is_near(lp, np.array([0.0, np.nan]), y, 1e6, 1e-6)


def test_a_stop_that_its_bound_does_not_bear_out_is_solved_to_the_end() -> None:
    """A claim of status cutoff whose y proves less than the cutoff gets its second try; one that proves it does not."""
    lp = knapsacks(seed=3)
    settings = SolveSettings(cutoff=-50.0)
    claim = Solution(Status.CUTOFF, y=np.zeros(lp.m))
    (verdict,) = verify(LPBatch(lp, Changes(), ("k",)), [claim], 1e-6)
    assert not verdict.verified
    assert deserves_second_try(claim, verdict, settings)
    assert not deserves_second_try(claim, verdict, replace(settings, cutoff=verdict.dual_bound))


def test_figure_shows_the_candidates_with_what_is_unsure_and_what_is_pruned(tmp_path: Path) -> None:
    """The SVG beside the rows of branch is well-formed, names every candidate, marks contenders, and says which child is pruned;
    names are text, whatever they hold."""
    pytest.importorskip("matplotlib")
    lp = replace(knapsacks(seed=5, n=12, m=5), col_names=("<b>&$x$", *(f"y{k}" for k in range(11))))
    result = branched(lp, cutoff=-branched(lp).interval.high * 0.97)
    rows, model = branch_rows(result, Source("odd", "odd.mps"), "digest")
    picture = draw_branching(rows, model)
    assert picture is not None
    texts = ["".join(element.itertext()) for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {row["column"] for row in rows} <= {text.removesuffix(" *") for text in texts}
    assert {text.removesuffix(" *") for text in texts if text.endswith(" *")} == {r["column"] for r in rows if r["contender"]}
    pruned = sum(row[f"{side}_state"] in ("cutoff", "infeasible") for row in rows for side in ("down", "up"))
    assert pruned == sum(text.startswith(("down ", "up ")) and not text.endswith("child") for text in texts)
    assert pruned > 0
    assert draw_branching([], model) is None


def test_figure_stops_at_so_many_candidates_and_says_so() -> None:
    """Of 50 candidates 40 are drawn; a gain without a known end is drawn to the edge."""
    candidates = pytest.importorskip("batchlp_cli.report.figures.candidates")
    gains = [candidates.Gains(f"x{k}", (1.0 + k, np.inf), "infeasible", k == 1) for k in range(50)]
    picture = candidates.draw_candidates(gains, "key", "words")
    assert "10 more are not drawn" in picture
    assert "x39" in picture
    assert "x40" not in picture


def test_an_infeasible_child_is_proved_and_fixes_the_other_side() -> None:
    """x <= 1.5 integer with x >= 1.2 leaves no x >= 2: up is infeasible; and no x <= 1: both are."""
    lp = linear_program([-2, -1], [[1.0, 0.0], [1.0, 1.0]], [1.2, -np.inf], [1.5, 8], col_upper=10, integer=[True, False])
    (candidate,) = branched(lp).candidates
    assert candidate.down.state is candidate.up.state is ChildState.INFEASIBLE
    assert branched(replace(lp, row_lower=np.array([-np.inf, -np.inf]))).fixings[0].bound == 1.0


def test_intervals_of_gains_and_scores_hold_what_lies_in_them() -> None:
    """Gains and scores of values in the children's and root's intervals lie in the interval of the score."""
    rng = np.random.default_rng(0)
    for rule in ScoreRule:
        for _ in range(50):
            low = rng.uniform(0, 5, 3)
            ends = [Interval(a, a + w) for a, w in zip(low, rng.uniform(0, 2, 3), strict=True)]
            root, down, up = (rng.uniform(e.low, e.high) for e in ends)
            found = score_interval(gain(ends[1], ends[0]), gain(ends[2], ends[0]), rule)
            value = score(max(down - root, 0.0), max(up - root, 0.0), rule)
            assert found.low - 1e-12 <= value <= found.high + 1e-12


def test_contenders_are_those_whose_interval_reaches_above_the_first() -> None:
    """Ranking goes by the lower end; who might be better is told."""
    order, contenders = rank([Interval(1, 2), Interval(3, 3.5), Interval(0, 9)])
    assert order == [1, 0, 2]
    assert contenders == [2]


TRUE_RANGES: dict[float | None, list[tuple[float, float]]] = {
    None: [(0, 2.500001), (0, 4.5)],
    6.0: [(2, 2.500001), (3.499999, 4.5)],
}


@pytest.mark.parametrize("least_sum", TRUE_RANGES)
def test_ranges_hold_the_true_ones_and_exceed_them_by_a_millionth_at_most(least_sum: float | None) -> None:
    """x + y <= 7, y <= x + 2 and x <= 2.500001 give y <= 4.5 at x = 2.5; x + y >= 6 gives x >= 2 and y >= 3.499999."""
    study = tighten(triangle(least_sum), backend="highs", jobs=1)
    for row, (low, high) in zip(study.rows, TRUE_RANGES[least_sum], strict=True):
        assert isinstance(row["minimum"], float)
        assert isinstance(row["maximum"], float)
        # a unit in the last place is granted, since these literals are not exactly the model's true ends
        assert low - 1e-6 <= row["minimum"] <= low + 1e-15
        assert high - 1e-15 <= row["maximum"] <= high + 1e-6
        assert row["verified"]


def test_an_empty_relaxation_is_infeasible_and_not_a_range() -> None:
    """x + y >= 7.5 contradicts x + y <= 7."""
    study = tighten(triangle(7.5), backend="highs", jobs=1)
    assert (study.model["status"], study.model["verified"], study.rows) == ("infeasible", True, [])


def test_an_infinite_range_is_proved_infinite(replay_dir: Path) -> None:
    """m36: both columns are bounded by 0 from below and by nothing from above."""
    study = tighten(replay_dir / "m36_unbounded.mps", backend="highs", jobs=1)
    for row in study.rows:
        assert (row["minimum"], row["maximum"], row["maximum_state"]) == (0.0, None, "infinite")
    assert study.model["verified"]


@given(st.integers(0, 10**6))
def test_no_feasible_integer_point_is_cut_off(seed: int) -> None:
    """Every feasible integer point of a small random model lies in the tightened box."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-4, 5, (3, 4)).astype(float)
    lp = linear_program(rng.integers(-5, 6, 4), A, row_upper=rng.integers(0, 9, 3), col_upper=3, integer=True)
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 4), axis=-1).reshape(-1, 4)
    feasible = grid[(grid @ A.T <= lp.row_upper).all(axis=1)]
    result = tighten_model(lp, TightenOptions(rounds=3), SHARED_SOLVER, lambda _: None)
    if feasible.size:
        assert result.tightened is not None
        assert ((feasible >= result.tightened.col_lower) & (feasible <= result.tightened.col_upper)).all()


SHARED_SOLVER = Solver(SolveSettings(jobs=1))


@pytest.fixture(autouse=True, scope="module")
def _close() -> Iterator[None]:
    """Ends the workers of the solver that tests share."""
    yield
    SHARED_SOLVER.close()


def test_every_end_is_what_separate_solves_say() -> None:
    """Ranges of rows and columns agree with one LP an end, so filtering marks only ends that really are attained."""
    lp = replace(knapsacks(seed=7, n=8, m=4), integer=np.zeros(8, dtype=bool))
    result = tighten_model(lp, TightenOptions(columns=("*",), rows=("*",)), SHARED_SOLVER, lambda _: None)
    rows = np.vstack([np.eye(8), lp.A.toarray()])
    for found in result.ranges:
        cost = rows[found.index + (8 if found.is_row else 0)]
        ends = solve(
            [linear_program(s * cost, lp.A, row_upper=lp.row_upper, col_upper=1) for s in (1, -1)], jobs=1, backend="highs"
        )
        low, high = ends[0].objective, ends[1].objective
        assert low is not None
        assert high is not None
        assert found.lower == pytest.approx(low, abs=1e-6)
        assert found.upper == pytest.approx(-high, abs=1e-6)
    assert result.filtered > 0


def test_flux_variability_at_the_optimum_and_below() -> None:
    """max b, a -> b in two parallel ways: at the optimum each way is free, together fixed; at 0.5 the output is too."""
    lp = linear_program([0, 0, 0, 1], [[1, -1, -1, 0], [0, 1, 1, -1]], 0, 0, col_upper=10, maximize=True)
    ranges = {}
    for fraction in (1.0, 0.5):
        study = tighten(lp, fraction_of_optimum=fraction, backend="highs", jobs=1)
        ranges[fraction] = [(row["minimum"], row["maximum"]) for row in study.rows]
    assert ranges[1.0] == [pytest.approx(p, abs=1e-6) for p in ((10, 10), (0, 10), (0, 10), (10, 10))]
    assert ranges[0.5][3] == pytest.approx((5, 10), abs=1e-6)


@pytest.mark.parametrize(("optimum", "fraction", "expected"), [(-10, 0.9, -9), (10, 0.9, 11), (0, 0.5, 0), (-4, 0, 0)])
def test_a_fraction_of_an_optimum_is_slack_of_either_sign(optimum: float, fraction: float, expected: float) -> None:
    """For minimisation: z + (1 - f) |z|, which for a maximum of 10 is 9 at 0.9."""
    assert slack_optimum(optimum, fraction) == pytest.approx(expected, abs=1e-7)


def test_options_that_cannot_be_meant_are_refused_in_words() -> None:
    """Rounds below 1, fractions outside 0 to 1, and two ways to say a cutoff."""
    for options in ({"rounds": 0}, {"fraction_of_optimum": 1.5}, {"cutoff": 1.0, "fraction_of_optimum": 0.5}):
        with pytest.raises(UsageError):
            TightenOptions(**options)
    with pytest.raises(UsageError):
        BranchOptions(limit=0)


def test_a_name_that_looks_like_a_pattern_is_a_name_first() -> None:
    """x[1] is the column of that name and no set of characters; a name that matches nothing is told."""
    names = ["x[1]", "x1", "y"]
    assert choose(["x[1]"], 3, names.__getitem__, "column") == [0]
    assert choose(["x*"], 3, names.__getitem__, "column") == [0, 1]
    with pytest.raises(ModelError, match="no column is called or matches 'z'"):
        choose(["z"], 3, names.__getitem__, "column")


def test_an_incumbent_is_checked_before_it_cuts_anything(tmp_path: Path) -> None:
    """A point off a row, off a bound or off an integer is refused; a good one gives its objective."""
    lp = replace(knapsacks(seed=5, n=3, m=2), col_names=("a", "b", "c"))
    path = tmp_path / "best.sol"
    path.write_text("=obj= 1\na 1\n")
    x = incumbent_point(lp, read_values(path))
    assert x.tolist() == [1.0, 0.0, 0.0]
    for wrong, words in (([0.5, 0, 0], "not integral"), ([2, 0, 0], "not feasible"), ([1, 1, 1], "not feasible")):
        with pytest.raises(ModelError, match=words):
            objective_of(lp, np.array(wrong, dtype=float))
    with pytest.raises(ModelError, match="no column"):
        incumbent_point(lp, {"q": 1.0})


def test_branch_writes_rows_and_the_model_with_its_fixings(tmp_path: Path) -> None:
    """JSON lines on stdout, the same in the run folder, and a model that batchlp reads back with the fixed bounds."""
    lp = knapsacks(seed=5, n=10, m=4)
    (tmp_path / "k.mps").write_text(write_mps(lp))
    root = -branched(lp).interval.low
    done = batchlp("branch", tmp_path / "k.mps", "--backend", "highs", "--cutoff", str(root - 3), "-o", tmp_path / "run")
    rows = rows_of(done)
    assert done.returncode == 0, done.stderr
    assert rows == rows_in(tmp_path / "run")
    model = rows[-1]
    assert (model["kind"], model["sense"], model["root_value"]) == ("model", "max", pytest.approx(root))
    written = tmp_path / "run" / str(model["model_file"])
    assert written.read_text().splitlines()[0] == "NAME k.mps", "no path of this machine is in the file"
    (again,) = solve(written, jobs=1, backend="highs")
    assert again.objective is not None
    assert again.objective <= root


def test_a_study_goes_on_where_it_stopped_and_forgets_rows_of_other_options(tmp_path: Path) -> None:
    """With --resume a model of the same bytes and options is kept, another one studied; of a model that is studied anew with
    other options no candidate of before is left; without --resume the folder is refused."""
    models = tmp_path / "models"
    models.mkdir()
    for name, seed in (("a", 3), ("b", 4)):
        (models / f"{name}.mps").write_text(write_mps(knapsacks(seed, 12, 5)))
    run = ("branch", "-o", tmp_path / "run", "--backend", "highs")
    assert batchlp(*run, models / "a.mps").returncode == 0
    again = batchlp(*run, models / "a.mps")
    assert again.returncode == 2
    assert b"--resume" in again.stderr
    both = batchlp(*run, models, "--resume")
    kept, done = ([row for row in rows_of(both) if str(row["name"]).startswith(name)] for name in "ab")
    assert [row["kind"] for row in kept] == ["model"]
    assert len(done) > 1
    whole = rows_in(tmp_path / "run")
    assert {row["settings_digest"] for row in whole} == {kept[0]["settings_digest"]}
    few = batchlp(*run, models, "--resume", "--limit", "2")
    assert len(rows_of(few)) == 6
    assert len(rows_in(tmp_path / "run")) == 6


def test_shards_of_a_study_are_parts_of_it(tmp_path: Path) -> None:
    """Two shards in one folder study each model once; --resume without a folder makes no sense."""
    models = tmp_path / "models"
    models.mkdir()
    for seed in (3, 4, 5):
        (models / f"{seed}.mps").write_text(write_mps(knapsacks(seed, 8, 3)))
    names = []
    for i in (1, 2):
        part = batchlp("tighten", models, "-o", tmp_path / "run", "--shard", f"{i}/2", "--backend", "highs")
        assert part.returncode == 0, part.stderr
        names += [str(row["name"]) for row in rows_of(part) if row["kind"] == "model"]
    assert sorted(names) == ["3.mps", "4.mps", "5.mps"]
    assert len(list((tmp_path / "run").glob("results-*-of-2.jsonl"))) == 2
    assert batchlp("tighten", models, "--resume").returncode == 2


def test_tighten_as_csv_has_one_header_and_a_row_a_column(tmp_path: Path) -> None:
    """What a cobrapy user reads: column, minimum, maximum; and a file that cannot be read is a row."""
    (tmp_path / "t.mps").write_text(write_mps(triangle()))
    (tmp_path / "bad.mps").write_text("nonsense\n")
    done = batchlp("tighten", tmp_path, "--backend", "highs", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert done.returncode == 1
    assert [row["column"] for row in rows if row["kind"] == "column"] == ["C1", "C2"]
    assert [row["status"] for row in rows if row["kind"] == "model"].count("unreadable") == 1


def test_two_cutoffs_are_a_usage_error(tmp_path: Path) -> None:
    """--cutoff and --incumbent say one thing twice."""
    done = batchlp("branch", "x.mps", "--cutoff", "1", "--incumbent", "y.sol")
    assert done.returncode == 2
    assert b"--cutoff and --incumbent" in done.stderr


def test_the_door_solves_programs_batches_and_paths_in_order(tmp_path: Path) -> None:
    """max 3a + 2b, a + b <= 4, a + 3b <= 6, a <= 3.5: a = 3.5, b = 0.5, value 11.5, row dual 2 in the sense of the model."""
    lp = linear_program(
        [3, 2], sp.csr_array(np.array([[1.0, 1], [1, 3]])), row_upper=[4, 6], col_upper=[3.5, np.inf], maximize=True
    )
    (tmp_path / "m.mps").write_text(write_mps(lp))
    answers = solve([lp, LPBatch.of([lp, lp]), tmp_path / "m.mps"], backend="highs", jobs=1)
    assert [a.objective for a in answers] == [pytest.approx(11.5)] * 4
    assert answers[0].x == pytest.approx([3.5, 0.5])
    assert answers[0].dual == pytest.approx([2, 0])
    assert all(a.verified and a.status is Status.OPTIMAL and a.dual_bound >= 11.5 - 1e-9 for a in answers)
    with pytest.raises(ReadError, match=r"nothing\.mps"):
        solve(tmp_path / "nothing.mps", jobs=1)


def test_the_door_is_lazy_and_needs_no_main_guard(tmp_path: Path) -> None:
    """Importing the package loads no array library, and a plain script may solve."""
    script = tmp_path / "plain.py"
    script.write_text(
        "import sys, batchlp_cli\nassert 'numpy' not in sys.modules\nfrom batchlp_cli import branch, linear_program\n"
        "lp = linear_program([-1], [[2.0]], row_upper=3, integer=True)\n"
        "print(branch(lp, jobs=1, backend='highs').model['fixings'][0]['column'])\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, env=environment(), timeout=60, check=False)
    assert done.stdout.split() == [b"C1"], done.stderr


def test_words_of_ends_are_all_known_to_the_enumeration() -> None:
    """Whatever state an end can have has its name."""
    assert {state.value for state in EndState} == {"proved", "attained", "infinite", "unknown"}
