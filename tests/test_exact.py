"""Rational arithmetic says what is true: against Fractions written out, optima known by construction, and float64."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.batch import LPBatch
from batchlp_cli.exact import exact_bound, exact_dual_value, exact_farkas, exact_ray, exact_value, exact_violation
from batchlp_cli.exact_referee import Word, judge_exactly
from batchlp_cli.exact_sums import dyadics, float_at_least, float_at_most, sum_of_products
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status
from tests.integer_optima import dyadic_optimum
from tests.kkt_cases import ENDLESS, FARKAS, GOOD, INFEASIBLE, OPTIMAL, TOL, UNBOUNDED

INF = np.inf
SEEDS = st.integers(0, 2**32 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FLOATS, FLOATS)))
def test_sums_of_products_are_exact(pairs: list[tuple[float, float]]) -> None:
    """Any finite float64 numbers, subnormal and huge ones too, give the sum that Fractions give."""
    a, b = (np.array([pair[k] for pair in pairs], dtype=np.float64) for k in (0, 1))
    expected = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
    assert sum_of_products(dyadics(a), dyadics(b)) == expected


@given(st.fractions() | st.builds(lambda a, b: Fraction(a) + Fraction(b), FLOATS, FLOATS), st.integers(-1200, 1200))
def test_roundings_enclose(value: Fraction, power: int) -> None:
    """The two roundings are the neighbours of the value on both sides, or the value itself."""
    value *= Fraction(2) ** power
    low, high = float_at_most(value), float_at_least(value)
    assert low == -INF or Fraction(low) <= value
    assert high == INF or Fraction(high) >= value
    assert low == high or math.nextafter(low, INF) == high


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 7), st.integers(1, 7))
def test_optimal_duals_give_the_optimal_value(seed: int, m: int, n: int) -> None:
    """With integers nothing rounds: the exact bound of optimal duals is the optimal value itself."""
    lp, y, value = dyadic_optimum(np.random.default_rng(seed), m, n, free=0.3, one_sided=0.4)
    assert exact_bound(lp, y) == value
    found = exact_dual_value(lp, y)
    assert found.value == value
    assert not found.loose


@given(SEEDS, st.integers(0, 6), st.integers(1, 6))
def test_violation_and_value_are_those_of_fractions(seed: int, m: int, n: int) -> None:
    """Distances to the bounds and c @ x + offset agree with rational arithmetic written out on dense arrays."""
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(m, n)) * 10.0 ** rng.integers(-300, 5, (m, n)), rng.normal(size=n)
    sides = (np.where(rng.random(k) < 0.3, s * INF, rng.normal(size=k)) for k in (m, n) for s in (-1, 1))
    row_lower, row_upper, col_lower, col_upper = sides
    lp = LinearProgram("t", rng.normal(size=n), sp.csr_array(A), row_lower, row_upper, col_lower, col_upper, 0.1)

    def outside(value: Fraction, low: float, high: float) -> Fraction:
        below = Fraction(low) - value if low > -INF else Fraction(0)
        return max(below, value - Fraction(high) if high < INF else Fraction(0), Fraction(0))

    exact = [Fraction(v) for v in x.tolist()]
    rows = [sum((Fraction(a) * v for a, v in zip(row, exact, strict=True)), Fraction(0)) for row in A.tolist()]
    found = exact_violation(lp, x)
    assert found.rows == tuple(map(outside, rows, lp.row_lower.tolist(), lp.row_upper.tolist()))
    assert found.columns == tuple(map(outside, exact, lp.col_lower.tolist(), lp.col_upper.tolist()))
    cost = sum((Fraction(c) * v for c, v in zip(lp.c.tolist(), exact, strict=True)), Fraction(0.1))
    assert exact_value(lp, x) == cost


@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_no_exact_certificate_proves_what_is_false(seed: int, m: int, n: int) -> None:
    """An LP with a known feasible point has no Farkas ray, a boxed one no improving direction."""
    rng = np.random.default_rng(seed)
    lp, y, _ = dyadic_optimum(rng, m, n, free=0.2, one_sided=0.4)
    for ray in (y, *rng.normal(size=(6, m)), *np.eye(m), *-np.eye(m)):
        found = exact_farkas(lp, ray)
        assert found.value <= 0 or found.loose
    boxed = replace(lp, col_lower=np.maximum(lp.col_lower, -99.0), col_upper=np.minimum(lp.col_upper, 99.0))
    for d in (*rng.normal(size=(6, n)), *np.eye(n), *-np.eye(n)):
        ray_found = exact_ray(boxed, d)
        assert ray_found.slope >= 0 or ray_found.violation > 0


@settings(max_examples=300)
@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_float_bounds_are_below_exact_ones(seed: int, m: int, n: int) -> None:
    """Where all columns are bounded, the float64 bound of any duals is at most the exact one, also where numbers overflow."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.choice([-300, -160, -20, 0, 20, 150, 300], size=4)
    cols, rows = (np.sort(rng.normal(size=(2, k)) * s, axis=0) for k, s in ((n, scale[0]), (m, scale[1])))
    lp = LinearProgram("t", rng.normal(size=n) * scale[2], sp.csr_array(rng.normal(size=(m, n))), *rows, *cols)
    Y = rng.normal(size=(5, m)) * max(scale[3], 1e-160)  # smaller ones count as 0, which makes another bound
    for y, bound in zip(Y, dual_bound(LPBatch.of([lp] * 5), Y), strict=True):
        exact = exact_bound(lp, y)
        assert exact is not None
        assert bound == -INF or Fraction(float(bound)) <= exact


