"""An MPS file that was read in full, with what is needed to read others as its changes. Reads nothing by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from batchlp_cli.files.mps import read_model, special_lines, unix_text
from batchlp_cli.files.mps_assemble import Matrix, ParsedModel, build_matrix, finish
from batchlp_cli.files.mps_compare import line_breaks
from batchlp_cli.files.mps_costs import CostFields
from batchlp_cli.files.mps_fast import BlockReader
from batchlp_cli.files.mps_model import Int64s, MpsModel
from batchlp_cli.settings import NegativeUpper

TAIL = frozenset({"RHS", "RANGES", "BOUNDS", "ENDATA"})
NAME_LINE = re.compile(rb"^NAME(?:[ \t][^\n]*)?\r?\n", re.MULTILINE)
PREAMBLE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Part:
    """A section behind COLUMNS: its number of line, its header's and its body's bytes."""

    section: str
    line: int
    header: bytes
    body: bytes


@dataclass(slots=True)
class Recent:
    """What was learnt of a family since its base was read: the costs that its files change."""

    fields: CostFields | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ParsedBase:
    """A file that was read in full, and what is needed to read others as its changes; eq by identity.

    before: bytes from behind the NAME line up to the entries of COLUMNS; columns: those entries, breaks: their line ends;
    parts: the sections behind, tail: their bytes; name_line: the number of the NAME line; recent: the costs that files of its
    family change, if there are many.
    """

    parsed: ParsedModel
    model: MpsModel
    matrix: Matrix
    finder: BlockReader
    negative_upper: NegativeUpper
    name_line: int
    before: bytes
    columns: bytes
    breaks: Int64s
    parts: tuple[Part, ...]
    tail: bytes
    recent: Recent = field(default_factory=lambda: Recent())

    @property
    def size(self) -> int:
        """Bytes of the file that are kept."""
        return len(self.before) + len(self.columns) + 2 * len(self.tail)


def parse_base(
    data: bytes, name: str, *, negative_upper: NegativeUpper = NegativeUpper.FREE
) -> tuple[ParsedModel, ParsedBase | None]:
    """Returns the linear program of a file, and the base for others; None where the file is too unusual for one.

    Raises ReadError as parse_mps does.
    """
    model = read_model(data, name)
    plain = not model.notes
    matrix = build_matrix(model, data)
    parsed = finish(model, matrix, data, negative_upper)
    return parsed, _base(parsed, model, matrix, negative_upper, unix_text(data, name)) if plain else None


def _base(parsed: ParsedModel, model: MpsModel, matrix: Matrix, negative_upper: NegativeUpper, data: bytes) -> ParsedBase | None:
    sections = [section for _, section in model.headers]
    at = sections.index("COLUMNS")
    begun = opening(data)
    if begun is None or not set(sections[at + 1 :]) <= TAIL or set(sections[:at]) & TAIL or sections.count("NAME") != 1:
        return None
    name_line, begin = begun
    breaks = line_breaks(data)
    tail_line = model.headers[at + 1][0]
    entries, tail = (int(breaks[line - 1]) + 1 for line in (model.headers[at][0], tail_line - 1))
    for column in (model.entry_rows, model.entry_cols, model.entry_vals):
        del column[:]
    return ParsedBase(
        parsed=parsed,
        model=model,
        matrix=matrix,
        finder=BlockReader(model),
        negative_upper=negative_upper,
        name_line=name_line,
        before=data[begin:entries],
        columns=data[entries:tail],
        breaks=breaks[model.headers[at][0] : tail_line - 1] - entries,
        parts=sections_in(data[tail:], tail_line),
        tail=data[tail:],
    )


def opening(data: bytes) -> tuple[int, int] | None:
    """Returns the number of the NAME line and where the next line begins; None unless only plain comments stand above it."""
    found = NAME_LINE.search(data, 0, PREAMBLE_BYTES)
    if found is None:
        return None
    above = data[: found.start()].split(b"\n")[:-1]
    if any(not line.startswith(b"*") or line.upper().startswith(b"*SENSE") for line in above):
        return None
    return len(above) + 1, found.end()


def sections_in(tail: bytes, line: int) -> tuple[Part, ...]:
    """Returns the sections behind COLUMNS; each has a header that begins in column 1. Raises ValueError where one has none."""
    headers = [(a, b, n) for a, b, n in special_lines(tail, line) if tail[a : a + 1] != b"*"]
    if not headers or headers[0][0] != 0:
        raise ValueError("something else than a header behind COLUMNS")
    stops = [a for a, _, _ in headers[1:]] + [len(tail)]
    return tuple(
        Part(tail[a:b].split(None, 1)[0].decode("ascii", "replace"), n, tail[a:b], tail[b:stop])
        for (a, b, n), stop in zip(headers, stops, strict=True)
    )
