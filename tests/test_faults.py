"""Fault injection on whole runs: killed, interrupted, disk full, hanging and hostile files. Nothing is lost, none twice."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command import batchlp, command_line, environment, rows_in, rows_of

SMALL = "NAME t\nROWS\n N cost\n G r1\nCOLUMNS\n x cost 1 r1 1\n y cost 2 r1 1\nRHS\n rhs r1 3\nENDATA\n"
MANY = 1500  # so many that a run is not over before a signal reaches it, also on a busy machine


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder of many small related models."""
    folder = tmp_path / "models"
    folder.mkdir()
    for i in range(MANY):
        (folder / f"m{i:04d}.mps").write_text(SMALL.replace("r1 3", f"r1 {i}"))
    return folder


def start(models: Path, out: Path) -> subprocess.Popen[bytes]:
    """Starts a run in small windows, so that rows come early, and waits until some are on disk."""
    command = command_line("solve", models, "-o", out, "--jobs", "2", "--memory", "1M")
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(), start_new_session=True)
    deadline = time.monotonic() + 60
    results = out / "results.jsonl"
    while time.monotonic() < deadline and run.poll() is None:
        if results.exists() and results.stat().st_size > 2000:
            break
        time.sleep(0.002)
    return run


def check_complete(models: Path, out: Path) -> None:
    """The run folder holds one row an input, each with its value and its solution file, and nothing half-written."""
    rows = rows_in(out)
    assert sorted(str(r["name"]) for r in rows) == sorted(p.name for p in models.iterdir())
    for row in rows:
        assert row["objective"] == float(str(row["name"])[1:5])
        assert "Optimal" in (out / str(row["solution"])).read_text()
    stray = [p for p in out.rglob("*") if p.is_file() and p.suffix not in {".sol", ".jsonl", ".json"} and p.name != ".lock"]
    assert stray == []


def test_kill_9_then_resume_loses_no_row_and_repeats_none(models: Path, tmp_path: Path) -> None:
    """After kill -9 of the whole process group, --resume completes the folder: no row lost, none twice, no half file."""
    out = tmp_path / "out"
    run = start(models, out)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    kept = (out / "results.jsonl").read_bytes().count(b"\n")
    assert 0 < kept < MANY
    done = batchlp("solve", models, "-o", out, "--resume")
    assert done.returncode == 0
    assert len(rows_of(done)) == MANY
    check_complete(models, out)


def test_a_garbled_end_of_the_results_is_repaired(models: Path, tmp_path: Path) -> None:
    """A half-written last line is dropped on --resume and its instance solved again."""
    out = tmp_path / "out"
    batchlp("solve", models, "-o", out)
    results = out / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-100])
    assert batchlp("solve", models, "-o", out, "--resume").returncode == 0
    check_complete(models, out)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_keeps_what_is_finished(models: Path, tmp_path: Path, number: int, code: int) -> None:
    """SIGINT and SIGTERM end the run within 10 seconds with 130 and 143; the folder says so and --resume completes it."""
    out = tmp_path / "out"
    run = start(models, out)
    begun = time.monotonic()
    os.killpg(run.pid, number)
    _, stderr = run.communicate(timeout=30)
    assert time.monotonic() - begun < 10
    assert run.returncode == code, stderr.decode()
    assert b"Traceback" not in stderr
    rows = rows_in(out)
    assert 0 < len(rows) < MANY
    report = json.loads((out / "report.json").read_text())
    assert (report["state"], report["rows"]) == ("interrupted", len(rows))
    assert batchlp("solve", models, "-o", out, "--resume").returncode == 0
    check_complete(models, out)


