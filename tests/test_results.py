"""The run folder: rows survive any death of the process, none is there twice, nothing is written elsewhere."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.errors import OutputError, UsageError
from batchlp_cli.files.results import RunFolder

Row = dict[str, object]
S = "settings-1"


def open_folder(
    path: Path, *, resume: bool = True, retry_failed: bool = False, shard: tuple[int, int] | None = None, settings: str = S
) -> RunFolder:
    """Opens a run folder, by default to go on."""
    return RunFolder.open(path, resume=resume, retry_failed=retry_failed, shard=shard, settings_digest=settings)


def row(name: str, digest: str = "d", settings: str = S, **more: object) -> Row:
    """Returns a small verified row."""
    basic = {"schema_version": 1, "name": name, "input_digest": digest, "settings_digest": settings, "status": "optimal"}
    return basic | {"verified": True, "solution": None} | more


def fill(path: Path, *rows: Row, shard: tuple[int, int] | None = None) -> None:
    """Writes rows as one run does."""
    folder = open_folder(path, shard=shard)
    for one in rows:
        folder.append(one)
    folder.close()


def rows_in(path: Path) -> list[Row]:
    """Returns all rows of a folder; fails where a line is no JSON."""
    return [json.loads(line) for file in sorted(path.glob("results*.jsonl")) for line in file.read_text().splitlines()]


def names_in(path: Path) -> list[str]:
    """Returns the sorted names of all rows of a folder."""
    return sorted(str(found["name"]) for found in rows_in(path))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    """An open run folder."""
    opened = open_folder(tmp_path / "out", resume=False)
    yield opened
    opened.close()


def test_rows_are_there_as_soon_as_they_are_appended(folder: RunFolder) -> None:
    """A row is on disk, whole, before the next thing happens, and can be read again while the run goes on."""
    for k in range(3):
        folder.append(row(f"m{k}"))
        assert [r["name"] for r in rows_in(folder.path)] == [f"m{j}" for j in range(k + 1)]


def test_of_lines_with_one_name_the_last_counts(tmp_path: Path) -> None:
    """Among lines written together, among later ones, and over a row of an earlier run; a whole file holds each name once."""
    path = tmp_path / "out"
    fill(path, row("a", "old"), row("b"))
    folder = open_folder(path)
    for rows in ([row("a", "first"), row("c"), row("a", "second")], [row("d"), row("c", "later")]):
        folder.append_text([str(one["name"]) for one in rows], "".join(f"{json.dumps(one)}\n" for one in rows))
    assert folder.known_digest("a") is None  # of this run
    assert folder.known_digest("b") == "d"
    folder.forget_parts("d", "nothing")
    folder.close()
    assert {str(r["name"]): r["input_digest"] for r in rows_in(path)} == {"a": "second", "b": "d", "c": "later", "d": "d"}
    assert len(rows_in(path)) == 4


def test_rows_are_strict_json(folder: RunFolder) -> None:
    """NaN and infinity become null at any depth, NumPy's numbers become numbers, and lone surrogates are escaped."""
    folder.append(
        row("a\udcff", gap=float("nan"), tries=[{"x": float("inf")}, np.float64("nan")], n=np.int64(3), f=np.float32(0.5))
    )
    (line,) = (folder.path / "results.jsonl").read_bytes().splitlines()
    assert line.isascii()
    found = json.loads(line, parse_constant=lambda word: pytest.fail(word))
    assert (found["name"], found["gap"], found["tries"], found["n"], found["f"]) == ("a\udcff", None, [{"x": None}, None], 3, 0.5)


def test_earlier_results_need_resume(tmp_path: Path) -> None:
    """A folder with results is refused without resume, in words, and every byte stays; another shard's is not refused."""
    fill(tmp_path, row("a"))
    before = (tmp_path / "results.jsonl").read_bytes()
    for shard in (None, (1, 2)):
        with pytest.raises(UsageError, match=r"--resume.* -o"):
            open_folder(tmp_path, resume=False, shard=shard)
    assert (tmp_path / "results.jsonl").read_bytes() == before
    fill(tmp_path / "s", row("a"), shard=(1, 3))
    open_folder(tmp_path / "s", resume=False, shard=(2, 3)).close()
    for shard in (None, (1, 3), (1, 4)):
        with pytest.raises(UsageError, match=r"results-1-of-3.jsonl"):
            open_folder(tmp_path / "s", resume=False, shard=shard)


