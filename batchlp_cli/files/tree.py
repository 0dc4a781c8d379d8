"""Walks one folder for models, in an order that is the same on every machine. What names a folder is not known here."""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from batchlp_cli.files.inputs import format_of, printable

IS_FOLDER = "is a folder, not a model file, and holds no model"


class Skip(StrEnum):
    """What is passed over or taken otherwise than a user may expect, as the beginning of a note."""

    HIDDEN = "hidden files and folders skipped"
    OUTSIDE = "links that lead out of their folder skipped"
    LINKED_FOLDER = "links to folders skipped, as what they lead to is in the same folder"
    OTHER = "files ignored that do not end in .mps or .lp (plain, .gz, .bz2 or .zst)"
    MODEL_FOLDER = "folders walked that are named like a model"
    EMPTY = "folders without any model"


@dataclass(slots=True)
class Skips:
    """Counts what was passed over, with the first example of each kind."""

    counts: dict[Skip, int] = field(default_factory=dict)
    first: dict[Skip, str] = field(default_factory=dict)

    def add(self, kind: Skip, path: str) -> None:
        """Counts one path."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.first.setdefault(kind, path)

    def notes(self) -> tuple[str, ...]:
        """Returns one sentence for each kind that was met."""
        return tuple(f"{k}: {self.counts[k]} (the first is {printable(self.first[k])})" for k in Skip if k in self.counts)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A model in a folder: its path from there, the real path of the file, and why it cannot be read (empty: it can)."""

    relative: str
    resolved: str
    problem: str = ""


def special_problem(mode: int) -> str:
    """Returns why something that is neither a file nor a folder is not read: it might never end, or never begin."""
    kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
    kind = next((name for test, name in kinds if test(mode)), "no regular file")
    return f"is {kind}, expected a file; copy its content to a file, or send it to stdin and give - as the path"


def link_problem(path: str, error: OSError) -> str:
    """Returns why the target of a link cannot be had."""
    if error.errno == errno.ELOOP:
        return "is a link that leads back to itself"
    try:
        target = printable(os.readlink(path))
    except OSError:
        target = "an unknown place"
    return f"is a link to {target}, which cannot be reached: {reason(error)}"


def reason(error: OSError) -> str:
    """Returns the system's words for an error, in lower case."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def walk(root: str, skips: Skips) -> list[Leaf]:
    """Returns the models in a folder and below, sorted by the bytes of their paths; counts in skips what it passes over.

    Symbolic links to folders are never followed. What is named like a model and cannot be one is a leaf with a problem,
    as is a folder that cannot be listed.
    """
    return _Walk(root, skips).run()


class _Walk:
    """One walk: a stack of folders still to list, as (path from the root with a slash at the end, real path)."""

    def __init__(self, root: str, skips: Skips) -> None:
        self.root, self.skips = root, skips
        self.real_root = os.path.realpath(root)
        self.stack = [("", self.real_root)]
        self.leaves: list[Leaf] = []
        self.model_folders: list[str] = []

    def run(self) -> list[Leaf]:
        while self.stack:
            relative, real = self.stack.pop()
            try:
                with os.scandir(self._full(relative)) as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                self.leaves.append(Leaf(relative, real, f"is a folder that cannot be listed: {reason(error)}"))
                continue
            below = [folder for entry in entries for folder in self._take(entry, relative, real)]
            self.stack.extend(reversed(below))
        self.leaves.sort(key=_by_bytes)
        self.leaves += self._empty_model_folders()
        self.leaves.sort(key=_by_bytes)
        return self.leaves

    def _full(self, relative: str) -> str:
        return os.path.join(self.root, relative)

    def _take(self, entry: os.DirEntry[str], folder: str, real: str) -> Iterator[tuple[str, str]]:
        """Takes one entry as a leaf or counts it as skipped; yields it where it is a folder to walk."""
        relative, is_model = folder + entry.name, format_of(entry.name) is not None
        if entry.name.startswith("."):
            self.skips.add(Skip.HIDDEN, entry.path)
        elif entry.is_symlink():
            self._take_link(entry.path, relative, is_model)
        elif entry.is_dir(follow_symlinks=False):
            if is_model:
                self.model_folders.append(relative)
            yield f"{relative}/", os.path.join(real, entry.name)
        elif not is_model:
            self.skips.add(Skip.OTHER, entry.path)
        else:
            self._take_file(entry, relative, os.path.join(real, entry.name))

    def _take_file(self, entry: os.DirEntry[str], relative: str, resolved: str) -> None:
        problem = ""
        if not entry.is_file(follow_symlinks=False):
            try:
                problem = special_problem(entry.stat(follow_symlinks=False).st_mode)
            except OSError as error:
                problem = reason(error)
        self.leaves.append(Leaf(relative, resolved, problem))

    def _take_link(self, path: str, relative: str, is_model: bool) -> None:
        resolved = os.path.realpath(path)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            if is_model:
                self.leaves.append(Leaf(relative, resolved, link_problem(path, error)))
            else:
                self.skips.add(Skip.OTHER, path)
            return
        inside = resolved == self.real_root or resolved.startswith(self.real_root.rstrip("/") + "/")
        if not inside and (is_model or stat.S_ISDIR(mode)):
            self.skips.add(Skip.OUTSIDE, path)
        elif stat.S_ISDIR(mode):
            self.skips.add(Skip.LINKED_FOLDER, path)
        elif not is_model:
            self.skips.add(Skip.OTHER, path)
        else:
            self.leaves.append(Leaf(relative, resolved, "" if stat.S_ISREG(mode) else special_problem(mode)))

    def _empty_model_folders(self) -> list[Leaf]:
        """Returns a leaf for each folder that is named like a model and holds none; notes the others."""
        keys = [_by_bytes(leaf) for leaf in self.leaves]
        empty = []
        for relative in self.model_folders:
            prefix = os.fsencode(f"{relative}/")
            place = bisect_left(keys, prefix)
            if place < len(keys) and keys[place].startswith(prefix):
                self.skips.add(Skip.MODEL_FOLDER, self._full(relative))
            else:
                empty.append(Leaf(relative, os.path.join(self.real_root, relative), IS_FOLDER))
        return empty


def _by_bytes(leaf: Leaf) -> bytes:
    return os.fsencode(leaf.relative)
