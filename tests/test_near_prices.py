"""Looking only at the reduced costs that matter, and at the columns that differ, tells what looking at everything tells."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli import measures
from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.kkt import Proofs, prove
from batchlp_cli.matrix import Csr
from batchlp_cli.optima import Optima
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.products import Matrix, Numbers
from batchlp_cli.safe_bound import bound_parts, lower_bound, near_prices, priced, with_implied_bounds

INF = np.inf
B, M, N = 7, 6, 60


def numbers_of(seed: int, *, boxed: bool) -> tuple[Numbers, Vector]:
    """Returns numbers of B members whose reduced costs at Y [B, m] are mostly positive, some 0 and some of the wrong sign.

    Most columns start at 0; unless boxed, some are endless, free, or elsewhere, and costs and bounds may differ by member.
    """
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((M, N)) < 0.3, rng.normal(size=(M, N)) * 10.0 ** rng.integers(-3, 4, (M, N)), 0.0)
    Y = np.where(rng.random((B, M)) < 0.3, 0.0, rng.normal(size=(B, M)))
    own = rng.random() < 0.5
    r = np.where(rng.random((B if own else 1, N)) < 0.2, 0.0, rng.exponential(size=(1, N)))
    r[:, rng.integers(0, N, 3)] *= -1e-9 if seed % 2 else -1.0
    cost = (Y if own else Y[:1]) @ A + r
    low, high = np.zeros((1, N)), rng.exponential(10, (1, N))
    if not boxed:
        high[0, rng.random(N) < 0.7] = INF
        low[0, :3], low[0, 3], low[0, 4:9] = -rng.exponential(size=3), -INF, -0.0
        if seed % 3 == 0:
            high = np.repeat(high, B, axis=0)
            high[2, 10:20] = 4.0
    lower, upper = rng.normal(size=(1, M)), np.full((1, M), 5.0)
    lower[0, 0], upper[0, 1] = -INF, INF
    return Numbers(Matrix(Csr.of(sp.csr_array(A))), cost, lower, upper, low, high), Y


def exact_value(numbers: Numbers, k: int, y: Vector) -> Fraction | None:
    """Returns L(y) of member k in rational arithmetic, for boxed columns; None where y prices an infinite side."""
    A = numbers.matrix.rows.scipy.toarray()
    total = Fraction(0)
    for i in range(M):
        side = float((numbers.row_lower if y[i] > 0 else numbers.row_upper)[0, i])
        if y[i] and np.isinf(side):
            return None
        total += Fraction(float(y[i])) * Fraction(side) if y[i] else 0
    for j in range(N):
        r = Fraction(float(numbers.cost[k % len(numbers.cost), j]))
        r -= sum((Fraction(float(a)) * Fraction(float(v)) for a, v in zip(A[:, j], y, strict=True)), Fraction(0))
        total += min(r * Fraction(float(numbers.col_lower[0, j])), r * Fraction(float(numbers.col_upper[0, j])))
    return total


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_by_near_prices_is_below_the_exact_value(seed: int) -> None:
    """Rounding never lifts it above L(y) in rational arithmetic, nor leaves it far below."""
    numbers, Y = numbers_of(seed, boxed=True)
    near = near_prices(numbers, Y)
    assert near is not None
    assert near.r.size < B * N
    told = 0
    for k, bound in enumerate(lower_bound(numbers, Y, np.zeros(B), near=near).tolist()):
        exact = exact_value(numbers, k, Y[k])
        if exact is not None:
            told += 1
            assert Fraction(bound) <= exact
            assert float(exact - Fraction(bound)) <= 1e-9 * (1 + abs(bound))
    assert told or seed


@pytest.mark.parametrize("seed", range(60))
def test_near_prices_give_the_bound_of_all_prices(seed: int) -> None:
    """Endless, free and other columns, bounds and costs by member, sides that are infinite: the same bound up to rounding."""
    numbers, Y = numbers_of(seed, boxed=False)
    near = near_prices(numbers, Y)
    assert near is not None
    found = lower_bound(numbers, Y, np.ones(B), near=near)
    expected = lower_bound(numbers, Y, np.ones(B))
    assert np.array_equal(np.isinf(found), np.isinf(expected))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_prices_left_out_are_positive_beyond_rounding() -> None:
    """What is not near has an interval of r above 0, and a column that starts at 0."""
    numbers, Y = numbers_of(3, boxed=False)
    Y = priced(numbers, Y)
    near, parts = near_prices(numbers, Y), bound_parts(numbers, Y)
    assert near is not None
    there = np.zeros((B, N), dtype=np.bool_)
    there[near.member, near.column] = True
    lower = np.broadcast_to(numbers.col_lower, (B, N))
    assert (parts.low[~there] > 0).all()
    assert (lower[~there] == 0).all()
    assert near.error.min() >= 0.0


def test_near_prices_are_not_told_of_numbers_that_overflow() -> None:
    """Where sums could overflow, and where most columns start elsewhere than at 0, everything is looked at."""
    numbers, Y = numbers_of(1, boxed=False)
    assert near_prices(numbers, 1e300 * Y) is None
    assert near_prices(replace(numbers, col_lower=np.full((1, N), -1.0)), Y) is None
    huge = lower_bound(numbers, 1e300 * Y, np.zeros(B))
    assert not np.isnan(huge).any()
    assert (with_implied_bounds(numbers, bound_parts(numbers, Y)).value < INF).all()


def wide_batch(seed: int) -> tuple[LPBatch, Optima, Optima]:
    """Returns a batch of wide LPs and the same claims twice: whole points, and points of few columns.

    Some members are optimal; the prices or the points of others are off, or not finite.
    """
    rng = np.random.default_rng(seed)
    m, n, members = 5, 300, 12
    A = sp.csr_array(np.where(rng.random((m, n)) < 0.4, rng.exponential(size=(m, n)), 0.0))  # so that costs imply bounds
    used = np.sort(rng.choice(n, 30, replace=False))
    rest = np.zeros(n)
    high = np.full(n, INF)
    high[200:], rest[250:] = 2.0, 2.0
    rest[used] = 0.0
    basic = used[:m]
    values = np.zeros((members, used.size))
    values[:, :m] = rng.uniform(0.5, 1.5, (members, m))
    x = np.repeat(rest[None], members, axis=0)
    x[:, used] = values
    activity = x @ A.toarray().T
    y = rng.uniform(0.5, 1.5, m)
    r = np.where(rest == 2.0, -1.0, 1.0) * rng.exponential(size=n)
    r[basic] = 0.0
    base = LinearProgram("wide", A.T @ y + r, A, activity[0], np.full(m, INF), np.zeros(n), high)
    index = np.tile(np.arange(m), members)
    field = np.full(index.size, int(Field.ROW_LOWER), dtype=np.int8)
    batch = LPBatch(
        base, Changes(np.repeat(np.arange(members), m), field, index, activity.ravel()), tuple(map(str, range(members)))
    )
    Y = np.repeat(y[None], members, axis=0)
    Y[3] *= 1.01
    Y[4, 0] = -Y[4, 0]
    Y[5, 1] = np.nan
    values[6, :m] += 1.0
    values[7, 10] = -1.0
    values[8, 2] = INF
    whole = np.repeat(rest[None], members, axis=0)
    whole[:, used] = values
    told = Optima(np.arange(members), values, Y, np.zeros(members, dtype=np.int64), 0.0, "highs", "m", used, rest)
    return batch, replace(told, values=whole, used=None, rest=None), told


def assert_alike(found: Proofs, expected: Proofs) -> None:
    """Both prove the same members, with the same numbers up to rounding, and measure the same of the others."""
    assert found.proved.tolist() == expected.proved.tolist()
    for name, which in (("objective", expected.proved), ("dual_bound", slice(None)), ("residuals", slice(None))):
        a, b = getattr(found, name)[which], getattr(expected, name)[which]
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("seed", range(8))
def test_points_of_few_columns_are_measured_as_whole_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever is left out, columns or prices, members are proved or refused alike, and their numbers are the same."""
    batch, whole, few = wide_batch(seed)
    matrix = Matrix(batch.base.rows)
    found = prove(batch, few, 1e-6, matrix), prove(batch, whole, 1e-6, matrix)
    monkeypatch.setattr(measures, "near_prices", lambda *_: None)
    expected = prove(batch, whole, 1e-6, matrix)
    assert expected.proved.tolist() == [True] * 3 + [False] * 6 + [True] * 3
    for one in (*found, prove(batch, few, 1e-6, matrix)):
        assert_alike(one, expected)


def test_a_rest_outside_of_its_bounds_is_seen() -> None:
    """A column that no point moves counts, too, where a member's bounds leave it outside."""
    batch, whole, few = wide_batch(0)
    own = batch.changes
    assert few.rest is not None
    last, one = np.array([11]), np.ones(1)
    at = int(np.flatnonzero(few.rest)[0])  # a column that rests at 2
    changes = Changes(
        np.r_[own.member, last],
        np.r_[own.field, np.array([int(Field.COL_UPPER)], dtype=np.int8)],
        np.r_[own.index, np.array([at])],
        np.r_[own.value, one],
    )
    tight = replace(batch, changes=changes)
    matrix = Matrix(batch.base.rows)
    found, expected = prove(tight, few, 1e-6, matrix), prove(tight, whole, 1e-6, matrix)
    assert not found.proved[11]
    assert_alike(found, expected)
