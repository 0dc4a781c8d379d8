"""Tiny LPs with answers derived by hand. The conformance suite and the referee's tests share them.

Everything is stored for minimisation, as problem.py says: y_i > 0 prices the lower side of row i, y_i < 0 its upper side,
r = c - A.T @ y. All numbers are exact in float64, so a correct answer has residuals of exactly 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status

INF = float("inf")
Numbers = Sequence[float]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class KnownLP:
    """An LP and its answer.

    value: c @ x + offset for minimisation, None unless optimal. x [n], y [m], r [n] where optimal (r = c - A.T @ y); x a
    feasible point and ray [n] a direction where unbounded; ray [m] a Farkas ray where infeasible, None where two bounds
    cross. unique: x and y (so r, too) are the only optimal ones, and a solver must give them; False unless optimal.
    """

    lp: LinearProgram
    status: Status
    value: float | None = None
    x: Vector | None = None
    y: Vector | None = None
    r: Vector | None = None
    ray: Vector | None = None
    unique: bool = False

    @property
    def solution(self) -> Solution:
        """The answer as a backend would claim it."""
        return Solution(self.status, x=self.x, y=self.y, r=self.r, ray=self.ray)


def vector(values: Numbers) -> Vector:
    """Returns numbers as float64, also where there are none."""
    return np.array(values, dtype=np.float64)


def make_lp(name: str, c: Numbers, rows: Sequence[tuple[Interval, Numbers]], cols: Sequence[Interval]) -> LinearProgram:
    """Returns min c @ x with rows ((lower, upper), coefficients) and columns (lower, upper)."""
    m, n = len(rows), len(cols)
    sides = vector([side for interval, _ in rows for side in interval]).reshape(m, 2)
    bounds = vector([bound for interval in cols for bound in interval]).reshape(n, 2)
    A = sp.csr_array(vector([a for _, row in rows for a in row]).reshape(m, n))
    return LinearProgram(name, vector(c), A, sides[:, 0].copy(), sides[:, 1].copy(), bounds[:, 0].copy(), bounds[:, 1].copy())


def optimal(lp: LinearProgram, value: float, x: Numbers, y: Numbers, *, unique: bool = True) -> KnownLP:
    """Returns a known optimum; r follows from y."""
    return KnownLP(lp, Status.OPTIMAL, value, vector(x), vector(y), lp.c - lp.A.T @ vector(y), unique=unique)


def infeasible(lp: LinearProgram, ray: Numbers | None) -> KnownLP:
    """Returns a known infeasibility; ray None where two bounds cross."""
    return KnownLP(lp, Status.INFEASIBLE, ray=None if ray is None else vector(ray))


def unbounded(lp: LinearProgram, x: Numbers, ray: Numbers) -> KnownLP:
    """Returns a known unboundedness: a feasible point and a direction that improves for ever."""
    return KnownLP(lp, Status.UNBOUNDED, x=vector(x), ray=vector(ray))


FREE: Interval = (-INF, INF)
POSITIVE: Interval = (0.0, INF)
BOX: Interval = (0.0, 1.0)


def textbook() -> KnownLP:
    """max 3a + 5b: a <= 4, 2b <= 12, 3a + 2b <= 18, as a minimum. (2, 6): c = -3, -5 = 3 y3, 2 y2 + 2 y3."""
    rows = [((-INF, 4.0), [1, 0]), ((-INF, 12.0), [0, 2]), ((-INF, 18.0), [3, 2])]
    return optimal(make_lp("textbook", [-3, -5], rows, [POSITIVE, POSITIVE]), -36, [2, 6], [0, -1.5, -1])


def maximum_with_offset() -> KnownLP:
    """max 2a + 3b + 10: a + b <= 4, a + 3b <= 6. (3, 1) gives 19; a person sees duals 1.5 and 0.5, stored are the negatives."""
    lp = make_lp("maximum_with_offset", [-2, -3], [((-INF, 4.0), [1, 1]), ((-INF, 6.0), [1, 3])], [POSITIVE, POSITIVE])
    return optimal(replace(lp, maximize=True, offset=-10.0), -19, [3, 1], [-1.5, -0.5])


def range_at_lower() -> KnownLP:
    """min a + 2b: 1 <= a + b <= 3, -1 <= a - b <= 1, free. y1 + y2 = 1, y1 - y2 = 2: first row at 1, second at 1, so (1, 0)."""
    return optimal(
        make_lp("range_at_lower", [1, 2], [((1.0, 3.0), [1, 1]), ((-1.0, 1.0), [1, -1])], [FREE, FREE]), 1, [1, 0], [1.5, -0.5]
    )


def range_at_upper() -> KnownLP:
    """min -a: 1 <= a + b <= 3, a free, b >= 0. (3, 0), the row at its upper side: y = -1, r_b = 1."""
    return optimal(make_lp("range_at_upper", [-1, 0], [((1.0, 3.0), [1, 1])], [FREE, POSITIVE]), -3, [3, 0], [-1])


def equations_and_free_columns() -> KnownLP:
    """min a + 2b + 3z: a + b + z = 6, a - b = 2, z >= 0. y = (1.5, -0.5) prices a and b to 0; r_z = 1.5, so z = 0, (4, 2)."""
    rows = [((6.0, 6.0), [1, 1, 1]), ((2.0, 2.0), [1, -1, 0])]
    return optimal(make_lp("equations_and_free_columns", [1, 2, 3], rows, [FREE, FREE, POSITIVE]), 8, [4, 2, 0], [1.5, -0.5])


def fixed_column() -> KnownLP:
    """min a + 2b + z: a + b + z >= 5, a <= 1, z = 2. a is cheaper than b: (1, 2, 2), y = 2, r = (-1, 0, -1)."""
    lp = make_lp("fixed_column", [1, 2, 1], [((5.0, INF), [1, 1, 1])], [BOX, POSITIVE, (2.0, 2.0)])
    return optimal(lp, 7, [1, 2, 2], [2])


def degenerate() -> KnownLP:
    """min -a - b: a <= 1, b <= 1, a + b <= 2: three rows meet in (1, 1), so y may be (-1, -1, 0) or (0, 0, -1)."""
    rows = [((-INF, 1.0), [1, 0]), ((-INF, 1.0), [0, 1]), ((-INF, 2.0), [1, 1])]
    return optimal(make_lp("degenerate", [-1, -1], rows, [POSITIVE, POSITIVE]), -2, [1, 1], [-1, -1, 0], unique=False)


def many_optima() -> KnownLP:
    """min -a - b: a + b <= 1: the whole edge is optimal, y = -1."""
    return optimal(
        make_lp("many_optima", [-1, -1], [((-INF, 1.0), [1, 1])], [POSITIVE, POSITIVE]), -1, [1, 0], [-1], unique=False
    )


def box_without_rows() -> KnownLP:
    """min a - 2b + z over a box: each column sits where its cost sends it, r = c; z = 1 is fixed."""
    return optimal(make_lp("box_without_rows", [1, -2, 1], [], [(-1.0, 3.0), (0.0, 4.0), (1.0, 1.0)]), -8, [-1, 4, 1], [])


def no_columns() -> KnownLP:
    """Two rows that 0 satisfies with room, nothing to choose, offset 7."""
    return optimal(replace(make_lp("no_columns", [], [((-1.0, 2.0), []), ((-INF, 3.0), [])], []), offset=7.0), 7, [], [0, 0])


def no_columns_infeasible() -> KnownLP:
    """0 >= 1 without any column: y = 1 gives the bound 1 > 0."""
    return infeasible(make_lp("no_columns_infeasible", [], [((1.0, 2.0), [])], []), [1])


def nothing_at_all() -> KnownLP:
    """No rows, no columns, offset 5."""
    return optimal(replace(make_lp("nothing_at_all", [], [], []), offset=5.0), 5, [], [])


def empty_row() -> KnownLP:
    """min a: -1 <= 0 <= 1, a >= 2 as a row, a free: (2), y = (0, 1)."""
    return optimal(make_lp("empty_row", [1], [((-1.0, 1.0), [0]), ((2.0, INF), [1])], [FREE]), 2, [2], [0, 1])


def empty_row_infeasible() -> KnownLP:
    """An empty row wants at most -1: y = -1 on it gives the bound 1 > 0 whatever the columns do."""
    rows = [((-INF, -1.0), [0, 0]), ((0.0, 5.0), [1, 1])]
    return infeasible(make_lp("empty_row_infeasible", [1, 1], rows, [POSITIVE, FREE]), [-1, 0])


def empty_column() -> KnownLP:
    """min a - b: a >= 1 as a row, b in [0, 5] is in no row: (1, 5), y = 1, r = (0, -1)."""
    return optimal(make_lp("empty_column", [1, -1], [((1.0, INF), [1, 0])], [FREE, (0.0, 5.0)]), -4, [1, 5], [1])


def empty_column_unbounded() -> KnownLP:
    """As empty_column, but nothing stops b."""
    return unbounded(make_lp("empty_column_unbounded", [1, -1], [((1.0, INF), [1, 0])], [FREE, POSITIVE]), [1, 0], [0, 1])


def infeasible_rows() -> KnownLP:
    """a + b >= 3, a <= 1, b <= 1 as rows, free columns: their sum with y = (1, -1, -1) says 0 >= 1."""
    rows = [((3.0, INF), [1, 1]), ((-INF, 1.0), [1, 0]), ((-INF, 1.0), [0, 1])]
    return infeasible(make_lp("infeasible_rows", [1, 1], rows, [FREE, FREE]), [1, -1, -1])


def infeasible_by_box() -> KnownLP:
    """a + b >= 3 in the unit box: y = 1, so r = (-1, -1) at the upper bounds: 3 - 1 - 1 > 0."""
    return infeasible(make_lp("infeasible_by_box", [0, 0], [((3.0, INF), [1, 1])], [BOX, BOX]), [1])


def infeasible_equations() -> KnownLP:
    """a + b = 1 and 2a + 2b = 3: y = (-2, 1) says 0 = 1."""
    rows = [((1.0, 1.0), [1, 1]), ((3.0, 3.0), [2, 2])]
    return infeasible(make_lp("infeasible_equations", [1, -1], rows, [FREE, FREE]), [-2, 1])


def crossing_columns() -> KnownLP:
    """A column must be at least 2 and at most 1."""
    return infeasible(make_lp("crossing_columns", [1, 1], [((-INF, 9.0), [1, 1])], [(2.0, 1.0), POSITIVE]), None)


def crossing_rows() -> KnownLP:
    """A row must be at least 2 and at most 1."""
    return infeasible(make_lp("crossing_rows", [1], [((2.0, 1.0), [1])], [FREE]), None)


def unbounded_cone() -> KnownLP:
    """min -a - b: a - b <= 1: both grow together from the origin."""
    return unbounded(make_lp("unbounded_cone", [-1, -1], [((-INF, 1.0), [1, -1])], [POSITIVE, POSITIVE]), [0, 0], [1, 1])


def unbounded_along_equation() -> KnownLP:
    """min -a: a - b = 1, a >= 0, b in [-3, inf), z = 2: from (1, 0) both grow, z stays."""
    lp = make_lp("unbounded_along_equation", [-1, 0, 0], [((1.0, 1.0), [1, -1, 0])], [POSITIVE, (-3.0, INF), (2.0, 2.0)])
    return unbounded(lp, [1, 0, 2], [1, 1, 0])


def unbounded_maximum() -> KnownLP:
    """max a with offset 1, a free, no rows: stored min -a - 1."""
    return unbounded(replace(make_lp("unbounded_maximum", [-1], [], [FREE]), maximize=True, offset=-1.0), [0], [1])


def primal_and_dual_infeasible() -> KnownLP:
    """min -a - b: a - b >= 1, b - a >= 1: y = (1, 1) says 0 >= 2; (1, 1) would improve for ever if there were a point."""
    rows = [((1.0, INF), [1, -1]), ((1.0, INF), [-1, 1])]
    return infeasible(make_lp("primal_and_dual_infeasible", [-1, -1], rows, [POSITIVE, POSITIVE]), [1, 1])


def many_rows() -> KnownLP:
    """min b - 3a over b >= 2k a - k^2, k = -10..29, tangents of b = a^2: 3 is between slopes 2 and 4, which meet in (1.5, 2)."""
    slopes = range(-10, 30)
    rows = [((-float(k * k), INF), [-2.0 * k, 1.0]) for k in slopes]
    return optimal(
        make_lp("many_rows", [-3, 1], rows, [FREE, FREE]), -2.5, [1.5, 2], [0.5 if k in (1, 2) else 0.0 for k in slopes]
    )


def many_columns() -> KnownLP:
    """max 1 x1 + ... + 40 x40: sum <= 10.5 in the unit box: the ten best are 1, x30 is one half, so y = -30."""
    x = [0.0] * 29 + [0.5] + [1.0] * 10
    lp = make_lp("many_columns", [-float(j) for j in range(1, 41)], [((-INF, 10.5), [1.0] * 40)], [BOX] * 40)
    return optimal(replace(lp, maximize=True), -370, x, [-30])


def negative_bounds() -> KnownLP:
    """min a + 3b: a + b >= -4, a in [-5, -1], b in [-2, 3]: b stays at -2, a is cheaper to raise to -2; y = 1, r_b = 2."""
    return optimal(make_lp("negative_bounds", [1, 3], [((-4.0, INF), [1, 1])], [(-5.0, -1.0), (-2.0, 3.0)]), -8, [-2, -2], [1])


def nothing_bounds_it() -> KnownLP:
    """No cost, free rows, free columns: every point is optimal, y = 0."""
    return optimal(make_lp("nothing_bounds_it", [0, 0], [(FREE, [1, 2])], [FREE, FREE]), 0, [0, 0], [0], unique=False)


def nothing_bounds_it_with_cost() -> KnownLP:
    """A cost, free rows, free columns: down the cost for ever."""
    return unbounded(make_lp("nothing_bounds_it_with_cost", [1, -2], [(FREE, [1, 2])], [FREE, FREE]), [0, 0], [-1, 2])


def relaxed_integers() -> KnownLP:
    """max 5a + 4b: 6a + 4b <= 24, a + 2b <= 6, both integer before relaxation: (3, 1.5), duals 0.75 and 0.5, value 21."""
    lp = make_lp("relaxed_integers", [-5, -4], [((-INF, 24.0), [6, 4]), ((-INF, 6.0), [1, 2])], [POSITIVE, POSITIVE])
    return optimal(replace(lp, maximize=True, integer=np.array([True, True])), -21, [3, 1.5], [-0.75, -0.5])


def balanced_transport() -> KnownLP:
    """Supplies 3, 4 meet demands 2, 5 exactly, so one of the four equations is redundant and y may shift along them.

    Costs 1 4 / 2 3: ship 2 from the first to the first, 1 to the second, 4 from the second: 2 + 4 + 12 = 18.
    y = (0, -1 | 1, 4): r = (0, 0, 2 + 1 - 1, 3 + 1 - 4) = (0, 0, 2, 0).
    """
    rows: list[tuple[Interval, Numbers]]
    rows = [((3.0, 3.0), [1, 1, 0, 0]), ((4.0, 4.0), [0, 0, 1, 1]), ((2.0, 2.0), [1, 0, 1, 0]), ((5.0, 5.0), [0, 1, 0, 1])]
    lp = make_lp("balanced_transport", [1, 4, 2, 3], rows, [POSITIVE] * 4)
    return optimal(lp, 18, [2, 1, 0, 4], [0, -1, 1, 4], unique=False)


def beale() -> KnownLP:
    """Beale's example (1955), on which the simplex method with naive ties cycles: (1, 0, 1, 0), y = (0, -1.5, -1.25)."""
    rows: list[tuple[Interval, Numbers]]
    rows = [((-INF, 0.0), [0.25, -8, -1, 9]), ((-INF, 0.0), [0.5, -12, -0.5, 3]), ((-INF, 1.0), [0, 0, 1, 0])]
    return optimal(make_lp("beale", [-0.75, 20, -0.5, 6], rows, [POSITIVE] * 4), -1.25, [1, 0, 1, 0], [0, -1.5, -1.25])


