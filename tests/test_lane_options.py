"""What a user asks of the lanes on the command line: precision, device, starts, crossover, the best iterate without a fallback.

The command line runs in this process, where kernels are loaded once."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg import loading
from batchlp_cli.backends.pdhg import solve as lanes
from batchlp_cli.batch import LPBatch
from batchlp_cli.commands import exit_code_of
from batchlp_cli.families import facility_location
from batchlp_cli.kkt import verify
from batchlp_cli.settings import BackendName, SolveSettings
from batchlp_cli.solution import Solution, Status
from batchlp_cli.solving import Solver
from batchlp_cli.watch import Watch
from tests.command import Row, rows_in

FAMILY = Path(__file__).parents[1] / "sample_instances" / "family"
DATA = Path(__file__).parent / "data"
MODEL = facility_location(6, 8, 0)


@dataclass(frozen=True, slots=True)
class Done:
    """What a run of the command line came to."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[Row]:
        """The rows on stdout."""
        return [json.loads(line) for line in self.stdout.splitlines()]


Ask = Callable[..., Done]


@pytest.fixture
def solve(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs `batchlp solve` with arguments, and with variables given as keywords."""

    def ask(*arguments: str | Path, **variables: str) -> Done:
        capfd.readouterr()
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            code = exit_code_of(["solve", *map(str, arguments)], time.perf_counter())
        return Done(code, *capfd.readouterr())

    return ask


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of the family, solved by lanes, with .npz solutions."""
    out = tmp_path_factory.mktemp("saved") / "run"
    assert exit_code_of(["solve", str(FAMILY), "--backend", "pdhg", "-o", str(out), "--solutions", "npz", "-q"], 0.0) == 0
    return out


def test_precision_is_an_option_and_a_variable_and_part_of_what_resume_compares(solve: Ask, tmp_path: Path) -> None:
    """Rows and report tell the precision; a run resumed in another one keeps no row, in the same one all."""
    out = tmp_path / "out"
    arguments = (FAMILY, "--backend", "pdhg", "-q", "-o", out)
    assert solve(*arguments, BATCHLP_PRECISION="mixed").returncode == 0
    assert {row["method"] for row in rows_in(out)} == {"numba mixed"}
    report = json.loads((out / "report.json").read_text())
    assert (report["settings"]["precision"], report["settings"]["device"]) == ("mixed", "auto")
    solve(*arguments, "--resume", "--precision", "mixed")
    assert json.loads((out / "report.json").read_text())["kept"] == len(rows_in(out))
    solve(*arguments, "--resume", "--precision", "float64")
    assert json.loads((out / "report.json").read_text())["kept"] == 0


@pytest.mark.parametrize("backend", ["auto", "pdhg"])
@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_missing_device_exits_with_4_before_anything_is_solved(solve: Ask, backend: str, device: str) -> None:
    """A device that was asked for by name is looked for at once, whether or not lanes would have come to work."""
    torch = pytest.importorskip("torch")
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = solve(FAMILY, "--backend", backend, BATCHLP_DEVICE=device)
    assert done.returncode == 4
    assert done.stdout == ""
    assert f"--device {device}" in done.stderr
    assert "--device cpu would run" in done.stderr


@pytest.mark.parametrize("more", [[], ["--no-fallback"]])
def test_lanes_that_are_not_installed_exit_with_4_and_the_command_that_installs_them(
    more: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without numba and torch, --backend pdhg says what to install."""
    import sys

    monkeypatch.setattr("batchlp_cli.backends.auto.together.find_spec", lambda name: None)
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "batchlp_cli.backends.pdhg.kernels.torch_kernel", None)
    assert exit_code_of(["solve", str(FAMILY), "-q", "--backend", "pdhg", *more], 0.0) == 4
    assert "pip install 'batchlp[pdhg]'" in capfd.readouterr().err


def test_kernels_that_take_long_to_come_are_said_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence comes while kernels compile, and none where they are only loaded."""
    said: list[str] = []
    settings = SolveSettings(jobs=1, watch=Watch(say=said.append))
    rehearse = loading.rehearse
    list(lanes.PdhgBackend(1).solve(LPBatch.of([MODEL]), SolveSettings(jobs=1)))  # compiled or loaded from here on
    monkeypatch.setattr(lanes, "COMPILING", 0.5)
    list(lanes.PdhgBackend(1).solve(LPBatch.of([MODEL]), settings))
    assert said == []

    def slow(*arguments: object) -> None:
        time.sleep(0.6)
        rehearse(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(lanes, "rehearse", slow)
    list(lanes.PdhgBackend(1).solve(LPBatch.of([MODEL]), settings))
    assert [text.startswith("compiling") for text in said] == [True]


def test_choice_of_lanes_is_said_with_v(solve: Ask) -> None:
    """With -v each group says tiles, lanes, kernel and precision."""
    done = solve(FAMILY, "--backend", "pdhg", "-v", "--no-fallback")
    assert "on the numba kernel in float64" in done.stderr


@pytest.mark.parametrize(
    ("backend", "limit", "model"),
    [("pdhg", 20, "n01_transport8.lp"), ("pdhg", 20, "m40_max_dual_signs.mps"), ("highs", 2, "n01_transport8.lp")],
)
def test_without_fallback_the_best_iterate_and_its_bound_are_reported(
    solve: Ask, backend: str, limit: int, model: str, tmp_path: Path
) -> None:
    """What hits a limit has its iterate in the solution file, residuals, a bound on the right side if any, and no objective."""
    (best,) = solve(DATA / model, "--backend", "highs").rows
    options = ("--backend", backend, "--no-fallback", "--iteration-limit", str(limit), "--solutions", "npz")
    done = solve(DATA / model, *options, "-o", tmp_path / "out", "-q")
    (row,) = done.rows
    assert (done.returncode, row["status"], row["verified"], row["objective"]) == (1, "iteration_limit", False, None)
    assert [attempt["status"] for attempt in row["attempts"]] == ["iteration_limit"]  # type: ignore[attr-defined]
    assert row["primal_residual_rel"] is not None
    assert row["dual_residual_rel"] is not None
    with np.load(tmp_path / "out" / str(row["solution"])) as stored:
        assert np.isfinite(stored["x"]).all()
        assert np.isfinite(stored["dual"]).all()
    sign = -1.0 if row["sense"] == "max" else 1.0
    if row["dual_bound"] is not None:
        assert sign * float(str(row["dual_bound"])) <= sign * float(str(best["objective"])) + 1e-9
    if backend == "pdhg":
        assert row["dual_bound"] is not None


def test_time_limit_of_lanes_keeps_the_iterate(tmp_path: Path) -> None:
    """A member of lanes that runs out of time has x and y too."""
    claims = list(lanes.PdhgBackend(1).solve(LPBatch.of([MODEL]), SolveSettings(jobs=1, time_limit=1e-9, tol=1e-10)))
    ((_, claim),) = claims
    assert claim.status is Status.TIME_LIMIT
    assert claim.x is not None
    assert claim.y is not None
    (verdict,) = verify(LPBatch.of([MODEL]), [claim], 1e-10)
    assert np.isfinite(verdict.dual_bound)


def test_starts_of_another_size_exit_with_2_whoever_solves(solve: Ask, saved: Path, tmp_path: Path) -> None:
    """A saved instance of the same name and another size is refused before solving, with file, found and expected."""
    models = tmp_path / "family"
    models.mkdir()
    name = next(iter(sorted(FAMILY.iterdir()))).name
    shutil.copy(DATA / "m40_max_dual_signs.mps", models / name)
    for backend in ("highs", "pdhg", "auto"):
        done = solve(models, "--backend", backend, BATCHLP_WARM_START=str(saved))
        assert (done.returncode, done.stdout) == (2, "")
        assert "120 columns and 23 rows, expected" in done.stderr
        assert ".npz" in done.stderr


def test_starts_with_a_nan_exit_with_2(solve: Ask, saved: Path, tmp_path: Path) -> None:
    """A NaN in a stored solution is refused with the name of its file."""
    run = tmp_path / "run"
    shutil.copytree(saved, run)
    (archive,) = (run / "solutions").glob("*.npz")
    with np.load(archive) as stored:
        arrays = dict(stored)
    arrays["x"][:, 0] = np.nan
    np.savez(archive, **arrays)
    done = solve(FAMILY, "--backend", "pdhg", "--warm-start", run)
    assert done.returncode == 2
    assert archive.name in done.stderr
    assert "NaN" in done.stderr


def test_members_of_other_names_start_from_the_first_of_their_group(solve: Ask, saved: Path, tmp_path: Path) -> None:
    """Under other names, the one with the numbers of the group's first solution is done at once; the others are proved, too."""
    models = tmp_path / "others"
    models.mkdir()
    for path in FAMILY.iterdir():
        shutil.copy(path, models / f"other-{path.name}")
    arguments = (models, "--backend", "pdhg", "-q")
    cold, warm = solve(*arguments).rows, solve(*arguments, "--warm-start", saved).rows
    assert all(row["verified"] for row in warm)
    least = min(int(str(row["iterations"])) for row in warm)
    assert least * 5 <= min(int(str(row["iterations"])) for row in cold)


def test_highs_goes_on_from_a_stored_basis(solve: Ask, tmp_path: Path) -> None:
    """A single model whose .sol file has its optimal basis takes no simplex iterations; the report tells whence it started."""
    model, run, again = DATA / "n01_transport8.lp", tmp_path / "run", tmp_path / "again"
    (first,) = solve(model, "--backend", "highs", "-o", run, "-q").rows
    assert "Valid" in (run / str(first["solution"])).read_text()
    (row,) = solve(model, "--backend", "highs", "--warm-start", run, "-o", again, "-q").rows
    assert (row["method"], row["iterations"], row["verified"]) == ("simplex warm", 0, True)
    assert row["objective"] == first["objective"]
    assert json.loads((again / "report.json").read_text())["settings"]["warm_start"] == str(run)
    assert row["settings_digest"] != first["settings_digest"]


def test_crossover_that_fails_leaves_the_optimum_of_the_lanes_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where crossover brings nothing that the referee accepts, the row keeps the verified answer, and both tries."""

    def failing(
        self: HighsBackend, batch: LPBatch, starts: list[Solution], settings: SolveSettings
    ) -> Iterator[tuple[int, Solution]]:
        yield 0, Solution(Status.NUMERICAL_ERROR, backend="highs", method="crossover", message="no basis came of it")

    monkeypatch.setattr(HighsBackend, "cross_over", failing)
    settings = SolveSettings(jobs=1, backend=BackendName.PDHG, crossover=True)
    with Solver(settings) as solver:
        ((_, tries),) = solver.solve_batch(LPBatch.of([MODEL]), BackendName.PDHG)
    assert [claim.backend for claim, _ in tries] == ["highs", "pdhg"]
    solution, verdict = tries[-1]
    assert (solution.status, verdict.verified) == (Status.OPTIMAL, True)
    assert "no basis came of it" in verdict.notes[-1]


def test_crossover_is_a_variable_too(solve: Ask) -> None:
    """BATCHLP_CROSSOVER=1 makes the optima of lanes basic, in one row each with both attempts."""
    rows = solve(FAMILY, "--backend", "pdhg", "-q", BATCHLP_CROSSOVER="1").rows
    assert all((row["basic"], row["verified"], row["backend"]) == (True, True, "highs") for row in rows)
    assert {tuple(a["backend"] for a in row["attempts"]) for row in rows} == {("pdhg", "highs")}  # type: ignore[attr-defined]
