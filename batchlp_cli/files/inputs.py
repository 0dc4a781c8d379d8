"""What an input is: which file, how it is called, and in which format and compression. Finding and reading are elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class ModelFormat(StrEnum):
    """Formats of linear programs that can be read."""

    MPS = "mps"
    LP = "lp"


class Compression(StrEnum):
    """How a file is packed, told by its last ending."""

    NONE = "none"
    GZ = "gz"
    BZ2 = "bz2"
    ZST = "zst"


@dataclass(frozen=True, slots=True)
class Input:
    """One mention of a model on the command line; each mention gives one result row.

    index: position in the full list, kept by sharding. path: as to be opened, None for stdin. shown: the path as its user
    knows it, with unprintable characters escaped. name: unique and safe in the run folder. format: None only where there
    is a problem. problem: empty, or a sentence that tells why it cannot be read. duplicate_of: index of the mention that
    names the same file first, or None.
    """

    index: int
    path: str | None
    shown: str
    name: str
    format: ModelFormat | None
    compression: Compression = Compression.NONE
    problem: str = ""
    duplicate_of: int | None = None


_ENDING = re.compile(r"\.(mps|lp)(?:\.(gz|bz2|zst))?\Z", re.IGNORECASE)
_PACKED = re.compile(r"\.(gz|bz2|zst)\Z", re.IGNORECASE)


def format_of(path: str) -> tuple[ModelFormat, Compression] | None:
    """Returns format and compression that a file's ending tells, or None where it tells none (model.txt)."""
    found = _ENDING.search(path)
    return (ModelFormat(found[1].lower()), Compression((found[2] or "none").lower())) if found else None


def compression_of(path: str) -> Compression:
    """Returns the compression that a file's last ending tells."""
    found = _PACKED.search(path)
    return Compression(found[1].lower()) if found else Compression.NONE


def printable(text: str) -> str:
    """Returns the text with all that could disturb a terminal or cannot be encoded written as backslash escapes.

    Bytes of a file name that are no UTF-8 (lone surrogates, see os.fsdecode) appear as \\xNN.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
