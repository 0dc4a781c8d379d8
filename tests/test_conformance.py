"""One suite for every backend: what `Backend` promises, judged by the referee."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from batchlp_cli.backends.auto.together import AutoBackend
from batchlp_cli.backends.base import Backend
from batchlp_cli.batch import LPBatch
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import (
    BACKENDS,
    TOL,
    hard_lp,
    judge,
    lp_of,
    mixed_batch,
    optimal_by_construction,
    scenario_batch,
    solve_all,
)
from tests.known import KNOWN, KnownLP


@pytest.fixture(scope="module", params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """A backend that serves all tests of this file, so that one batch after another is tested too."""
    made = BACKENDS[request.param]()
    yield made
    made.close()


def values(batch: LPBatch, claims: list[Solution]) -> list[float | None]:
    """Returns the proved objective of each member, None where it has none."""
    return [verdict.objective for verdict in judge(batch, claims)]


@pytest.mark.parametrize("careful", [False, True], ids=["plain", "careful"])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.lp.name)
def test_known_answers(backend: Backend, known: KnownLP, careful: bool) -> None:
    """Status and value are the known ones, x, y and r too where they are unique, and the referee proves the claim."""
    batch = LPBatch.of([known.lp])
    claims = solve_all(backend, batch, SolveSettings(careful=careful))
    assert claims[0].status is known.status, claims[0].message
    (value,) = values(batch, claims)
    if known.status is not Status.OPTIMAL:
        return
    assert value == pytest.approx(known.value, rel=TOL, abs=TOL)
    # residuals and gap within TOL leave a first-order method's vectors farther from the one optimum than a basis
    near = 10 * TOL if claims[0].backend == "highs" else 1000 * TOL
    if known.unique:
        for name in ("x", "y", "r"):
            assert getattr(claims[0], name) == pytest.approx(getattr(known, name), rel=near, abs=near), name


@pytest.mark.parametrize("seed", range(6))
def test_optimal_by_construction(backend: Backend, seed: int) -> None:
    """The value of an LP made from a complementary pair is found, and r = c - A'y holds for what is returned."""
    lp, value = optimal_by_construction(seed)
    batch = LPBatch.of([lp])
    (claim,) = solve_all(backend, batch)
    assert values(batch, [claim]) == [pytest.approx(value, rel=TOL, abs=TOL)]
    assert claim.x is not None
    assert claim.y is not None
    assert claim.r == pytest.approx(lp.c - lp.A.T @ claim.y, abs=1e-7)


@pytest.mark.parametrize("careful", [False, True], ids=["plain", "careful"])
def test_mixed_batch_is_told_apart_and_proved(backend: Backend, careful: bool) -> None:
    """Optimal, infeasible and unbounded members of one matrix are told apart, each with a certificate that checks."""
    batch, expected = mixed_batch()
    claims = solve_all(backend, batch, SolveSettings(careful=careful))
    assert [claim.status for claim in claims] == expected
    judge(batch, claims)


def test_crossing_bounds_need_no_ray(backend: Backend) -> None:
    """Bounds that cross, be it by less than any solver's tolerance, are infeasible without a ray, whatever came before."""
    batch, _ = mixed_batch()
    crossing = [i for i, name in enumerate(batch.names) if "crossing" in name or "+inf" in name]
    assert crossing
    for claim in solve_all(backend, batch.take(crossing)):
        assert claim.status is Status.INFEASIBLE
        assert claim.ray is None


@pytest.mark.parametrize("seed", [1, 2])
def test_batch_of_one_agrees_with_batch(backend: Backend, seed: int) -> None:
    """A member solved among others has the status and the value that it has alone."""
    batch = scenario_batch(seed, 12)
    together = solve_all(backend, batch)
    alone = [solve_all(backend, batch.take([i]))[0] for i in range(len(batch))]
    assert [c.status for c in together] == [c.status for c in alone]
    assert values(batch, together) == [None if v is None else pytest.approx(v, rel=TOL, abs=TOL) for v in values(batch, alone)]


def test_order_and_splitting_change_nothing(backend: Backend) -> None:
    """The members in another order, or in two batches, have the same statuses and values."""
    batch = scenario_batch(3, 15)
    expected = values(batch, solve_all(backend, batch))
    order = np.random.default_rng(0).permutation(len(batch))
    for part in (order, order[:6], order[6:]):
        got = values(batch.take(part), solve_all(backend, batch.take(part)))
        wanted = [expected[i] for i in part]
        assert got == [None if v is None else pytest.approx(v, rel=2 * TOL, abs=2 * TOL) for v in wanted]


