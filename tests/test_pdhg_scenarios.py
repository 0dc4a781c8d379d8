"""Batches in which one member is unlike its mates: in what it asks, in its units, or in how hard it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.parameters import KernelName, PdhgParameters
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.files.inputs import Compression, ModelFormat
from batchlp_cli.files.read import ModelReader, ReadRequest
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Status
from tests.conformance import judge, lp_of, solve_all

VALUE = 424.0


@pytest.fixture(scope="module")
def transport() -> LinearProgram:
    """A transport from eight plants to eight markets whose optimum is 424."""
    text = (Path(__file__).parent / "data" / "n01_transport8.lp").read_bytes()
    with ModelReader(SolveSettings(jobs=1)) as reader:
        (outcome,) = reader.read([ReadRequest(0, None, text, ModelFormat.LP, Compression.NONE, "n01.lp")])
    assert outcome.lp is not None
    return outcome.lp


@pytest.fixture(params=[KernelName.NUMBA, KernelName.TORCH])
def backend(request: pytest.FixtureRequest) -> Iterator[PdhgBackend]:
    """A backend for each kernel."""
    made = PdhgBackend(2, PdhgParameters(kernel=request.param))
    yield made
    made.close()


def test_nine_members_without_demand_stop_at_the_first_check(backend: PdhgBackend, transport: LinearProgram) -> None:
    """Nine members that ask for nothing are optimal with 0 before any step, the tenth reaches its value."""
    demand = np.isfinite(transport.row_lower)
    nothing = replace(transport, row_lower=np.where(demand, 0.0, transport.row_lower))
    batch = LPBatch.of([*(replace(nothing, name=f"nothing {k}") for k in range(9)), transport])
    claims = solve_all(backend, batch)
    verdicts = judge(batch, claims)
    assert [v.objective for v in verdicts[:9]] == [0.0] * 9
    assert [c.iterations for c in claims[:9]] == [0] * 9
    assert verdicts[9].objective == pytest.approx(VALUE, rel=1e-5)


def test_one_member_in_other_units(backend: PdhgBackend, transport: LinearProgram) -> None:
    """Eight copies, one with rows and right-hand sides times 1e6 and one with costs times 1e-6: each has its own value."""
    lps = [replace(transport, name=f"copy {k}") for k in range(8)]
    tall = replace(
        lps[2], A=sp.csr_array(1e6 * transport.A), row_lower=1e6 * transport.row_lower, row_upper=1e6 * transport.row_upper
    )
    lps[5] = replace(lps[5], c=1e-6 * transport.c)
    batches = [LPBatch.of([*lps[:2], *lps[3:]]), LPBatch.of([tall])]
    claims = {(k, member): claim for k, member, claim in backend.solve_many(batches, SolveSettings())}
    values = [[v.objective for v in judge(b, [claims[k, i] for i in range(len(b))])] for k, b in enumerate(batches)]
    assert values[1] == [pytest.approx(VALUE, rel=1e-5)]
    # 1 + |p| + |D| is 1 for so small a value: what the tolerance promises is absolute
    assert values[0].pop(4) == pytest.approx(1e-6 * VALUE, abs=1e-6)
    assert values[0] == [pytest.approx(VALUE, rel=1e-5)] * 6


def test_right_hand_sides_in_other_units(backend: PdhgBackend, transport: LinearProgram) -> None:
    """A member with right-hand sides times 1e6 stands beside its mates in one tile and has a million times their value."""
    tall = replace(transport, name="tall", row_lower=1e6 * transport.row_lower, row_upper=1e6 * transport.row_upper)
    batch = LPBatch.of([transport, tall, replace(transport, name="mate")])
    claims = solve_all(backend, batch)
    values = [v.objective for v in judge(batch, claims)]
    assert values == [pytest.approx(VALUE * scale, rel=1e-5) for scale in (1, 1e6, 1)]
    assert max(c.iterations for c in claims) <= 20 * max(50, min(c.iterations for c in claims))


def test_twenty_easy_members_and_a_hard_one() -> None:
    """min sum x, A x = A 1, 0 <= x <= 10, 2 s each: 200 for A near I; at condition 1e5 200 too, or an honest limit."""
    rng = np.random.default_rng(7)
    size, settings = 200, SolveSettings(time_limit=2.0)
    near = [np.eye(size) + 0.01 * rng.normal(size=(size, size)) for _ in range(20)]
    left, right = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    hard = left @ np.diag(np.geomspace(1.0, 1e-5, size)) @ right
    box = (np.zeros(size), np.full(size, 10.0))
    sides = [A @ np.ones(size) for A in (*near, hard)]
    squares = [lp_of("square", np.ones(size), A, (b, b), box) for A, b in zip((*near, hard), sides, strict=True)]
    batches = [LPBatch.of([lp]) for lp in squares]
    claims = {k: claim for k, _, claim in PdhgBackend(1).solve_many(batches, settings)}
    verdicts = [verify(batch, [claims[k]], settings.tol)[0] for k, batch in enumerate(batches)]
    for verdict in verdicts[:20]:
        assert verdict.verified, verdict.reason
        assert verdict.objective == pytest.approx(size, rel=1e-4)
    assert claims[20].status in (Status.OPTIMAL, Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.NUMERICAL_ERROR)
    assert verdicts[20].verified == (claims[20].status is Status.OPTIMAL)
    assert verdicts[20].verified or "limit" in claims[20].message or "stalled" in claims[20].message
    # whatever the iterate is, its duals bound the value from below
    assert verdicts[20].dual_bound <= size * (1 + 1e-9)
