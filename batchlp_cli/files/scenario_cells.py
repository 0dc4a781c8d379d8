"""What a scenario table may say of a model: a word for what is changed, the name of a row or column, and a number.

    rhs:ROW cost:COL lb:COL ub:COL fix:COL range:ROW offset row_lower:ROW row_upper:ROW probability

Where tables come from (files/scenario_table.py) and what a word does to a model (files/scenarios.py) are elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum

from batchlp_cli.batch import Codes, Indices
from batchlp_cli.errors import UsageError
from batchlp_cli.problem import LinearProgram, Vector


class What(IntEnum):
    """What a cell changes, as the codes in `Cells.what`; NOTHING names a scenario that changes nothing."""

    RHS = 0
    RANGE = 1
    COST = 2
    LB = 3
    UB = 4
    FIX = 5
    ROW_LOWER = 6
    ROW_UPPER = 7
    OFFSET = 8
    PROBABILITY = 9
    NOTHING = 10

    @property
    def word(self) -> str:
        """The word of the table."""
        return self.name.lower()


OF_ROWS = frozenset((What.RHS, What.RANGE, What.ROW_LOWER, What.ROW_UPPER))
OF_COLUMNS = frozenset((What.COST, What.LB, What.UB, What.FIX))
WORDS = {what.word: what for what in What if what is not What.NOTHING}
EXPECTED = "expected " + ", ".join(f"{w}:NAME" for w in ("rhs", "cost", "lb", "ub", "fix", "range", "row_lower", "row_upper"))
EXPECTED += ", offset or probability"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A piece of a table. scenario: [r] names, one a record; first: the number of the first record, from 0.

    record, what, place, value, origin: parallel arrays [k], one entry a cell that is not empty: which record (an index into
    scenario), a code of What, the row or column (0 where there is none), the number as the table has it, and the number of
    the record in the whole table. wide: a record is all of a scenario, so that its name may come only once.
    """

    first: int
    scenario: Sequence[str]
    record: Indices
    what: Codes
    place: Indices
    value: Vector
    origin: Indices
    wide: bool = False


def no_line(record: int) -> str:
    """Says where a record is when nothing better is known."""
    return f"record {record + 1}"


Where = Callable[[int], str]
"""Says where the record of that number is: "line 7"."""


class Places:
    """Rows and columns of a model by name, with suggestions for names that it does not have."""

    def __init__(self, lp: LinearProgram) -> None:
        self._model = lp.name
        self.rows = {lp.row_name(i): i for i in range(lp.m)}
        self.columns = {lp.col_name(j): j for j in range(lp.n)}

    def word(self, text: str, where: str) -> What:
        """Returns what a word asks for; raises UsageError with close words for one that is none."""
        found = WORDS.get(text.strip().lower())
        if found is None:
            raise UsageError(f"{where}: {text!r} is nothing that can be changed{_suggest(text, WORDS)}; {EXPECTED}")
        return found

    def place(self, what: What, name: str, where: str) -> int:
        """Returns the row or column of that name; raises UsageError with close names where the model has none."""
        if what not in OF_ROWS and what not in OF_COLUMNS:
            if name:
                raise UsageError(f"{where}: {what.word} is of the whole scenario, but {name!r} is named; expected no name")
            return 0
        table, other = (self.rows, self.columns) if what in OF_ROWS else (self.columns, self.rows)
        found = table.get(name)
        if found is None:
            kind, others = ("row", "column") if what in OF_ROWS else ("column", "row")
            hint = (
                f"; there is a {others} of that name, but {what.word} is of {kind}s" if name in other else _suggest(name, table)
            )
            raise UsageError(f"{where}: the model {self._model} has no {kind} {name!r}{hint}")
        return found

    def header(self, title: str, where: str) -> tuple[What, int]:
        """Returns what a column of a wide table changes, from its title such as rhs:demand_3."""
        word, _, name = title.partition(":")
        what = self.word(word, where)
        return what, self.place(what, name.strip() if name not in self.rows and name not in self.columns else name, where)


def _suggest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known)[:20_000], 3, 0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