def test_batches_of_different_matrices_do_not_mix(backend: Backend) -> None:
    """A backend that has just solved one matrix solves another, and then the first again."""
    first, second = scenario_batch(4, 5), mixed_batch()[0]
    before = values(first, solve_all(backend, first))
    judge(second, solve_all(backend, second))
    assert values(first, solve_all(backend, first)) == [None if v is None else pytest.approx(v, rel=TOL) for v in before]


def test_empty_batch(backend: Backend) -> None:
    """A batch without members has no answers."""
    assert solve_all(backend, scenario_batch(5, 2).take([])) == []


def test_no_rows_no_columns_no_coefficients(backend: Backend) -> None:
    """LPs without rows, without columns or without coefficients have their plain answers, certificates included."""
    inf = np.inf
    box = lp_of("box", [1, -1, 0], np.zeros((0, 3)), ([], []), ([-2, -5, -inf], [9, 3, -4]))
    endless = replace(box, name="endless", c=np.array([1.0, -1.0, 1.0]))
    batch = LPBatch.of([box, endless])
    claims = solve_all(backend, batch)
    assert [c.status for c in claims] == [Status.OPTIMAL, Status.UNBOUNDED]
    assert values(batch, claims)[0] == pytest.approx(-5.0)
    empty = lp_of("no columns", [], np.zeros((2, 0)), ([-1, 0], [1, 0]), ([], []))
    wrong = replace(empty, name="a row excludes 0", row_lower=np.array([-1.0, 2.0]), row_upper=np.array([1.0, 3.0]))
    zero = lp_of("zero matrix", [1], [[0], [0]], ([-1, 0], [1, 0]), ([2], [inf]))
    wrong_zero = replace(zero, name="zero row excludes 0", row_upper=np.array([-0.5, 0.0]))
    for good, bad in ((empty, wrong), (zero, wrong_zero)):
        batch = LPBatch.of([good, bad])
        claims = solve_all(backend, batch)
        assert [c.status for c in claims] == [Status.OPTIMAL, Status.INFEASIBLE]
        judge(batch, claims)


def test_claims_are_labelled_and_in_shape(backend: Backend) -> None:
    """Every claim names its backend and its method, counts seconds, and holds float64 vectors of the right length."""
    batch = scenario_batch(6, 6)
    for claim in solve_all(backend, batch):
        assert claim.backend in ("highs", "pdhg") if isinstance(backend, AutoBackend) else claim.backend == backend.name
        assert claim.method
        assert claim.seconds >= 0
        for vector, length in ((claim.x, batch.base.n), (claim.y, batch.base.m), (claim.r, batch.base.n)):
            assert vector is not None
            assert vector.shape == (length,)
            assert vector.dtype == np.float64


def test_iteration_limit_is_a_status(backend: Backend) -> None:
    """One iteration does not solve the hard LP: the claim says so, and without the limit it is solved."""
    batch = LPBatch.of([hard_lp(size=60)] * 3)
    assert {c.status for c in solve_all(backend, batch, SolveSettings(iteration_limit=1))} == {Status.ITERATION_LIMIT}
    judge(batch, solve_all(backend, batch))


def test_time_limit_is_a_status(backend: Backend) -> None:
    """A limit far below what the hard LP takes ends as time_limit, and the next batch is solved as if nothing had been."""
    batch = LPBatch.of([hard_lp()] * 3)
    assert {c.status for c in solve_all(backend, batch, SolveSettings(time_limit=1e-4))} == {Status.TIME_LIMIT}
    judge(batch, solve_all(backend, batch))


def test_warm_start_from_the_base(backend: Backend) -> None:
    """A solution of the base given as a warm start changes no status and no value."""
    batch = scenario_batch(8, 6)
    (base,) = solve_all(backend, LPBatch.of([batch.base]))
    claims: dict[int, Solution] = dict(backend.solve(batch, SolveSettings(), base))
    warm = values(batch, [claims[i] for i in range(len(batch))])
    assert warm == [None if v is None else pytest.approx(v, rel=TOL, abs=TOL) for v in values(batch, solve_all(backend, batch))]


@pytest.mark.parametrize("make", BACKENDS.values(), ids=list(BACKENDS))
def test_close_twice(make: Callable[[], Backend]) -> None:
    """close() may be called twice, and before any work."""
    made = make()
    made.close()
    made.close()
