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
Texts = str | list[str]
"""What all rows have in one place, or each of them."""


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
        constants, columns = ["{"], list[list[str]]()
        for place, part in enumerate(self._parts()):
            for text in part if place == 0 else (", ", *part):
                if isinstance(text, str):
                    constants[-1] += text
                else:
                    columns.append(text)
                    constants.append("")
        constants[-1] += "}\n"
        # row by row, a text that all have and then one of its own: many times as fast as a template for each row
        width = len(constants) + len(columns)
        woven = [""] * (width * len(self))
        for k, constant in enumerate(constants):
            woven[2 * k :: width] = [constant] * len(self)
        for k, column in enumerate(columns):
            woven[2 * k + 1 :: width] = column
        return "".join(woven)

    def _parts(self) -> Iterator[Sequence[Texts]]:
        """Yields for each key of a row what stands there as JSON, with the key, in parts that follow each other."""
        numbers = {key: _texts(column) for key, column in self._numbers.items()}
        sources = self._sources
        names = _bodies(sources.names)
        called = names if sources.called == sources.names else _bodies(sources.called)
        models = called if self._models == sources.called else _bodies(self._models)
        read_time = _texts(np.round(sources.read_time, 6))
        told: dict[str, Sequence[Texts]] = {
            "name": _quoted(names),
            "input": ('"', encode_basestring_ascii(sources.before)[1:-1], *_quoted(called)[1:]),
            "read_time": (read_time,),
            "model_name": _quoted(models),
            "probability": (_texts(sources.probability),),
            "input_digest": _quoted(_bodies(sources.digests)) if all(sources.digests) else (_or_null(sources.digests),),
        }
        for key, value in self._first.items():
            if key == "attempts":
                yield f'"{key}": [{{', *self._attempt_parts(numbers["iterations"]), "}]"
            elif key in numbers:
                yield f'"{key}": ', numbers[key]
            else:
                yield f'"{key}": ', *told.get(key, (_fixed(value),))

    def _attempt_parts(self, iterations: Texts) -> Iterator[Texts]:
        for place, (key, value) in enumerate(self._attempt.items()):
            yield ", " * (place > 0) + f'"{key}": '
            yield iterations if key == "iterations" else _fixed(value)


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


def _quoted(bodies: Texts) -> tuple[Texts, ...]:
    return '"', bodies, '"'


def _bodies(texts: Sequence[str]) -> list[str]:
    """Returns texts as JSON, without the quotes."""
    whole = "\n".join(texts)
    bodies = encode_basestring_ascii(whole)[1:-1].split("\\n")
    if len(bodies) == len(texts) and "\\" not in whole:
        return bodies
    return [encode_basestring_ascii(text)[1:-1] for text in texts]


def _or_null(texts: Sequence[str]) -> list[str]:
    """Returns texts as JSON, null for an empty one."""
    return [encode_basestring_ascii(text) if text else "null" for text in texts]


def _texts(column: Numbers) -> Texts:
    """Returns the numbers of a column as JSON; one text where all are the same."""
    first = column[0]
    if (column == first).all() and not (column.dtype == np.float64 and first == 0 and np.signbit(column).any()):
        return "null" if column.dtype == np.float64 and not np.isfinite(first) else repr(first.item())
    if column.dtype != np.float64:
        return list(map(str, column.tolist()))
    texts = list(map(float.__repr__, column.tolist()))
    for k in np.flatnonzero(~np.isfinite(column)).tolist():
        texts[k] = "null"
    return texts
