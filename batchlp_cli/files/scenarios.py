"""Makes batches out of scenario tables: what the cells of each scenario do to a model, all scenarios of a window at once.

Signs are those of the model's file, also for a maximisation. `rhs` moves the one finite side of a row, both sides of an
equation, and both sides of a row with two different ones, whose right-hand side is its lower side (as CPLEX has it).
`range` is the width: from the right-hand side down for a row that had only an upper side, up for the others; an equation
goes the way of the number's sign, as in MPS. Both together mean the new right-hand side and the new width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from batchlp_cli.batch import Changes, Codes, Field, Indices, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.files.mps_numbers import INFINITE
from batchlp_cli.files.scenario_cells import Cells, Places, What, Where, no_line
from batchlp_cli.files.scenario_table import line_of, read_cells
from batchlp_cli.problem import LinearProgram, Mask, Vector

CELL_BYTES = 200  # of a cell while its window is made: some copies of its four numbers
SCENARIO_BYTES = 1200  # of a scenario: its name, its row
MOST_SCENARIOS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Scenarios:
    """Scenarios of one matrix: a batch whose names are theirs, and their probabilities [B] (NaN where none is given)."""

    batch: LPBatch
    probability: Vector

    def taken(self, members: Sequence[int] | Indices) -> Scenarios:
        """Returns some of the scenarios."""
        return Scenarios(self.batch.take(members), self.probability[np.asarray(members, dtype=np.int64)])


def table_windows(path: Path, lp: LinearProgram, *, scale: bool, memory_bytes: int) -> Iterator[Scenarios]:
    """Yields the scenarios of a table in its order, in windows that take about memory_bytes.

    scale: the numbers are factors of what the model has. Raises UsageError with the line for what cannot be meant.
    """
    where = line_of(path)
    for cells in whole_scenarios(read_cells(path, Places(lp)), memory_bytes, where):
        yield apply_cells(lp, cells, scale=scale, where=where)


def whole_scenarios(pieces: Iterable[Cells], memory_bytes: int, where: Where) -> Iterator[Cells]:
    """Joins pieces into windows in which every scenario is whole and a record of `scenario` is a scenario, each once.

    A scenario whose records are scattered over several windows is refused, since nobody can wait for its end.
    """
    held: list[Cells] = []
    size = 0
    seen = np.zeros(0, dtype=np.int64)
    for cells in pieces:
        held.append(cells)
        size += CELL_BYTES * cells.value.size + SCENARIO_BYTES * len(cells.scenario)
        if size < memory_bytes and sum(len(c.scenario) for c in held) < MOST_SCENARIOS:
            continue
        joined = _join(held)
        complete, rest = _split_last(joined)
        held, size = [rest], CELL_BYTES * rest.value.size + SCENARIO_BYTES * len(rest.scenario)
        if len(complete.scenario):
            window, hashes = _by_scenario(complete, seen, where)
            seen = np.sort(np.concatenate([seen, np.sort(hashes)]), kind="stable")  # merges two that are sorted
            yield window
    if held and len(held[0].scenario):
        yield _by_scenario(_join(held), seen, where)[0]


def _join(pieces: Sequence[Cells]) -> Cells:
    first = pieces[0]
    if len(pieces) == 1:
        return first
    starts = np.cumsum([0, *(len(p.scenario) for p in pieces[:-1])])
    return replace(
        first,
        scenario=[name for p in pieces for name in p.scenario],
        record=np.concatenate([p.record + start for p, start in zip(pieces, starts, strict=True)]),
        what=np.concatenate([p.what for p in pieces]),
        place=np.concatenate([p.place for p in pieces]),
        value=np.concatenate([p.value for p in pieces]),
        origin=np.concatenate([p.origin for p in pieces]),
    )


def _split_last(cells: Cells) -> tuple[Cells, Cells]:
    """Returns the cells before the records of the last scenario, and the rest, which may go on in the next piece."""
    last, names = len(cells.scenario), cells.scenario
    while last and names[last - 1] == names[-1]:
        last -= 1
    early = cells.record < last

    def part(rows: Mask, start: int, stop: int) -> Cells:
        what, place, value, origin = cells.what[rows], cells.place[rows], cells.value[rows], cells.origin[rows]
        record, first = cells.record[rows] - start, cells.first + start
        return Cells(first, names[start:stop], record, what, place, value, origin, cells.wide)

    return part(early, 0, last), part(~early, last, len(names))


def _by_scenario(cells: Cells, seen: Indices, where: Where) -> tuple[Cells, Indices]:
    """Returns cells with a record a scenario, in order of appearance, and the hashes of the names. seen: hashes, ascending."""
    names = list(dict.fromkeys(cells.scenario))
    ids = dict(zip(names, range(len(names)), strict=True))
    number = np.fromiter(map(ids.__getitem__, cells.scenario), dtype=np.int64, count=len(cells.scenario))
    hashes = np.fromiter(map(hash, names), dtype=np.int64, count=len(names))
    if cells.wide and len(names) < len(number):
        k = int(np.flatnonzero(np.diff(np.maximum.accumulate(number), prepend=-1) == 0)[0])
        first = where(cells.first + int(number.tolist().index(number[k])))
        raise UsageError(
            f"{where(cells.first + k)}: the scenario {cells.scenario[k]!r} was there before ({first}); expected it once"
        )
    place = np.searchsorted(seen, hashes)
    place[place == seen.size] = 0
    again = np.flatnonzero(seen[place] == hashes) if seen.size else seen
    if again.size:
        name = names[int(again[0])]
        spot = where(cells.first + cells.scenario.index(name))
        raise UsageError(
            f"{spot}: the scenario {name!r} was there before, far above; expected its lines together: sort by scenario"
        )
    return replace(cells, scenario=names, record=number[cells.record]), hashes


def apply_cells(lp: LinearProgram, cells: Cells, *, scale: bool = False, where: Where = no_line) -> Scenarios:
    """Returns the scenarios (a record each) that the cells make of a model.

    Raises UsageError where a cell comes twice, two cells of a scenario change the same number, or a number cannot be meant.
    """
    spot = _spotter(cells, where)
    code, place, value = cells.what, cells.place, cells.value
    if not cells.wide:  # no two columns of a wide table have one title
        _refuse_twice((cells.record, code, place), spot)
    probability = np.full(len(cells.scenario), np.nan)
    given = code == What.PROBABILITY
    _refuse(given & ~((value >= 0) & (value <= 1)), cells, spot, "a probability is from 0 to 1")
    probability[cells.record[given]] = value[given]
    parts = [_plain(lp, cells, scale, spot), _rows(lp, cells, scale, spot)]
    entry, field, index, new = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    member = cells.record[entry]
    field = field.astype(np.int8)
    order = np.argsort(member, kind="stable")
    changes = Changes(member[order], field[order], index[order], new[order])
    _refuse_twice((changes.member, changes.field, changes.index), lambda k: spot(int(entry[order[k]])))
    return Scenarios(LPBatch(lp, changes, tuple(cells.scenario)), probability)


Spot = Callable[[int], str]
Part = tuple[Indices, Indices, Indices, Vector]
"""(cell, field, index, new value): which cell makes which change."""


def _spotter(cells: Cells, where: Where) -> Spot:
    """Returns a function that says where a cell is and what it is."""

    def spot(k: int) -> str:
        name = cells.scenario[int(cells.record[k])]
        return f"{where(int(cells.origin[k]))}: {What(int(cells.what[k])).word} of scenario {name!r}"

    return spot


def _refuse_twice(keys: tuple[Indices, Codes, Indices], spot: Spot) -> None:
    """Raises UsageError where two triples of keys, [k] each, are equal."""
    first, second, third = (np.diff(key) for key in keys)
    if ((first > 0) | ((first == 0) & ((second > 0) | ((second == 0) & (third > 0))))).all():
        return  # they ascend, as those of most tables do
    order = np.lexsort(keys[::-1])
    same = np.logical_and.reduce([np.diff(key[order]) == 0 for key in keys])
    if same.any():
        k = int(np.flatnonzero(same)[0])
        raise UsageError(f"{spot(int(order[k + 1]))}: this number is changed twice in one scenario; expected one change")


def _refuse(wrong: Mask, cells: Cells, spot: Spot, expected: str) -> None:
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise UsageError(f"{spot(k)}: the number is {float(cells.value[k])!r}; {expected}")


def _infinite(values: Vector) -> Vector:
    return np.where(np.abs(values) >= INFINITE, np.copysign(np.inf, values), values)


def _scaled(old: Vector, factor: Vector) -> Vector:
    """Returns old * factor; an infinity stays what it is."""
    return np.where(np.isfinite(old), np.where(np.isfinite(old), old, 0.0) * factor, old)


def _plain(lp: LinearProgram, cells: Cells, scale: bool, spot: Spot) -> Part:
    """Returns the changes of costs, column bounds, single row sides and the offset."""
    code, value = cells.what, cells.value
    _refuse(np.isin(code, [What.COST, What.OFFSET]) & ~(np.abs(value) < INFINITE), cells, spot, "expected a finite number")
    _refuse((code == What.FIX) & ~(np.abs(value) < INFINITE), cells, spot, "expected a finite number")
    if scale:
        _refuse(code == What.FIX, cells, spot, "fix has nothing that a factor could scale: leave it out with --scale")
        _refuse(~np.isfinite(value), cells, spot, "expected a finite factor")
    none = np.zeros(0, dtype=np.int64)
    parts: list[Part] = [(none, none, none, np.zeros(0))]
    for what, fields in _FIELDS.items():
        entry = np.flatnonzero(code == what)
        if not entry.size:
            continue
        place = cells.place[entry]
        for field in fields:
            old = np.atleast_1d(np.asarray(getattr(lp, field.attribute), dtype=np.float64))[place]
            signed = field in (Field.COST, Field.OFFSET)
            new = _scaled(old, value[entry]) if scale else (lp.sign * value[entry] if signed else _infinite(value[entry]))
            side = {Field.COL_LOWER: np.inf, Field.ROW_LOWER: np.inf, Field.COL_UPPER: -np.inf, Field.ROW_UPPER: -np.inf}
            bad = np.zeros(value.size, dtype=np.bool_)
            bad[entry] = new == side.get(field, np.nan)
            _refuse(bad, cells, spot, "no number lies beyond that bound")
            parts.append((entry, np.full(entry.size, int(field)), place, new + 0.0))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))  # type: ignore[return-value]


_FIELDS = {
    What.COST: (Field.COST,),
    What.LB: (Field.COL_LOWER,),
    What.UB: (Field.COL_UPPER,),
    What.FIX: (Field.COL_LOWER, Field.COL_UPPER),
    What.ROW_LOWER: (Field.ROW_LOWER,),
    What.ROW_UPPER: (Field.ROW_UPPER,),
    What.OFFSET: (Field.OFFSET,),
}


def _rows(lp: LinearProgram, cells: Cells, scale: bool, spot: Spot) -> Part:
    """Returns the changes that rhs and range make, which belong together where a scenario has both for a row."""
    code, value = cells.what, cells.value
    rhs, width = np.flatnonzero(code == What.RHS), np.flatnonzero(code == What.RANGE)
    used = (code == What.RHS) | (code == What.RANGE)
    _refuse(used & ~(np.abs(value) < INFINITE), cells, spot, "expected a finite number")
    with_rhs, partners = _rhs_beside(cells.record * lp.m + cells.place, rhs, width)
    alone = np.setdiff1d(rhs, partners, assume_unique=True) if partners.size else rhs
    entry = np.concatenate([alone, width])
    row = cells.place[entry]
    lower, upper = lp.row_lower[row], lp.row_upper[row]
    only_upper = np.isinf(lower)
    old_b = np.where(only_upper, upper, lower)
    bad = np.zeros(value.size, dtype=np.bool_)
    bad[entry] = np.isinf(old_b)
    _refuse(bad, cells, spot, "the row has no finite side; use row_lower or row_upper")
    b = old_b.copy()
    b[: alone.size] = value[alone] if not scale else old_b[: alone.size] * value[alone]
    paired = alone.size + np.flatnonzero(with_rhs)
    partner = value[partners]
    b[paired] = old_b[paired] * partner if scale else partner
    own = np.where(np.isfinite(upper - lower), upper - lower, np.inf)
    given = np.zeros(entry.size)
    given[alone.size :] = value[width] if not scale else own[alone.size :] * value[width]
    is_width = np.arange(entry.size) >= alone.size
    bad[:] = False
    bad[entry] = is_width & ~np.isfinite(given)
    _refuse(bad, cells, spot, "the row has no width that a factor could scale")
    down = np.where(is_width, only_upper | ((lower == upper) & (given < 0)), only_upper)
    reach = np.where(is_width, np.abs(given), own)
    new_lower, new_upper = np.where(down, b - reach, b), np.where(down, b, b + reach)
    parts = []
    for code_of_side, new, old in ((Field.ROW_LOWER, new_lower, lower), (Field.ROW_UPPER, new_upper, upper)):
        kept = np.flatnonzero(np.isfinite(new) | np.isfinite(old))
        parts.append((entry[kept], np.full(kept.size, int(code_of_side)), row[kept], new[kept] + 0.0))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))  # type: ignore[return-value]


def _rhs_beside(key: Indices, rhs: Indices, width: Indices) -> tuple[Mask, Indices]:
    """Returns which of the cells `width` [w] stand beside a cell of `rhs` with the same key, and those cells, in their order."""
    beside = np.zeros(width.size, dtype=np.bool_)
    if not width.size:
        return beside, width
    order = rhs[np.argsort(key[rhs], kind="stable")]
    at = np.searchsorted(key[order], key[width])
    inside = at < order.size
    beside[inside] = key[order[at[inside]]] == key[width[inside]]
    return beside, order[at[beside]]
