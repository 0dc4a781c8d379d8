"""Interior steps of members that go alone: they finish what lanes don't, prove what has no point, and claim nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.backends.pdhg import ending
from batchlp_cli.backends.pdhg.interior import InteriorParameters, interior_points
from batchlp_cli.backends.pdhg.parameters import PdhgParameters
from batchlp_cli.backends.pdhg.polish import PolishParameters
from batchlp_cli.backends.pdhg.reduction import ReductionParameters
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.backends.pdhg.termination import errors_of, merit
from batchlp_cli.batch import LPBatch
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import hard_lp, judge, lp_of, optimal_by_construction, solve_all

INF = np.inf
ALONE = SolveSettings(fallback=False)
AT_ONCE = PdhgParameters(
    alone_after=(0,),
    reduction=ReductionParameters(passes=0),
    polish=PolishParameters(first=10**9),
    interior=InteriorParameters(first=0),
)
NEVER = replace(AT_ONCE, interior=InteriorParameters(first=10**9))


def solve(lp: LinearProgram, parameters: PdhgParameters, settings: SolveSettings = ALONE) -> Solution:
    """Returns the lanes' claim for one LP."""
    (claim,) = solve_all(PdhgBackend(1, parameters), LPBatch.of([lp]), settings)
    return claim


def ill_conditioned(seed: int, size: int = 40) -> LinearProgram:
    """Returns min sum x, A x = A 1, 0 <= x <= 10, singular values spread over six powers of ten; its value is `size`."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    A = left @ np.diag(np.logspace(0, -6, size)) @ right
    row = A.sum(axis=1)
    return lp_of("ill", np.ones(size), A, (row, row), (np.zeros(size), np.full(size, 10.0)))


def contradictory(seed: int, m: int = 20, n: int = 30) -> LinearProgram:
    """Returns an LP without a feasible point, which takes a combination of all its rows to see."""
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(m, n)), rng.uniform(0.5, 1.0, m)
    A[-1] = (rng.uniform(0.0, 0.1, n) - y[:-1] @ A[:-1]) / y[-1]  # A'y >= 0 with A'y small, so x >= 0 gives y @ A x >= 0
    row_upper = rng.normal(size=m)
    row_upper[-1] -= (y @ row_upper + 1.0) / y[-1]  # y @ row_upper = -1
    return lp_of("none", rng.uniform(0.5, 1.0, n), A, (np.full(m, -INF), row_upper), (np.zeros(n), np.full(n, INF)))


@pytest.mark.parametrize("seed", range(8))
def test_points_approach_an_optimum_within_bounds_and_signs(seed: int) -> None:
    """Bounds of all kinds, fixed columns among them: the steps reach 1e-8, and no point leaves its bounds or signs."""
    lp, value = optimal_by_construction(seed)
    x = np.clip(0.0, lp.col_lower, lp.col_upper)
    fixed = np.arange(lp.n) < 2
    held = replace(lp, col_lower=np.where(fixed, x, lp.col_lower), col_upper=np.where(fixed, x, lp.col_upper))
    for each in (lp, held):
        matrix, best = scale_matrix(each.A, ScalingParameters()), np.inf
        for x, y in interior_points(InteriorParameters(), matrix, each, np.zeros(each.n), np.zeros(each.m)):
            assert ((x >= each.col_lower) & (x <= each.col_upper)).all()
            assert not (y[np.isinf(each.row_lower)] > 0).any()
            assert not (y[np.isinf(each.row_upper)] < 0).any()
            reached = float(merit(errors_of(each, matrix.At, x, y))[0])
            if reached < best:
                best, objective = reached, float(each.c @ x)
        if each is lp:
            assert best <= 1e-8
            assert objective == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_what_stalls_in_a_lane_is_finished_by_interior_steps(seed: int) -> None:
    """Lanes alone end at their limit; with interior steps there is a proved optimum, and the row says how it was had."""
    lp, settings = ill_conditioned(seed), replace(ALONE, iteration_limit=2000)
    assert solve(lp, NEVER, settings).status is Status.ITERATION_LIMIT
    claim = solve(lp, AT_ONCE, settings)
    assert claim.status is Status.OPTIMAL
    assert claim.message.startswith("polished by ")
    assert claim.message.endswith(" interior steps")
    assert claim.iterations <= 2000
    judge(LPBatch.of([lp]), [claim])


@pytest.mark.parametrize("seed", range(4))
def test_prices_of_interior_steps_prove_that_there_is_no_feasible_point(seed: int) -> None:
    """An infeasible LP is never an optimum, and its proof passes the referee."""
    lp = contradictory(seed)
    claim = solve(lp, AT_ONCE)
    assert claim.status is Status.INFEASIBLE
    judge(LPBatch.of([lp]), [claim])


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
def test_an_lp_that_is_infeasible_by_a_hair_is_not_claimed(data_dir: Path, tol: float) -> None:
    """Points within tolerance whose prices tell that there is perhaps no feasible one are refused here too."""
    lp = parse_mps((data_dir / "netlib_infeas" / "cplex2.mps").read_bytes(), "cplex2").lp
    claim = solve(lp, AT_ONCE, replace(ALONE, tol=tol, iteration_limit=500))
    assert claim.status is not Status.OPTIMAL


def test_steps_end_with_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps there are, they end when the member's time does, and the row says so."""

    def endless(*given: object) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        while True:
            time.sleep(0.01)
            yield given[-2], given[-1]  # type: ignore[misc]

    monkeypatch.setattr(ending, "interior_points", endless)
    claim = solve(hard_lp(), AT_ONCE, replace(ALONE, time_limit=0.3, tol=1e-10))
    assert claim.status is Status.TIME_LIMIT


