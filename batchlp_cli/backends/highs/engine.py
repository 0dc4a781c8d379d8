"""One HiGHS instance that is told LPs and run: all habits of highspy are dealt with here. What a status means is not.

Measured habits (HiGHS 1.16): the clock behind `time_limit` counts all runs of an instance; `threads` is refused (the run does
nothing) where HiGHS ran with another number before in the same process; enabling callbacks prints a banner unless
`output_flag` is off before; the integrality array is read by its address, so it must have one entry a column; and
`small_matrix_value` is used in proofs of infeasibility too: below 1e-9 many fail and the status is Unknown (netlib's klein1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np

from batchlp_cli.backends.highs.moves import Moves
from batchlp_cli.batch import Indices
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.solution import Basis, BasisArray, Solution, Status

ModelStatus = highspy.HighsModelStatus
Int32s = np.ndarray[tuple[int, ...], np.dtype[np.int32]]

SMALLEST_COEFFICIENT = 1e-12  # HiGHS drops |a| at or below when it takes a model; its default of 1e-9 would change models
SMALL_IN_PROOFS = 1e-9  # what HiGHS takes as zero while it solves, its default
LARGEST_COEFFICIENT = 1e15  # HiGHS refuses |a| at or above
INFINITE = 1e20  # HiGHS takes costs and bounds at or above this as infinite
_DUAL, _PRIMAL = 1, 4  # HiGHS' codes of simplex strategies
_OPTIONS: dict[str, int | float | str] = {
    "threads": 1,
    "parallel": "off",
    "solver": "simplex",
    "random_seed": 0,
    "large_matrix_value": LARGEST_COEFFICIENT,
}
_BASIS = [  # the place in this list is the code, in HiGHS and in solution.Basis
    highspy.HighsBasisStatus.kLower,
    highspy.HighsBasisStatus.kBasic,
    highspy.HighsBasisStatus.kUpper,
    highspy.HighsBasisStatus.kZero,
    highspy.HighsBasisStatus.kNonbasic,
]


class Refused(Exception):
    """HiGHS does not take the numbers of an LP; the text says which."""


class _QuietHighs(highspy.Highs):
    """A Highs that prints nothing, not even the banner that comes with enabling callbacks."""

    def enableCallbacks(self) -> None:
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How one run is made: with presolve or not, feasibility tolerance (1e-10 to 1e-6, absolute), primal or dual simplex
    (default) or the interior point method, seconds and iterations it may take (default no limit). bound: the dual value,
    without offset, above which dual simplex need not go on (default none); HiGHS does not look at it where it presolves."""

    presolve: bool
    tolerance: float
    primal: bool = False
    seconds: float = math.inf
    iterations: int | None = None
    ipm: bool = False
    bound: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Optimal:
    """Members that were run. found: [B] bool, who has an optimum; of those x [B, n], y [B, m] and iterations [B]."""

    found: Mask
    x: Vector
    y: Vector
    iterations: Indices

    @staticmethod
    def of_nobody(members: int, m: int, n: int) -> Optimal:
        """Returns what is known of so many members before any is run."""
        x, y = np.zeros((members, n)), np.zeros((members, m))
        return Optimal(np.zeros(members, dtype=np.bool_), x, y, np.zeros(members, dtype=np.int64))

    def take_in(self, k: int, claim: Solution) -> None:
        """Puts a member's claim in its place, if that is an optimum."""
        if claim.status is Status.OPTIMAL and claim.x is not None and claim.y is not None:
            self.found[k], self.x[k], self.y[k], self.iterations[k] = True, claim.x, claim.y, claim.iterations

    def with_those(self, which: Indices, others: Optimal) -> Optimal:
        """Returns the same with the members `which` [k] in their places: others are numbered 0 .. k - 1."""
        for mine, theirs in ((self.found, others.found), (self.x, others.x), (self.y, others.y)):
            mine[which] = theirs
        self.iterations[which] = others.iterations
        return self


