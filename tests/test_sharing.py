"""Bunching: what a shared basis claims is optimal, members that it does not fit are left to the solver, and nobody is lost."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.highs.chunk import METHOD, ChunkAnswer, ChunkSolver, ChunkTask
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.backends.highs.sharing import Bunch, SharedBasis
from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution, Status

TOL = 1e-6


def batch_of(seed: int, members: int, spread: float = 0.1, *, costs: bool = False) -> LPBatch:
    """Returns random LPs with rows of every type and free, boxed and fixed columns, whose sides and bounds differ by `spread`."""
    rng = np.random.default_rng(seed)
    m, n = 6, 9
    A = rng.integers(-3, 4, (m, n)).astype(np.float64)
    x = rng.uniform(0, 2, n)
    activity = A @ x
    lower, upper = activity - rng.uniform(0, 1, m), activity + rng.uniform(0, 1, m)
    lower[0], upper[1], upper[2] = -np.inf, np.inf, lower[2]
    low, high = np.zeros(n), np.full(n, 5.0)
    low[0], high[0], low[1], high[1] = -np.inf, np.inf, x[1], x[1]
    base = LinearProgram("base", rng.integers(-5, 6, n).astype(np.float64), sp.csr_array(A), lower, upper, low, high)
    # one place of each kind a member: the other side stays where it is
    places = [(Field.ROW_UPPER, 0), (Field.ROW_LOWER, 1), (Field.ROW_UPPER, 3), (Field.COL_UPPER, 4), (Field.COL_LOWER, 5)]
    places += [(Field.COST, 6)] if costs else []
    values = [getattr(base, field.attribute)[i] + spread * rng.uniform(-1, 1, members) for field, i in places]
    member = np.repeat(np.arange(members), len(places))
    field = np.tile([int(f) for f, _ in places], members).astype(np.int8)
    index = np.tile([i for _, i in places], members)
    return LPBatch(base, Changes(member, field, index, np.stack(values, axis=1).ravel()), tuple(f"m{k}" for k in range(members)))


def claims_of(found: ChunkAnswer, batch: LPBatch) -> dict[int, Solution]:
    """Returns the claims of all members of a chunk, which is the whole batch; each has one."""
    claims = [*found.claims, *(each for part in found.optima for each in part.solutions(batch))]
    assert len(dict(claims)) == len(claims)
    return dict(claims)


def chunk_of(batch: LPBatch) -> ChunkTask:
    """Returns the chunk that is the whole batch."""
    return ChunkTask(0, batch.changes, len(batch), Mode.WARM)


def alone(batch: LPBatch) -> list[Solution]:
    """Returns what a cold solver says of each member."""
    return [Session(batch.member(k)).solve(Changes(), Mode.COLD, SolveSettings(tol=TOL)) for k in range(len(batch))]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("spread", [0.05, 3.0])
def test_chunks_say_what_a_solver_says_of_each_member(seed: int, spread: float) -> None:
    """Status and value of every member, found by a solver or by a shared basis, are those of a cold solve, and verified."""
    batch = batch_of(seed, 40, spread)
    found = ChunkSolver(batch.base, SolveSettings(tol=TOL)).solve(Session(batch.base), chunk_of(batch))
    claims = claims_of(found, batch)
    assert sorted(claims) == list(range(40))
    ordered = [claims[k] for k in range(40)]
    expected = alone(batch)
    assert [c.status for c in ordered] == [c.status for c in expected]
    verdicts, others = verify(batch, ordered, TOL), verify(batch, expected, TOL)
    for one, other in zip(verdicts, others, strict=True):
        assert one.verified
        assert (one.objective is None) == (other.objective is None)
        if one.objective is not None:
            assert one.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)


def test_close_members_need_hardly_any_solver() -> None:
    """Of 200 members of a bounded LP that differ little, most have the basis of another one."""
    batch = batch_of(3, 200, 1e-3)
    found = ChunkSolver(batch.base, SolveSettings(tol=TOL)).solve(Session(batch.base), chunk_of(batch))
    (shared,) = (part for part in found.optima if part.method == METHOD)
    assert len(shared) > 150
    claims = claims_of(found, batch)
    assert {claims[k].method for k in shared.members.tolist()} == {METHOD}


QUICK = """
import pickle, sys
from batchlp_cli.backends.highs import chunk
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.settings import SolveSettings
batch = pickle.load(open(sys.argv[1], "rb"))
solver, session = chunk.ChunkSolver(batch.base, SolveSettings()), Session(batch.base)
for ahead in (0.5, float(sys.argv[2])):
    chunk.LOADING = float(sys.argv[3]) if ahead == 0.0 else 1.0
    found = solver.solve(session, chunk.ChunkTask(0, batch.changes, len(batch), Mode.WARM, ahead=ahead))
    print(sum(len(part) for part in found.optima if part.method != chunk.METHOD), "scipy" in sys.modules)
