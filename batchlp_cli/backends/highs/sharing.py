"""Bunching: the optimal basis of one member gives, without a solver, the optimum of every member for which it stays feasible.

With slacks s = A @ x the rows are [A, -I] @ [x; s] = 0. A basis B fixes the nonbasic variables at their bounds, and then

    v_B = -B^-1 N v_N,    y = B^-T c_B,    r = c - A.T @ y

is optimal where v_B is within its bounds and r has the right signs. Only v_N and the bounds of v_B differ from member to
member, so that many members cost one matrix product. Costs must be those of the base.
[R. Wets, Large scale linear programming techniques in stochastic programming, in: Numerical Techniques for Stochastic
Optimization, Springer 1988, section 3 ("bunching")]
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from batchlp_cli.backends.highs.moves import distinct
from batchlp_cli.batch import Changes, Field, Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.solution import Basis

TOLERANCE = 1e-9
"""How far a basic variable may be outside of its bounds, relative to 1 + their size, and a reduced cost of the wrong sign,
relative to 1 + the largest cost: well inside of what the referee allows at its default."""

BASIC, UPPER = 1, 2  # codes in solution.Basis; a nonbasic one without a finite bound on its side is at 0
LOWER = 0


@dataclass(frozen=True, slots=True, eq=False)
class Bunch:
    """Members of one batch as dense values of what differs: columns and then rows are numbered 0 .. n + m - 1.

    places: [q] variables whose bounds differ; lower, upper: [B, q] float64. Costs are the base's.
    """

    places: Indices
    lower: Vector
    upper: Vector

    def __len__(self) -> int:
        return int(self.lower.shape[0])

    @staticmethod
    def of(base: LinearProgram, changes: Changes, members: int) -> Bunch | None:
        """Returns the members, or None where costs differ. A change of the offset does not matter to a solver."""
        code = changes.field
        if (code == Field.COST).any():
            return None
        is_row = (code == Field.ROW_LOWER) | (code == Field.ROW_UPPER)
        used = code != Field.OFFSET
        variable = np.where(is_row, changes.index + base.n, changes.index)
        places = distinct(variable[used], base.n + base.m)
        low, high = np.r_[base.col_lower, base.row_lower], np.r_[base.col_upper, base.row_upper]
        lower, upper = np.repeat(low[None, places], members, axis=0), np.repeat(high[None, places], members, axis=0)
        for array, codes in ((lower, (Field.COL_LOWER, Field.ROW_LOWER)), (upper, (Field.COL_UPPER, Field.ROW_UPPER))):
            mine = (code == codes[0]) | (code == codes[1])
            array[changes.member[mine], np.searchsorted(places, variable[mine])] = changes.value[mine]
        return Bunch(places, lower, upper)


class SharedBasis:
    """One optimal basis of the base's costs, ready to be tried on many members."""

    def __init__(self, base: LinearProgram, basis: Basis) -> None:
        """Raises ValueError where the basis is none: wrong in size, singular, or not optimal for the base's costs."""
        m = base.m
        self._base, self._status = base, np.r_[basis.cols, basis.rows]
        self._basic = np.flatnonzero(self._status == BASIC)
        if self._basic.size != m:
            raise ValueError(f"{self._basic.size} basic variables for {m} rows")
        import scipy.sparse as sp  # late: only members in chunks share a basis
        from scipy.sparse.linalg import splu

        whole = sp.hstack([sp.csc_array(base.A), -sp.eye_array(m, format="csc")], format="csc")
        self._whole = whole
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                self._factor = splu(sp.csc_matrix(whole[:, self._basic]))
            except (RuntimeError, Warning) as error:
                raise ValueError(str(error)) from error
        cost = np.r_[base.c, np.zeros(m)]
        self.y: Vector = np.asarray(self._factor.solve(cost[self._basic], "T"), dtype=np.float64)  # type: ignore[call-overload]
        self._price = np.r_[base.c - base.A.T @ self.y, self.y]  # of a slack: 0 - (-1) y
        self._price_slack = TOLERANCE * (1 + np.abs(cost).max(initial=0.0))
        self._low, self._high = np.r_[base.col_lower, base.row_lower], np.r_[base.col_upper, base.row_upper]
        self._at = self._values(self._low, self._high, slice(None))
        self._start = self._solved(-(whole @ np.where(self._status == BASIC, 0.0, self._at)))
        self._reach: tuple[Indices, Vector] | None = None

    def _solved(self, rhs: Vector) -> Vector:
        """Returns B^-1 rhs."""
        return np.asarray(self._factor.solve(rhs), dtype=np.float64)

    def _values(self, low: Vector, high: Vector, which: slice | Indices) -> Vector:
        """Returns where nonbasic variables stand: at the bound that their status or, without it, their price says."""
        status = self._status[which]
        value = np.where(status == UPPER, high, low)
        return np.where(np.isfinite(value), value, np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0)))

    def fits(self, bunch: Bunch, left: Indices) -> tuple[Mask, Vector]:
        """Returns which of the members `left` [k] have this basis for optimum [k], and the values of basic variables [k, m]."""
        q = bunch.places
        low, high = bunch.lower[left], bunch.upper[left]
        basic = self._status[q] == BASIC
        at = self._values(low, high, q)
        moved = np.where(basic, 0.0, at - self._at[q])
        values = self._start + moved @ self._reached(q).T
        lower, upper = self._low[self._basic], self._high[self._basic]
        pad_l, pad_u = _pad(lower), _pad(upper)
        position = np.searchsorted(self._basic, q[basic])
        shared = np.ones(self._basic.size, dtype=np.bool_)
        shared[position] = False
        inside = ((values >= lower - pad_l) & (values <= upper + pad_u))[:, shared].all(axis=1)
        own, own_low, own_high = values[:, position], low[:, basic], high[:, basic]
        inside &= ((own >= own_low - _pad(own_low)) & (own <= own_high + _pad(own_high))).all(axis=1)
        inside &= self._well_priced(q, at, low, high)
        return np.asarray(inside & (low <= high).all(axis=1)), values

    def _well_priced(self, q: Indices, at: Vector, low: Vector, high: Vector) -> Mask:
        """Tells for which members every price points away from a bound at which its variable is."""
        others = np.setdiff1d(np.flatnonzero(self._status != BASIC), q)
        fine = _priced(self._price[others], self._at[others], self._low[others], self._high[others], self._price_slack).all()
        mine = self._status[q] != BASIC
        own = _priced(self._price[q[mine]], at[:, mine], low[:, mine], high[:, mine], self._price_slack)
        return np.asarray(fine & own.all(axis=1))

    def _reached(self, q: Indices) -> Vector:
        """Returns [m, q]: how the basic variables move with the variables q, kept for the next call."""
        if self._reach is None or not np.array_equal(self._reach[0], q):
            self._reach = q, self._solved(-self._whole[:, q].toarray())
        return self._reach[1]

    def points(self, bunch: Bunch, members: Indices, values: Vector) -> Vector:
        """Returns x [k, n] of members that it fits, from their basic values [k, m]."""
        n = self._base.n
        x = np.repeat(self._at[None, :n], members.size, axis=0)
        mine = bunch.places < n
        x[:, bunch.places[mine]] = self._values(bunch.lower[members], bunch.upper[members], bunch.places)[:, mine]
        structural = self._basic < n
        x[:, self._basic[structural]] = values[:, structural]
        return x


def _pad(bound: Vector) -> Vector:
    return TOLERANCE * (1 + np.where(np.isfinite(bound), np.abs(bound), 0.0))


def _priced(price: Vector, at: Vector, low: Vector, high: Vector, slack: float) -> Mask:
    """Tells where a price is positive only at a lower bound and negative only at an upper one."""
    return np.asarray(((price <= slack) | (at == low)) & ((price >= -slack) | (at == high)))
