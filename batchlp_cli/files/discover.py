"""Turns the paths of a command line into inputs, one for every mention of a model, before anything is read.

What cannot be read becomes an input with a problem, so that it has its row; nothing here ever waits for a pipe or opens a
file.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice

from batchlp_cli.errors import UsageError
from batchlp_cli.files.inputs import Compression, Input, ModelFormat, compression_of, format_of, printable
from batchlp_cli.files.names import safe_names
from batchlp_cli.files.patterns import expand, fixed_folder, has_magic
from batchlp_cli.files.tree import IS_FOLDER, Skip, Skips, link_problem, reason, special_problem, walk

__all__ = ["Discovery", "Input", "discover", "read_file_list", "shard_inputs"]

MOST_SUGGESTIONS = 10
"""Missing paths that get a suggestion: a list of a million wrong paths shall not take a million searches."""

MOST_COMPARED = 5000
"""Names in a folder that a missing one is compared with."""

STDIN = "-"
EXPECTED = "expected a name that ends in .mps or .lp, also packed as .gz, .bz2 or .zst"


@dataclass(frozen=True, slots=True)
class Discovery:
    """All inputs in the order of the command line, and sentences about what was skipped or taken in an unexpected way."""

    inputs: tuple[Input, ...]
    notes: tuple[str, ...] = ()

    @property
    def readable(self) -> list[Input]:
        """The inputs to read: those without a problem, each file once."""
        return [i for i in self.inputs if i.duplicate_of is None and not i.problem]


def discover(paths: Sequence[str], *, input_format: ModelFormat | None = None) -> Discovery:
    """Returns one input for every model that the paths mention: files, folders, patterns, or - for stdin.

    input_format: the format of stdin and of files whose ending does not tell. Folders are walked recursively, their
    models sorted by the bytes of their paths. The second mention of a file that can be read is a duplicate of the first.
    """
    finder = _Finder(input_format)
    for path in paths:
        finder.add(path)
    return Discovery(_as_inputs(finder.mentions), finder.skips.notes())


def read_file_list(data: bytes, *, null: bool) -> list[str]:
    """Returns the paths in a list of files: one a line, or each ended by a NUL byte. Blank ones are left out.

    Bytes that are no UTF-8 are kept as os.fsdecode keeps them. A path - is a file of that name, as stdin is no model here.
    """
    pieces = data.split(b"\0") if null else [line.rstrip(b"\r") for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [f"./{STDIN}" if piece == b"-" else os.fsdecode(piece) for piece in pieces if piece.strip()]


def shard_inputs(discovery: Discovery, i: int, n: int) -> Discovery:
    """Returns the i-th of n parts of the inputs (1 <= i <= n), the same on every machine that sees the same paths.

    Files are dealt out in the order of the bytes of their paths, whatever order they were given in. Duplicates go with their
    original. Indices and names are those of the full list.
    """
    if not 1 <= i <= n:
        raise UsageError(f"shard {i}/{n} does not exist; expected i/n with i from 1 to n")
    first_path: dict[int, bytes] = {}
    for found in discovery.inputs:
        original, key = _original(found), os.fsencode(found.path or STDIN)
        first_path[original] = min(key, first_path.get(original, key))
    dealt = sorted(first_path, key=lambda original: (first_path[original], original))
    mine = set(dealt[i - 1 :: n])
    return replace(discovery, inputs=tuple(found for found in discovery.inputs if _original(found) in mine))


def _original(found: Input) -> int:
    return found.index if found.duplicate_of is None else found.duplicate_of


@dataclass(frozen=True, slots=True)
class _Mention:
    """An input before it has a name and a number. label: what its name is made of; resolved: the real path."""

    path: str | None
    label: str
    resolved: str = ""
    format: ModelFormat | None = None
    compression: Compression = Compression.NONE
    problem: str = ""


class _Finder:
    """Collects the mentions of models, path by path."""

    def __init__(self, input_format: ModelFormat | None) -> None:
        self.input_format = input_format
        self.mentions: list[_Mention] = []
        self.skips = Skips()
        self._suggestions_left = MOST_SUGGESTIONS
        self._real_folders: dict[str, str] = {}

    def add(self, path: str) -> None:
        """Takes one path of the command line or of a list of files."""
        if path == STDIN:
            problem = "" if self.input_format else "a model on stdin needs its format: add --input-format mps or lp"
            self.mentions.append(_Mention(None, "stdin", STDIN, self.input_format, problem=problem))
        elif not path:
            self._refuse(path, "the path is empty; expected a file, a folder or a pattern")
        elif "\0" in path:
            self._refuse(path, "the path holds a NUL byte; where a list of files is written with NUL bytes, add --null")
        else:
            self._look(path, _label(path))

    def _look(self, path: str, label: str) -> None:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            self._without(path, error)
            return
        if stat.S_ISDIR(mode):
            self._take_folder(path, label)
        elif not stat.S_ISREG(mode):
            self._refuse(path, special_problem(mode))
        elif not os.access(path, os.R_OK):
            self._refuse(path, "permission denied; you may not read this file")
        else:
            self._take_file(path, label)

    def _take_file(self, path: str, label: str) -> None:
        known = format_of(path)
        if known is None and self.input_format is not None:
            known = self.input_format, compression_of(path)
        if known is None:
            self._refuse(path, f"the format is unknown; {EXPECTED}; or tell it with --input-format mps or lp")
        else:
            self.mentions.append(_Mention(path, label, self._resolve(path), *known))

    def _resolve(self, path: str) -> str:
        """Returns the real path of a regular file; asks once for each folder."""
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        return os.path.join(self._real_folders[folder], name)

    def _take_folder(self, path: str, label: str) -> None:
        leaves = walk(path, self.skips)
        is_model = format_of(path.rstrip("/")) is not None
        if not leaves and is_model:
            self._refuse(path, IS_FOLDER)
        elif not leaves:
            self.skips.add(Skip.EMPTY, path)
        elif is_model:
            self.skips.add(Skip.MODEL_FOLDER, path)
        here = path in (".", "./")
        for leaf in leaves:
            full = leaf.relative if here and leaf.relative else os.path.join(path, leaf.relative)
            kind, packed = format_of(leaf.relative) or (None, Compression.NONE)
            self.mentions.append(_Mention(full, leaf.relative or label, leaf.resolved, kind, packed, leaf.problem))

    def _without(self, path: str, error: OSError) -> None:
        """Takes a path at which there is nothing that could be looked at."""
        absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
        if os.path.islink(path):
            self._refuse(path, link_problem(path, error))
        elif absent and has_magic(path):
            self._take_pattern(path)
        else:
            self._refuse(path, reason(error) + (self._suggestion(path) if absent else ""))

    def _take_pattern(self, pattern: str) -> None:
        fixed = fixed_folder(pattern)
        keep = _label(f"{fixed}x") == f"{fixed}x"
        matches = expand(pattern)
        for match in matches:
            self._look(match, match if keep else match[len(fixed) :])
        if not matches:
            self._refuse(pattern, "no file matches this pattern; see which files there are, and quote the pattern if needed")

    def _refuse(self, path: str, problem: str) -> None:
        kind, packed = format_of(path) or (None, Compression.NONE)
        self.mentions.append(_Mention(path, _label(path), "", kind, packed, problem))

    def _suggestion(self, path: str) -> str:
        if not self._suggestions_left:
            return ""
        self._suggestions_left -= 1
        folder, name = os.path.split(path)
        close = get_close_matches(name, _names_in(folder or "."), 3, 0.7)
        return f"; did you mean {' or '.join(printable(os.path.join(folder, c)) for c in close)}?" if close else ""


def _label(path: str) -> str:
    """Returns what the name of a path is made of: the path itself, or its last part where it is absolute or goes up."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "/".join(parts[-1:] if path.startswith("/") or ".." in parts else parts)


def _names_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, MOST_COMPARED)]
    except OSError:
        return []


def _as_inputs(mentions: Sequence[_Mention]) -> tuple[Input, ...]:
    """Gives every mention its number, its name and, where an earlier one names the same file, its original."""
    names = safe_names([m.label for m in mentions], [m.path or STDIN for m in mentions])
    first: dict[tuple[str, ModelFormat | None, Compression], int] = {}
    inputs = []
    for index, (mention, name) in enumerate(zip(mentions, names, strict=True)):
        shown = STDIN if mention.path is None else printable(mention.path) or "''"
        original = index if mention.problem else first.setdefault((mention.resolved, mention.format, mention.compression), index)
        twin = None if original == index else original
        about = (mention.format, mention.compression, mention.problem)
        inputs.append(Input(index, mention.path, shown, name, *about, twin))
    return tuple(inputs)