"""


@pytest.mark.parametrize(("ahead", "loading"), [("0.0", "0.0"), ("1.5", "1.0")], ids=["behind", "ahead"])
def test_quick_members_load_no_scipy(tmp_path: Path, ahead: str, loading: str) -> None:
    """A worker process loads what sharing needs once members have taken as long as that is worth, or will by what is told."""
    (tmp_path / "batch").write_bytes(pickle.dumps(batch_of(3, 50, 1e-3)))
    command = [sys.executable, "-c", QUICK, str(tmp_path / "batch"), ahead, loading]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert told[:2] == ["50", "False"]
    assert int(told[2]) < 25
    assert told[3] == "True"


def test_costs_that_differ_are_left_to_the_solver() -> None:
    """A shared basis has the base's prices, so a batch with other costs has no bunch."""
    batch = batch_of(1, 5, costs=True)
    assert Bunch.of(batch.base, batch.changes, 5) is None
    found = ChunkSolver(batch.base, SolveSettings(tol=TOL)).solve(Session(batch.base), chunk_of(batch))
    assert {part.method for part in found.optima}.isdisjoint({METHOD})
    assert sorted(claims_of(found, batch)) == list(range(5))


def test_bounds_that_cross_fit_no_basis() -> None:
    """x >= 1 with 0 <= x <= u: the basis of u = 2 does not fit u = -1 (crossed) or u = 0.5 (the row fails), but u = 3."""
    one, none = np.ones(1), np.zeros(1)
    base = LinearProgram("b", one, sp.csr_array(np.ones((1, 1))), one, np.array([np.inf]), none, np.array([2.0]))
    upper: Vector = np.array([-1.0, 0.5, 3.0])
    changes = Changes(np.arange(3), np.full(3, int(Field.COL_UPPER), dtype=np.int8), np.zeros(3, dtype=np.int64), upper)
    bunch = Bunch.of(base, changes, 3)
    assert bunch is not None
    basis = SharedBasis(base, Basis(np.array([1], dtype=np.int8), np.array([0], dtype=np.int8)))
    fits, values = basis.fits(bunch, np.arange(3))
    assert fits.tolist() == [False, False, True]
    assert basis.points(bunch, np.array([2]), values[fits]).tolist() == [[1.0]]


def test_a_basis_that_is_none_is_refused() -> None:
    """Too many basic variables, or a singular matrix of them."""
    base = LinearProgram(
        "b", np.ones(2), sp.csr_array(np.array([[1.0, 1], [2, 2]])), np.zeros(2), np.ones(2), np.zeros(2), np.ones(2)
    )
    for cols, rows in (([1, 1], [1, 0]), ([1, 1], [0, 0])):
        with pytest.raises(ValueError, match=r"basic variables|singular"):
            SharedBasis(base, Basis(np.array(cols, dtype=np.int8), np.array(rows, dtype=np.int8)))


def test_every_member_of_a_large_batch_comes_back_once() -> None:
    """A batch that travels in chunks yields each member once, with the status of a cold solve."""
    batch = batch_of(5, 300, 1.0)
    backend = HighsBackend(2)
    try:
        claims = list(backend.solve(batch, SolveSettings(tol=TOL)))
    finally:
        backend.close()
    assert sorted(k for k, _ in claims) == list(range(300))
    statuses = {k: claim.status for k, claim in claims}
    some = range(0, 300, 25)
    assert [statuses[k] for k in some] == [claim.status for claim in alone(batch.take(list(some)))]
    assert Status.OPTIMAL in statuses.values()
