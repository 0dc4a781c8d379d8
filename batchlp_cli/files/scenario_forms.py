"""The two forms of a scenario table, and how their columns become cells: a scenario a record (wide), or a change a record (long).

Names are looked up once for each different name, numbers become arrays at once. Where records come from is in scenario_table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.files.scenario_cells import Cells, Places, What
from batchlp_cli.problem import Mask, Vector

LONG = ("scenario", "what", "name", "value")


def form_of(header: Sequence[str], places: Places, where: str) -> Wide | Long:
    """Returns how columns with these titles become cells: the long form or the wide one."""
    titles = [title.lower() for title in header]
    if "scenario" not in titles:
        raise UsageError(
            f"{where}: no column is called scenario; expected scenario, what, name, value, or scenario, rhs:ROW, ..."
        )
    if {"what", "value"} & set(titles):
        if sorted(titles) != sorted(LONG):
            raise UsageError(f"{where}: the columns are {', '.join(header)}; expected scenario, what, name and value")
        return Long(places, [titles.index(title) for title in LONG])
    return Wide(places, header, titles.index("scenario"), where)


class Wide:
    """A scenario a record; each other column is one change."""

    def __init__(self, places: Places, header: Sequence[str], own: int, where: str) -> None:
        self._own = own
        self._titles = header
        targets = [(What.NOTHING, 0) if k == own else places.header(title, where) for k, title in enumerate(header)]
        twice = next((header[k] for k, target in enumerate(targets) if target in targets[:k]), None)
        if twice is not None:
            raise UsageError(f"{where}: two columns are called {twice}; expected one")
        self._what = np.array([what for what, _ in targets], dtype=np.int8)
        self._place = np.array([place for _, place in targets], dtype=np.int64)

    def cells(self, first: int, columns: Sequence[Sequence[Any]], where: Callable[[int], str]) -> Cells:
        """Returns the cells of some records, record by record."""
        names = _names(columns[self._own], first, where)
        values, there = np.zeros((len(names), len(columns))), np.zeros((len(names), len(columns)), dtype=np.bool_)
        for k, column in enumerate(columns):
            if k != self._own:
                values[:, k], there[:, k] = _numbers(column, first, where, self._titles[k])
        return self._cells(first, names, values, there)

    def plain(self, first: int, whole: str, texts: Sequence[str], separator: str) -> Cells | None:
        """Returns the cells of lines of text (`whole` together) in which numbers follow the name of the scenario.

        None where there is anything else: a quote, a blank line, a cell that is no number, or one too many. An empty cell is read
        as a NaN, so that a NaN in the table is something else, too.
        """
        names, width = [text[: text.find(separator)] for text in texts], len(self._titles)
        if self._own or width < 2 or whole.count(separator) != (width - 1) * len(texts) or not all(map(str.strip, names)):
            return None
        empty = 0
        ends = f"{separator}\n", f"{separator}\r", 2 * separator
        if whole.endswith(separator) or any(map(whole.__contains__, ends)):
            filled = f"{separator}nan{separator}"
            texts = [text.rstrip("\r\n").replace(2 * separator, filled).replace(2 * separator, filled) for text in texts]
            texts = [f"{text}nan" if text.endswith(separator) else text for text in texts]
            empty = sum(text.count("nan") for text in texts) - whole.count("nan")
        try:
            given = np.loadtxt(texts, delimiter=separator, usecols=range(1, width), comments=None, ndmin=2)
        except ValueError:
            return None
        there = ~np.isnan(given)
        if there.size - np.count_nonzero(there) != empty:
            return None
        nothing = np.zeros((len(names), 1))
        is_there = np.concatenate([nothing.astype(np.bool_), there], axis=1)
        return self._cells(first, list(map(str.strip, names)), np.concatenate([nothing, given], axis=1), is_there)

    def _cells(self, first: int, names: list[str], values: Vector, there: Mask) -> Cells:
        """Returns the cells that are there; values, there: [r, columns]."""
        record, position = np.nonzero(there)
        record = record.astype(np.int64)
        return Cells(first, names, record, self._what[position], self._place[position], values[there], first + record, wide=True)


class Long:
    """A change a record: scenario, what, name, value. A record without what names a scenario that changes nothing."""

    def __init__(self, places: Places, order: Sequence[int]) -> None:
        self._places, self._order = places, order
        self._known: dict[tuple[str, str], tuple[int, int]] = {("", ""): (What.NOTHING, 0)}

    def plain(self, first: int, whole: str, texts: Sequence[str], separator: str) -> None:
        """Returns None: what to change is a text in every line."""

    def cells(self, first: int, columns: Sequence[Sequence[Any]], where: Callable[[int], str]) -> Cells:
        """Returns the cells of some records."""
        scenario, what, name, value = (columns[k] for k in self._order)
        names = _names(scenario, first, where)
        pairs = list(zip(_texts(what), _texts(name), strict=True))
        for pair in dict.fromkeys(pairs):
            if pair not in self._known:
                spot = where(first + pairs.index(pair))
                code = self._places.word(pair[0], spot)
                self._known[pair] = code, self._places.place(code, pair[1], spot)
        targets = np.array(list(map(self._known.__getitem__, pairs)), dtype=np.int64).reshape(-1, 2)
        numbers, there = _numbers(value, first, where, "value")
        kept = np.flatnonzero(there)
        idle = np.flatnonzero(there & (targets[:, 0] == What.NOTHING))
        if idle.size:
            raise UsageError(
                f"{where(first + int(idle[0]))}: there is a value, but nothing that it changes; fill in what and name"
            )
        return Cells(first, names, kept, targets[kept, 0].astype(np.int8), targets[kept, 1], numbers[kept], first + kept)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _texts(column: Sequence[Any]) -> list[str]:
    """Returns the cells of a column as texts, empty where there is none."""
    return list(map(str.strip if set(map(type, column)) == {str} else _text, column))


def _names(column: Sequence[Any], first: int, where: Callable[[int], str]) -> list[str]:
    names = _texts(column)
    if "" in names:
        raise UsageError(f"{where(first + names.index(''))}: the scenario has no name; expected one")
    return names


def _numbers(column: Any, first: int, where: Callable[[int], str], title: str) -> tuple[Any, Any]:
    """Returns the numbers of a column and where there are any; raises UsageError for a cell that is no number, or NaN."""
    if isinstance(column, tuple) and len(column) == 2 and isinstance(column[0], np.ndarray):
        values, there = column
    else:
        values, there = _plain_numbers(column) or _numbers_one_by_one(column, first, where, title)
    wrong = np.flatnonzero(there & np.isnan(values))
    if wrong.size:
        spot = where(first + int(wrong[0]))
        raise UsageError(f"{spot}: {title} is NaN, expected a number; leave the cell empty where nothing changes")
    return values, there


def _plain_numbers(column: Sequence[Any]) -> tuple[Any, Any] | None:
    """Returns the numbers of a column of texts or of numbers, and where there are any; None where a cell is something else."""
    types = set(map(type, column))
    empty = "" if types == {str} else None
    if (empty is None and not types <= {int, float, type(None)}) or (types == {str} and "_" in "".join(column)):
        return None
    there = np.ones(len(column), dtype=np.bool_)
    if empty in column:
        there[:] = [cell != empty for cell in column]
        column = [cell if is_there else 0.0 for cell, is_there in zip(column, there.tolist(), strict=True)]
    try:
        return np.array(list(map(float, column)), dtype=np.float64), there
    except (ValueError, OverflowError):
        return None


def _numbers_one_by_one(column: Sequence[Any], first: int, where: Callable[[int], str], title: str) -> tuple[Any, Any]:
    values = np.zeros(len(column))
    there = np.zeros(len(column), dtype=np.bool_)
    for k, cell in enumerate(column):
        text = _text(cell)
        if not text:
            continue
        try:
            if "_" in text or isinstance(cell, (bool, list, dict)):
                raise ValueError
            values[k], there[k] = float(text), True
        except ValueError:
            raise UsageError(f"{where(first + k)}: {title} is {cell!r}, expected a number or an empty cell") from None
    return values, there
