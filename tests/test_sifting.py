"""Sifting: what is claimed over a few columns is the optimum over all, and what it cannot settle is left to the solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.highs.chunk import ChunkSolver
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.backends.highs.sifting import BLOCK, FIRST, METHOD, TRIALS, Sifter, suits
from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.test_sharing import chunk_of

TOL = 1e-6
SETTINGS = SolveSettings(tol=TOL)


def wide(seed: int, m: int = 4, n: int = 120) -> LinearProgram:
    """Returns a bounded LP with rows of several types, and columns at upper bounds other than 0, free and fixed ones."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((m, n)) < 0.5, rng.integers(-3, 4, (m, n)), 0).astype(np.float64)
    low, high = rng.uniform(-1, 0.5, n), rng.uniform(1, 3, n)
    low[0], high[0], high[1], low[2] = -np.inf, np.inf, np.inf, -np.inf
    low[3] = high[3] = 0.7
    A[0, 0] = 1.0
    x = np.clip(rng.uniform(-1, 3, n), np.maximum(low, -5), np.minimum(high, 5))
    y = rng.normal(size=m)
    y[0] = 0.5
    r = rng.normal(size=n)
    r[0], r[1], r[2] = 0.0, 1.0, -1.0  # so that the LP is bounded
    activity = A @ x
    lower, upper = activity - rng.uniform(0.1, 1, m), activity + rng.uniform(0.1, 1, m)
    upper[1] = lower[1]
    return LinearProgram("wide", A.T @ y + r, sp.csr_array(A), lower, upper, low, high, offset=3.0)


def batch_of(seed: int, members: int, spread: float, fields: tuple[tuple[Field, Indices], ...]) -> LPBatch:
    """Returns members whose values in these places differ from the base's by up to `spread`."""
    base, rng = wide(seed), np.random.default_rng(seed + 1000)
    places = [(field, int(i)) for field, index in fields for i in index]
    values = np.array([getattr(base, field.attribute)[i] for field, i in places])
    table = np.where(np.isfinite(values), values + spread * rng.uniform(-1, 1, (members, values.size)), values)
    member = np.repeat(np.arange(members), len(places))
    codes = np.tile(np.array([int(f) for f, _ in places], dtype=np.int8), members)
    index = np.tile(np.array([i for _, i in places], dtype=np.int64), members)
    return LPBatch(base, Changes(member, codes, index, table.ravel()), tuple(f"m{k}" for k in range(members)))


ROWS = ((Field.ROW_LOWER, np.array([0, 2])), (Field.ROW_UPPER, np.array([3])))
COSTS = ((Field.COST, np.array([5, 9, 50])), (Field.ROW_UPPER, np.array([0])))
BOUNDS = ((Field.COL_UPPER, np.array([7, 8, 60])), (Field.COL_LOWER, np.array([10])), (Field.ROW_LOWER, np.array([2])))


def sifted(batch: LPBatch, settings: SolveSettings = SETTINGS) -> tuple[dict[int, Solution], Indices]:
    """Returns the claims of a sifter that knows the base's optimum, and the members that it left to the solver."""
    sifter = Sifter(batch.base, settings)
    sifter.note(Session(batch.base).solve(Changes(), Mode.COLD, settings))
    left: Indices = np.arange(len(batch))
    claims: dict[int, Solution] = {}
    stuck: list[Indices] = []
    while left.size:
        before = left.size
        parts, lost, left = sifter.solve(batch.changes, left)
        assert before - left.size in (FIRST, BLOCK, before)
        stuck.append(lost)
        for part in parts:
            for member, claim in part.solutions(batch):
                assert member not in claims
                claims[member] = claim
    return claims, np.concatenate(stuck)


def assert_all_right(batch: LPBatch, claims: dict[int, Solution]) -> None:
    """Every claim has the status and value of a cold solve of its member, and is verified."""
    members = sorted(claims)
    ordered = [claims[k] for k in members]
    alone = [Session(batch.member(k)).solve(Changes(), Mode.COLD, SETTINGS) for k in members]
    assert [c.status for c in ordered] == [c.status for c in alone]
    part = batch.take(members)
    for one, other in zip(verify(part, ordered, TOL), verify(part, alone, TOL), strict=True):
        assert one.verified, one.reason
        assert (one.objective is None) == (other.objective is None)
        if one.objective is not None:
            assert one.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("fields", [ROWS, COSTS, BOUNDS], ids=["rows", "costs", "bounds"])
