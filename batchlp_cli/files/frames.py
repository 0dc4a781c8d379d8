"""Results and solutions as Parquet, which pandas, polars, DuckDB and R open in one line. Needs pyarrow (batchlp[parquet]).

Solutions are in the long form: a record for each value, with the scenario or file that it is of, and the row or column.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from batchlp_cli.errors import BackendMissing
from batchlp_cli.files.ledger import Row

RECORDS = 10_000
"""Rows that are turned into one piece of a file."""

_TYPES = {
    "bool_": ("verified", "basic"),
    "int64": ("schema_version", "iterations", "rows", "columns", "nonzeros", "integer_columns"),
    "float64": (
        "objective", "dual_bound", "primal_residual_abs", "primal_residual_rel", "dual_residual_abs", "dual_residual_rel",
        "gap_abs", "gap_rel", "solve_time", "read_time", "probability",
    ),
}  # fmt: skip
_TEXTS = ("notes", "warnings")


def load_pyarrow() -> Any:
    """Returns pyarrow with its Parquet part; raises BackendMissing with what to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise BackendMissing("Parquet needs pyarrow, which is not installed; try: pip install 'batchlp[parquet]'") from error
    return pyarrow


def results_parquet(rows: Path, target: Path, fields: tuple[str, ...]) -> None:
    """Writes the rows of a results.jsonl as Parquet, in its order, of rows with one name the last; `attempts` is JSON text."""
    pa = load_pyarrow()
    kinds = {name: getattr(pa, kind)() for kind, names in _TYPES.items() for name in names}
    kinds |= {name: pa.list_(pa.string()) for name in _TEXTS}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in fields])
    last: dict[str, int] = {}
    for number, row in enumerate(_rows(rows)):
        last[str(row["name"])] = number
    kept = (row for number, row in enumerate(_rows(rows)) if last[str(row["name"])] == number)
    with pa.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        while piece := list(islice(kept, RECORDS)):
            records = [{**row, "attempts": json.dumps(row.get("attempts"))} for row in piece]
            writer.write_table(pa.Table.from_pylist(records, schema=schema))


def _rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as stream:
        yield from (json.loads(line) for line in stream if line.endswith(b"\n"))


def solutions_parquet(arrays: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[Any]]]) -> bytes:
    """Returns the arrays of a BatchArchive in the long form: name, vector (x, dual, ...), label, value; NaN is left out."""
    pa = load_pyarrow()
    pieces = []
    names = pa.array(arrays["name"].tolist())
    for vector in ("x", "dual", "reduced_cost", "dual_ray", "primal_ray"):
        if vector not in arrays or not arrays[vector].size:
            continue
        values = arrays[vector]
        labels = arrays["row_names" if vector in ("dual", "dual_ray") else "col_names"].tolist()
        member, place = np.nonzero(~np.isnan(values))
        columns = {
            "name": pa.DictionaryArray.from_arrays(pa.array(member.astype(np.int32)), names),
            "vector": pa.DictionaryArray.from_arrays(pa.array(np.zeros(member.size, dtype=np.int32)), pa.array([vector])),
            "label": pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), pa.array(labels)),
            "value": pa.array(values[member, place]),
        }
        pieces.append(pa.table(columns))
    buffer = io.BytesIO()
    if pieces:
        table = pa.concat_tables(pieces).unify_dictionaries()
        pa.parquet.write_table(table, buffer, compression="zstd")
    else:
        text = pa.dictionary(pa.int32(), pa.string())
        empty = pa.schema([("name", text), ("vector", text), ("label", text), ("value", pa.float64())])
        pa.parquet.write_table(empty.empty_table(), buffer)
    return buffer.getvalue()
