"""The ends of ranges as they become known, and points that show that an end cannot be tightened (so it is not solved for).

End 2k is the minimum of the k-th quantity, end 2k + 1 minus its maximum: both are lower bounds that only ever rise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.settings import BackendName
from batchlp_cli.solution import Status
from batchlp_cli.solving import Solver, Tries

ATTAINED = 1e-7
"""A feasible point this near to a bound attains it: solving could tighten it by no more."""

LEAST_GAIN = 0.05
"""An LP with summed costs is followed by another while it filters this share of the open ends [Gleixner et al., section 3.1]."""

MOST_SWEEPS = 10
"""Most LPs with summed costs, so that filtering never costs more than a small part of what it saves."""


class Ends:
    """The two ends of each quantity. bound: [2k] rigorous lower bounds; state words: proved, attained, infinite, unknown."""

    def __init__(self, lp: LinearProgram, cols: Sequence[int], rows: Sequence[int]) -> None:
        self._A = lp.A
        self._cols, self._rows = np.asarray(cols, dtype=np.int64), np.asarray(rows, dtype=np.int64)
        self.bound = np.empty(2 * len(self))
        self._infinite: Mask = np.zeros(2 * len(self), dtype=np.bool_)
        self._proved: Mask = self._infinite.copy()
        self._attained: Mask = self._infinite.copy()
        self._asked: Mask = self._infinite.copy()
        self.renew(lp)

    def __len__(self) -> int:
        return int(self._cols.size + self._rows.size)

    def renew(self, lp: LinearProgram) -> None:
        """Takes over tighter bounds of an LP and asks again for each end that is not infinite; what is proved stays."""
        fresh = np.empty_like(self.bound)
        fresh[0::2] = np.concatenate([lp.col_lower[self._cols], lp.row_lower[self._rows]])
        fresh[1::2] = -np.concatenate([lp.col_upper[self._cols], lp.row_upper[self._rows]])
        known = self._proved | self._attained
        self.bound = np.where(known, np.maximum(self.bound, fresh), fresh)
        self._asked[:] = self._infinite
        self._attained[:] = False
        self._own = fresh

    def open(self) -> list[int]:
        """Returns the ends that are still to be solved for."""
        return np.flatnonzero(~(self._asked | self._attained)).tolist()

    def raise_bound(self, end: int, bound: float) -> None:
        """Takes in a rigorous bound of an end."""
        self._asked[end] = True
        if bound > -np.inf:
            self._proved[end] = True
            self.bound[end] = max(self.bound[end], bound)

    def set_infinite(self, end: int) -> None:
        """Takes in that an end was proved to be infinite."""
        self._asked[end] = self._infinite[end] = True

    def attain(self, x: Vector) -> int:
        """Marks the open ends whose own bound a feasible x attains; returns how many."""
        value = np.concatenate([x[self._cols], (self._A @ x)[self._rows]])
        both = np.column_stack([value, -value]).ravel()
        hit = (both <= self._own + ATTAINED) & ~self._attained & ~self._asked
        self._attained |= hit
        return int(hit.sum())

    @property
    def all_known(self) -> bool:
        """Tells whether each end is proved, attained or infinite."""
        return bool((self._proved | self._attained | self._infinite).all())

    def words(self, k: int) -> tuple[str, str]:
        """Returns how the two ends of quantity k are known."""
        return self._word(2 * k), self._word(2 * k + 1)

    def _word(self, end: int) -> str:
        if self._infinite[end]:
            return "infinite"
        if self._proved[end]:
            return "proved"
        return "attained" if self._attained[end] else "unknown"

    def place(self, k: int) -> tuple[int, bool]:
        """Returns the index of quantity k and whether it is a row."""
        is_row = k >= self._cols.size
        return int(self._rows[k - self._cols.size] if is_row else self._cols[k]), is_row

    def interval(self, k: int) -> tuple[float, float]:
        """Returns the two ends of quantity k."""
        return float(self.bound[2 * k]), -float(self.bound[2 * k + 1])

    def columns(self) -> Iterator[tuple[int, float, float]]:
        """Yields each column with its two ends."""
        for k, index in enumerate(self._cols.tolist()):
            yield index, *self.interval(k)

    def costs(self, end: int) -> tuple[Indices, Vector]:
        """Returns the costs whose minimum an end is: indices of columns and values."""
        index, is_row = self.place(end // 2)
        sign = -1.0 if end % 2 else 1.0
        if not is_row:
            return np.array([index]), np.array([sign])
        entries = slice(*self._A.indptr[index : index + 2])
        return self._A.indices[entries].astype(np.int64), sign * self._A.data[entries]

    def batch(self, base: LinearProgram, ends: Sequence[int]) -> LPBatch:
        """Returns one member an end over the base, which has no costs."""
        parts = [self.costs(end) for end in ends]
        sizes = [index.size for index, _ in parts]
        member = np.repeat(np.arange(len(parts), dtype=np.int64), sizes)
        index, value = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        changes = Changes(member, np.full(member.size, Field.COST, dtype=np.int8), index, value)
        return LPBatch(base, changes, tuple(f"{base.name}: end {end}" for end in ends))


def sweep(base: LinearProgram, ends: Ends, solver: Solver, count: Callable[[Tries], None]) -> int:
    """Solves LPs that push towards many bounds at once, first all lower and then all upper ones; returns how many were solved.

    [Gleixner et al. 2017, section 3.1: aggressive bound filtering]
    """
    sweeps = 0
    for side in (0, 1):
        while sweeps < MOST_SWEEPS:
            todo = [end for end in ends.open() if end % 2 == side and np.isfinite(ends.bound[end])]
            if len(todo) < 8:
                break
            sweeps += 1
            ((_, tries),) = solver.solve_batch(_pushed(base, ends, todo), BackendName.HIGHS)
            count(tries)
            solution, verdict = tries[-1]
            if not (verdict.verified and solution.status is Status.OPTIMAL and solution.x is not None):
                break
            if ends.attain(solution.x) < LEAST_GAIN * len(todo):
                break
    return sweeps


def _pushed(base: LinearProgram, ends: Ends, todo: Sequence[int]) -> LPBatch:
    """Returns the base alone with the sum of the costs of some ends."""
    cost = np.zeros(base.n)
    for end in todo:
        index, value = ends.costs(end)
        np.add.at(cost, index, value)
    places = np.flatnonzero(cost).astype(np.int64)
    nothing = np.zeros(places.size, dtype=np.int64)
    changes = Changes(nothing, np.full(places.size, Field.COST, dtype=np.int8), places, cost[places])
    return LPBatch(base, changes, (base.name,))
