"""Finds the file that a row calls its input, also after a run's inputs have moved."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from batchlp_cli.files.inputs import printable

_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|\\([tnr])")
_BLANKS = {"t": "\t", "n": "\n", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Located:
    """An input that is there: its path as to be opened, and the real one."""

    path: str
    real: str


def locate(shown: str, root: Path, digest: str) -> Located | str:
    """Returns where the input that a row shows is, or in words why it cannot be read again.

    Looked for are the path as it is, relative to the root; then ever shorter ends of it below the root, of which one with the
    digest is taken before others.
    """
    if shown == "-":
        return "the input came through stdin, so that it cannot be read again; save it to a file and solve that"
    candidates = [root / path for path in _spellings(shown)]
    present = [path for path in (*candidates, *_ends(candidates, root)) if path.is_file()]
    if not present:
        return f"the input is missing: there is no file {shown}; tell with --root where inputs are that have moved"
    chosen = present[0] if len(present) == 1 else next((p for p in present if _digest(p) == digest), present[0])
    return Located(str(chosen), os.path.realpath(chosen))


def _spellings(shown: str) -> list[str]:
    """Returns the paths that may be shown so: the text itself, and what it stands for where it has escapes."""
    plain = _ESCAPE.sub(_character, shown)
    return [shown, plain] if plain != shown and printable(plain) == shown else [shown]


def _character(found: re.Match[str]) -> str:
    if found[4]:
        return _BLANKS[found[4]]
    code = int(found[1] or found[2] or found[3], 16)
    return os.fsdecode(bytes([code])) if found[1] and code >= 0x80 else chr(code)


def _ends(paths: list[Path], root: Path) -> list[Path]:
    """Returns what the paths may be called below the root: their ends, the longest first, down to the name alone."""
    parts = [PurePath(path).parts for path in paths]
    return [root.joinpath(*p[k:]) for p in parts for k in range(1, len(p))]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
