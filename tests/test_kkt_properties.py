"""What the referee says is true of random LPs of all magnitudes, checked in rational arithmetic and by another solver."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from batchlp_cli.batch import LPBatch
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status

INF = np.inf
TOL = 1e-6
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(0, 6)


def nasty(rng: np.random.Generator, *shape: int) -> Vector:
    """Returns numbers of both signs and magnitudes from 1e-6 to 1e9, a third of them 0."""
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-6, 10, size=shape)
    return np.where(rng.random(shape) < 1 / 3, 0.0, values)


def lp_of(c: Vector, A: Vector, rows: tuple[Vector, Vector], cols: tuple[Vector, Vector], offset: float = 0.0) -> LinearProgram:
    """Returns an LP from arrays; rows and cols are (lower, upper)."""
    return LinearProgram("random", c, sp.csr_array(A), *rows, *cols, offset=offset)


def bounds_at(rng: np.random.Generator, value: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Returns bounds with the value at its lower side where the price is positive, at its upper where it is negative."""
    lower, upper = value - rng.uniform(0.5, 2, value.shape), value + rng.uniform(0.5, 2, value.shape)
    lower[rng.random(value.shape) < 0.3], upper[rng.random(value.shape) < 0.3] = -INF, INF
    return np.where(price > 0, value, lower), np.where(price < 0, value, upper)


def complementary(rng: np.random.Generator, m: int, n: int) -> tuple[LinearProgram, Solution]:
    """Returns an LP made from an optimal pair x, (y, r), and the pair; prices that are not 0 are at least 0.1."""
    A = np.where(rng.random((m, n)) < 0.6, rng.integers(-4, 5, (m, n)), 0).astype(np.float64)
    x, y, r = rng.normal(size=n), rng.normal(size=m), rng.normal(size=n)
    y, r = (np.where(rng.random(v.shape) < 0.4, 0.0, v + 0.1 * np.sign(v)) for v in (y, r))
    lp = lp_of(A.T @ y + r, A, bounds_at(rng, A @ x, y), bounds_at(rng, x, r), float(rng.normal()))
    return lp, Solution(Status.OPTIMAL, x=x, y=y, r=r)


@given(SEEDS, SIZES, SIZES)
def test_constructed_optimum_is_proved_and_a_moved_one_refused(seed: int, m: int, n: int) -> None:
    """A complementary pair is verified; with a column that has a price moved off its bound, or a price moved, it is not."""
    rng = np.random.default_rng(seed)
    lp, good = complementary(rng, m, n)
    assert good.x is not None
    assert good.y is not None
    assert good.r is not None
    claims = [good]
    for j in np.flatnonzero(good.r):
        x = good.x.copy()
        x[j] += 0.3 * np.sign(good.r[j])
        claims.append(replace(good, x=x))
    for i in np.flatnonzero(good.y):
        y = good.y.copy()
        y[i] = -y[i]
        claims.append(replace(good, y=y))
    verdicts = verify(LPBatch.of([lp] * len(claims)), claims, TOL)
    assert verdicts[0].verified, verdicts[0].reason
    assert verdicts[0].objective == pytest.approx(lp.c @ good.x + lp.offset)
    assert not any(v.verified for v in verdicts[1:])


def exact_dual_value(lp: LinearProgram, y: Vector) -> Fraction:
    """Returns D(y) + offset in rational arithmetic, for y that prices only finite sides and finite column bounds."""
    A = [[Fraction(a) for a in row] for row in lp.A.toarray().tolist()]
    prices = [Fraction(v) for v in y.tolist()]
    costs = [Fraction(v) for v in lp.c.tolist()]
    reduced = [c - sum((A[i][j] * p for i, p in enumerate(prices)), Fraction(0)) for j, c in enumerate(costs)]
    value = Fraction(lp.offset)
    sides = [*zip(prices, lp.row_lower, lp.row_upper, strict=True), *zip(reduced, lp.col_lower, lp.col_upper, strict=True)]
    for price, lower, upper in sides:
        value += price * Fraction(float(lower if price > 0 else upper)) if price else 0
    return value


