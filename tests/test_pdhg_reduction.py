"""Presolve of the lanes: the way back gives an optimum and rays of the LP given; polishing stays in bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg.parameters import PdhgParameters
from batchlp_cli.backends.pdhg.polish import PolishParameters, polish
from batchlp_cli.backends.pdhg.reduction import ReductionParameters, reduce_batch
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.backends.pdhg.termination import sensitivity
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.files.discover import discover
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import hard_lp, judge, lp_of, optimal_by_construction, scenario_batch, solve_all
from tests.known import KNOWN

INF = np.inf
ALONE = SolveSettings(fallback=False)


def reducible(seed: int) -> LinearProgram:
    """Returns an LP with single-entry rows and columns, fixed columns, an idle row, and a random core that has an optimum."""
    core, _ = optimal_by_construction(seed)
    rng = np.random.default_rng(seed)
    m, n = core.m, core.n
    A = np.zeros((m + 5, n + 4))
    A[:m, :n] = core.A.toarray()
    A[0, n], A[1, n + 1], A[2, n + 2] = 2.0, -1.0, 3.0  # columns of one entry: a slack, a costly one in an equality, a free one
    A[3, n + 3] = 1.5  # a fixed column
    for k, j in enumerate(rng.choice(n, 3, replace=False)):
        A[m + k, j] = (-1.0) ** k * 2.0  # rows of one entry
    A[m + 3, :n] = 1e-3  # never in the way
    lower, upper = np.full(m + 5, -INF), np.full(m + 5, INF)
    lower[:m], upper[:m] = core.row_lower, core.row_upper
    upper[1] = lower[1] = core.row_lower[1] if np.isfinite(core.row_lower[1]) else core.row_upper[1]
    lower[m : m + 3], upper[m : m + 3] = -30.0, 30.0
    lower[m + 3], upper[m + 3] = -1e6, 1e6
    cols = (
        np.append(np.maximum(core.col_lower, -50), [0, 0, -INF, 2]),
        np.append(np.minimum(core.col_upper, 50), [4, 9, INF, 2]),
    )
    c = np.append(core.c, [0.0, 0.1, 0.0, 1.0])
    return lp_of(f"reducible {seed}", c, A, (lower, upper), cols)


@pytest.mark.parametrize("seed", range(12))
def test_the_way_back_is_exact(seed: int) -> None:
    """An optimum of the reduced LP, taken back, is one of the LP given, far below any tolerance; the shift is the difference."""
    lp = reducible(seed)
    batch = LPBatch(lp, Changes(), (lp.name,))
    reduction = reduce_batch(batch, ReductionParameters())
    assert reduction.batch.base.m < lp.m
    assert reduction.batch.base.n < lp.n
    simplex = HighsBackend(jobs=1)
    try:
        ((_, given),) = simplex.solve(batch, SolveSettings())
        ((_, small),) = simplex.solve(reduction.batch, SolveSettings())
    finally:
        simplex.close()
    assert small.status is given.status
    if given.status is not Status.OPTIMAL:
        return
    assert small.x is not None
    assert small.y is not None
    x, y = reduction.restoration.point(lp, small.x), reduction.restoration.prices(lp.c, small.y)
    (verdict,) = verify(batch, [Solution(Status.OPTIMAL, x=x, y=y)], 1e-8)
    assert verdict.verified, verdict.reason
    value = reduction.batch.base.c @ small.x + reduction.restoration.shift(lp)
    assert value == pytest.approx(lp.c @ x, rel=1e-9, abs=1e-9)


def test_what_members_disagree_in_stays() -> None:
    """A single-entry row whose bounds differ between members is not moved into the column's bounds."""
    base = lp_of("base", [1, 1], [[1, 0], [1, 1]], ([-INF, 1], [3, INF]), ([0, 0], [9, 9]))
    other = replace(base, name="other", row_upper=np.array([2.0, INF]))
    assert reduce_batch(LPBatch.of([base]), ReductionParameters()).batch.base.m < 2
    assert reduce_batch(LPBatch.of([base, other]), ReductionParameters()).batch.base.m == 2


def test_presolve_sees_an_impossible_row_and_proves_it() -> None:
    """A row that no point in the box reaches gives a ray that proves the member infeasible, through moved rows too."""
    lp = lp_of("far", [1, 1], [[2, 0], [1, 1]], ([-INF, 8], [4, INF]), ([0, 0], [INF, 3]))
    (claim,) = solve_all(PdhgBackend(1, PdhgParameters(alone_after=(0,))), LPBatch.of([lp]), ALONE)
    assert claim.status is Status.INFEASIBLE
    judge(LPBatch.of([lp]), [claim])


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.lp.name)
def test_known_answers_alone(known: object) -> None:
    """Every known LP is decided and proved when each member goes on as an LP of its own at once."""
    lp = known.lp  # type: ignore[attr-defined]
    batch = LPBatch.of([lp])
    claims = solve_all(PdhgBackend(1, PdhgParameters(alone_after=(0,))), batch, ALONE)
    assert claims[0].status is known.status, claims[0].message  # type: ignore[attr-defined]
    judge(batch, claims)