class Engine:
    """A live HiGHS model. `tell` it an LP (only what differs from the last one is passed on), then `run` it."""

    def __init__(self) -> None:
        self._highs: Any = _QuietHighs()  # type: ignore[no-untyped-call]  # highspy's types lack half of its methods
        for name, value in _OPTIONS.items():
            self._highs.setOptionValue(name, value)
        self._told: LinearProgram | None = None
        self.has_basis = False

    def tell(self, lp: LinearProgram) -> None:
        """Makes lp the model; the basis stays where the matrix is the same object. Raises Refused."""
        told, self._told = self._told, None
        if told is None or not told.rows.shares(lp.rows):
            self._pass_whole(lp)
        else:
            self._pass_differences(told, lp)
        self._told = lp

    def _pass_whole(self, lp: LinearProgram) -> None:
        self.has_basis = False
        columns = (lp.c, lp.col_lower, lp.col_upper, lp.row_lower, lp.row_upper)
        matrix = (lp.rows.indptr.astype(np.int32), lp.rows.indices.astype(np.int32), lp.rows.data)
        continuous = np.zeros(lp.n, dtype=np.int32)
        row_wise, minimise = int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize)
        self._highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
        status = self._highs.passModel(lp.n, lp.m, lp.nnz, row_wise, minimise, 0.0, *columns, *matrix, continuous)
        if not (np.abs(lp.rows.data) <= SMALL_IN_PROOFS).any():
            self._highs.setOptionValue("small_matrix_value", SMALL_IN_PROOFS)
        if status == highspy.HighsStatus.kError:
            raise Refused("HiGHS refused the model")

    def _pass_differences(self, told: LinearProgram, lp: LinearProgram) -> None:
        done = []
        index = _differing((told.c, lp.c))
        if index.size:
            done.append(self._highs.changeColsCost(index.size, index, lp.c[index]))
        index = _differing((told.col_lower, lp.col_lower), (told.col_upper, lp.col_upper))
        if index.size:
            done.append(self._highs.changeColsBounds(index.size, index, lp.col_lower[index], lp.col_upper[index]))
        index = _differing((told.row_lower, lp.row_lower), (told.row_upper, lp.row_upper))
        if index.size:
            done.append(self._highs.changeRowsBounds(index.size, index, lp.row_lower[index], lp.row_upper[index]))
        if highspy.HighsStatus.kError in done:
            raise Refused("HiGHS refused a change of the model")

    def run(self, effort: Effort) -> ModelStatus:
        """Solves the model, from the basis that is there if any, and returns HiGHS' word on it."""
        h = self._highs
        self._set(effort)
        if h.run() == highspy.HighsStatus.kError and h.getModelStatus() == ModelStatus.kNotset:
            h.resetGlobalScheduler(True)  # somebody else's number of threads is still in force
            h.run()
        self.has_basis = bool(h.getBasis().valid)
        status: ModelStatus = h.getModelStatus()
        return status

    def run_through(self, moves: Moves, last: LinearProgram, effort: Effort, *, cold: bool) -> Optimal:
        """Runs members one after the other, and returns the optima of those that have one at once; the model is then `last`.

        moves: the members, in place of the model that was told. cold: forget the basis before each. HiGHS is asked of each member
        only what it alone knows, since this runs once for every member.
        """
        h, told, error, optimal = self._highs, self._told, highspy.HighsStatus.kError, ModelStatus.kOptimal
        assert told is not None
        self._told = None
        self._set(effort)
        tell = self._tellers(moves)
        optima = Optimal.of_nobody(len(moves), told.m, told.n)
        found, x, y, iterations = optima.found, optima.x, optima.y, optima.iterations
        for k in range(len(moves)):
            if cold:
                h.clearSolver()
            for change, places, values in tell:
                if change(places.size, places, *values[k]) == error:
                    raise Refused("HiGHS refused a change of the model")
            h.run()
            if h.getModelStatus() == optimal:
                solution = h.getSolution()
                x[k], y[k], found[k] = solution.col_value, solution.row_dual, True
                iterations[k] = h.getInfoValue("simplex_iteration_count")[1]
        self._told = last
        self.has_basis = bool(h.getBasis().valid)
        return optima

    def _tellers(self, moves: Moves) -> list[tuple[Any, Int32s, Vector]]:
        """Returns what tells HiGHS a member: (function, places [q], its arrays after them [B, 1 or 2, q])."""
        h, rows, columns = self._highs, moves.rows, moves.columns
        every = [
            (h.changeColsCost, moves.priced, moves.costs[:, None]),
            (h.changeColsBounds, columns.places, np.stack([columns.lower, columns.upper], axis=1)),
            (h.changeRowsBounds, rows.places, np.stack([rows.lower, rows.upper], axis=1)),
        ]
        return [(change, places.astype(np.int32), values) for change, places, values in every if places.size]

    def _set(self, effort: Effort) -> None:
        h = self._highs
        h.setOptionValue("solver", "ipm" if effort.ipm else "simplex")
        h.setOptionValue("presolve", "choose" if effort.presolve else "off")
        h.setOptionValue("primal_feasibility_tolerance", effort.tolerance)
        h.setOptionValue("dual_feasibility_tolerance", effort.tolerance)
        h.setOptionValue("time_limit", h.getRunTime() + max(effort.seconds, 0.0))
        h.setOptionValue("simplex_iteration_limit", 2**31 - 1 if effort.iterations is None else effort.iterations)
        h.setOptionValue("simplex_strategy", _PRIMAL if effort.primal else _DUAL)
        h.setOptionValue("objective_bound", effort.bound)

    def cross_over(self, start: Solution, effort: Effort) -> ModelStatus:
        """Goes from a solution that is no basic one to one that is, and returns HiGHS' word on it.

        HiGHS' crossover crashes in an instance that has not run before; a run without iterations is enough.
        """
        told, x, y, r = self._told, start.x, start.y, start.r
        if told is None or x is None or y is None or r is None:
            raise ValueError("crossover needs a model and an optimal solution with x, y and r")
        h = self._highs
        self.run(replace(effort, presolve=False, iterations=0))
        self.forget_basis()
        h.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        h.setOptionValue("time_limit", h.getRunTime() + max(effort.seconds, 0.0))
        point = highspy.HighsSolution()
        point.col_value, point.row_value = x.tolist(), told.rows.times(x).tolist()
        point.row_dual, point.col_dual = y.tolist(), r.tolist()
        point.value_valid = point.dual_valid = True
        h.crossover(point)
        self.has_basis = bool(h.getBasis().valid)
        status: ModelStatus = h.getModelStatus()
        return status

    def forget_basis(self) -> None:
        """Makes the next run a cold one."""
        self._highs.clearSolver()
        self.has_basis = False

    def use_basis(self, basis: Basis) -> None:
        """Makes the next run start from a basis; one that does not fit the model is left aside."""
        own = highspy.HighsBasis()
        own.col_status = [_BASIS[code] for code in basis.cols]
        own.row_status = [_BASIS[code] for code in basis.rows]
        own.valid = True
        self.has_basis = self._highs.setBasis(own) != highspy.HighsStatus.kError

    def basis(self) -> Basis | None:
        """Returns the basis of the last run, None where HiGHS has none (2 ms for 5000 rows and columns together)."""
        basis = self._highs.getBasis()
        return Basis(_codes(basis.col_status), _codes(basis.row_status)) if basis.valid else None

    def vectors(self) -> tuple[Vector | None, Vector | None, Vector | None]:
        """Returns x, y, r of the last run, None for what HiGHS does not have."""
        solution = self._highs.getSolution()
        x = np.array(solution.col_value) if solution.value_valid else None
        y = np.array(solution.row_dual) if solution.dual_valid else None
        r = np.array(solution.col_dual) if solution.dual_valid else None
        return x, y, r

    def farkas_ray(self) -> Vector | None:
        """Returns HiGHS' certificate of infeasibility [m], of unknown sign; HiGHS solves again without presolve to get it."""
        _, there, ray = self._highs.getDualRay()
        return np.array(ray, dtype=np.float64) if there else None

    def unbounded_ray(self) -> Vector | None:
        """Returns HiGHS' direction of unboundedness [n]."""
        _, there, ray = self._highs.getPrimalRay()
        return np.array(ray, dtype=np.float64) if there else None

    @property
    def iterations(self) -> int:
        """Simplex iterations of the last run."""
        return max(0, int(self._highs.getInfo().simplex_iteration_count))

    def words(self, status: ModelStatus) -> str:
        """Returns HiGHS' name of a status."""
        return str(self._highs.modelStatusToString(status))


def _differing(*pairs: tuple[Vector, Vector]) -> Int32s:
    """Returns the indices at which any of the pairs of arrays differ; the same object on both sides costs nothing."""
    differ = [old != new for old, new in pairs if old is not new]
    if not differ:
        return np.zeros(0, dtype=np.int32)
    return np.flatnonzero(np.logical_or.reduce(differ)).astype(np.int32)


def _codes(statuses: list[highspy.HighsBasisStatus]) -> BasisArray:
    return np.fromiter(map(int, statuses), dtype=np.int8, count=len(statuses))
