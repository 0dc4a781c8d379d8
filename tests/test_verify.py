"""`batchlp verify` finds every way in which a run, its solutions and its inputs may no longer fit together, and names it."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli import verification
from batchlp_cli.commands import exit_code_of
from batchlp_cli.events import Event, RowReady
from batchlp_cli.files.read import ReadOutcome, ReadRequest
from batchlp_cli.files.read.messages import Work
from batchlp_cli.files.read.worker import Reader
from batchlp_cli.files.run_rows import load_run
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.verification import VerifyOptions, settings_of_run, verify_run
from tests.command import Row, batchlp, rows_of

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_instances"
MEMBERS = ("transport_01.mps", "transport_02.mps", "transport_03.mps")
MIXED = ("infeasible.mps", "unbounded.mps", "maximum_with_offset.mps", "blending.lp", "integer.mps.gz")
CROSSING = "min\n o: x\nst\n c: x + y >= 1\nbounds\n 3 <= x <= 2\nend\n"


@pytest.fixture(scope="module", params=["sol", "npz"])
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs in `models` and their run in `run`, made once; tests work on copies."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    models = folder / "models"
    models.mkdir()
    for name in MEMBERS:
        shutil.copy(SAMPLES / "family" / name, models)
    for name in MIXED:
        shutil.copy(SAMPLES / "mixed" / name, models)
    (models / "crossing.lp").write_text(CROSSING)
    (models / "garbage.mps").write_text("this is no model")
    again = "models/transport_01.mps"  # a second mention of one file: a duplicate
    done = batchlp("solve", "models", again, "-o", "run", "--solutions", request.param, "-j", "1", cwd=folder)
    assert done.returncode == 1, done.stderr.decode()
    return folder


@pytest.fixture
def folder(solved: Path, tmp_path: Path) -> Path:
    """A copy of the solved folder that a test may spoil."""
    shutil.copytree(solved, tmp_path / "copy")
    return tmp_path / "copy"


class ReaderHere:
    """Reads models in this process, which is much faster than starting workers for each of many small checks."""

    def __init__(self, settings: SolveSettings) -> None:
        self.settings = settings

    def __enter__(self) -> ReaderHere:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def read(self, requests: Iterable[ReadRequest]) -> Iterator[ReadOutcome]:
        """Yields what a worker process would answer."""
        for request in requests:
            answer = Reader().read(Work(request, self.settings.max_file_bytes, (), self.settings.negative_upper))
            read = ReadOutcome(request.key, input_digest=answer.input_digest, error=answer.error)
            if answer.numbers is not None:
                assert answer.names is not None
                assert answer.matrix is not None
                lp = LinearProgram(
                    name=request.name,
                    A=answer.matrix.as_scipy_later(),
                    offset=answer.numbers.offset,
                    maximize=answer.numbers.maximize,
                    **answer.numbers.vectors,  # type: ignore[arg-type]
                    **answer.names._asdict(),
                )
                read = replace(read, lp=lp, matrix_digest=answer.matrix_digest)
            yield read


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets checks in this process read their inputs there; the command line has its workers."""
    monkeypatch.setattr(verification, "ModelReader", ReaderHere)


def check(folder: Path, run: str = "run", *, exact: bool = False, **options: object) -> dict[str, Row]:
    """Returns the records of a check by name."""
    found: dict[str, Row] = {}

    def listen(event: Event) -> None:
        if isinstance(event, RowReady):
            assert event.row["name"] not in found, "one record a name"
            found[str(event.row["name"])] = dict(event.row)

    rows = load_run(folder / run)
    settings = settings_of_run(rows, SolveSettings(jobs=1), tol=None, negative_upper=None)
    totals = verify_run(rows, VerifyOptions(settings=settings, exact=exact, root=folder, **options), listen)  # type: ignore[arg-type]
    wrong = any(record["check"] != "holds" for record in found.values())
    assert totals.exit_code == int(wrong)
    return found


def failing(records: dict[str, Row]) -> dict[str, str]:
    """Returns the findings of the records that do not hold, by name."""
    return {name: "; ".join(map(str, r["findings"])) for name, r in records.items() if r["check"] == "fails"}  # type: ignore[call-overload]


def rows_at(folder: Path) -> list[Row]:
    """Returns the rows of the run."""
    return [json.loads(line) for line in (folder / "run/results.jsonl").read_text().splitlines()]


