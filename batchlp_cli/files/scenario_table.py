"""Reads scenario tables piece by piece: CSV, JSON lines or Parquet, a scenario a record (wide) or a change a record (long).

Names are looked up once for each different name, numbers become arrays at once. What the cells mean is in scenarios.py.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.files.scenario_cells import Cells, Places, What

LONG = ("scenario", "what", "name", "value")
PIECE_CELLS = 1 << 18
"""Cells of a piece: what of a table is Python objects at one time."""


def read_cells(path: Path, places: Places) -> Iterator[Cells]:
    """Yields a table piece by piece, in order; raises UsageError for what is no table, with the line."""
    reader = _READERS[_format_of(path)]
    try:
        yield from reader(path, places)
    except (OSError, EOFError) as error:
        raise UsageError(f"cannot read the scenario table {path}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is no UTF-8; save the table as UTF-8") from error


def line_of(path: Path) -> Callable[[int], str]:
    """Returns a function that tells where a record of a table is; it reads the file again, so it is for messages only."""

    def where(record: int) -> str:
        kind = _format_of(path)
        if kind == "parquet":
            return f"{path}, row {record + 1}"
        with _open_text(path) as stream:
            if kind == "csv":
                rows = _csv_rows(stream)
                line = next((rows.line_num for n, _ in enumerate(_records(rows)) if n == record + 1), 0)
            else:
                line = next(islice((n for n, text in enumerate(stream, 1) if text.strip()), record, None), 0)
        return f"{path}, line {line}"

    return where


def _format_of(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    for ending, kind in ((".csv", "csv"), (".tsv", "csv"), (".jsonl", "jsonl"), (".ndjson", "jsonl"), (".parquet", "parquet")):
        if name.endswith(ending):
            return kind
    raise UsageError(f"{path}: the format of this table is unknown; expected a name that ends in .csv, .jsonl or .parquet")


def _open_text(path: Path) -> io.TextIOBase:
    openers: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    opener = openers.get(path.suffix.lower(), open)
    stream: io.TextIOBase = opener(path, "rt", encoding="utf-8-sig", newline="")
    return stream


def _csv_rows(stream: io.TextIOBase) -> Any:
    """Returns the rows of a CSV file, separated as its first line shows: by comma, semicolon or tab."""
    first = stream.readline()
    separator = max(",;\t", key=first.count)
    return csv.reader(chain([first], stream), delimiter=separator, strict=True)


def _records(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yields the rows that are not blank."""
    return filter(None, rows)