def test_a_changed_file_is_solved_again_on_resume(models: Path, tmp_path: Path) -> None:
    """--resume compares bytes: a changed input gets a new row in place of the old one, the others are not solved again."""
    out = tmp_path / "out"
    batchlp("solve", models, "-o", out)
    (models / "m0000.mps").write_text(SMALL.replace("r1 3", "r1 77"))
    before = {str(r["name"]): r for r in rows_in(out)}
    batchlp("solve", models, "-o", out, "--resume")
    after = {str(r["name"]): r for r in rows_in(out)}
    assert len(after) == MANY == len(rows_in(out))
    assert after.pop("m0000.mps")["objective"] == 77.0
    before.pop("m0000.mps")
    assert after == before


def test_a_folder_with_results_is_not_overwritten(models: Path, tmp_path: Path) -> None:
    """A second run into the same folder without --resume is refused and leaves every byte."""
    out = tmp_path / "out"
    batchlp("solve", models, "-o", out)
    before = (out / "results.jsonl").read_bytes()
    refused = batchlp("solve", models, "-o", out)
    assert refused.returncode == 2
    assert b"--resume" in refused.stderr
    assert (out / "results.jsonl").read_bytes() == before


def test_retry_failed_solves_only_what_has_no_verdict(tmp_path: Path) -> None:
    """--retry-failed takes up rows without a verified verdict again and keeps the others."""
    models, out = tmp_path / "models", tmp_path / "out"
    models.mkdir()
    transport = (Path(__file__).parent / "data" / "n01_transport8.lp").read_text()
    (models / "easy.mps").write_text(SMALL)
    (models / "limited.lp").write_text(transport)
    limits = ("--iteration-limit", "0", "--format", "jsonl")
    batchlp("solve", models, "-o", out, *limits)
    before = {str(r["name"]): r for r in rows_in(out)}
    assert {n: r["status"] for n, r in before.items()} == {"easy.mps": "optimal", "limited.lp": "iteration_limit"}
    kept = batchlp("solve", models, "-o", out, "--resume", *limits)
    assert kept.returncode == 1
    assert {str(r["name"]): r for r in rows_of(kept)} == before
    again = batchlp("solve", models, "-o", out, "--retry-failed", *limits)
    after = {str(r["name"]): r for r in rows_of(again)}
    assert after["easy.mps"] == before["easy.mps"]
    assert after["limited.lp"]["read_time"] != before["limited.lp"]["read_time"]
    assert len(rows_in(out)) == 2


def test_a_full_disk_is_an_output_error(models: Path, tmp_path: Path) -> None:
    """When the disk is full (here: a limit on file sizes) the run ends with exit code 5 and says which file."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # noqa: E731
    done = subprocess.run(
        command_line("solve", models, "-o", tmp_path / "out", "--solutions", "none"),
        capture_output=True,
        env=environment(),
        preexec_fn=limit,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5, done.stderr.decode()
    assert b"results.jsonl" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_compression_bomb_ends_in_a_row(tmp_path: Path) -> None:
    """A small file that unpacks to far more than --max-file-size gives an unreadable row; the rest goes on."""
    (tmp_path / "bomb.mps.gz").write_bytes(gzip.compress(bytes(100 << 20)))
    (tmp_path / "good.mps").write_text(SMALL)
    rows = {Path(str(r["input"])).name: r for r in rows_of(batchlp("solve", tmp_path, "--max-file-size", "10M"))}
    assert rows["bomb.mps.gz"]["status"] == "unreadable"
    assert "max-file-size" in str(rows["bomb.mps.gz"]["error"])
    assert rows["good.mps"]["objective"] == 3.0


def test_a_killed_worker_costs_nothing(models: Path, tmp_path: Path) -> None:
    """Workers that are killed from outside are replaced; every input still gets its one row."""
    out = tmp_path / "out"
    run = start(models, out)
    for worker in workers_of(run.pid):
        os.kill(worker, signal.SIGKILL)
    _, stderr = run.communicate(timeout=60)
    assert run.returncode == 0, stderr.decode()
    check_complete(models, out)


def workers_of(session: int) -> list[int]:
    """Returns the worker processes of a run: the grandchildren below its fork server."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    children = {p for p, parent in parents.items() if parent == session}
    return [p for p, parent in parents.items() if parent in children]
