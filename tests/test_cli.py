"""The command line as its users meet it: rows, streams, exit codes, and inputs of every awkward kind."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import zstandard

from tests.command import batchlp, command_line, environment, rows_in, rows_of

DATA = Path(__file__).parent / "data"
TRANSPORT = (DATA / "n01_transport8.lp").read_text()
SIGNS = (DATA / "m40_max_dual_signs.mps").read_text()
SMALL = "NAME t\nROWS\n N cost\n G r1\nCOLUMNS\n x cost 1 r1 1\n y cost 2 r1 1\nRHS\n rhs r1 3\nENDATA\n"
INFEASIBLE = SMALL.replace("RHS\n", "RHS\n").replace("ENDATA", "BOUNDS\n UP b x 1\n UP b y 1\nENDATA")
UNBOUNDED = SMALL.replace("x cost 1", "x cost -1")


def write(folder: Path, **texts: str) -> Path:
    """Writes files named after the keywords, with the last underscore as a dot."""
    for name, text in texts.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text)
    return folder


def test_every_kind_of_input_gives_exactly_one_row(tmp_path: Path) -> None:
    """Solved, unreadable, a directory named like a model, a dangling link, a duplicate: one row each, in one run."""
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, good_mps=SMALL, broken_mps="ROWS\n garbage here\n", signs_mps=SIGNS, other_lp=TRANSPORT)
    (folder / "x.mps").mkdir()
    (folder / "gone.mps").symlink_to(folder / "nowhere.mps")
    (folder / "notes.txt").write_text("not a model")
    done = batchlp("solve", folder, folder / "good.mps", folder / "missing.mps")
    rows = rows_of(done)
    names = [Path(str(r["input"])).name for r in rows]
    assert sorted(names) == ["broken.mps", "gone.mps", "good.mps", "good.mps", "missing.mps", "other.lp", "signs.mps", "x.mps"]
    assert len({str(r["name"]) for r in rows}) == len(rows)
    status = {n: r["status"] for n, r in zip(names, rows, strict=True)}
    assert [n for n, s in sorted(status.items()) if s == "unreadable"] == ["broken.mps", "gone.mps", "missing.mps", "x.mps"]
    twins = [r for r in rows if Path(str(r["input"])).name == "good.mps"]
    assert [r["objective"] for r in twins] == [3.0, 3.0]
    assert [bool(r["duplicate_of"]) for r in twins] == [False, True]
    assert all(r["error"] for r in rows if r["status"] == "unreadable")
    assert done.returncode == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_a_row(tmp_path: Path) -> None:
    """A file that may not be read gives an unreadable row with the reason, and exit code 3 when it is alone."""
    write(tmp_path, secret_mps=SMALL)
    (tmp_path / "secret.mps").chmod(0)
    done = batchlp("solve", tmp_path / "secret.mps")
    assert done.returncode == 3
    assert "permission" in str(rows_of(done)[0]["error"]).lower()


def test_a_missing_file_is_not_a_success() -> None:
    """A path that does not exist gives an unreadable row and exit code 3."""
    done = batchlp("solve", "no/such/model.mps")
    assert done.returncode == 3
    assert [r["status"] for r in rows_of(done)] == ["unreadable"]


@pytest.mark.parametrize(
    ("text", "status", "objective", "code"),
    [(SMALL, "optimal", 3.0, 0), (INFEASIBLE, "infeasible", None, 0), (UNBOUNDED, "unbounded", None, 0)],
)
def test_each_verdict_is_verified(tmp_path: Path, text: str, status: str, objective: float | None, code: int) -> None:
    """Optimal, infeasible and unbounded are each proved; only an optimum has an objective."""
    write(tmp_path, model_mps=text)
    done = batchlp("solve", tmp_path / "model.mps")
    (row,) = rows_of(done)
    assert (row["status"], row["verified"], row["objective"], done.returncode) == (status, True, objective, code)


def test_fail_on_turns_a_status_into_exit_code_1(tmp_path: Path) -> None:
    """--fail-on makes a verified verdict that nobody wanted a failure."""
    write(tmp_path, model_mps=INFEASIBLE)
    assert batchlp("solve", tmp_path, "--fail-on", "unbounded").returncode == 0
    assert batchlp("solve", tmp_path, "--fail-on", "infeasible,unbounded").returncode == 1


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".zst"])
@pytest.mark.parametrize(("name", "text", "value"), [("a.mps", SMALL, 3.0), ("a.lp", TRANSPORT, 424.0)])
def test_formats_and_compressions(tmp_path: Path, name: str, text: str, value: float, ending: str) -> None:
    """MPS and LP files give the same value plain and in each compression."""
    pack = {"": lambda b: b, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.ZstdCompressor().compress}[ending]
    (tmp_path / (name + ending)).write_bytes(pack(text.encode()))
    (row,) = rows_of(batchlp("solve", tmp_path))
    assert row["objective"] == pytest.approx(value, rel=1e-9)


def test_stdin_is_read_up_to_the_limit() -> None:
    """A model on stdin of more than --max-file-size is a row that says so, and a longer list of files a usage error."""
    limit = ("--max-file-size", "1M")
    text = SMALL.encode() + b"\n" * ((1 << 20) - len(SMALL))
    (row,) = rows_of(batchlp("solve", "-", "--input-format", "mps", *limit, stdin=text))
    assert row["status"] == "optimal"
    (row,) = rows_of(batchlp("solve", "-", "--input-format", "mps", *limit, stdin=text + b"\n"))
    assert row["status"] == "unreadable"
    assert "--max-file-size" in str(row["error"])
    refused = batchlp("solve", "--files-from", "-", *limit, stdin=b"\n" * (1 << 20) + b"a.mps")
    assert refused.returncode == 2
    assert b"--files-from" in refused.stderr


def test_stdin_needs_a_format_and_then_works() -> None:
    """`-` reads one model from stdin; without --input-format it is a usage error that says so."""
    refused = batchlp("solve", "-", stdin=SMALL.encode())
    assert refused.returncode == 2
    assert b"--input-format" in refused.stderr
    (row,) = rows_of(batchlp("solve", "-", "--input-format", "mps", stdin=SMALL.encode()))
    assert row["objective"] == 3.0


def test_files_from_a_list_with_null_and_odd_names(tmp_path: Path) -> None:
    """--files-from - --null takes names with spaces and newlines, as `find -print0` writes them."""
    odd = tmp_path / "a b\nc.mps"
    odd.write_text(SMALL)
    write(tmp_path, plain_mps=SIGNS)
    listed = os.fsencode(odd) + b"\0" + os.fsencode(tmp_path / "plain.mps") + b"\0"
    rows = rows_of(batchlp("solve", "--files-from", "-", "--null", stdin=listed))
    assert sorted(float(str(r["objective"])) for r in rows) == [3.0, 8.0]


def test_a_glob_that_the_shell_left_alone_is_expanded(tmp_path: Path) -> None:
    """A quoted pattern names files; one that matches nothing gives an unreadable row."""
    write(tmp_path, c1_mps=SMALL, c2_mps=SIGNS, d_mps=SMALL)
    assert len(rows_of(batchlp("solve", tmp_path / "c*.mps"))) == 2
    nothing = batchlp("solve", tmp_path / "z*.mps")
    assert nothing.returncode == 3
    assert len(rows_of(nothing)) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["x.mps", "--tol", "2"],
        ["x.mps", "--memory", "lots"],
        ["x.mps", "--shard", "0/4"],
        ["x.mps", "--resume"],
        ["--nonsense"],
    ],
)
def test_usage_errors_exit_with_2(arguments: list[str]) -> None:
    """What cannot be meant is refused before anything is read, with exit code 2 and a sentence on stderr."""
    done = batchlp("solve", *arguments)
    assert done.returncode == 2
    assert done.stderr.strip()
    assert not done.stdout


def test_a_variable_is_as_good_as_a_flag(tmp_path: Path) -> None:
    """BATCHLP_* variables set options, and a flag wins over its variable."""
    write(tmp_path, model_mps=SMALL)
    done = batchlp("solve", tmp_path, BATCHLP_FORMAT="csv")
    (row,) = csv.DictReader(io.StringIO(done.stdout.decode()))
    assert float(row["objective"]) == 3.0
    assert len(rows_of(batchlp("solve", tmp_path, "--format", "jsonl", BATCHLP_FORMAT="csv"))) == 1


def test_streams_in_a_pipe_hold_no_colour_and_no_progress(tmp_path: Path) -> None:
    """In a pipe stdout is JSON lines and nothing else; stderr has no control sequences; -q silences it."""
    write(tmp_path, model_mps=SMALL, bad_mps="nonsense")
    done = batchlp("solve", tmp_path)
    assert len(rows_of(done)) == 2
    assert b"\x1b" not in done.stdout + done.stderr
    assert batchlp("solve", tmp_path, "-q").stderr == b""


def test_a_table_in_a_pipe_is_not_cut(tmp_path: Path) -> None:
    """--format table shows whole names also when stdout is no terminal."""
    long = "a" * 150
    write(tmp_path, **{f"{long}_mps": SMALL})
    out = batchlp("solve", tmp_path, "--format", "table").stdout.decode()
    assert long in out
    assert "optimal" in out


def test_rows_are_complete_and_strict_json(tmp_path: Path) -> None:
    """Every row has the same keys and a schema version; there is no NaN or Infinity in the JSON."""
    write(tmp_path, a_mps=SMALL, b_mps=INFEASIBLE, c_mps="nonsense")
    rows = rows_of(batchlp("solve", tmp_path))
    assert len({tuple(r) for r in rows}) == 1
    assert all(r["schema_version"] == 1 for r in rows)
    assert not re.search("NaN|Infinity", json.dumps(rows))


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    """When the reader of stdout leaves, batchlp ends without a traceback."""
    for i in range(50):
        (tmp_path / f"m{i}.mps").write_text(SMALL.replace("r1 3", f"r1 {i}"))
    shell = " ".join(map(str, command_line("solve", str(tmp_path)))) + " | head -n 1"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, env=environment(), timeout=60, check=False)
    assert len(done.stdout.splitlines()) == 1
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_dry_run_and_inspect_are_one_view(tmp_path: Path) -> None:
    """`solve --dry-run` shows what `inspect` shows, solves nothing and writes nothing."""
    write(tmp_path, a_mps=SMALL, b_mps=SMALL.replace("r1 3", "r1 5"), c_mps=SMALL.replace("y cost 2 r1 1", "y cost 2 r1 4"))
    seen = batchlp("inspect", tmp_path, "--format", "jsonl")
    dry = batchlp("solve", tmp_path, "--dry-run", "-o", tmp_path / "out", "--format", "jsonl")
    assert seen.returncode == dry.returncode == 0
    assert seen.stdout == dry.stdout
    assert not (tmp_path / "out").exists()
    groups = rows_of(seen)
    assert sorted(int(str(g["members"])) for g in groups) == [1, 2]
    (apart,) = (str(g["unlike"]) for g in groups if g["unlike"])
    assert "r1" in apart
    assert "y" in apart


def test_an_output_that_cannot_be_written_exits_with_5(tmp_path: Path) -> None:
    """A run folder below a file is an output error, told in words."""
    write(tmp_path, model_mps=SMALL)
    done = batchlp("solve", tmp_path / "model.mps", "-o", tmp_path / "model.mps" / "out")
    assert done.returncode == 5
    assert b"Traceback" not in done.stderr


def test_nothing_is_left_in_the_current_directory(tmp_path: Path) -> None:
    """No log file or other dropping appears where batchlp is started."""
    here, models = tmp_path / "here", tmp_path / "models"
    here.mkdir()
    models.mkdir()
    write(models, model_lp=TRANSPORT, other_mps="nonsense")
    batchlp("solve", models, cwd=here)
    assert list(here.iterdir()) == []


def test_names_that_look_alike_give_five_solutions(tmp_path: Path) -> None:
    """Five inputs with nearly the same name give five rows and five solution files, none outside the folder."""
    models, out = tmp_path / "models", tmp_path / "out"
    (models / "sub").mkdir(parents=True)
    for k, name in enumerate(["case.1.mps", "case.2.mps", "sub/case.1.mps", "case.mps"]):
        (models / name).write_text(SMALL.replace("r1 3", f"r1 {k + 1}"))
    (models / "case.mps.gz").write_bytes(gzip.compress(SMALL.replace("r1 3", "r1 5").encode()))
    done = batchlp("solve", models, "-o", out)
    assert done.returncode == 0
    rows = rows_in(out)
    assert sorted(float(str(r["objective"])) for r in rows) == [1, 2, 3, 4, 5]
    files = {out / str(r["solution"]) for r in rows}
    assert len(files) == 5
    assert all(f.is_file() and f.resolve().is_relative_to(out.resolve()) for f in files)


def test_a_batch_has_one_archive_also_when_groups_are_solved_side_by_side(tmp_path: Path) -> None:
    """--solutions npz writes one file a group, and the rows point to the file that holds their vectors."""
    import numpy as np

    models, out = tmp_path / "models", tmp_path / "out"
    models.mkdir()
    for i in range(20):
        (models / f"a{i}.mps").write_text(SMALL.replace("r1 3", f"r1 {i}"))
        (models / f"b{i}.mps").write_text(SMALL.replace("r1 3", f"r1 {i}").replace("x cost 1 r1 1", "x cost 1 r1 2"))
    assert batchlp("solve", models, "-o", out, "--solutions", "npz", "--jobs", "2").returncode == 0
    rows = rows_in(out)
    files = {str(r["group"]): str(r["solution"]) for r in rows}
    assert len({str(r["solution"]) for r in rows}) == len(files) == len(list((out / "solutions").iterdir())) == 2
    for row in rows:
        with np.load(out / str(row["solution"])) as archive:
            position = archive["name"].tolist().index(row["name"])
            assert archive["x"][position] @ [1.0, 2.0] == pytest.approx(row["objective"])


def test_a_solution_file_holds_the_row_value(tmp_path: Path) -> None:
    """HiGHS reads the .sol file back and finds the objective of the row, also for a maximum with its own dual signs."""
    import highspy

    write(tmp_path, signs_mps=SIGNS)
    out = tmp_path / "out"
    batchlp("solve", tmp_path / "signs.mps", "-o", out)
    (row,) = rows_in(out)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / "signs.mps"))
    assert solver.readSolution(str(out / str(row["solution"])), 0) == highspy.HighsStatus.kOk
    x = solver.getSolution().col_value
    assert sum(c * v for c, v in zip(solver.getLp().col_cost_, x, strict=True)) == pytest.approx(8.0)
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(8.0)


def test_the_report_tells_settings_versions_machine_and_stages(tmp_path: Path) -> None:
    """report.json is complete: state, counts, settings, versions, machine, stage times, groups with the reason."""
    write(tmp_path, a_mps=SMALL)
    out = tmp_path / "out"
    batchlp("solve", tmp_path / "a.mps", "-o", out, "--solutions", "none")
    report = json.loads((out / "report.json").read_text())
    assert report["state"] == "finished"
    assert report["statuses"] == {"optimal": 1}
    assert {"start", "read", "group", "solve", "verify", "write"} <= set(report["stage_times"])
    assert {"highspy", "numpy", "scipy", "python", "batchlp"} <= set(report["versions"])
    assert report["groups"][0]["members"] == 1
    assert report["groups"][0]["choice"]
    assert report["settings"]["tol"] == 1e-6


def test_shards_cover_the_inputs_once(tmp_path: Path) -> None:
    """The rows of all shards together are the rows of the whole, with the same names, by flag and by SLURM's variables."""
    models, out = tmp_path / "models", tmp_path / "out"
    models.mkdir()
    for i in range(7):
        (models / f"m{i}.mps").write_text(SMALL.replace("r1 3", f"r1 {i}"))
    whole = sorted((str(r["name"]), r["objective"]) for r in rows_of(batchlp("solve", models)))
    for i in (1, 2, 3):
        assert batchlp("solve", models, "-o", out, "--shard", f"{i}/3").returncode == 0
    assert sorted((str(r["name"]), r["objective"]) for r in rows_in(out)) == whole
    slurm = [
        r for i in range(3) for r in rows_of(batchlp("solve", models, SLURM_ARRAY_TASK_ID=str(i), SLURM_ARRAY_TASK_COUNT="3"))
    ]
    assert sorted((str(r["name"]), r["objective"]) for r in slurm) == whole