def test_a_row_is_reused_for_the_same_bytes_and_settings_only(tmp_path: Path) -> None:
    """A row is of use when input and settings are the same and its solution file is there."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions/a.sol").touch()
    fill(tmp_path, row("a", solution="solutions/a.sol"), row("gone", solution="solutions/gone.sol"), row("old", settings="other"))
    fill(tmp_path, row("null", digest=None))  # type: ignore[arg-type]
    folder = open_folder(tmp_path)
    found = folder.reusable("a", "d")
    assert found is not None
    assert found["solution"] == "solutions/a.sol"
    assert folder.known_digest("a") == "d"
    assert folder.reusable("a", "changed") is None
    for name in ("gone", "old", "null", "unheard of"):
        assert folder.known_digest(name) is None
        assert folder.reusable(name, "d") is None
    folder.append(row("a"))
    assert folder.reusable("a", "d") is None
    folder.close()


def test_retry_failed_leaves_out_what_is_not_verified(tmp_path: Path) -> None:
    """Unverified rows are of use on a plain resume and not with retry_failed."""
    fill(tmp_path, row("good"), row("bad", verified=False))
    for retry in (False, True):
        folder = open_folder(tmp_path, retry_failed=retry)
        assert folder.known_digest("good") == "d"
        assert folder.known_digest("bad") == (None if retry else "d")
        folder.close()


def test_a_new_row_replaces_the_old_one(tmp_path: Path) -> None:
    """After a resume each name has one row, the newest; until then the old row stays, so that nothing is lost before."""
    fill(tmp_path, row("a", "old"), row("b"), row("c", "old"))
    folder = open_folder(tmp_path)
    assert names_in(tmp_path) == ["a", "b", "c"]
    folder.append(row("a", "new"))
    folder.close()
    folder.close()
    assert {str(r["name"]): r["input_digest"] for r in rows_in(tmp_path)} == {"a": "new", "b": "d", "c": "old"}
    assert len(rows_in(tmp_path)) == 3


def test_a_death_at_any_byte_loses_no_whole_row(tmp_path: Path) -> None:
    """Cut the file at every byte, go on: the whole rows before the cut are kept, the others done again, none twice."""
    written = [row("a"), row("b"), row("b", "new"), row("c\udc80")]
    fill(tmp_path / "whole", *written[:1])
    whole = b"".join(json.dumps(r).encode() + b"\n" for r in written)
    for cut in range(len(whole) + 1):
        path = tmp_path / str(cut)
        path.mkdir()
        (path / "results.jsonl").write_bytes(whole[:cut])
        folder = open_folder(path)
        wanted = {str(r["name"]): str(r["input_digest"]) for r in written}
        kept = {name for name, digest in wanted.items() if folder.reusable(name, digest) is not None}
        complete = whole[:cut].count(b"\n")
        assert kept == {name for k, name in ((1, "a"), (3, "b"), (4, "c\udc80")) if complete >= k}
        for name in wanted.keys() - kept:
            folder.append(row(name, wanted[name]))
        folder.close()
        assert {str(r["name"]): str(r["input_digest"]) for r in rows_in(path)} == wanted
        assert len(rows_in(path)) == 3


@pytest.mark.parametrize("tail", [b"\0" * 500, b"\xff\xfe\n", b"{}\n", b"[1]\n{", b'{"name": 3}\n'])
def test_a_garbled_end_is_dropped(tail: bytes, tmp_path: Path) -> None:
    """Whatever stands after the last row is cut off, so that the next row begins a line of its own."""
    fill(tmp_path, row("a"))
    with (tmp_path / "results.jsonl").open("ab") as stream:
        stream.write(tail)
    fill(tmp_path, row("b"))
    assert names_in(tmp_path) == ["a", "b"]


def test_a_foreign_file_is_not_touched(tmp_path: Path) -> None:
    """A results file with something else between its rows is refused with the line's number, and left as it is."""
    fill(tmp_path, row("a"), row("b"))
    results = tmp_path / "results.jsonl"
    results.write_text(results.read_text().replace("\n", "\nhello\n", 1))
    before = results.read_bytes()
    with pytest.raises(OutputError, match=r"results.jsonl, line 2"):
        open_folder(tmp_path)
    assert results.read_bytes() == before


