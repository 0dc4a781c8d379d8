"""Rows of many members at once: what they share is told once, what differs is a column; a row is made when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from json.encoder import encode_basestring_ascii

import numpy as np

from batchlp_cli.kkt import Proofs
from batchlp_cli.optima import Optima
from batchlp_cli.problem import Vector
from batchlp_cli.report.rows import RESULT_FIELDS, Model, Row, Source, json_line, result_row

Column = Sequence[str | int | float | None]
RESIDUALS = tuple(key for key in RESULT_FIELDS if "_residual_" in key or key.startswith("gap_"))
"""The keys of the residuals, in the order of `Residuals`."""


class RowBlock:
    """Rows that agree in all keys but some, as `report.rows.result_row` would make them.

    first: the row of one of them; columns: by key, the values of those that differ. `iterations` also stands in the one
    attempt that each of them has. A float that is not finite stands for null.
    """

    def __init__(self, first: Row, columns: Mapping[str, Column]) -> None:
        self._first, self._columns = first, columns

    def __len__(self) -> int:
        return len(self.names)

    @property
    def names(self) -> Sequence[str]:
        """The name of each row."""
        return self._columns["name"]  # type: ignore[return-value]

    @property
    def status(self) -> str:
        """The status of all of them."""
        return str(self._first["status"])

    def column(self, key: str) -> Column:
        """Returns what the rows have under a key in which they differ."""
        return self._columns[key]

    @property
    def _attempt(self) -> Row:
        attempts = self._first["attempts"]
        assert isinstance(attempts, list)
        return attempts[0]  # type: ignore[no-any-return]

    def rows(self) -> Iterator[Row]:
        """Yields the rows as dicts."""
        attempt = self._attempt
        keys = list(self._columns)
        for values in zip(*self._columns.values(), strict=True):
            own = {key: _finite(value) for key, value in zip(keys, values, strict=True)}
            yield self._first | own | {"attempts": [attempt | {"iterations": own["iterations"]}]}

    @cached_property
    def lines(self) -> list[str]:
        """The rows as JSON, as `report.rows.json_line` writes them."""
        texts = {key: _texts(column) for key, column in self._columns.items()}
        order = [key for key in self._first if key in texts or key == "attempts"]
        columns = (texts["iterations" if key == "attempts" else key] for key in order)
        return list(map(self._template().__mod__, zip(*columns, strict=True)))

    def _template(self) -> str:
        """Returns the line of a row with %s where a column goes."""
        attempt = self._attempt
        tried = ", ".join(f'"{key}": {"%s" if key == "iterations" else _fixed(value)}' for key, value in attempt.items())
        parts = []
        for key, value in self._first.items():
            text = f"[{{{tried}}}]" if key == "attempts" else "%s" if key in self._columns else _fixed(value)
            parts.append(f'"{key}": {text}')
        return f"{{{', '.join(parts)}}}"


def proved_rows(
    sources: Sequence[Source], names: Sequence[str], model: Model, told: tuple[str, str], optima: Optima, proofs: Proofs
) -> RowBlock:
    """Returns the rows of members of one model and one set of warnings whose optimum was proved at the first try.

    names: of the models; told: (group, digest of the settings). Everything is in the order of the members.
    """
    group, digest = told
    (verdict,) = proofs.take(np.zeros(1, dtype=np.int64)).verdicts()
    first = result_row(sources[0], digest, model, names[0], group, [(optima.without_vectors(0), verdict)])
    columns: dict[str, Column] = {
        "name": [source.name for source in sources],
        "input": [source.shown for source in sources],
        "objective": (model.sign * proofs.objective).tolist(),
        "dual_bound": (model.sign * proofs.dual_bound).tolist(),
        **dict(zip(RESIDUALS, proofs.residuals.T.tolist(), strict=True)),
        "iterations": optima.iterations.tolist(),
        "read_time": [round(source.read_time, 6) for source in sources],
        "model_name": names,
        "probability": [source.probability for source in sources],
        "input_digest": [source.input_digest or None for source in sources],
    }
    return RowBlock(first, columns)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fixed(value: object) -> str:
    """Returns a value as JSON inside of a template."""
    return json_line({"": value})[5:-1].replace("%", "%%")


def _texts(column: Column) -> list[str]:
    """Returns the values of a column as JSON."""
    types = set(map(type, column))
    if types == {str}:
        return list(map(encode_basestring_ascii, column))  # type: ignore[arg-type]
    if types == {int}:
        return list(map(str, column))
    if types == {type(None)}:
        return ["null"] * len(column)
    if not types <= {float, type(None)}:
        return [json_line({"": value})[5:-1] for value in column]
    numbers: Vector = np.array(column, dtype=np.float64)  # a None becomes a NaN
    texts = list(map(float.__repr__, numbers.tolist()))
    for k in np.flatnonzero(~np.isfinite(numbers)).tolist():
        texts[k] = "null"
    return texts
