"""Many claims of an optimum as arrays: what most answers about the members of a large batch come as. Verdicts are in kkt.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from batchlp_cli.batch import Field, Indices, LPBatch
from batchlp_cli.problem import Vector
from batchlp_cli.products import Matrix
from batchlp_cli.solution import Solution, Status

JOINED_BYTES = 4 << 20
"""Vectors of claims that are joined: enough for calls to cost little, and little beside those that wait."""


@dataclass(frozen=True, slots=True, eq=False)
class Optima:
    """Claims of optima that were found in one way. Reduced costs are not claimed: they are c - A.T @ y by definition.

    members: [s] int64; y: [s, m] float64; iterations: [s] int64; seconds: what each of them took; backend and method as in
    `Solution`. values: [s, n] float64, x; with used [k], where only those columns of x differ from rest [n], it is [s, k].
    """

    members: Indices
    values: Vector
    y: Vector
    iterations: Indices
    seconds: float
    backend: str
    method: str
    used: Indices | None = None
    rest: Vector | None = None

    def __len__(self) -> int:
        return int(self.members.size)

    @staticmethod
    def of(claims: Sequence[tuple[int, Solution]]) -> Optima:
        """Returns optimal claims, at least one, that were found in one way; seconds become their mean."""
        members, solutions = zip(*claims, strict=True)
        x, y = np.array([claim.x for claim in solutions]), np.array([claim.y for claim in solutions])
        iterations = np.array([claim.iterations for claim in solutions], dtype=np.int64)
        seconds = sum(claim.seconds for claim in solutions) / len(solutions)
        first = solutions[0]
        return Optima(np.array(members, dtype=np.int64), x, y, iterations, seconds, first.backend, str(first.method))

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors."""
        return int(self.values.nbytes + self.y.nbytes)

    def x(self, which: slice) -> Vector:
        """Returns the points of some of the claims, in a new array: [k, n]."""
        values = self.values[which]
        if self.used is None or self.rest is None:
            return values.copy()
        points = np.repeat(self.rest[None, :], len(values), axis=0)
        points[:, self.used] = values
        return points

    def take(self, which: Sequence[int] | Indices) -> Optima:
        """Returns some of the claims."""
        rows = np.asarray(which, dtype=np.int64)
        parts = {name: getattr(self, name)[rows] for name in ("members", "values", "y", "iterations")}
        return replace(self, **parts)

    def renumbered(self, members: Sequence[int]) -> Optima:
        """Returns the claims as those of other members: `members` says of whom, by the numbers that they have here."""
        return replace(self, members=np.asarray(members, dtype=np.int64)[self.members])

    def solutions(self, batch: LPBatch, matrix: Matrix | None = None) -> list[tuple[int, Solution]]:
        """Returns (member, claim) for all of them; batch: the one that they are members of, matrix: made of its base's A."""
        r = reduced_costs(batch.take(self.members), self.y, matrix or Matrix(batch.base.rows, len(self)))
        each = zip(self.members.tolist(), self.x(slice(None)), self.y, r, self.iterations.tolist(), strict=True)
        return [(member, self._claim(x, y, r, iterations)) for member, x, y, r, iterations in each]

    def without_vectors(self, k: int) -> Solution:
        """Returns one of the claims as a row tells it."""
        iterations = int(self.iterations[k])
        return Solution(Status.OPTIMAL, iterations=iterations, seconds=self.seconds, backend=self.backend, method=self.method)

    def _claim(self, x: Vector, y: Vector, r: Vector, iterations: int) -> Solution:
        return Solution(Status.OPTIMAL, x, y, r, None, None, iterations, self.seconds, self.backend, self.method)


def joined(parts: Sequence[Optima]) -> list[Optima]:
    """Returns the same claims with those together that were found in one way, up to JOINED_BYTES; seconds become their mean."""
    alike: list[list[Optima]] = []
    sizes: list[int] = []
    for part in parts:
        k = next((k for k in reversed(range(len(alike))) if _is_one_way(alike[k][0], part)), -1)
        if k < 0 or sizes[k] + part.nbytes > JOINED_BYTES:
            alike.append([])
            sizes.append(0)
            k = len(alike) - 1
        alike[k].append(part)
        sizes[k] += part.nbytes
    return [some[0] if len(some) == 1 else _one(some) for some in alike]


def _is_one_way(a: Optima, b: Optima) -> bool:
    same = (a.backend, a.method) == (b.backend, b.method)
    if a.used is None or a.rest is None or b.used is None or b.rest is None:
        return same and a.used is b.used
    return same and np.array_equal(a.used, b.used) and np.array_equal(a.rest, b.rest)


def _one(parts: Sequence[Optima]) -> Optima:
    names = ("members", "values", "y", "iterations")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    seconds = sum(part.seconds * len(part) for part in parts) / max(1, sum(map(len, parts)))
    return replace(parts[0], **arrays, seconds=seconds)


Claim = tuple[int, Solution] | Optima
"""What is claimed of one member, or of several together."""


def reduced_costs(batch: LPBatch, Y: Vector, matrix: Matrix) -> Vector:
    """Returns c - A.T @ y of every member: Y [B, m] -> [B, n]."""
    priced = matrix.transposed_times(Y)
    return (batch.dense(Field.COST) if (batch.changes.field == Field.COST).any() else batch.base.c) - priced


def one_by_one(claims: Iterable[tuple[int, Claim]], batches: Sequence[LPBatch]) -> Iterator[tuple[int, int, Solution]]:
    """Yields (batch, member, claim) for every member of (batch, claim); batch is an index into `batches`."""
    matrix: Matrix | None = None  # of the batch before
    for k, claim in claims:
        if not isinstance(claim, Optima):
            yield k, *claim
            continue
        if matrix is None or matrix.rows is not batches[k].base.rows:
            matrix = Matrix(batches[k].base.rows, len(batches[k]))
        yield from ((k, *each) for each in claim.solutions(batches[k], matrix))