@settings(max_examples=200)
@given(SEEDS, SIZES, SIZES, st.booleans())
def test_bound_stays_below_the_exact_dual_value(seed: int, m: int, n: int, cancelling: bool) -> None:
    """With finite bounds, the bound is at most D(y) of rational arithmetic, and below it by little more than rounding."""
    rng = np.random.default_rng(seed)
    rows, cols = (np.sort(nasty(rng, 2, size), axis=0) for size in (m, n))
    lp = lp_of(nasty(rng, n), nasty(rng, m, n), (rows[0], rows[1]), (cols[0], cols[1]), float(nasty(rng, 1)[0]))
    Y = nasty(rng, 5, m)
    if cancelling:  # nothing is left but the rounding of r, on columns only
        zero = np.zeros(m)
        lp = replace(lp, c=lp.A.T @ Y[0], row_lower=zero, row_upper=zero, offset=0.0)
    bounds = dual_bound(LPBatch.of([lp] * 5), Y)
    for y, bound in zip(Y, bounds, strict=True):
        exact = exact_dual_value(lp, y)
        size = abs(lp.offset) + np.abs(y) @ np.abs(rows).max(axis=0, initial=0)
        size += (np.abs(lp.c) + np.abs(lp.A.toarray()).T @ np.abs(y)) @ np.abs(cols).max(axis=0, initial=0)
        assert Fraction(float(bound)) <= exact
        assert float(exact - Fraction(float(bound))) <= 1e-14 * (m + n + 10) * size


def exact_optimum(lp: LinearProgram) -> Fraction | None:
    """Returns the least value over the vertices of an LP with two columns, in rational arithmetic; None without a vertex."""
    lines = [
        (row, float(side))
        for row, *sides in zip(lp.A.toarray().tolist(), lp.row_lower, lp.row_upper, strict=True)
        for side in sides
    ]
    lines += [([1.0, 0.0], float(v)) for v in (lp.col_lower[0], lp.col_upper[0])]
    lines += [([0.0, 1.0], float(v)) for v in (lp.col_lower[1], lp.col_upper[1])]
    exact = [(Fraction(a[0]), Fraction(a[1]), Fraction(b)) for a, b in lines if np.isfinite(b)]
    values = []
    for (a, b, e), (c, d, f) in combinations(exact, 2):
        det = a * d - b * c
        if det:
            x = ((e * d - b * f) / det, (a * f - e * c) / det)
            if exactly_feasible(lp, x):
                values.append(exact_cost(lp, x))
    return min(values, default=None)


def exactly_feasible(lp: LinearProgram, x: tuple[Fraction, ...]) -> bool:
    """Tells whether x obeys every row and every bound, in rational arithmetic."""
    activity = [sum((Fraction(a) * v for a, v in zip(row, x, strict=True)), Fraction(0)) for row in lp.A.toarray().tolist()]
    sides = [*zip(activity, lp.row_lower, lp.row_upper, strict=True), *zip(x, lp.col_lower, lp.col_upper, strict=True)]
    return all(float(lo) <= v <= float(up) for v, lo, up in sides)


def exact_cost(lp: LinearProgram, x: tuple[Fraction, ...]) -> Fraction:
    """Returns c @ x + offset in rational arithmetic."""
    return sum((Fraction(c) * v for c, v in zip(lp.c.tolist(), x, strict=True)), Fraction(lp.offset))