def test_members_alone_do_not_depend_on_their_mates() -> None:
    """What a member answers after it left the lanes has the same bytes whoever was with it."""
    batch = scenario_batch(3, 9)
    parameters = PdhgParameters(alone_after=(100,))
    together = solve_all(PdhgBackend(2, parameters), batch, ALONE)
    for k in range(len(batch)):
        (alone,) = solve_all(PdhgBackend(1, parameters), batch.take([k]), ALONE)
        assert together[k].status is alone.status
        assert together[k].iterations == alone.iterations
        assert together[k].x is not None
        assert alone.x is not None
        assert np.asarray(together[k].x).tobytes() == np.asarray(alone.x).tobytes()


def test_more_ways_take_no_member_longer() -> None:
    """Members go on in their lanes beside the LPs of their own, so an answer comes at least as early, once, and is proved."""
    batch = scenario_batch(3, 9)
    plain = solve_all(PdhgBackend(1, PdhgParameters(alone_after=())), batch, ALONE)
    ways = solve_all(PdhgBackend(1, PdhgParameters(alone_after=(50, 100, 100))), batch, ALONE)
    judge(batch, ways)
    assert all(a.status is b.status and a.iterations <= b.iterations for a, b in zip(ways, plain, strict=True))
    assert any(a.iterations < b.iterations for a, b in zip(ways, plain, strict=True))


def test_a_member_that_no_way_decides_is_answered_once_all_have_ended() -> None:
    """At a limit there is one answer, with the best of the ways' dual bounds."""
    lp = hard_lp(size=30)
    settings = replace(ALONE, iteration_limit=600)
    bounds = []
    for after in ((), (100, 300)):
        (claim,) = solve_all(PdhgBackend(1, PdhgParameters(alone_after=after)), LPBatch.of([lp]), settings)
        assert claim.status is Status.ITERATION_LIMIT
        assert claim.y is not None
        bounds.append(dual_bound(LPBatch.of([lp]), claim.y[None, :])[0])
    assert bounds[1] >= bounds[0]


def test_polished_points_stay_within_bounds_and_signs() -> None:
    """Whatever comes out is within the column bounds and prices no infinite side."""
    lp = hard_lp(size=30)
    rng = np.random.default_rng(0)
    matrix = scale_matrix(lp.A, ScalingParameters())
    for _ in range(5):
        x = np.clip(rng.normal(size=lp.n), lp.col_lower, lp.col_upper)
        y = np.where(rng.random(lp.m) < 0.5, -rng.random(lp.m), 0.0)
        x, y = polish(PolishParameters(), matrix, lp, x, y)
        assert (x >= lp.col_lower).all()
        assert (x <= lp.col_upper).all()
        assert (y[np.isinf(lp.row_lower)] <= 0).all()


def test_sensitivity_is_what_moved_bounds_cost() -> None:
    """Prices times (1 + |b|) over 1 + |value|, over the sides that are priced, infinite sides left out."""
    lp = lp_of("two rows", [1, 2], [[1, 1], [1, -1]], ([4, -INF], [INF, 3]), ([0, 0], [INF, INF]))
    assert sensitivity(lp, np.array([3.0, 1.0]), np.array([1.5, -0.5])) == pytest.approx((1.5 * 5 + 0.5 * 4) / 6)
    assert sensitivity(lp, np.zeros(2), np.array([0.0, 2.0])) == 2.0


def test_an_exact_point_is_an_optimum_even_if_its_value_hangs_on_the_tolerance() -> None:
    """x >= 4 as 1e-8 x >= 4e-8 has a price of 2e8, yet its optimum is claimed, since the point is exact."""
    batch = LPBatch.of([lp_of("steep", [2, 1], [[1e-8, 0], [1, 1]], ([4e-8, 3], [INF, INF]), ([0, 0], [INF, 1]))])
    (claim,) = solve_all(PdhgBackend(1), batch, ALONE)
    assert claim.status is Status.OPTIMAL, claim.message
    assert claim.y is not None
    assert claim.x is not None
    assert 1e-6 * sensitivity(batch.base, claim.x, claim.y) > 0.3
    (verdict,) = judge(batch, [claim])
    assert verdict.objective == pytest.approx(8.0)


@pytest.mark.slow
def test_infeasible_by_less_than_the_tolerance_is_not_optimal() -> None:
    """cplex2 has points that miss its rows by less than the tolerance, and none that meets them: no claim of an optimum."""
    path = next(iter((Path(__file__).resolve().parents[2] / "shared" / "data" / "netlib_infeas").glob("cplex2.mps*")), None)
    if path is None:
        pytest.skip("the public corpus is not beside the repository")
    with ModelReader(SolveSettings(jobs=1)) as reader:
        (outcome,) = reader.read(ReadRequest.of(i) for i in discover([str(path)]).inputs)
    assert outcome.lp is not None
    (claim,) = solve_all(PdhgBackend(1), LPBatch.of([outcome.lp]), SolveSettings(tol=1e-4, fallback=False))
    assert claim.status not in (Status.OPTIMAL, Status.UNBOUNDED)
    assert claim.status is Status.INFEASIBLE or "no feasible point was found" in claim.message
