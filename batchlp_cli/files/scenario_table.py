"""Reads scenario tables piece by piece: CSV, JSON lines or Parquet, a scenario a record (wide) or a change a record (long).

How columns become cells is in scenario_forms.py, what the cells mean is in scenarios.py.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.files.scenario_cells import Cells, Places
from batchlp_cli.files.scenario_forms import LONG, Long, Wide, form_of

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
                _, rows = _csv_rows(stream)
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


def _csv_rows(stream: io.TextIOBase) -> tuple[Iterator[str], Any]:
    """Returns the lines of a CSV file, and its rows, separated as the first line shows: by comma, semicolon or tab."""
    first = stream.readline()
    separator = max(",;\t", key=first.count)
    lines = chain([first], stream)
    return lines, csv.reader(lines, delimiter=separator, strict=True)


def _records(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yields the rows that are not blank."""
    return filter(None, rows)


def _read_csv(path: Path, places: Places) -> Iterator[Cells]:
    where = line_of(path)
    with _open_text(path) as stream:
        lines, rows = _csv_rows(stream)
        before = 0  # lines that `rows` did not see
        try:
            header = [title.strip() for title in next(_records(rows), [])]
            form = form_of(header, places, f"{path}, line 1")
            size = max(1, PIECE_CELLS // max(1, len(header)))
            first = 0
            while texts := list(islice(lines, size)):
                before, rows = before + rows.line_num, csv.reader(texts, rows.dialect)
                whole = "".join(texts)
                if '"' in whole:  # a record may go on in the next line
                    rows = csv.reader(chain(texts, lines), rows.dialect)
                    for records, piece in _pieces(rows, size, len(header), first, where):
                        yield form.cells(records, piece, where)
                    return
                cells = form.plain(first, whole, texts, rows.dialect.delimiter)
                if cells is not None:
                    before += len(texts)
                    first += len(cells.scenario)
                    yield cells
                    continue
                for records, piece in _pieces(rows, size, len(header), first, where):
                    first = records + len(piece[0])
                    yield form.cells(records, piece, where)
        except csv.Error as error:
            line = before + rows.line_num
            raise UsageError(f"{path}, line {line}: {error}; expected comma-separated values") from error


def _pieces(
    rows: Iterator[list[str]], size: int, width: int, first: int, where: Callable[[int], str]
) -> Iterator[tuple[int, list[Any]]]:
    """Yields (number of the first record, the columns of some records) of the rest of a file, whose records are counted on."""
    records = _records(rows)
    while piece := list(islice(records, size)):
        _check_widths(piece, width, first, where)
        yield first, list(zip(*piece, strict=True))
        first += len(piece)


def _check_widths(piece: Sequence[Sequence[str]], width: int, first: int, where: Callable[[int], str]) -> None:
    if set(map(len, piece)) != {width}:
        k = next(k for k, row in enumerate(piece) if len(row) != width)
        raise UsageError(f"{where(first + k)}: {len(piece[k])} cells, expected {width} as in the first line")


def _read_jsonl(path: Path, places: Places) -> Iterator[Cells]:
    where = line_of(path)
    first = 0
    with _open_text(path) as stream:
        lines = filter(str.strip, stream)
        form: Wide | Long | None = None
        keys: list[str] = []
        while piece := list(islice(lines, max(1, PIECE_CELLS // max(8, len(keys))))):
            rows = _plain_objects(piece) or [_object(text, first + k, where) for k, text in enumerate(piece)]
            found = list(dict.fromkeys(chain.from_iterable(rows)))
            if form is None or set(found) - set(keys):  # a key may come first in a later line
                keys = list(dict.fromkeys([*keys, *found]))
                form = form_of(keys, places, where(first))
            yield form.cells(first, [[row.get(key) for row in rows] for key in keys], where)
            first += len(rows)


class _Pairs(tuple[tuple[str, Any], ...]):
    """An object as its pairs of keys and values."""

    __slots__ = ()


_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(object_pairs_hook=_Pairs))["scan_once"]


def _plain_objects(texts: Sequence[str]) -> Sequence[Mapping[str, Any]] | None:
    """Returns the objects of lines; None where one is not JSON, has a key twice, or others inside."""
    stripped = list(map(str.strip, texts))
    try:
        found = list(map(_scan, stripped, repeat(0)))
    except ValueError:
        return None
    if list(map(itemgetter(1), found)) != list(map(len, stripped)):
        return None
    pairs = list(map(itemgetter(0), found))
    if set(map(type, pairs)) != {_Pairs}:
        return None
    rows = list(map(dict, pairs))
    inside = set(map(type, chain.from_iterable(map(dict.values, rows))))
    return rows if list(map(len, rows)) == list(map(len, pairs)) and inside.isdisjoint((_Pairs, list)) else None


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
            form = form_of(header, places, str(path))
            first = 0
            for batch in table.iter_batches(max(1, PIECE_CELLS // max(1, len(header))), columns=header):
                if batch.num_rows:
                    yield form.cells(first, [_arrow_column(batch.column(k), title) for k, title in enumerate(header)], where)
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
