"""Sifting: a member with many more columns than rows is solved over a few columns, and prices tell whether that is its optimum.

With the columns K in use and all others at a finite bound v, the restricted LP

    min  c_K @ x_K    subject to    row_lower - s <= A_K @ x_K <= row_upper - s,    s = A_N @ v_N

has the optimum of the whole where r = c - A.T @ y points away from no bound at which a column outside of K stands. The prices
of a block of members cost one matrix product. What has a wrong price joins K, and the members that found it are solved again.
[R. E. Bixby, J. W. Gregory, I. J. Lustig, R. E. Marsten, D. F. Shanno, Very large-scale linear programming: a case study in
combining interior point and simplex methods, Operations Research 40 (1992), section 3]
"""

from __future__ import annotations

import time

import numpy as np

from batchlp_cli.backends.highs.engine import Optimal
from batchlp_cli.backends.highs.session import Mode, Session, feasibility_tolerance
from batchlp_cli.batch import Changes, Field, Indices
from batchlp_cli.optima import Optima
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.products import Matrix
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status

METHOD = "simplex sifted"
WIDE = 12  # columns a row from which on sifting is tried
SHARE = 2  # columns in use a row, at first
MOST = 0.25  # of the columns in use at most: else the rest is not worth leaving out
BLOCK = 128  # members that are priced together
FIRST = 8  # members of a block while it is not known whether sifting pays
TRIALS = 2  # such blocks
ROUNDS = 3  # how often a block is solved again with the columns that were missing
COLUMN_FIELDS = (Field.COST, Field.COL_LOWER, Field.COL_UPPER)


def suits(base: LinearProgram, settings: SolveSettings) -> bool:
    """Tells whether members may be sifted: the LP is wide, and no limit counts the work on the whole of it."""
    return base.n >= WIDE * base.m > 0 and settings.cutoff is None and settings.iteration_limit is None


class Sifter:
    """Sifts members of one batch. It is told optima of whole members, and takes its first columns from them."""

    def __init__(self, base: LinearProgram, settings: SolveSettings) -> None:
        self._base, self._settings = base, settings
        self._tolerance = feasibility_tolerance(settings.tol, Mode.WARM)
        self._rest: Vector | None = None
        self._least = np.full(base.n, np.inf)  # smallest |r| of the optima known
        self._used: Mask = np.isinf(base.col_lower) & np.isinf(base.col_upper)
        self._matrix = Matrix(base.rows)
        self._restricted: _Restricted | None = None
        self._seconds = 0.0  # a member that was settled, of late; members that were not are in it
        self._blocks = 0

    @property
    def is_learning(self) -> bool:
        """Tells whether optima of whole members are still of use."""
        return self._restricted is None

    def note(self, claim: Solution) -> None:
        """Takes in what a whole member's optimum says of the columns, until there is a restricted LP."""
        if claim.status is not Status.OPTIMAL or claim.x is None or claim.r is None or not self.is_learning:
            return
        low, high = self._base.col_lower, self._base.col_upper
        if self._rest is None:
            at_high = np.isinf(low) | (np.abs(high - claim.x) < np.abs(claim.x - low))
            self._rest = np.where(np.isinf(low) & np.isinf(high), 0.0, np.where(at_high, high, low))
        self._used |= np.abs(claim.x - self._rest) > self._tolerance * (1 + np.abs(self._rest))
        self._least = np.minimum(self._least, np.abs(claim.r))

    def pays(self, seconds: float) -> bool:
        """Tells whether sifting is worth a try: optima are known, and it took less than `seconds` a member so far."""
        return self._rest is not None and (self._blocks < TRIALS or self._seconds < seconds)

    def solve(self, changes: Changes, left: Indices) -> tuple[list[Optima], Indices, Indices]:
        """Returns what a block of the members `left` came to, its members that need a solver of the whole, and those behind."""
        begun = time.perf_counter()
        block = left[: BLOCK if self._blocks >= TRIALS else FIRST]
        found: list[Optima] = []
        given_up: list[Indices] = []
        waiting = block
        for _ in range(ROUNDS):
            mine = changes.take(waiting)
            if not waiting.size or not self._make_restricted(mine):
                break
            sifted, waiting, failed = self._round(mine, waiting)
            found.append(sifted)
            given_up.append(failed)
        self._note_seconds(time.perf_counter() - begun, sum(part.members.size for part in found))
        return found, np.concatenate([waiting, *given_up]), left[block.size :]

    def _note_seconds(self, seconds: float, settled: int) -> None:
        each = seconds / settled if settled else np.inf
        self._blocks += 1
        # a first block makes the restricted LP, which others need not
        self._seconds = each if self._blocks <= TRIALS else self._seconds + 0.3 * (each - self._seconds)

    def _make_restricted(self, changes: Changes) -> bool:
        """Makes the restricted LP anew where columns are missing that the members change; tells whether there is one."""
        assert self._rest is not None
        touched = changes.index[np.isin(changes.field, COLUMN_FIELDS)]
        if self._restricted is not None and self._used[touched].all():
            return True
        self._use(touched)
        return self._restricted is not None

    def _use(self, columns: Indices) -> None:
        """Puts columns into the restricted LP, if it stays small enough; else there is none."""
        assert self._rest is not None
        self._used[columns] = True
        missing = SHARE * self._base.m - int(self._used.sum())
        if self._restricted is None and missing > 0:
            outside = np.flatnonzero(~self._used)
            self._used[outside[np.argsort(self._least[outside], kind="stable")[:missing]]] = True
        small = self._used.sum() <= MOST * self._base.n
        self._restricted = _Restricted(self._base, self._used.copy(), self._rest, self._matrix) if small else None

    def _round(self, changes: Changes, members: Indices) -> tuple[Optima, Indices, Indices]:
        """Solves members over the columns in use: those that prices settle, those with wrong prices, those without an optimum.

        The columns with wrong prices are then in use. changes: of these members, numbered 0, 1, ...
        """
        restricted = self._restricted
        assert restricted is not None
        begun = time.perf_counter()
        solved = restricted.solve(changes, members.size, self._settings)
        optimal, y = solved.found, solved.y[solved.found]
        wrong = restricted.wrong_prices(y, self._tolerance)
        settled = ~wrong.any(axis=1)
        if wrong.any():
            self._use(np.flatnonzero(wrong.any(axis=0)))
        own = members[optimal]
        each = (time.perf_counter() - begun) / max(1, members.size)
        sifted = Optima(
            own[settled],
            solved.x[optimal][settled],
            y[settled],
            solved.iterations[optimal][settled],
            each,
            "highs",
            METHOD,
            used=restricted.columns,
            rest=restricted.rest,
        )
        return sifted, own[~settled], members[~optimal]


