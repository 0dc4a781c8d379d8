"""Expands the patterns that a shell left alone: * ? [...] within a name, and ** for any folders. Hidden files need a dot.

Unlike glob.glob, ** follows no symbolic links, so that a link to a folder above it cannot make it endless.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import translate
from re import Pattern
from re import compile as compile_regex


def has_magic(path: str) -> bool:
    """Tells whether a path has characters that make it a pattern."""
    return any(c in path for c in "*?[")


def fixed_folder(pattern: str) -> str:
    """Returns the folders of a pattern before its first component with magic, such as "/data/" of "/data/*/x.mps"."""
    parts = pattern.split("/")
    first = next(k for k, part in enumerate(parts) if has_magic(part))
    return "".join(f"{part}/" for part in parts[:first])


def expand(pattern: str) -> list[str]:
    """Returns the paths that a pattern matches, sorted by their bytes; folders that cannot be listed match nothing."""
    start = fixed_folder(pattern)
    found: Iterable[str] = [start]
    parts = [part for part in pattern[len(start) :].split("/") if part]
    parts = [part for k, part in enumerate(parts) if part != "**" or parts[k - 1 : k] != ["**"]]
    for k, part in enumerate(parts):
        found = _step(found, part, is_last=k == len(parts) - 1)
    return sorted({path for path in found if path}, key=os.fsencode)


def _step(folders: Iterable[str], part: str, is_last: bool) -> Iterator[str]:
    """Yields what one more component of the pattern matches below each of the folders; a folder ends with a slash."""
    if part == "**":
        # At the end it means all that is in the folder, which whoever walks the folder finds.
        yield from (folder or "./" for folder in folders) if is_last else _all_below(folders)
        return
    if not has_magic(part):
        candidates = (folder + part for folder in folders)
        yield from (path if is_last else f"{path}/" for path in candidates if os.path.lexists(path))
        return
    regex = compile_regex(translate(part))
    for folder in folders:
        for name, is_folder in _list(folder):
            if _matches(name, part, regex) and (is_last or is_folder):
                yield folder + name if is_last else f"{folder}{name}/"


def _all_below(folders: Iterable[str]) -> Iterator[str]:
    stack = list(folders)
    while stack:
        folder = stack.pop()
        yield folder
        try:
            with os.scandir(folder or ".") as entries:
                below = [e.name for e in entries if not e.name.startswith(".") and e.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        stack.extend(f"{folder}{name}/" for name in below)


def _list(folder: str) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder or ".") as entries:
            return [(entry.name, _is_folder(entry)) for entry in entries]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _matches(name: str, part: str, regex: Pattern[str]) -> bool:
    return regex.match(name) is not None and (part.startswith(".") or not name.startswith("."))