def test_a_run_locks_its_folder(tmp_path: Path) -> None:
    """A second run is refused in words while the first is open; other shards are not, and a run of all is."""
    pytest.importorskip("fcntl")
    first = open_folder(tmp_path / "all")
    for shard in (None, (1, 2)):
        with pytest.raises(OutputError, match="another run"):
            open_folder(tmp_path / "all", shard=shard)
    first.close()
    open_folder(tmp_path / "all").close()
    one = open_folder(tmp_path / "parts", shard=(1, 2))
    open_folder(tmp_path / "parts", shard=(2, 2)).close()
    for shard in (None, (1, 2)):
        with pytest.raises(OutputError, match="another run"):
            open_folder(tmp_path / "parts", shard=shard)
    one.close()


def test_a_killed_run_leaves_no_lock(tmp_path: Path) -> None:
    """A lock ends with its process, also by SIGKILL."""
    code = (
        "import os, sys; from pathlib import Path; from batchlp_cli.files.results import RunFolder\n"
        "RunFolder.open(Path(sys.argv[1]), resume=True, retry_failed=False, shard=None, settings_digest='')\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60, check=False).returncode == -9
    assert (tmp_path / ".lock").exists()
    open_folder(tmp_path).close()


def test_a_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system knows no locks, runs go on without."""
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    fill(tmp_path, row("a"))
    assert names_in(tmp_path) == ["a"]


def test_shards_keep_their_own_files(tmp_path: Path) -> None:
    """Rows, report and archives of a shard carry its number, and resuming reads the rows of all shards."""
    fill(tmp_path, row("a"), shard=(1, 2))
    folder = open_folder(tmp_path, shard=(2, 2))
    folder.append(row("b"))
    folder.write_report({"rows": 1})
    assert folder.free_name("solutions/g", ".npz") == "solutions/g-2-of-2.npz"
    assert folder.known_digest("a") == "d"
    assert folder.reusable("a", "d") == row("a")
    folder.close()
    assert {p.name for p in tmp_path.glob("*.json*")} == {"results-1-of-2.jsonl", "results-2-of-2.jsonl", "report-2-of-2.json"}


def test_a_run_of_all_takes_over_the_rows_of_shards(tmp_path: Path) -> None:
    """Without a shard, resume brings all rows into results.jsonl, each name once, the one of use before the one that is not."""
    fill(tmp_path, row("a"), row("twice", "good"), shard=(1, 2))
    fill(tmp_path, row("b"), shard=(2, 2))
    (tmp_path / "results.jsonl").write_text(
        json.dumps(row("twice", "bad", settings="other")) + "\n" + json.dumps(row("c")) + "\n"
    )
    folder = open_folder(tmp_path)
    assert [p.name for p in tmp_path.glob("results*")] == ["results.jsonl"]
    assert names_in(tmp_path) == ["a", "b", "c", "twice"]
    assert folder.known_digest("twice") == "good"
    folder.append(row("b", "new"))
    folder.close()
    assert {str(r["name"]): r["input_digest"] for r in rows_in(tmp_path)} == {"a": "d", "b": "new", "c": "d", "twice": "good"}


def test_a_row_replaced_from_another_shard_is_not_there_twice(tmp_path: Path) -> None:
    """When a changed input has moved to another shard, its old row leaves the old shard's file, unless that is in use."""
    fill(tmp_path, row("a", "old"), row("b"), shard=(1, 2))
    live = open_folder(tmp_path, shard=(1, 2))
    fill(tmp_path, row("a", "new"), shard=(2, 2))
    assert names_in(tmp_path) == ["a", "a", "b"]
    live.close()
    fill(tmp_path, row("a", "newer"), shard=(2, 2))
    assert {str(r["name"]): r["input_digest"] for r in rows_in(tmp_path)} == {"a": "newer", "b": "d"}


@pytest.mark.parametrize("relative", ["../x", "/tmp/x", "a/../../x", "", "link/x", "a\0b"])
def test_nothing_is_written_outside(relative: str, folder: RunFolder, tmp_path: Path) -> None:
    """Paths that leave the folder, also through a link in it, are refused."""
    (folder.path / "link").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    for _ in range(2):
        with pytest.raises(OutputError, match="leads out of"):
            folder.write_atomic(relative, b"data")
    assert sorted(tmp_path.rglob("*")) == before


def test_files_are_whole_or_not_there(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be renamed into its place leaves the old one and nothing half-written."""
    folder.write_atomic("solutions/sub/a.sol", b"old")

    def replace(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OutputError, match=r"a\.sol: No space left on device; free some space"):
        folder.write_atomic("solutions/sub/a.sol", b"new")
    assert (folder.path / "solutions/sub/a.sol").read_bytes() == b"old"
    assert {p.name for p in folder.path.rglob("*") if p.is_file()} == {"a.sol", "results.jsonl", ".lock"}


def test_half_written_files_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    """What a killed run was writing is gone after the next run has begun."""
    for name in (".part", ".part-1-of-2"):
        (tmp_path / name).write_bytes(b"half")
    open_folder(tmp_path).close()
    assert not list(tmp_path.glob(".part*"))


def test_a_full_disk_leaves_whole_rows(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full in the middle of a row, the row is taken back and the error says what to do; later rows fit again."""
    folder.append(row("a"))
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if len(data) > 20:
            return real(fd, bytes(data[:20]))
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(OutputError, match=r"results\.jsonl: No space left on device; free some space"):
            folder.append(row("b" * 100))
    folder.append(row("c"))
    assert names_in(folder.path) == ["a", "c"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_really_full_device_is_an_output_error(folder: RunFolder) -> None:
    """The error of a device that is full in fact arrives as an OutputError."""
    (folder.path / ".part").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left"):
        folder.write_report({"rows": 0})
    assert not (folder.path / "report.json").exists()


@pytest.mark.parametrize(
    ("code", "advice"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "may not write"), (errno.EDQUOT, "quota"), (errno.EIO, "resume")],
)
def test_a_folder_that_cannot_be_made_says_what_to_do(
    code: int, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the system refuses is told with the path, the reason and a way out."""

    def mkdir(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(OutputError, match=f"out: {os.strerror(code)}; .*{advice}"):
        open_folder(tmp_path / "out")


@pytest.mark.parametrize(
    "prepare", [Path.touch, lambda p: os.mkfifo(p), lambda p: p.symlink_to("nowhere")], ids=["file", "fifo", "link"]
)
def test_what_is_no_folder_or_file_is_refused(prepare: Callable[[Path], None], tmp_path: Path) -> None:
    """A file where the folder should be, and anything but a file where the results should be, is an output error at once."""
    prepare(tmp_path / "out")
    with pytest.raises(OutputError):
        open_folder(tmp_path / "out/below" if prepare is Path.touch else tmp_path / "out")
    if prepare is not Path.touch:
        (tmp_path / "run").mkdir()
        prepare(tmp_path / "run/results.jsonl")
        with pytest.raises(OutputError, match="no regular file"):
            open_folder(tmp_path / "run")


def test_a_failed_opening_releases_the_lock(tmp_path: Path) -> None:
    """After a refusal the folder can be opened at once."""
    fill(tmp_path, row("a"))
    with pytest.raises(UsageError):
        open_folder(tmp_path, resume=False)
    open_folder(tmp_path).close()


def test_a_free_name_meets_no_file_no_row_and_no_earlier_name(tmp_path: Path) -> None:
    """A name that a lost archive had is not given again, as rows still point to it."""
    fill(tmp_path, row("a", solution="solutions/g.npz"))
    folder = open_folder(tmp_path)
    folder.write_atomic("solutions/g-2.npz", b"there")
    assert [folder.free_name("solutions/g", ".npz") for _ in range(2)] == ["solutions/g-3.npz", "solutions/g-4.npz"]
    folder.close()


def test_the_report_is_replaced_as_a_whole(folder: RunFolder) -> None:
    """report.json is strict JSON and holds the last report."""
    folder.write_report({"state": "begun"})
    folder.write_report({"state": "finished", "time": float("inf"), "groups": [{"rows": 1}]})
    assert json.loads((folder.path / "report.json").read_text()) == {"state": "finished", "time": None, "groups": [{"rows": 1}]}