class _Restricted:
    """The LP over the columns in use, in a session of its own; all other columns are at a finite bound."""

    def __init__(self, base: LinearProgram, used: Mask, rest: Vector, matrix: Matrix) -> None:
        self.columns = np.flatnonzero(used)
        self.rest = np.where(used, 0.0, rest)
        self._place = np.cumsum(used) - 1
        self._shift = base.rows.times(self.rest)
        self._cost, self._matrix = base.c, matrix
        self._may_rise = ~used & (base.col_upper > self.rest)
        self._may_fall = ~used & (base.col_lower < self.rest)
        self._base = LinearProgram(
            base.name,
            base.c[self.columns],
            base.A[:, self.columns],
            base.row_lower - self._shift,
            base.row_upper - self._shift,
            base.col_lower[self.columns],
            base.col_upper[self.columns],
        )
        self._session = Session(self._base)

    def solve(self, changes: Changes, members: int, settings: SolveSettings) -> Optimal:
        """Returns the optima of members over the columns in use."""
        own = self._own(changes)
        found = Optimal.of_nobody(members, self._base.m, self._base.n)
        begun = 0
        while begun < members and not self._session.goes_through(Mode.WARM, settings):
            claim = self._session.solve(own.of_member(begun), Mode.WARM, settings)
            found.take_in(begun, claim)
            begun += 1
        rest = np.arange(begun, members)
        if rest.size:
            found.with_those(rest, self._session.solve_many(own.take(rest), rest.size, Mode.WARM, settings))
        return found

    def _own(self, changes: Changes) -> Changes:
        """Returns changes as those of the restricted LP."""
        used = changes.field != Field.OFFSET
        field, index, value = changes.field[used], changes.index[used], changes.value[used]
        is_column = np.isin(field, COLUMN_FIELDS)
        shift = np.where(is_column, 0.0, self._shift[np.where(is_column, 0, index)])
        place = np.where(is_column, self._place[np.where(is_column, index, 0)], index)
        return Changes(changes.member[used], field, place, value - shift)

    def wrong_prices(self, y: Vector, tolerance: float) -> Mask:
        """Returns where prices of row duals y [s, m] at the base's costs are wrong for a column that is not in use: [s, n]."""
        r = self._cost - self._matrix.transposed_times(y)
        return ((r < -tolerance) & self._may_rise) | ((r > tolerance) & self._may_fall)