@pytest.mark.parametrize("lp_and_claim", [(GOOD, OPTIMAL), (INFEASIBLE, FARKAS), (UNBOUNDED, ENDLESS)])
def test_perfect_claims_are_proved_and_spoiled_ones_refused(lp_and_claim: tuple[LinearProgram, Solution]) -> None:
    """Claims of small integers need no tolerance; turned round, a ray or x proves nothing; without vectors nothing is proved."""
    lp, claim = lp_and_claim
    assert judge_exactly(lp, claim, TOL).word is Word.PROVED
    name = "x" if claim.status is Status.OPTIMAL else "ray"
    vector = getattr(claim, name)
    spoiled = replace(claim, **{name: -vector})
    found = judge_exactly(lp, spoiled, TOL)
    assert found.word is Word.REFUSED
    assert found.reason
    assert judge_exactly(lp, Solution(claim.status), TOL).word is Word.REFUSED


@given(SEEDS, st.integers(1, 6), st.integers(1, 6), st.integers(-12, -1))
def test_both_referees_agree_away_from_the_tolerance(seed: int, m: int, n: int, power: int) -> None:
    """A claim that float64 arithmetic accepts with half the tolerance is accepted exactly, and one refused at twice it is not."""
    rng = np.random.default_rng(seed)
    lp, y, _ = dyadic_optimum(rng, m, n, free=0.3, one_sided=0.4)
    x = np.where(np.isfinite(lp.col_lower), lp.col_lower, 0.0) + rng.normal(size=n) * 10.0**power
    claim = Solution(Status.OPTIMAL, x=x, y=y + rng.normal(size=m) * 10.0**power)
    exact = judge_exactly(lp, claim, TOL).word is not Word.REFUSED
    (strict,), (loose,) = (verify(LPBatch.of([lp]), [claim], tol) for tol in (TOL / 2, 2 * TOL))
    assert exact or not strict.verified
    assert loose.verified or not exact


@pytest.mark.parametrize("vector", [np.array([1.0]), np.array([1.0, np.nan]), np.array([INF, 0.0])])
def test_vectors_that_are_none_are_refused(vector: Vector) -> None:
    """A wrong length, a NaN or an infinity is a ValueError in words."""
    for check in (exact_bound, exact_violation, exact_farkas, exact_ray, exact_value):
        with pytest.raises(ValueError, match=r"expected|NaN"):
            check(GOOD, vector)
