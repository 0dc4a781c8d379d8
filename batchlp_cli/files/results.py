"""The run folder: results as they finish, files written beside and renamed, one run at a time, and going on after a crash.

    results.jsonl   a line an instance     .lock   held while a run writes here
    report.json     about the run          .part   a file that is being written, renamed when it is complete
    solutions/      see write.py

The files of shard i of n carry -i-of-n in their names, so that shards write into one folder at the same time.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from batchlp_cli.errors import OutputError, UsageError
from batchlp_cli.files.frames import results_parquet
from batchlp_cli.files.ledger import DamagedLedger, Ledger, Row, encode_row, write_beside

try:
    import fcntl
except ImportError:  # Windows: runs are not kept apart there
    fcntl = None  # type: ignore[assignment]

_SHARDED = re.compile(r"results-\d+-of-(\d+)\.jsonl\Z")
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_ADVICE = {
    errno.ENOSPC: "free some space, then go on with --resume",
    errno.EDQUOT: "your quota is used up: free some space, then go on with --resume",
    errno.EFBIG: "the system limits the size of files (ulimit -f): raise the limit, then go on with --resume",
    errno.EROFS: "this place is read-only: choose another folder with -o",
    errno.EACCES: "you may not write there: choose another folder with -o, or ask for the permission",
    errno.EPERM: "you may not write there: choose another folder with -o, or ask for the permission",
    errno.ENOTDIR: "a part of this path is a file: choose another folder with -o",
    errno.EEXIST: "there is a file of this name: choose another folder with -o",
    errno.ENAMETOOLONG: "choose a folder with a shorter path with -o",
}


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turns an OSError of the block into an OutputError that says what, where and what to do."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "see to it, then go on with --resume, or choose another folder with -o")
        raise OutputError(f"cannot write {path}: {error.strerror or error}; {advice}") from error


class RunFolder:
    """A folder that a run writes its results into; made by `open`, released by `close`. For one thread."""

    def __init__(self, path: Path, tag: str, settings_digest: str, retry_failed: bool) -> None:
        self.path = path
        self._tag, self._settings_digest, self._retry_failed = tag, settings_digest, retry_failed
        self._results = path / f"results{tag}.jsonl"
        self._part = path / f".part{tag}"
        self._ledger = Ledger(self._results, self._part, self._usable)
        self._solutions: dict[str, bool] = {}
        self._parents: set[Path] = set()
        self._cleanup = ExitStack()

    @classmethod
    def open(
        cls, path: Path, *, resume: bool, retry_failed: bool, shard: tuple[int, int] | None, settings_digest: str
    ) -> RunFolder:
        """Makes the folder if there is none, locks it, and loads what an earlier run has left.

        With resume, rows of the same input bytes and settings can be used again if the solution file that they name is
        there (with retry_failed: if they are verified, too); others stay until a new row replaces them. A run without
        a shard takes the rows of all shards into its own file. Raises UsageError where results are there and resume is
        not asked for, and OutputError where the folder is in use by another run or cannot be written.
        """
        folder = cls(path, "" if shard is None else f"-{shard[0]}-of-{shard[1]}", settings_digest, retry_failed)
        with ExitStack() as undo:
            undo.callback(folder._cleanup.close)
            with output_errors(path):
                path.mkdir(parents=True, exist_ok=True)
            folder._lock()
            folder._begin(resume)
            undo.pop_all()
        return folder

    def _begin(self, resume: bool) -> None:
        """Loads the rows of earlier runs, removes what they left half-written, and opens the own file for new rows."""
        self._cleanup.callback(self._ledger.close)
        with output_errors(self._results):
            if os.path.lexists(self._results) and not self._results.is_file():
                raise OutputError(f"{self._results} is no regular file; remove it, or choose another folder with -o")
            earlier = [p for p in self.path.glob("results*.jsonl") if p.is_file() and p.stat().st_size > 0]
            if not resume:
                self._refuse_to_mix(earlier)
                earlier = []
            for leftover in [self._part] if self._tag else self.path.glob(".part*"):
                leftover.unlink(missing_ok=True)
            self._load(sorted(earlier, key=lambda p: (p == self._results, p.name)))
            self._ledger.start()

    def _load(self, earlier: list[Path]) -> None:
        try:
            for path in earlier:
                self._ledger.load(path)
        except DamagedLedger as error:
            raise OutputError(f"cannot go on: {error}; remove that line, or choose another folder with -o") from error
        if not self._tag and any(path != self._results for path in earlier):
            self._ledger.merge()

    def _refuse_to_mix(self, earlier: list[Path]) -> None:
        """Raises UsageError where earlier results are there, unless they are those of other shards of the same run."""
        count = self._tag.rpartition("-")[2]
        for path in earlier:
            found = _SHARDED.match(path.name)
            if path == self._results or not (self._tag and found and found[1] == count):
                raise UsageError(
                    f"{self.path} already holds results ({path.name}); add --resume to go on with them, "
                    "or choose another folder with -o"
                )

    def _usable(self, row: Row) -> bool:
        solution = row.get("solution")
        if isinstance(solution, str) and solution not in self._solutions:
            self._solutions[solution] = (self.path / solution).is_file()
        present = solution is None or self._solutions.get(str(solution), False)
        wanted = row.get("verified") is True or not self._retry_failed
        return present and wanted and row.get("settings_digest") == self._settings_digest

    def known_digest(self, name: str) -> str | None:
        """Returns the digest of the input for which a row can be used again, or None where there is no such row."""
        return self._ledger.digest(name)

    def reusable(self, name: str, input_digest: str) -> Row | None:
        """Returns the row of an earlier run if it can be used again for an input with this digest."""
        known = self._ledger.digest(name)
        if known is None or known != input_digest:
            return None
        with output_errors(self._results):
            return self._ledger.row(name)

    def forget_parts(self, name: str, shown: str) -> None:
        """Drops the rows that an earlier study has left of the candidates, columns or rows of a model that is studied anew."""
        with output_errors(self._results):
            parts = [part for part in self._ledger.names() if part.startswith(f"{name}:")]
            self._ledger.forget(part for part in parts if self._ledger.row(part).get("input") == shown)

    def append(self, *rows: Row) -> None:
        """Adds rows, which have at least a name; each replaces an earlier row of that name."""
        with output_errors(self._results):
            self._ledger.append(rows)

    def append_text(self, names: Sequence[str], text: str) -> None:
        """Adds the rows of these names, which are JSON in ASCII, a line each with its end, as `append` does."""
        with output_errors(self._results):
            self._ledger.append_text(names, text)

    def write_atomic(self, relative: str, data: bytes) -> None:
        """Writes a file in the folder so that it is there as a whole or not at all; makes the folders that it needs."""
        target = self.path / relative
        with output_errors(target):
            self._check_inside(relative, target)
            write_beside(self._part, target, [data], durable=False)

    def write_report(self, report: Row) -> None:
        """Writes report.json, in a shard report-i-of-n.json."""
        target = self.path / f"report{self._tag}.json"
        text = json.dumps(json.loads(encode_row(report)), indent=2)
        with output_errors(target):
            write_beside(self._part, target, [text.encode("ascii"), b"\n"])

    def write_parquet(self, fields: tuple[str, ...]) -> None:
        """Writes results.parquet, in a shard results-i-of-n.parquet, from the rows that are there."""
        target = self._results.with_suffix(".parquet")
        with output_errors(target):
            results_parquet(self._results, self._part, fields)
            os.replace(self._part, target)

    def free_name(self, stem: str, suffix: str) -> str:
        """Returns a relative path that no file has, no row names and no earlier call returned: stem, shard, number, suffix."""
        number = 1
        while True:
            relative = f"{stem}{self._tag}{f'-{number}' if number > 1 else ''}{suffix}"
            if relative not in self._solutions and not os.path.lexists(self.path / relative):
                self._solutions[relative] = False
                return relative
            number += 1

    def close(self) -> None:
        """Drops rows that later ones replaced, closes the files and lets other runs in; may be called twice."""
        with self._cleanup, output_errors(self._results):
            self._ledger.compact(self._lock_shard_of)

    def _check_inside(self, relative: str, target: Path) -> None:
        """Makes the target's parent; raises OutputError where the target would lie outside of the folder."""
        pure = PurePosixPath(relative)
        parent = target.parent
        outside = pure.is_absolute() or not pure.parts or ".." in pure.parts or "\0" in relative
        if not outside and parent not in self._parents:
            parent.mkdir(parents=True, exist_ok=True)
            outside = not parent.resolve().is_relative_to(self.path.resolve())
            self._parents.add(parent)
        if outside:
            self._parents.discard(parent)
            raise OutputError(f"refused to write {relative!r}, which leads out of {self.path}; remove the link, if it is one")

    def _lock(self) -> None:
        """Takes the folder for this run, or only its shard of it."""
        self._take_lock(self.path / ".lock", shared=bool(self._tag))
        if self._tag:
            self._take_lock(self.path / f".lock{self._tag}", shared=False)

    def _take_lock(self, path: Path, *, shared: bool) -> None:
        if not _try_lock(path, shared, self._cleanup):
            raise OutputError(
                f"another run is writing into {self.path} ({path.name} is locked); wait for its end, or choose another folder "
                "with -o"
            )

    def _lock_shard_of(self, results: Path) -> bool:
        """Takes the lock of another shard's file until this run ends; tells whether nobody else has it."""
        return _try_lock(self.path / f".lock{results.stem.removeprefix('results') or '-whole'}", False, self._cleanup)


def _try_lock(path: Path, shared: bool, release: ExitStack) -> bool:
    """Locks a file without waiting, until `release` is closed; False where another process has it.

    True also where the file system or the system knows no locks: then runs are not kept apart.
    """
    with output_errors(path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    release.callback(os.close, fd)
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_LOCKS
    return True