def put_rows(folder: Path, rows: list[Row]) -> None:
    """Replaces the rows of the run."""
    (folder / "run/results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def edit(folder: Path, name: str, **changes: object) -> None:
    """Changes keys of one row."""
    put_rows(folder, [row | changes if row["name"] == name else row for row in rows_at(folder)])


def row_of(folder: Path, name: str) -> Row:
    """Returns one row."""
    return next(row for row in rows_at(folder) if row["name"] == name)


def solution_of(folder: Path, name: str) -> Path:
    """Returns the file with the solution of an instance."""
    return folder / "run" / str(row_of(folder, name)["solution"])


def change_vector(folder: Path, name: str, key: str, change: Callable[[np.ndarray], None]) -> None:
    """Changes a stored vector (x, dual, reduced_cost, dual_ray, primal_ray) of an instance, in either format."""
    path = solution_of(folder, name)
    if path.suffix == ".npz":
        with np.load(path) as stored:
            arrays = {k: stored[k] for k in stored.files}
        change(arrays[key][arrays["name"].tolist().index(name)])
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        path.write_bytes(buffer.getvalue())
        return
    part, section = {
        "x": ("# Primal solution values", "# Columns"),
        "dual": ("# Dual solution values", "# Rows"),
        "reduced_cost": ("# Dual solution values", "# Columns"),
        "dual_ray": ("# Dual ray", "# Rows"),
        "primal_ray": ("# Primal ray", "# Columns"),
    }[key]
    lines = path.read_text().split("\n")
    start = next(k for k in range(lines.index(part), len(lines)) if lines[k].startswith(section)) + 1
    count = int(lines[start - 1].split()[-1])
    values = np.array([float(line.rpartition(" ")[2]) for line in lines[start : start + count]])
    change(values)
    names = [line.rpartition(" ")[0] for line in lines[start : start + count]]
    lines[start : start + count] = [f"{n} {v!r}" for n, v in zip(names, values.tolist(), strict=True)]
    path.write_text("\n".join(lines))


def add(index: int, amount: float) -> Callable[[np.ndarray], None]:
    """Returns a change that adds an amount to one entry."""

    def change(values: np.ndarray) -> None:
        values[index] += amount

    return change


def test_an_untouched_run_holds(folder: Path) -> None:
    """Every verdict is confirmed in both arithmetics; an unreadable input claims none; a duplicate is judged by its twin."""
    for exact in (False, True):
        records = check(folder, exact=exact)
        assert not failing(records)
        assert len(records) == len(MEMBERS) + len(MIXED) + 3
        assert {name for name, r in records.items() if r["check"] == "none"} == {"garbage.mps"}
        words = {r["exact_verdict"] for r in records.values() if r["check"] == "holds"}
        assert words == ({"proved", "within_tolerance"} if exact else {None})


def test_results_alone_will_do(folder: Path) -> None:
    """The file of rows can be named instead of its folder, with the solutions beside it."""
    assert check(folder, "run/results.jsonl") == check(folder)


def spoil_input(folder: Path) -> None:
    """Changes a right-hand side in an input."""
    path = folder / "models/transport_02.mps"
    path.write_text(path.read_text() + "* a comment more\n")


def spoil_missing_input(folder: Path) -> None:
    """Deletes an input."""
    (folder / "models/transport_02.mps").unlink()


def spoil_x(folder: Path) -> None:
    """Moves one value of a solution."""
    change_vector(folder, "transport_02.mps", "x", add(0, 0.5))


def spoil_dual(folder: Path) -> None:
    """Moves one row dual of a solution."""
    change_vector(folder, "transport_02.mps", "dual", add(1, -0.25))


def spoil_reduced_cost(folder: Path) -> None:
    """Moves one reduced cost of a solution."""
    change_vector(folder, "transport_02.mps", "reduced_cost", add(2, 1.0))


def spoil_nan(folder: Path) -> None:
    """Puts a NaN into a solution."""
    change_vector(folder, "transport_02.mps", "x", add(0, np.nan))


def spoil_objective(folder: Path) -> None:
    """Changes the objective of a row in its tenth digit."""
    edit(folder, "transport_02.mps", objective=float(str(row_of(folder, "transport_02.mps")["objective"])) * (1 + 1e-10))


def spoil_bound(folder: Path) -> None:
    """Makes the dual bound of a row better than what is proved."""
    edit(folder, "transport_02.mps", dual_bound=float(str(row_of(folder, "transport_02.mps")["dual_bound"])) + 1e-3)


def spoil_status(folder: Path) -> None:
    """Calls an optimal instance infeasible."""
    edit(folder, "transport_02.mps", status="infeasible", objective=None, dual_bound=None)


def spoil_verified(folder: Path) -> None:
    """Calls a proved verdict not verified."""
    edit(folder, "transport_02.mps", verified=False)


def spoil_residual(folder: Path) -> None:
    """Changes a residual of a row."""
    edit(folder, "transport_02.mps", primal_residual_rel=1e-7)


def spoil_shape(folder: Path) -> None:
    """Changes the number of columns in a row."""
    edit(folder, "transport_02.mps", columns=7)


def spoil_digest(folder: Path) -> None:
    """Changes the digest of the input in a row."""
    edit(folder, "transport_02.mps", input_digest="0" * 64)


def spoil_solution_path(folder: Path) -> None:
    """Makes a row name a solution file outside of the run folder."""
    edit(folder, "transport_02.mps", solution="../models/transport_02.mps")


SPOILS: dict[Callable[[Path], None], str] = {
    spoil_input: "the input has changed",
    spoil_missing_input: "the input is missing",
    spoil_x: "primal residual",
    spoil_dual: "reduced costs do not match|dual residual|gap",
    spoil_reduced_cost: "reduced costs do not match",
    spoil_nan: "NaN",
    spoil_objective: "the row's objective is",
    spoil_bound: "the row's dual bound is",
    spoil_status: "status",
    spoil_verified: "not verified, but the stored solution proves",
    spoil_residual: "primal_residual_rel is 1e-07",
    spoil_shape: "columns is 7",
    spoil_digest: "the input has changed",
    spoil_solution_path: "leads out of the run folder",
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
def test_a_spoiled_instance_is_named(spoil: Callable[[Path], None], exact: bool, folder: Path) -> None:
    """Exactly the spoiled instance fails, and the finding says what is wrong."""
    spoil(folder)
    found = failing(check(folder, exact=exact))
    twins = {"transport_02.mps"}
    assert set(found) == twins, found
    words = SPOILS[spoil].split("|")
    assert any(word in found["transport_02.mps"] for word in words), found


def test_a_missing_row_is_found(folder: Path) -> None:
    """A row that was taken out leaves a solution without a row, a report that counts more rows, and an input without one."""
    put_rows(folder, [row for row in rows_at(folder) if row["name"] != "transport_02.mps"])
    path = folder / "models/transport_02.mps"
    found = failing(check(folder, expected=((str(path), str(path.resolve())),)))
    assert "solution of it, but there is no row" in found["transport_02.mps"]
    assert "report of the run tells of 11 rows" in found["results.jsonl"]
    assert found[str(path)] == "this input has no row"
    assert len(found) == 3


def test_a_missing_solution_is_found(folder: Path) -> None:
    """Whoever was in the file is named."""
    path = solution_of(folder, "transport_02.mps")
    path.unlink()
    found = failing(check(folder))
    assert "transport_02.mps" in found
    assert all("is missing" in words for words in found.values())


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_solution_is_found(share: float, folder: Path) -> None:
    """A file that lost its end is damaged, never half a solution."""
    path = solution_of(folder, "transport_02.mps")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    found = failing(check(folder))
    assert "transport_02.mps" in found
    assert all("damaged" in words or "cut off" in words for words in found.values()), found


def test_flipped_bytes_of_an_archive_are_found(folder: Path) -> None:
    """Every single flipped byte in the vectors of an archive gives a finding, as its checksum no longer fits."""
    path = solution_of(folder, "transport_02.mps")
    if path.suffix != ".npz":
        pytest.skip("text has no checksum; its numbers are judged")
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("x.npy")
    data = bytearray(path.read_bytes())
    data[info.header_offset + 30 + len("x.npy") + info.compress_size // 2] ^= 0x10
    path.write_bytes(bytes(data))
    assert "transport_02.mps" in failing(check(folder))


def test_swapped_solutions_are_found(folder: Path) -> None:
    """Two solutions that changed places prove neither of their rows."""
    first, second = (solution_of(folder, name) for name in ("transport_02.mps", "transport_03.mps"))
    if first == second:
        with np.load(first) as stored:
            arrays = {k: stored[k] for k in stored.files}
        names = arrays["name"].tolist()
        a, b = names.index("transport_02.mps"), names.index("transport_03.mps")
        arrays["name"][[a, b]] = arrays["name"][[b, a]]
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        first.write_bytes(buffer.getvalue())
    else:
        texts = first.read_bytes(), second.read_bytes()
        first.write_bytes(texts[1])
        second.write_bytes(texts[0])
    assert set(failing(check(folder))) == {"transport_02.mps", "transport_03.mps"}


def test_a_solution_of_another_model_is_found(folder: Path) -> None:
    """A row that names the solution file of another model is told so."""
    other = row_of(folder, "integer.mps.gz")["solution"]
    edit(folder, "transport_02.mps", solution=other)
    assert set(failing(check(folder))) == {"transport_02.mps"}


@pytest.mark.parametrize(("name", "key"), [("infeasible.mps", "dual_ray"), ("unbounded.mps", "primal_ray")])
@pytest.mark.parametrize("exact", [False, True])
def test_a_spoiled_ray_is_found(name: str, key: str, exact: bool, folder: Path) -> None:
    """Rays are stored and checked again: turned round they prove nothing."""

    def turn(values: np.ndarray) -> None:
        values *= -1

    change_vector(folder, name, key, turn)
    assert set(failing(check(folder, exact=exact))) == {name}


def test_a_claim_of_infeasibility_without_its_ray_is_found(folder: Path) -> None:
    """A claim of infeasibility without a ray stands only where bounds cross."""
    edit(folder, "infeasible.mps", solution=None)
    assert "without ray" in failing(check(folder))["infeasible.mps"]


def test_damaged_lines_are_named(folder: Path) -> None:
    """Half a line, a line that is no object and a row without a name are told with their numbers; other rows are checked."""
    path = folder / "run/results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0][:50] + "\n", "[1]\n", '{"name": 3}\n', *lines]))
    found = failing(check(folder))
    assert set(found) == {f"results.jsonl, line {k}" for k in (1, 2, 3)}


@pytest.mark.slow
def test_moved_inputs_are_found_again(folder: Path) -> None:
    """With --root, inputs are found by the ends of their paths."""
    (folder / "models").rename(folder / "elsewhere")
    done = batchlp("verify", "run", "--root", "elsewhere", "--format", "jsonl", cwd=folder)
    assert {row["check"] for row in rows_of(done)} == {"holds", "none"}, done.stderr.decode()


def test_rows_on_stdin_have_a_limit(tmp_path: Path) -> None:
    """More bytes than --max-file-size are refused with what to do, not kept in memory without end."""
    done = batchlp("verify", "-", "--max-file-size", "1M", stdin=b"x" * ((1 << 20) + 1), cwd=tmp_path)
    assert done.returncode == 2
    assert b"more than 1048576 bytes; raise --max-file-size" in done.stderr


@pytest.mark.slow
def test_command_line(folder: Path) -> None:
    """Exit codes, the three forms of output, rows on stdin, and PATHS whose inputs have no row."""
    done = batchlp("verify", "run", "--exact", cwd=folder)
    assert done.returncode == 1, "garbage.mps has no verdict"
    assert len(rows_of(done)) == 11
    assert b"10 hold, 1 claim no verdict" in done.stderr
    table = batchlp("verify", "run", "--format", "table", cwd=folder)
    assert b"holds" in table.stdout
    rows = b"".join(line for line in (folder / "run/results.jsonl").read_bytes().splitlines(True) if b"garbage" not in line)
    (folder / "run/some.jsonl").write_bytes(rows)
    done = batchlp("verify", "run/some.jsonl", "--format", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"name,input,status,check,findings")
    done = batchlp("verify", "-", stdin=rows, cwd=folder / "run", BATCHLP_ROOT="..")
    assert done.returncode == 0, done.stderr.decode()
    (folder / "models/new.lp").write_text(CROSSING)
    done = batchlp("verify", "run/some.jsonl", "models", cwd=folder)
    assert done.returncode == 1
    assert {row["name"] for row in rows_of(done) if row["check"] == "fails"} == {"models/new.lp", "models/garbage.mps"}


@pytest.mark.parametrize("arguments", [("nowhere",), ("models",), ("run", "--tol", "7"), ()])
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that are no run, tolerances out of range and a missing argument are usage errors."""
    monkeypatch.chdir(folder)
    assert exit_code_of(["verify", *arguments], 0.0) == 2


@pytest.mark.slow
def test_nothing_readable(folder: Path) -> None:
    """Where not one input is there, the exit code is 3, and every row says so."""
    shutil.rmtree(folder / "models")
    done = batchlp("verify", "run", cwd=folder)
    assert done.returncode == 3
    assert all("missing" in str(row["findings"]) for row in rows_of(done))