def klee_minty() -> KnownLP:
    """Klee and Minty's cube (1972) in 3 dimensions: max 100a + 10b + c ends in (0, 0, 10000), y3 = -1, r = (100, 10, 0)."""
    rows = [((-INF, 1.0), [1, 0, 0]), ((-INF, 100.0), [20, 1, 0]), ((-INF, 10000.0), [200, 20, 1])]
    lp = make_lp("klee_minty", [-100, -10, -1], rows, [POSITIVE] * 3)
    return optimal(replace(lp, maximize=True), -10000, [0, 0, 10000], [0, 0, -1])


# fmt: off
_ALL = (
    textbook, maximum_with_offset, range_at_lower, range_at_upper, equations_and_free_columns, fixed_column, degenerate,
    many_optima, box_without_rows, no_columns, no_columns_infeasible, nothing_at_all, empty_row, empty_row_infeasible,
    empty_column, empty_column_unbounded, infeasible_rows, infeasible_by_box, infeasible_equations, crossing_columns,
    crossing_rows, unbounded_cone, unbounded_along_equation, unbounded_maximum, primal_and_dual_infeasible, many_rows,
    many_columns, negative_bounds, nothing_bounds_it, nothing_bounds_it_with_cost, relaxed_integers, balanced_transport,
    beale, klee_minty,
)
# fmt: on

KNOWN: list[KnownLP] = [make() for make in _ALL]
"""All of the above; the name of each LP is that of its function, where its derivation stands."""

KNOWN_BY_NAME: dict[str, KnownLP] = {known.lp.name: known for known in KNOWN}