@pytest.mark.parametrize("seed", range(6))
def test_sifted_members_have_the_optimum_of_the_whole(seed: int, fields: tuple[tuple[Field, Indices], ...]) -> None:
    """Whatever differs, each member is settled once or left over once; what is settled is right and says how."""
    batch = batch_of(seed, 90, 0.5, fields)
    claims, stuck = sifted(batch)
    assert sorted([*claims, *stuck.tolist()]) == list(range(90))
    assert {claim.method for claim in claims.values()} == {METHOD}
    assert len(claims) > 45
    assert_all_right(batch, claims)


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_missing_join(seed: int) -> None:
    """Members so far away that other columns become basic are settled too, after the columns whose prices were wrong joined."""
    batch = batch_of(seed, 60, 20.0, ROWS)
    claims, _ = sifted(batch)
    assert_all_right(batch, claims)
    base = Session(batch.base).solve(Changes(), Mode.COLD, SETTINGS)
    assert base.x is not None
    near = np.abs(base.x - np.clip(base.x, batch.base.col_lower, batch.base.col_upper))
    assert near.max() < 1e-6
    moved = [np.count_nonzero(np.abs(claim.x - base.x) > 1e-6) for claim in claims.values() if claim.x is not None]
    assert max(moved, default=5) > 4  # other columns than those of a basis of 4 rows


def test_a_column_outside_whose_cost_falls_is_seen() -> None:
    """A member that changes a column that nobody used has it in its restricted LP."""
    base = wide(1)
    outside = 77
    batch = LPBatch(base, Changes(np.zeros(1, np.int64), np.zeros(1, np.int8), np.array([outside]), np.array([-50.0])), ("m",))
    claims, stuck = sifted(batch)
    assert not stuck.size
    x = claims[0].x
    assert x is not None
    assert x[outside] == pytest.approx(base.col_upper[outside])
    assert_all_right(batch, claims)


def test_infeasible_members_are_left_to_the_solver_of_the_whole() -> None:
    """A restricted LP without a feasible point says nothing of the whole; the chunk finds out what holds."""
    batch = batch_of(2, 40, 0.1, ROWS)
    value = batch.changes.value.copy()
    far = (batch.changes.field == Field.ROW_LOWER) & (batch.changes.index == 2) & (batch.changes.member % 5 == 0)
    value[far] = 1e4
    changes = Changes(batch.changes.member, batch.changes.field, batch.changes.index, value)
    odd = LPBatch(batch.base, changes, batch.names)
    claims, stuck = sifted(odd)
    assert set(range(0, 40, 5)) <= set(stuck.tolist())
    assert_all_right(odd, claims)
    found = ChunkSolver(odd.base, SETTINGS).solve(Session(odd.base), chunk_of(odd))
    everyone = dict([*found.claims, *(each for part in found.optima for each in part.solutions(odd))])
    assert sorted(everyone) == list(range(40))
    assert [k for k, claim in sorted(everyone.items()) if claim.status is Status.INFEASIBLE] == list(range(0, 40, 5))
    assert_all_right(odd, everyone)


def test_a_chunk_of_different_members_is_sifted() -> None:
    """Costs that differ leave no bunch, so all but the first members of a chunk are sifted, as long as that is the faster way."""
    batch = batch_of(3, 50, 0.5, COSTS)
    found = ChunkSolver(batch.base, SETTINGS).solve(Session(batch.base), chunk_of(batch))
    claims = dict([*found.claims, *(each for part in found.optima for each in part.solutions(batch))])
    assert sorted(claims) == list(range(50))
    assert sum(claim.method == METHOD for claim in claims.values()) >= TRIALS * FIRST - 4
    assert_all_right(batch, claims)


def test_nothing_is_sifted_that_does_not_suit() -> None:
    """Narrow LPs are not sifted, nor are runs whose limits count what the whole LP takes; a sifter without an optimum waits."""
    assert suits(wide(0), SETTINGS)
    assert not suits(wide(0, m=20, n=120), SETTINGS)
    assert not suits(wide(0), SolveSettings(tol=TOL, iteration_limit=10))
    assert not suits(wide(0), SolveSettings(tol=TOL, cutoff=1.0))
    assert not Sifter(wide(0), SETTINGS).pays(1.0)


def test_sifting_ends_where_it_does_not_pay() -> None:
    """After two small blocks that took longer than the solver does, or settled nobody, it is not asked again."""
    batch = batch_of(4, 200, 0.2, ROWS)
    sifter = Sifter(batch.base, SETTINGS)
    sifter.note(Session(batch.base).solve(Changes(), Mode.COLD, SETTINGS))
    left: Indices = np.arange(200)
    for _ in range(TRIALS):
        assert sifter.pays(0.0)
        _, _, left = sifter.solve(batch.changes, left)
    assert not sifter.pays(0.0)
    assert sifter.pays(10.0)
