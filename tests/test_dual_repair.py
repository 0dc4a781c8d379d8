"""Moved row duals prove bounds that are true, and have them where rounding alone is in the way of a bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.batch import LPBatch
from batchlp_cli.dual_repair import Repair, repair, repaired_bound
from batchlp_cli.exact_repair import exact_repaired_bound, holds_duals
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.products import Matrix, Numbers
from batchlp_cli.solution import Solution, Status
from tests.integer_optima import dyadic_optimum, split
from tests.kkt_cases import lp_of

INF = np.inf
SEEDS = st.integers(0, 2**32 - 1)


def numbers_of(lp: LinearProgram) -> Numbers:
    """Returns the numbers of an LP alone."""
    return Numbers(Matrix(lp.rows), *(a[None, :] for a in (lp.c, lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper)))


def bound_of(lp: LinearProgram, y: Vector) -> float:
    """Returns the bound of y in float64, of a moved y where it has none itself."""
    (bound,) = dual_bound(LPBatch.of([lp]), y[None, :])
    return float(bound) if bound > -INF else repaired_bound(numbers_of(lp), y[None, :], np.array([lp.offset]))


def moved(lp: LinearProgram, y: Vector) -> Repair:
    """Returns the repair of y, which there must be."""
    found = repair(numbers_of(lp), y[None, :])
    assert found is not None
    return found


def degenerate(rng: np.random.Generator, lp: LinearProgram) -> LinearProgram:
    """Returns the LP with more columns that are copies or negatives of its own, at 0 or above, and a row that is there twice."""
    columns, signs, row = rng.integers(0, lp.n, 3), rng.choice([-1.0, 1.0], 3), int(rng.integers(lp.m))
    A = np.hstack([lp.A.toarray(), signs * lp.A.toarray()[:, columns]])
    row_lower, row_upper = (np.append(side, side[row]) for side in (lp.row_lower, lp.row_upper))
    lower, upper = np.append(lp.col_lower, np.zeros(3)), np.append(lp.col_upper, np.full(3, INF))
    c, whole = np.append(lp.c, signs * lp.c[columns]), sp.csr_array(np.vstack([A, A[row]]))
    return LinearProgram("twice", c, whole, row_lower, row_upper, lower, upper, lp.offset)


@settings(max_examples=100)
@given(SEEDS, st.integers(1, 7), st.integers(1, 7), st.integers(-17, 0), st.booleans())
def test_no_bound_passes_the_optimum(seed: int, m: int, n: int, power: int, is_split: bool) -> None:
    """Duals moved by anything from a rounding to their own size, of LPs with free, split free and one-sided columns: no bound,
    exact or of float64, implied, shifted or enclosed, is above the known optimal value, and the exact one is not the worse."""
    rng = np.random.default_rng(seed)
    lp, y, value = dyadic_optimum(rng, m, n, free=0.4, one_sided=0.4)
    lp = split(lp) if is_split else lp
    Y = y + rng.normal(size=(4, m)) * 10.0**power
    Y[1] = y * (1 + 2.0**-52)
    Y[2] = np.where(rng.random(m) < 0.5, y, Y[2])
    for near in Y:
        bound, exact = bound_of(lp, near), exact_repaired_bound(lp, near)
        assert exact is None or exact <= value
        assert bound == -INF or (exact is not None and Fraction(bound) <= exact)


@settings(max_examples=60)
@given(SEEDS, st.integers(2, 6), st.integers(2, 6), st.integers(-17, -6))
def test_no_bound_of_a_degenerate_lp_passes_its_optimum(seed: int, m: int, n: int, power: int) -> None:
    """Rows and columns that are there twice make systems singular; the known point stays feasible, and no bound is above it."""
    rng = np.random.default_rng(seed)
    lp, y, value = dyadic_optimum(rng, m, n, free=0.4, one_sided=0.4)
    double, near = degenerate(rng, lp), np.append(y, 0.0)
    for noisy in near + rng.normal(size=(2, m + 1)) * 10.0**power:
        bound, exact = bound_of(double, noisy), exact_repaired_bound(double, noisy)
        assert exact is None or exact <= value
        assert bound == -INF or (exact is not None and Fraction(bound) <= exact)


@pytest.mark.parametrize("is_split", [False, True])
def test_duals_off_by_rounding_mostly_have_a_bound(is_split: bool) -> None:
    """With as many equalities as free columns, duals with noise of 1e-12 have a bound within 1e-7 of the optimum in most LPs,
    most of which have none before they are moved."""
    found = before = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        lp, y, value = dyadic_optimum(rng, 8, 8, free=0.5, one_sided=0.5)
        lp, noisy = split(lp) if is_split else lp, y * (1 + 1e-12 * rng.normal(size=8))
        before += bool(dual_bound(LPBatch.of([lp]), noisy[None, :])[0] > -INF)
        found += value - 1e-7 * (1 + abs(value)) <= bound_of(lp, noisy) <= value
    assert before <= 8, before
    assert found >= 30, found


def test_a_free_column_without_implied_bound_has_an_enclosed_one() -> None:
    """min 0.1 x + z, 3 x + y = 1, z >= 2, y in [0, 5], x free by itself: r_x = 0.1 - 3 y_1 is 0 for no float64 y_1."""
    lp = lp_of([0.1, 0.0, 1.0], [[3, 0, 0], [0, 1, 1]], ([1, -INF], [1, INF]), ([-INF, 0, 2], [INF, 5, INF]))
    y = np.array([0.1 / 3, 0.0])
    optimum = Fraction(0.1) / 3 + 2
    exact = exact_repaired_bound(lp, y)
    assert exact is not None
    assert Fraction(bound_of(lp, y)) <= exact <= optimum
    assert optimum - Fraction(bound_of(lp, y)) < Fraction(1, 10**13)


def split_pair() -> tuple[LinearProgram, Vector, Fraction]:
    """Returns an LP with two free columns, each written as two, the solver's duals of it and its optimal value.

    x = x+ - x- in rows that bound neither: only r = 0 will do, which no float64 duals give."""
    A = [[3, -3, 7, -7], [1, -1, -1, 1]]
    lp = lp_of([0.1, -0.1, 0.3, -0.3], A, ([1, -2], [1, -2]), ([0] * 4, [INF] * 4))
    # y* = (0.4, 0) / 10 in decimals; with the float64 costs exactly ((c1 + c2) / 10, c1 - 3 (c1 + c2) / 10)
    c1, c2 = Fraction(0.1), Fraction(0.3)
    return lp, np.linalg.solve(np.array([[3, 1], [7, -1]]), [0.1, 0.3]), (c1 + c2) / 10 - 2 * (c1 - 3 * (c1 + c2) / 10)


def test_split_free_columns_have_a_bound() -> None:
    """Pairs of columns that are each other's negative are enclosed, in both arithmetics."""
    lp, y, optimum = split_pair()
    exact = exact_repaired_bound(lp, y)
    assert exact is not None
    assert Fraction(bound_of(lp, y)) <= exact <= optimum
    assert optimum - Fraction(bound_of(lp, y)) < Fraction(1, 10**13)