def test_same_start_same_bytes() -> None:
    """Two runs give the same points, bit for bit."""
    lp, _ = optimal_by_construction(1)
    matrix, start = scale_matrix(lp.A, ScalingParameters()), (np.zeros(lp.n), np.zeros(lp.m))
    runs = [list(interior_points(InteriorParameters(), matrix, lp, *start)) for _ in range(2)]
    assert len(runs[0]) == len(runs[1])
    assert all(a.tobytes() == b.tobytes() for one, other in zip(*runs, strict=True) for a, b in zip(one, other, strict=True))


def test_no_steps_from_what_is_not_finite_nor_with_nothing_to_move() -> None:
    """A NaN or an infinity at the start, or an LP whose columns are all fixed, gives no points; huge numbers give finite ones."""
    lp, _ = optimal_by_construction(2)
    matrix, zeros = scale_matrix(lp.A, ScalingParameters()), (np.zeros(lp.n), np.zeros(lp.m))
    for bad in (np.nan, INF):
        assert not list(interior_points(InteriorParameters(), matrix, lp, zeros[0] + bad, zeros[1]))
        assert not list(interior_points(InteriorParameters(), matrix, lp, zeros[0], zeros[1] + bad))
    still = lp_of("still", [1.0], [[1.0]], ([1.0], [1.0]), ([1.0], [1.0]))
    alone = scale_matrix(still.A, ScalingParameters())
    assert not list(interior_points(InteriorParameters(), alone, still, np.ones(1), np.zeros(1)))
    for x, y in interior_points(InteriorParameters(), matrix, replace(lp, c=lp.c * 1e200), zeros[0], zeros[1] + 1e250):
        assert np.isfinite(x).all()
        assert np.isfinite(y).all()


def test_no_steps_where_a_system_would_be_too_large() -> None:
    """The number of nonzeros and the smaller size decide."""
    matrix = scale_matrix(hard_lp(size=30).A, ScalingParameters())
    assert InteriorParameters().suits(matrix)
    assert not InteriorParameters(most_entries=899).suits(matrix)
    assert not InteriorParameters(most_size=29).suits(matrix)
    small = replace(AT_ONCE, interior=InteriorParameters(first=0, most_size=1))
    assert solve(ill_conditioned(0), small, replace(ALONE, iteration_limit=500)).status is Status.ITERATION_LIMIT
