"""Rows on disk: JSON lines that are only ever appended to, and of two rows with one name the later counts.

A run that is killed leaves at worst half a line at the end, which is dropped when the file is loaded. Rows are kept as
places in their files, not in memory. Which rows are of use, and how errors are told to a user, is decided in results.py;
here OSError passes through.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

Row = dict[str, object]
OWN = 0
"""Number of the file that is appended to; files that are only read follow."""


class DamagedLedger(ValueError):
    """A line in the middle of a file of rows is no row, so that the file is not what a killed run leaves."""


class Place(NamedTuple):
    """Where the row of a name is, the digest of its input, and whether it may stand for a new one."""

    file: int
    offset: int
    size: int
    digest: str | None
    usable: bool


class Ledger:
    """The rows of a run folder: one file to append to and any number to read from.

    usable tells of a row whether it may be used again. part is where a file is written before it replaces another one.
    """

    def __init__(self, own: Path, part: Path, usable: Callable[[Row], bool]) -> None:
        self._paths, self._part, self._usable = [own], part, usable
        self._places: dict[str, Place] = {}  # of rows that were loaded
        self._new: dict[str, int] = {}  # of those that were appended, which may be millions: where each begins
        self._streams: list[BinaryIO | None] = [None]
        self._ends = [0]
        self._stale: set[int] = set()
        self._fd = -1

    def load(self, path: Path) -> None:
        """Reads which rows a file holds; to be called for the own file last. Raises OSError and DamagedLedger."""
        own = path == self._paths[OWN]
        number = OWN if own else len(self._paths)
        stream = path.open("rb")
        if own:
            self._streams[OWN] = stream
        else:
            self._paths.append(path)
            self._streams.append(stream)
            self._ends.append(0)
        for offset, line, row in rows_in(stream, path):
            digest = row.get("input_digest")
            self._put(
                str(row["name"]),
                Place(number, offset, len(line), digest if isinstance(digest, str) else None, self._usable(row)),
            )
            self._ends[number] = offset + len(line)

    def _put(self, name: str, place: Place) -> None:
        """Keeps the place of a row unless a usable one in another file would be lost for one that is not."""
        old = self._places.get(name)
        if old is not None and old.file != place.file and old.usable and not place.usable and self._fd < 0:
            self._stale.add(place.file)
            return
        if old is not None:
            self._stale.add(old.file)
        self._places[name] = place

    def merge(self) -> None:
        """Moves the rows of all loaded files into the own file, and then deletes the other ones."""
        order = sorted(self._places.items(), key=lambda item: item[1][:2])
        write_beside(self._part, self._paths[OWN], (self._bytes(place) for _, place in order))
        others = self._paths[1:]
        self._close_streams()
        self._paths, self._streams, self._ends = self._paths[:1], [None], [0]
        self._places.clear()
        self._stale.clear()
        self.load(self._paths[OWN])
        for path in others:
            path.unlink()

    def start(self) -> None:
        """Opens the own file for new rows and cuts off half a line at its end."""
        self._fd = os.open(self._paths[OWN], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        if os.fstat(self._fd).st_size > self._ends[OWN]:
            os.ftruncate(self._fd, self._ends[OWN])

    def append(self, rows: Sequence[Row]) -> None:
        """Writes rows at the end of the own file, all or, with OSError, none."""
        self.append_text([str(row["name"]) for row in rows], "".join(f"{encode_row(row)}\n" for row in rows))

    def append_text(self, names: Sequence[str], text: str) -> None:
        """Writes the rows of these names, which are JSON in ASCII, a line each with its end, as `append` does."""
        end, data = self._ends[OWN], text.encode("ascii")
        try:
            write_all(self._fd, data)
        except OSError:
            os.ftruncate(self._fd, end)
            raise
        behind = end + 1 + np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
        offsets = [end, *behind.tolist()]
        self._ends[OWN] = offsets.pop()
        if not (self._new.keys().isdisjoint(names) and self._places.keys().isdisjoint(names)):
            self.forget(names)
        if len(set(names)) < len(names):  # of these, too, the last counts
            self._stale.add(OWN)
        self._new.update(zip(names, offsets, strict=True))

    def digest(self, name: str) -> str | None:
        """Returns the digest of the input whose row may be used again, or None where there is no such row."""
        place = self._places.get(name)
        return place.digest if place is not None and place.usable else None

    def row(self, name: str) -> Row:
        """Reads the row of a name from its file."""
        line = self._line(self._new[name]) if name in self._new else self._bytes(self._places[name])
        row: Row = json.loads(line)
        return row

    def forget(self, names: Iterable[str]) -> None:
        """Drops the rows of these names, where there are any; they leave their files when those are compacted."""
        for name in names:
            place = self._places.pop(name, None)
            if place is not None:
                self._stale.add(place.file)
            if self._new.pop(name, None) is not None:
                self._stale.add(OWN)

    def names(self) -> list[str]:
        """Returns the names that have a row."""
        return [*self._places, *self._new]

    def compact(self, may_rewrite: Callable[[Path], bool]) -> None:
        """Rewrites the files that hold rows which later ones replaced; another file than the own only if that is allowed.

        Nothing can be appended or read afterwards. A file that has changed since it was loaded is left alone.
        """
        stale, self._stale = self._stale, set()
        for number in sorted(stale):
            path, stream = self._paths[number], self._streams[number]
            if number != OWN and (stream is None or not may_rewrite(path) or _changed(path, stream, self._ends[number])):
                continue
            write_beside(self._part, path, self._lines_of(number))

    def _lines_of(self, number: int) -> Iterator[bytes]:
        """Yields the rows of a file that count, in its order."""
        yield from map(self._bytes, sorted(place for place in self._places.values() if place.file == number))
        if number == OWN:
            yield from map(self._line, sorted(self._new.values()))

    def close(self) -> None:
        """Closes all files; may be called twice."""
        self._close_streams()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _close_streams(self) -> None:
        for stream in self._streams:
            if stream is not None:
                stream.close()

    def _line(self, offset: int) -> bytes:
        """Returns the row of the own file that begins there."""
        stream = self._streams[OWN] = self._streams[OWN] or self._paths[OWN].open("rb")
        stream.seek(offset)
        return stream.readline()

    def _bytes(self, place: Place) -> bytes:
        stream = self._streams[place.file]
        assert stream is not None, "a file with rows has been loaded"
        stream.seek(place.offset)
        return stream.read(place.size)


def rows_in(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes, Row]]:
    """Yields (offset, line, row) of all rows; ends quietly before a damaged end, raises DamagedLedger before a damaged middle."""
    offset, damaged = 0, 0
    for number, line in enumerate(stream, 1):
        row = _parse(line)
        if row is None:
            damaged = damaged or number
        elif damaged:
            raise DamagedLedger(f"{path}, line {damaged}: this is no row of results, but rows follow it")
        else:
            yield offset, line, row
        offset += len(line)


def _parse(line: bytes) -> Row | None:
    """Returns the row that a line holds, or None where it is no whole row."""
    try:
        row = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("name"), str) else None


def _changed(path: Path, stream: BinaryIO, end: int) -> bool:
    """Tells whether a path is no longer the very file that was loaded."""
    now, then = path.stat(), os.fstat(stream.fileno())
    return (now.st_ino, now.st_dev) != (then.st_ino, then.st_dev) or now.st_size != end


_encode = json.JSONEncoder(allow_nan=False).encode  # made once, since json.dumps makes one a call


def encode_row(row: Row) -> str:
    """Returns a row as one line of strict JSON in ASCII, without the line's end; NaN and infinity become null."""
    try:
        text = _encode(row)
    except (ValueError, TypeError):
        text = json.dumps(_strict(row), allow_nan=False)
    return text


def _strict(value: object) -> object:
    match value:
        case dict():
            return {str(key): _strict(item) for key, item in value.items()}
        case list() | tuple():
            return [_strict(item) for item in value]
        case np.generic() | np.ndarray():
            return _strict(value.tolist())
        case float():
            return value if math.isfinite(value) else None
        case _:
            return value


def write_all(fd: int, data: bytes) -> None:
    """Writes all bytes: with one call where the system takes them at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def replace_file(target: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file that stands alone, beside its place and renamed, without waiting for the disk."""
    write_beside(target.with_name(f".part-{target.name}"), target, chunks, durable=False)


def write_beside(part: Path, target: Path, chunks: Iterable[bytes], *, durable: bool = True) -> None:
    """Writes a file beside and renames it into its place, so that the target is at all times the old or the new file.

    durable: also wait until the bytes are on the disk, so that this holds after a power failure, too.
    """
    try:
        with part.open("wb") as stream:
            stream.writelines(chunks)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(part, target)
    except OSError:
        part.unlink(missing_ok=True)
        raise