def _read_csv(path: Path, places: Places) -> Iterator[Cells]:
    where = line_of(path)
    with _open_text(path) as stream:
        rows = _csv_rows(stream)
        records = _records(rows)
        try:
            header = [title.strip() for title in next(records, [])]
            form = _form(header, places, f"{path}, line 1")
            size = max(1, PIECE_CELLS // max(1, len(header)))
            first = 0
            while piece := list(islice(records, size)):
                _check_widths(piece, len(header), first, where)
                yield form(first, list(zip(*piece, strict=True)), where)
                first += len(piece)
        except csv.Error as error:
            raise UsageError(f"{path}, line {rows.line_num}: {error}; expected comma-separated values") from error


def _check_widths(piece: Sequence[Sequence[str]], width: int, first: int, where: Callable[[int], str]) -> None:
    if set(map(len, piece)) != {width}:
        k = next(k for k, row in enumerate(piece) if len(row) != width)
        raise UsageError(f"{where(first + k)}: {len(piece[k])} cells, expected {width} as in the first line")


Form = Callable[[int, Sequence[Sequence[Any]], Callable[[int], str]], Cells]
"""(number of the first record, the columns of some records, where) -> cells."""


def _form(header: Sequence[str], places: Places, where: str) -> Form:
    """Returns how columns with these titles become cells: the long form or the wide one."""
    titles = [title.lower() for title in header]
    if "scenario" not in titles:
        raise UsageError(
            f"{where}: no column is called scenario; expected scenario, what, name, value, or scenario, rhs:ROW, ..."
        )
    if {"what", "value"} & set(titles):
        if sorted(titles) != sorted(LONG):
            raise UsageError(f"{where}: the columns are {', '.join(header)}; expected scenario, what, name and value")
        return _Long(places, [titles.index(title) for title in LONG]).cells
    return _Wide(places, header, titles.index("scenario"), where).cells


class _Wide:
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
        record, position = np.nonzero(there)
        record = record.astype(np.int64)
        return Cells(first, names, record, self._what[position], self._place[position], values[there], first + record, wide=True)


class _Long:
    """A change a record: scenario, what, name, value. A record without what names a scenario that changes nothing."""

    def __init__(self, places: Places, order: Sequence[int]) -> None:
        self._places, self._order = places, order
        self._known: dict[tuple[str, str], tuple[int, int]] = {("", ""): (What.NOTHING, 0)}

    def cells(self, first: int, columns: Sequence[Sequence[Any]], where: Callable[[int], str]) -> Cells:
        """Returns the cells of some records."""
        scenario, what, name, value = (columns[k] for k in self._order)
        names = _names(scenario, first, where)
        pairs = list(zip(map(_text, what), map(_text, name), strict=True))
        for pair in dict.fromkeys(pairs):
            if pair not in self._known:
                spot = where(first + pairs.index(pair))
                code = self._places.word(pair[0], spot)
                self._known[pair] = code, self._places.place(code, pair[1], spot)
        targets = np.array([self._known[pair] for pair in pairs], dtype=np.int64).reshape(-1, 2)
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


def _names(column: Sequence[Any], first: int, where: Callable[[int], str]) -> list[str]:
    names = list(map(_text, column))
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
        column = [0.0 if cell == empty else cell for cell in column]
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


def _read_jsonl(path: Path, places: Places) -> Iterator[Cells]:
    where = line_of(path)
    first = 0
    with _open_text(path) as stream:
        lines = (text for text in stream if text.strip())
        form: Form | None = None
        keys: list[str] = []
        while piece := list(islice(lines, max(1, PIECE_CELLS // max(8, len(keys))))):
            rows = [_object(text, first + k, where) for k, text in enumerate(piece)]
            found = list(dict.fromkeys(chain.from_iterable(rows)))
            if form is None or set(found) - set(keys):  # a key may come first in a later line
                keys = list(dict.fromkeys([*keys, *found]))
                form = _form(keys, places, where(first))
            yield form(first, [[row.get(key) for row in rows] for key in keys], where)
            first += len(rows)


def _object(text: str, record: int, where: Callable[[int], str]) -> Mapping[str, Any]:
    try:
        row = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise UsageError(f"{where(record)}: {error}; expected one JSON object a line") from error
    if not isinstance(row, dict):
        raise UsageError(f"{where(record)}: this is no JSON object; expected one a line, with a key scenario")
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key comes twice in one object")
    return row


def _read_parquet(path: Path, places: Places) -> Iterator[Cells]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise UsageError(f"{path}: reading Parquet needs pyarrow; try: pip install 'batchlp[parquet]'") from error
    where = line_of(path)
    try:
        with pq.ParquetFile(path) as table:
            header = [str(name) for name in table.schema_arrow.names if not name.startswith("__index_level_")]
            form = _form(header, places, str(path))
            first = 0
            for batch in table.iter_batches(max(1, PIECE_CELLS // max(1, len(header))), columns=header):
                if batch.num_rows:
                    yield form(first, [_arrow_column(batch.column(k), title) for k, title in enumerate(header)], where)
                first += batch.num_rows
    except pa.ArrowInvalid as error:
        raise UsageError(f"{path}: {error}; expected a Parquet file") from error


def _arrow_column(column: Any, title: str) -> Any:
    """Returns a column of numbers as (values, which are there), names and other types as a list."""
    import pyarrow as pa

    if title.lower() in LONG[:3] or not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return column.to_pylist()
    there = ~np.asarray(column.is_null())
    return np.asarray(column.cast(pa.float64(), safe=False).fill_null(0.0)), there


_READERS = {"csv": _read_csv, "jsonl": _read_jsonl, "parquet": _read_parquet}
