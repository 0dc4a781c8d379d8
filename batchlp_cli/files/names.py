"""Safe, unique names for files in the run folder, made from relative paths. Nothing here touches a disk.

A name keeps the folders of its path, so that people find their files again. Where a path has something that some file
system forbids, its name is cleaned and carries a hash of the path; where two names would meet (also by letter case or
Unicode normalisation), all but one carry the hash. So other files, added later, change hardly any name.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import count

MOST_BYTES = 120
"""Longest component of a name in bytes: endings such as .sol are still to come, and file systems allow 255 (eCryptfs 143)."""

MOST_PATH_BYTES = 400
"""Longest name in bytes; the run folder's own path comes before it, and systems allow 1024 to 4096."""

_PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_. +=,@-]*[A-Za-z0-9_+=,@-])?\Z")
_FORBIDDEN = re.compile(r'[<>:"|?*\\/\x00-\x1f\x7f]')
_DEVICES = r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])"
_RESERVED = re.compile(rf"{_DEVICES}(?=[. ]*(?:\.|\Z))", re.IGNORECASE)
_DEVICE_LINE = re.compile(rf"^{_DEVICES}$", re.IGNORECASE | re.MULTILINE)
_ENDING = re.compile(r"(?:\.(?:mps|lp))?(?:\.(?:gz|bz2|zst))?\Z", re.IGNORECASE)
_TAKEN_ENDING = re.compile(r"\.(?:sol|npz)\Z", re.IGNORECASE)


def safe_names(shown: Sequence[str], identities: Sequence[str] | None = None) -> list[str]:
    """Returns one name for each relative path: unique, inside any folder it is joined to, legal on every file system.

    identities: what tells inputs with equal relative paths apart, such as their full paths (default: `shown`). Names do
    not depend on the order of the inputs, except among inputs with the same identity. A name ends like its path (.mps),
    and no name is a folder of another one, also when .sol is added to it.
    """
    identities = shown if identities is None else identities
    cleaned = [clean_path(path) for path in shown]
    order = sorted(range(len(shown)), key=lambda i: (cleaned[i] != shown[i], os.fsencode(identities[i])))
    names = [""] * len(shown)
    taken = _Taken(_folders(cleaned))
    for i in order:
        names[i] = taken.claim(cleaned[i], shown[i], identities[i])
    return names


class _Taken:
    """The names given so far, as keys that agree where some file system could see one name."""

    def __init__(self, folders: set[str]) -> None:
        self._keys = folders
        self._uses: dict[str, int] = {}

    def claim(self, name: str, path: str, identity: str) -> str:
        """Returns the name; with a hash where it differs from its path or is taken, and with a number as the last resort."""
        return next(candidate for candidate in self._candidates(name, path, identity) if self._add(candidate))

    def _candidates(self, name: str, path: str, identity: str) -> Iterator[str]:
        yield name if name == path else with_suffix(name, f"-{_digest(path)}")
        digest = _digest(f"{identity}\0{path}")
        for number in count(self._uses.get(digest, 1)):
            self._uses[digest] = number + 1
            yield with_suffix(name, f"-{digest}" if number == 1 else f"-{digest}-{number}")

    def _add(self, name: str) -> bool:
        key = fold(name)
        if key in self._keys:
            return False
        self._keys.add(key)
        return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _folders(names: Sequence[str]) -> set[str]:
    """Returns the keys of all folders that the names lie in: no file may be called like one of them."""
    folders: set[str] = set()
    for parent in {name.rpartition("/")[0] for name in names}:
        parts = parent.split("/")
        folders.update(fold("/".join(parts[:k])) for k in range(1, len(parts) + 1))
    return folders


def fold(name: str) -> str:
    """Returns a key that agrees for names which differ by letter case or Unicode normalisation only."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).upper().casefold())


def with_suffix(name: str, suffix: str) -> str:
    """Returns a name with a suffix before its endings (a.mps.gz -> a-1.mps.gz), its last component cut to fit."""
    folder, slash, last = name.rpartition("/")
    stem, ending = _split(last)
    return folder + slash + _cut(stem, MOST_BYTES - len(os.fsencode(suffix + ending))) + suffix + ending


def clean_path(path: str) -> str:
    """Returns a relative path in which every component is legal everywhere; equal to the given one where that is legal."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    if not parts:
        return "unnamed"
    folders = [_TAKEN_ENDING.sub(r"\g<0>_", clean_component(part)) for part in parts[:-1]]
    name = "/".join([*folders, clean_component(parts[-1])])
    if len(name.encode()) <= MOST_PATH_BYTES:
        return name
    return f"deep-{_digest('/'.join(folders))}/{clean_component(parts[-1])}"


def are_clean(parts: Sequence[str]) -> bool:
    """Tells whether `clean_component` leaves names as they are that are of letters, digits, _ and, but for the first, +=,@-."""
    return max(map(len, parts), default=0) <= MOST_BYTES and _DEVICE_LINE.search("\n".join(parts)) is None


def clean_component(part: str) -> str:
    """Returns one component of a path without anything that a file system forbids or a shell takes for something else."""
    if _PLAIN.match(part) and len(part) <= MOST_BYTES and not _RESERVED.match(part):
        return part
    text = unicodedata.normalize("NFC", _FORBIDDEN.sub("_", part))
    text = "".join(c if c.isprintable() else "_" for c in text).rstrip(". ")
    if not text or text[0] in ".- ~" or _RESERVED.match(text):
        text = "_" + text
    stem, ending = _split(text)
    return _cut(stem, MOST_BYTES - len(ending.encode())) + ending


def _split(component: str) -> tuple[str, str]:
    ending = _ENDING.search(component)
    cut = ending.start() if ending else len(component)
    return component[:cut], component[cut:]


def _cut(text: str, most_bytes: int) -> str:
    """Returns the longest beginning of the text that fits in so many bytes, without a dot or blank at its end if cut."""
    data = text.encode()
    if len(data) <= most_bytes:
        return text
    return unicodedata.normalize("NFC", data[:most_bytes].decode("utf-8", "ignore").rstrip(". ")) or "_"
