"""Rows of many members at once: what they share is told once, what differs is a column; a row is made when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from json.encoder import encode_basestring_ascii

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.kkt import Proofs
from batchlp_cli.optima import Optima
from batchlp_cli.problem import Vector
from batchlp_cli.report.rows import RESULT_FIELDS, Model, Row, json_line, result_row
from batchlp_cli.report.sources import Sources

RESIDUALS = tuple(key for key in RESULT_FIELDS if "_residual_" in key or key.startswith("gap_"))
"""The keys of the residuals, in the order of `Residuals`."""

Numbers = Vector | Indices


class RowBlock:
    """Rows that agree in all keys but some, as `report.rows.result_row` would make them.

    first: the row of one of them; sources: of all; numbers: by key, those that differ. `iterations` also stands in the one
    attempt that each of them has. A float that is not finite stands for null.
    """

    def __init__(self, first: Row, sources: Sources, models: Sequence[str], numbers: Mapping[str, Numbers]) -> None:
        """models: the names of their models."""
        self._first, self._sources, self._models, self._numbers = first, sources, models, numbers

    def __len__(self) -> int:
        return len(self._sources)

    @property
    def names(self) -> Sequence[str]:
        """The name of each row."""
        return self._sources.names

    @property
    def status(self) -> str:
        """The status of all of them."""
        return str(self._first["status"])

    @property
    def objectives(self) -> Vector:
        """The objective of each row: [B]."""
        return np.asarray(self._numbers["objective"], dtype=np.float64)

    @property
    def probabilities(self) -> Vector:
        """The probability of each row, NaN where it has none: [B]."""
        return self._sources.probability

    @property
    def _attempt(self) -> Row:
        attempts = self._first["attempts"]
        assert isinstance(attempts, list)
        return attempts[0]  # type: ignore[no-any-return]

    def rows(self) -> Iterator[Row]:
        """Yields the rows as dicts."""
        attempt, keys, numbers = self._attempt, list(self._numbers), (column.tolist() for column in self._numbers.values())
        for k, values in enumerate(zip(*numbers, strict=True)):
            source, own = self._sources[k], dict(zip(keys, map(_finite, values), strict=True))
            told = {
                "name": source.name,
                "input": source.shown,
                "read_time": round(source.read_time, 6),
                "model_name": self._models[k],
                "probability": source.probability,
                "input_digest": source.input_digest or None,
            }
            yield self._first | told | own | {"attempts": [attempt | {"iterations": own["iterations"]}]}

    @cached_property
    def text(self) -> str:
        """The rows as JSON, as `report.rows.json_line` writes them, with the end of each line."""
        constants, columns = self._woven_of()
        # row by row, a text that all have and then one of its own: many times as fast as a template for each row
        width = len(constants) + len(columns)
        woven = [""] * (width * len(self))
        for k, constant in enumerate(constants):
            woven[2 * k :: width] = [constant] * len(self)
        for k, column in enumerate(columns):
            woven[2 * k + 1 :: width] = column
        return "".join(woven)

    def _woven_of(self) -> tuple[list[str], list[list[str]]]:
        """Returns what all lines have, cut where each has its own, and what each has in those places."""
        texts, numbers = self._texts(), self._number_texts()
        mark = "\x1a"
        while _fixed(mark)[1:-1] in json_line(self._first):
            mark += "\x1a"
        row = self._first | dict.fromkeys([*texts, *numbers], mark) | {"input": self._sources.before + mark}
        if "iterations" in numbers:
            row["attempts"] = [self._attempt | {"iterations": mark}]
        constants = f"{json_line(row)}\n".split(_fixed(mark)[1:-1])
        columns: list[list[str]] = []
        for key in row:
            at = len(columns)
            if key in texts:
                columns.append(texts[key])
            elif key in numbers or (key == "attempts" and "iterations" in numbers):
                columns.append(numbers["iterations" if key == "attempts" else key])
                constants[at], constants[at + 1] = constants[at][:-1], constants[at + 1][1:]  # numbers have no quotes
        return constants, columns

    def _texts(self) -> dict[str, list[str]]:
        """Returns the columns of texts as JSON, without the quotes."""
        sources = self._sources
        names = _bodies(sources.names)
        called = names if sources.called == sources.names else _bodies(sources.called)
        models = called if self._models == sources.called else _bodies(self._models)
        texts = {"name": names, "input": called, "model_name": models}
        return texts | ({"input_digest": _bodies(sources.digests)} if all(sources.digests) else {})

    def _number_texts(self) -> dict[str, list[str]]:
        """Returns the columns of numbers as JSON, and those that may be null; but not those in which all rows agree."""
        sources = self._sources
        numbers = {**self._numbers, "read_time": np.round(sources.read_time, 6), "probability": sources.probability}
        found = {key: _number_texts(column) for key, column in numbers.items() if not _is_one(column)}
        return found if all(sources.digests) else found | {"input_digest": list(map(_or_null, sources.digests))}


def proved_rows(
    sources: Sources, names: Sequence[str], model: Model, told: tuple[str, str], optima: Optima, proofs: Proofs
) -> RowBlock:
    """Returns the rows of members of one model whose optimum was proved at the first try.

    names: of the models; told: (group, digest of the settings). Everything is in the order of the members.
    """
    group, digest = told
    (verdict,) = proofs.take(np.zeros(1, dtype=np.int64)).verdicts()
    first = result_row(sources[0], digest, model, names[0], group, [(optima.without_vectors(0), verdict)])
    numbers: dict[str, Numbers] = {
        "objective": model.sign * proofs.objective,
        "dual_bound": model.sign * proofs.dual_bound,
        **dict(zip(RESIDUALS, proofs.residuals.T, strict=True)),
        "iterations": optima.iterations,
    }
    return RowBlock(first, sources, names, numbers)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fixed(value: object) -> str:
    """Returns a value as JSON."""
    return json_line({"": value})[5:-1]


def _bodies(texts: Sequence[str]) -> list[str]:
    """Returns texts as JSON, without the quotes."""
    whole = "\n".join(texts)
    bodies = encode_basestring_ascii(whole)[1:-1].split("\\n")
    if len(bodies) == len(texts) and "\\" not in whole:
        return bodies
    return [encode_basestring_ascii(text)[1:-1] for text in texts]


def _or_null(text: str) -> str:
    """Returns a text as JSON, null for an empty one."""
    return encode_basestring_ascii(text) if text else "null"


def _is_one(column: Numbers) -> bool:
    """Tells whether all numbers of a column are the same, 0.0 and -0.0 being two."""
    return bool((column.view(np.int64) == column.view(np.int64)[0]).all())


def _number_texts(column: Numbers) -> list[str]:
    """Returns the numbers of a column as JSON."""
    if column.dtype != np.float64:
        return list(map(str, column.tolist()))
    texts = list(map(float.__repr__, column.tolist()))
    for k in np.flatnonzero(~np.isfinite(column)).tolist():
        texts[k] = "null"
    return texts