@settings(max_examples=200)
@given(SEEDS, st.integers(1, 3), st.booleans())
def test_bound_stays_below_the_exact_optimum(seed: int, m: int, covering: bool) -> None:
    """Where infinite column bounds are priced, so that implied bounds and the cutoff work, no bound passes the exact optimum."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 10, size=(3, 1))
    A = rng.uniform(0.1, 2, (m, 2)) * 10.0 ** rng.integers(-3, 4, size=(1, 2))
    A *= 1 if covering else rng.choice([-1, 1], size=(m, 2))
    x = rng.uniform(0, 1, 2) * scale[0]
    lower = A @ x - rng.uniform(0, 1, m) * rng.integers(0, 2, m)
    upper = np.where(rng.random(m) < 0.5, INF, A @ x + rng.uniform(0, 1, m))
    duals = rng.uniform(0, 1, m) * scale[1]
    c = A.T @ duals + rng.choice([0.0, 1.0], 2) * rng.uniform(0, 1, 2) * scale[2]
    # c = A.T @ y + r with y, r >= 0 bounds the LP from below, so that a vertex is optimal
    lp = lp_of(c, A, (lower, upper), (np.zeros(2), np.full(2, INF)), float(rng.normal()))
    best = exact_optimum(lp)
    if best is None:
        return
    Y = np.stack([duals, duals * (1 + 1e-15), duals * (1 + 1e-9), *(rng.normal(size=(3, m)) * scale[1])])
    for bound in dual_bound(LPBatch.of([lp] * len(Y)), Y):
        assert bound == -INF or Fraction(float(bound)) <= best


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 6), st.integers(1, 8))
def test_bound_agrees_with_another_solver(seed: int, m: int, n: int) -> None:
    """On boxed LPs the bound from another solver's duals meets its value within tolerance and never passes it by more."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (m, n)).astype(np.float64)
    lower, size = rng.integers(-5, 1, n).astype(np.float64), rng.integers(0, 9, n)
    rhs = A @ (lower + size / 2) + rng.integers(0, 3, m)
    lp = lp_of(rng.normal(size=n), A, (np.full(m, -INF), rhs), (lower, lower + size))
    found = linprog(lp.c, A_ub=A, b_ub=rhs, bounds=list(zip(lower, lower + size, strict=True)), method="highs")
    assert found.fun is not None
    y = np.asarray(found.ineqlin.marginals)
    (bound,) = dual_bound(LPBatch.of([lp]), y[None, :])
    assert found.fun - 1e-6 * (1 + abs(found.fun)) <= bound <= found.fun + 1e-9 * (1 + abs(found.fun))
    (verdict,) = verify(LPBatch.of([lp]), [Solution(Status.OPTIMAL, x=np.asarray(found.x), y=y)], TOL)
    assert verdict.verified, verdict.reason


@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_no_ray_proves_what_is_false(seed: int, m: int, n: int) -> None:
    """No ray makes an LP with a known feasible point infeasible, and none makes a boxed LP unbounded."""
    rng = np.random.default_rng(seed)
    lp, good = complementary(rng, m, n)
    claims = [Solution(Status.INFEASIBLE, ray=ray) for ray in (*rng.normal(size=(8, m)), good.y, *np.eye(m), *-np.eye(m))]
    assert not any(v.verified for v in verify(LPBatch.of([lp] * len(claims)), claims, TOL))
    boxed = replace(lp, col_lower=np.maximum(lp.col_lower, -9.0), col_upper=np.minimum(lp.col_upper, 9.0))
    claims = [replace(good, status=Status.UNBOUNDED, ray=ray) for ray in (*rng.normal(size=(8, n)), *np.eye(n), *-np.eye(n))]
    assert not any(v.verified for v in verify(LPBatch.of([boxed] * len(claims)), claims, TOL))


@given(SEEDS, SIZES, st.integers(1, 6))
def test_constructed_rays_prove(seed: int, m: int, n: int) -> None:
    """A combination of rows that the box misses proves infeasibility; an improving direction of the cone, unboundedness."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((m + 1, n)) < 0.6, rng.normal(size=(m + 1, n)), 0.0)
    y = rng.normal(size=m + 1)
    lower, upper = -rng.uniform(0, 2, n), rng.uniform(0, 2, n)
    # row m is y' A of the others, less one than they allow
    A[m] = y[:m] @ A[:m]
    side = rng.normal(size=m)
    rows = np.append(np.where(y[:m] > 0, side, -INF), -INF), np.append(np.where(y[:m] < 0, side, INF), y[:m] @ side - 1)
    infeasible = lp_of(rng.normal(size=n), A, rows, (lower, upper))
    d = rng.choice([-1.0, 0.0, 1.0], n)
    d[0] = 1.0
    along = A @ d
    rows = np.where(along < -1e-9, -INF, A @ d - 1), np.where(along > 1e-9, INF, A @ d + 1)
    rows = np.where(np.abs(along) <= 1e-9, -INF, rows[0]), np.where(np.abs(along) <= 1e-9, INF, rows[1])
    unbounded = lp_of(-d, A, rows, (np.where(d < 0, -INF, d - 1), np.where(d > 0, INF, d + 1)))
    claims = [Solution(Status.INFEASIBLE, ray=np.append(y[:m], -1.0)), Solution(Status.UNBOUNDED, x=d, ray=d)]
    for lp, solution in zip((infeasible, unbounded), claims, strict=True):
        (verdict,) = verify(LPBatch.of([lp]), [solution], TOL)
        assert verdict.verified, verdict.reason
