"""Iterative refinement brings basic solutions nearer to an optimum than a solver's tolerances, and never further away."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from batchlp_cli.backends.highs.refinement import distance, refine
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.exact_sums import rounded_once
from batchlp_cli.families import find_family, relaxed
from batchlp_cli.kkt import verify
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution, Status
from tests.conformance import hard_lp
from tests.integer_optima import dyadic_optimum
from tests.known import make_lp

SEEDS = st.integers(0, 2**32 - 1)
NEVER = math.inf


def solved(lp: LinearProgram, mode: Mode = Mode.COLD, start: Basis | None = None) -> tuple[Solution, Basis]:
    """Returns the optimum that a session claims, and its basis."""
    claim = Session(lp, start).solve(Changes(), mode, SolveSettings(careful=mode is Mode.CAREFUL), want_basis=True)
    assert claim.status is Status.OPTIMAL
    assert claim.basis is not None
    return claim, claim.basis


def badly_scaled(seed: int) -> tuple[LinearProgram, float]:
    """Returns an LP of known optimal value whose rows and columns are scaled by powers of 2, 2^-10 to 2^10, without rounding."""
    rng = np.random.default_rng(seed)
    lp, _, value = dyadic_optimum(rng, int(rng.integers(1, 8)), int(rng.integers(1, 8)), free=0.2, one_sided=0.4)
    rows, cols = (2.0 ** rng.integers(-10, 11, size) for size in lp.A.shape)
    scaled = replace(
        lp,
        c=lp.c * cols,
        A=sp.csr_array(sp.diags_array(rows) @ lp.A @ sp.diags_array(cols)),
        row_lower=lp.row_lower * rows,
        row_upper=lp.row_upper * rows,
        col_lower=lp.col_lower / cols,
        col_upper=lp.col_upper / cols,
    )
    return scaled, float(value)


def chain(length: int) -> tuple[LinearProgram, Vector]:
    """Returns min sum x_i:  x_1 = 1, x_{i+1} - 10 x_i = 1, x >= 0  and its only point, 1, 11, 111, ...: its basis has a condition
    number of about 10^length."""
    rows = np.eye(length) - 10.0 * np.eye(length, k=-1)
    lp = make_lp("chain", [1.0] * length, [((1.0, 1.0), row) for row in rows.tolist()], [(0.0, math.inf)] * length)
    return lp, np.array([float("1" * k) for k in range(1, length + 1)])


@pytest.mark.parametrize(
    ("size", "seed", "member", "tol"),
    [("200x500", 1, 59, 1e-6), ("400x1000", 5, 5, 1e-6), ("50x120", 3, 37, 1e-9), ("50x120", 5, 39, 1e-10)],
)
def test_members_that_tightened_simplex_leaves_refused_are_proved(size: str, seed: int, member: int, tol: float) -> None:
    """Flux networks where the optimal basis of HiGHS at 1e-9 has reduced costs that times bounds of 1000 are too large a gap."""
    batch = relaxed(find_family("flux").members(size, 64, seed)).take([member])
    claim = Session(batch.base).solve(batch.changes, Mode.CAREFUL, SolveSettings(careful=True, tol=tol))
    (verdict,) = verify(batch, [claim], tol)
    assert verdict.verified, verdict.reason
    assert claim.message.startswith("refined")


def test_ill_conditioned_system_is_solved_to_the_last_digit() -> None:
    """From a point that is off in its fourth digit the known one comes back exactly, whatever the condition of the basis."""
    lp, x = chain(12)
    claim, basis = solved(lp)
    rough = replace(claim, x=x * (1.0 + 1e-4 * np.sin(np.arange(12))), message="")
    refined = refine(lp, rough, basis, 1e-15, deadline=NEVER)
    assert refined.x is not None
    assert refined.x.tolist() == x.tolist()
    assert refined.message.startswith("refined")


@settings(max_examples=60)
@given(SEEDS)
def test_badly_scaled_lps_get_the_known_value(seed: int) -> None:
    """A claim with noise of 1e-5, and one at the basis of another cost, both come to the optimal value that is known exactly."""
    lp, value = badly_scaled(seed)
    rng = np.random.default_rng(seed)
    other = replace(lp, c=np.zeros(lp.n))
    for start in (lp, other):
        claim, basis = solved(start)
        assert claim.x is not None
        assert claim.y is not None
        rough = replace(
            claim, x=claim.x * rng.uniform(1 - 1e-5, 1 + 1e-5, lp.n), y=claim.y * rng.uniform(1 - 1e-5, 1 + 1e-5, lp.m)
        )
        refined = refine(lp, rough, basis, 1e-12, deadline=NEVER)
        (verdict,) = verify(LPBatch.of([lp]), [refined], 1e-10)
        assert verdict.verified, verdict.reason
        assert verdict.objective == pytest.approx(value, rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(SEEDS)
def test_the_basis_is_that_of_the_refined_point(seed: int) -> None:
    """Simplex that starts from the basis of a refined claim has nothing left to do."""
    lp, _ = badly_scaled(seed)
    claim, _ = solved(lp)
    _, elsewhere = solved(replace(lp, c=np.zeros(lp.n)))
    assert claim.x is not None
    assert claim.y is not None
    x = claim.x + 1.0
    assume(distance(lp, x, claim.y) > 1e-6)
    refined = refine(lp, replace(claim, x=x), elsewhere, 1e-12, deadline=NEVER)
    assert refined.basis is not None
    again, _ = solved(lp, Mode.WARM, refined.basis)
    assert again.iterations == 0


@settings(max_examples=60)
@given(SEEDS, st.floats(-12, 0))
def test_distance_is_what_the_referee_measures(seed: int, size: float) -> None:
    """The largest relative residual of any point, known to the backend without asking the referee."""
    lp, _ = badly_scaled(seed)
    rng = np.random.default_rng(seed)
    claim, _ = solved(lp)
    assert claim.x is not None
    assert claim.y is not None
    x, y = claim.x + 10.0**size * rng.normal(size=lp.n), claim.y + 10.0**size * rng.normal(size=lp.m)
    (verdict,) = verify(LPBatch.of([lp]), [replace(claim, x=x, y=y, r=lp.c - lp.A.T @ y)], 1e-6)
    residuals = verdict.residuals
    expected = max(residuals.primal_rel, residuals.dual_rel, residuals.gap_rel)
    assert distance(lp, x, y) == pytest.approx(expected, rel=1e-6, abs=1e-13)


@pytest.mark.parametrize(("deadline", "iterations"), [(-math.inf, None), (NEVER, 0), (NEVER, 3)])
def test_limits_are_kept(deadline: float, iterations: int | None) -> None:
    """Out of time or iterations the claim keeps its vectors; with enough of both it does not."""
    lp = hard_lp(size=30)
    claim, _ = solved(lp)
    _, elsewhere = solved(replace(lp, c=np.zeros(lp.n)))
    assert claim.x is not None
    rough = replace(claim, x=claim.x + 1.0)
    stayed = refine(lp, rough, elsewhere, 1e-9, deadline=deadline, iterations=iterations)
    assert stayed.x is rough.x
    assert stayed.iterations - claim.iterations <= (iterations or 0)
    assert refine(lp, rough, elsewhere, 1e-9, deadline=NEVER).x is not rough.x


def test_nothing_becomes_worse() -> None:
    """A claim within the goal is the same object; one that no correction brings nearer keeps its vectors."""
    lp, x = chain(12)
    claim, basis = solved(lp)
    assert refine(lp, claim, basis, 1e-6, deadline=NEVER) is claim
    exact = replace(claim, x=x, y=np.ones(12), r=lp.c - lp.A.T @ np.ones(12))
    hopeless = replace(lp, row_upper=lp.row_upper - 1e-3, row_lower=lp.row_lower - 1e-3, col_lower=x)  # has no point
    before = distance(hopeless, x, np.ones(12))
    after = refine(hopeless, exact, basis, 1e-12, deadline=NEVER)
    assert after.x is not None
    assert after.y is not None
    assert distance(hopeless, after.x, after.y) <= before


FLOATS = st.floats(-1e100, 1e100).filter(lambda value: value == 0 or abs(value) > 1e-100)


@given(st.lists(st.lists(st.tuples(FLOATS, FLOATS), max_size=6), min_size=1, max_size=4), FLOATS)
def test_sums_are_rounded_once(rows: list[list[tuple[float, float]]], first: float) -> None:
    """Whatever cancels, the difference is the float64 number nearest to that of Fractions."""
    pairs = [pair for row in rows for pair in row]
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    data, x = (np.array([pair[k] for pair in pairs], dtype=np.float64) for k in (0, 1))
    A = Csr((len(rows), len(pairs)), ends, np.arange(len(pairs), dtype=np.int32), data)
    expected = [float(Fraction(first) - sum((Fraction(a) * Fraction(b) for a, b in row), Fraction(0))) for row in rows]
    assert rounded_once(np.full(len(rows), first), A, x).tolist() == expected


@pytest.mark.parametrize("a", [1e200, 1e305, math.inf])
def test_products_out_of_range_are_not_finite(a: float) -> None:
    """A product that float64 cannot hold leaves no finite sum that would pass for one."""
    A = Csr((1, 2), np.array([0, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32), np.array([a, 1.0]))
    assert not np.isfinite(rounded_once(np.zeros(1), A, np.array([1e200, 1.0]))).any()