def test_help_and_version_answer() -> None:
    """--help shows examples and exit codes for the program and for each command; --version names the version."""
    for arguments in (["--help"], ["solve", "--help"], ["inspect", "--help"]):
        done = batchlp(*arguments)
        assert done.returncode == 0
        assert b"Examples:" in done.stdout
    assert re.search(rb"batchlp, version \d+\.\d+\.\d+", batchlp("--version").stdout)


def test_completion_is_there() -> None:
    """The shell completion that click provides is reachable under the program's name."""
    done = batchlp(_BATCHLP_COMPLETE="bash_source")
    assert b"_BATCHLP_COMPLETE=bash_complete" in done.stdout


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a file system that nobody may write to")
def test_a_read_only_place_exits_with_5(tmp_path: Path) -> None:
    """A run folder where nothing can be written is an output error that names the folder."""
    write(tmp_path, model_mps=SMALL)
    done = batchlp("solve", tmp_path / "model.mps", "-o", "/sys/kernel/batchlp-run")
    assert done.returncode == 5
    assert b"/sys/kernel/batchlp-run" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_missing_backend_exits_with_4(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A backend whose library is not installed is named, with what to install."""
    import sys

    from batchlp_cli.commands import exit_code_of

    write(tmp_path, model_mps=SMALL)
    monkeypatch.setitem(sys.modules, "batchlp_cli.backends.highs.pool", None)
    assert exit_code_of(["solve", str(tmp_path / "model.mps"), "-q", "--backend", "highs"], 0.0) == 4


def test_a_fault_of_ours_exits_with_70_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An exception that nobody expected is told as our fault, with what to send, and never as a result."""
    import batchlp_cli.solving
    from batchlp_cli.commands import exit_code_of

    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    write(tmp_path, model_mps=SMALL)
    monkeypatch.setattr(batchlp_cli.solving, "verify", broken)
    assert exit_code_of(["solve", str(tmp_path / "model.mps"), "-q"], 0.0) == 70
    told = capfd.readouterr().err
    assert "boom" in told
    assert "report" in told


@pytest.mark.parametrize(
    ("rule", "status", "objective"), [("free", "optimal", -20.0), ("keep", "infeasible", None), ("error", "unreadable", None)]
)
def test_the_rule_for_negative_upper_bounds_is_the_users(rule: str, status: str, objective: float | None) -> None:
    """Where the field disagrees on a negative upper bound without a lower one, --negative-upper decides, in words."""
    (row,) = rows_of(batchlp("solve", DATA / "mps" / "m07_neg_UP_no_LO.mps", "--negative-upper", rule))
    assert (row["status"], row["objective"]) == (status, objective)
    assert row["warnings"] or row["error"]


def test_crossover_makes_optima_of_lanes_basic(tmp_path: Path) -> None:
    """With --crossover a row from lanes has both tries, is basic and verified; without it is not basic."""
    write(tmp_path, model_mps=SMALL)
    plain = batchlp("solve", tmp_path / "model.mps", "--backend", "pdhg", "-q")
    inner = batchlp("solve", tmp_path / "model.mps", "--backend", "pdhg", "--crossover", "-q")
    assert (plain.returncode, inner.returncode) == (0, 0)
    before, after = json.loads(plain.stdout), json.loads(inner.stdout)
    assert (before["backend"], before["basic"]) == ("pdhg", False)
    assert (after["method"], after["basic"], after["verified"]) == ("crossover", True, True)
    assert [attempt["backend"] for attempt in after["attempts"]] == ["pdhg", "highs"]
    assert after["objective"] == pytest.approx(before["objective"], rel=1e-5)


@pytest.mark.parametrize("kind", ["sol", "npz"])
def test_warm_start_from_a_saved_run_takes_almost_no_iterations(tmp_path: Path, kind: str) -> None:
    """Lanes that start from their own solutions are done at the first check."""
    folder = Path(__file__).parents[1] / "sample_instances" / "family"
    first = batchlp("solve", folder, "--backend", "pdhg", "-o", tmp_path / "one", "--solutions", kind, "-q")
    again = batchlp("solve", folder, "--backend", "pdhg", "--warm-start", tmp_path / "one", "-q")
    assert (first.returncode, again.returncode) == (0, 0)
    cold, warm = ({r["name"]: r["iterations"] for r in map(json.loads, d.stdout.splitlines())} for d in (first, again))
    assert sum(warm.values()) * 10 < sum(cold.values())


def test_warm_start_that_does_not_fit_exits_with_2(tmp_path: Path) -> None:
    """A folder that is no run, and a solution of another model, are refused in words."""
    write(tmp_path, model_mps=SMALL)
    assert batchlp("solve", tmp_path / "model.mps", "--warm-start", tmp_path).returncode == 2
    run = tmp_path / "run"
    assert batchlp("solve", tmp_path / "model.mps", "-o", run, "-q").returncode == 0
    (run / "solutions" / "model.mps.sol").write_text("Model status\nOptimal\n")
    done = batchlp("solve", tmp_path / "model.mps", "--warm-start", run, "--backend", "pdhg")
    assert done.returncode == 2
    assert b"--warm-start" in done.stderr
    assert b"model.mps.sol" in done.stderr