def test_a_box_that_does_not_hold_the_duals_is_refused() -> None:
    """Half the distance to y* as radius, another inverse, and a column whose r_j is not 0 at y* prove nothing."""
    lp, y, _ = split_pair()
    found = moved(lp, y + 1e-3)
    assert found.box is not None
    assert holds_duals(lp, found.y, found.box)
    off = found.y.copy()
    off[found.box.rows] += 2 * found.box.radius
    assert not holds_duals(lp, off, found.box)
    assert not holds_duals(lp, found.y, replace(found.box, inverse=2 * found.box.inverse))
    other = replace(lp, c=lp.c + np.array([0.0, 0.0, 0.0, 1.0]))
    assert not holds_duals(other, found.y, found.box)


def test_columns_that_only_look_alike_are_no_mates() -> None:
    """A negated column with another cost, or with equal sizes and other signs, is not taken for the negative: no false bound."""
    for costs, A in (([1.0, -0.5], [[1, -1], [2, -2]]), ([1.0, -1.0], [[1, 1], [2, -2]])):
        lp = lp_of(costs, A, ([-INF, 0], [INF, 0]), ([0, 0], [INF, INF]))
        for y in np.random.default_rng(0).normal(size=(20, 2)):
            assert bound_of(lp, np.array([0.0, y[1]])) <= 0.0, "x = 0 is feasible"


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_an_unbounded_lp_has_no_bound(seed: int, m: int, n: int, is_split: bool) -> None:
    """Nothing repairs duals of an LP whose value goes to -infinity: a free column costs what no row duals can make up for."""
    rng = np.random.default_rng(seed)
    lp, y, _ = dyadic_optimum(rng, m, n, free=0.5, one_sided=0.4)
    # a free column in one row with two sides, twice, at costs that differ by a rounding
    column = sp.csr_array(np.eye(m)[:, :1] * 3.0)
    A = sp.csr_array(sp.hstack([lp.A, column, column]))
    lower, upper = np.append(lp.col_lower, [-INF, -INF]), np.append(lp.col_upper, [INF, INF])
    c = np.append(lp.c, [3 * y[0] + 0.1, np.nextafter(3 * y[0] + 0.1, INF)])
    endless = LinearProgram("endless", c, A, lp.row_lower, lp.row_upper, lower, upper)
    endless = split(endless) if is_split else endless
    for near in (y, y + 1e-15 * rng.normal(size=m)):
        assert bound_of(endless, near) == -INF
        assert exact_repaired_bound(endless, near) is None


def test_the_referee_gives_a_verified_optimum_its_repaired_bound() -> None:
    """A claim whose duals are off by rounding is verified with a finite bound; one that is refused is not repaired."""
    lp, y, optimum = split_pair()
    x = np.linalg.solve(np.array([[3, 7], [1, -1]]), [1, -2])
    point = np.array([max(x[0], 0), max(-x[0], 0), max(x[1], 0), max(-x[1], 0)])
    noisy = y * (1 + 1e-12)
    good = Solution(Status.OPTIMAL, x=point, y=noisy)
    wrong = Solution(Status.OPTIMAL, x=point + 1, y=noisy + 1e-3)
    verdict, refused = verify(LPBatch.of([lp, lp]), [good, wrong], 1e-6)
    assert verdict.verified
    assert float(optimum) - 1e-10 <= verdict.dual_bound
    assert Fraction(verdict.dual_bound) <= optimum
    assert not refused.verified
    assert refused.dual_bound == -INF
