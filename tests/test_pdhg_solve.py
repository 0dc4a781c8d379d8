"""The PDHG backend as a whole: answers, limits, certificates, and that nobody's answer depends on who came along."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batchlp_cli.backends.pdhg import solve as solve_module
from batchlp_cli.backends.pdhg.loading import find_device, lane_row_bytes, parameters_of
from batchlp_cli.backends.pdhg.parameters import Arithmetic, KernelName, PdhgParameters
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import BackendMissing, UsageError
from batchlp_cli.families import facility_location, transport, transport_scenarios
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.settings import Device, Precision, SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import hard_lp, judge, mixed_batch, optimal_by_construction, scenario_batch, solve_all
from tests.known import KNOWN

INF = np.inf
WAYS = {
    "numba": PdhgParameters(),
    "torch": PdhgParameters(kernel=KernelName.TORCH),
    "mixed": PdhgParameters(precision=Arithmetic.MIXED),
    "torch-mixed": PdhgParameters(kernel=KernelName.TORCH, precision=Arithmetic.MIXED),
}


@pytest.fixture(params=list(WAYS))
def backend(request: pytest.FixtureRequest) -> Iterator[PdhgBackend]:
    """A backend for each kernel and precision."""
    made = PdhgBackend(2, WAYS[request.param])
    yield made
    made.close()


@pytest.fixture
def numba_backend() -> Iterator[PdhgBackend]:
    """A backend as it is without parameters."""
    made = PdhgBackend(2)
    yield made
    made.close()


def same_bytes(one: Solution, other: Solution) -> bool:
    """Tells whether two claims have the same status, iterations and vectors, bit for bit."""
    vectors = ((getattr(one, name), getattr(other, name)) for name in ("x", "y", "r", "ray"))
    same = all((a is None) == (b is None) and (a is None or a.tobytes() == b.tobytes()) for a, b in vectors)
    return same and (one.status, one.iterations) == (other.status, other.iterations)


def test_known_answers_in_one_way_each(backend: PdhgBackend) -> None:
    """Every known LP is decided and proved, with its known value."""
    for known in KNOWN:
        batch = LPBatch.of([known.lp])
        claims = solve_all(backend, batch)
        assert claims[0].status is known.status, (known.lp.name, claims[0].message)
        (verdict,) = judge(batch, claims)
        if known.value is not None:
            assert verdict.objective == pytest.approx(known.value, rel=1e-5, abs=1e-5), known.lp.name


def test_mixed_statuses_leave_their_lanes(backend: PdhgBackend) -> None:
    """Optimal, infeasible, unbounded and crossing members of one tile are told apart and proved, long before any limit."""
    batch, expected = mixed_batch()
    claims = solve_all(backend, batch)
    assert [c.status for c in claims] == expected
    judge(batch, claims)
    assert max(c.iterations for c in claims) < 2000


def test_bits_do_not_depend_on_the_batch(numba_backend: PdhgBackend) -> None:
    """Alone, shuffled, cut in two, or through fewer lanes than members: each member's claim has the same bytes."""
    batch = scenario_batch(3, 41)
    expected = solve_all(numba_backend, batch)
    order = np.random.default_rng(1).permutation(len(batch))
    for part in (order, order[:9], order[9:], order[:2]):
        for member, claim in zip(part, solve_all(numba_backend, batch.take(part)), strict=True):
            assert same_bytes(expected[member], claim)
    for member in (0, 17):
        assert same_bytes(expected[member], solve_all(numba_backend, batch.take([member]))[0])
    refilled = PdhgBackend(1, PdhgParameters(lanes=8))
    assert all(same_bytes(a, b) for a, b in zip(expected, solve_all(refilled, batch), strict=True))


def test_torch_batch_agrees_with_single_members() -> None:
    """On torch a batch has the values of its members alone, within tolerance."""
    made = PdhgBackend(1, WAYS["torch"])
    batch = scenario_batch(9, 6)
    together = judge(batch, solve_all(made, batch))
    alone = [judge(batch.take([i]), solve_all(made, batch.take([i])))[0] for i in range(len(batch))]
    assert [v.objective for v in together] == [pytest.approx(v.objective, rel=3e-6, abs=3e-6) for v in alone]


def test_warm_start_from_the_optimum_is_optimal_at_once(numba_backend: PdhgBackend) -> None:
    """A member that starts at its own optimum needs no step; wrong lengths and NaN are refused."""
    batch = scenario_batch(8, 1)
    (cold,) = solve_all(numba_backend, batch, SolveSettings(tol=1e-8))
    ((_, warm),) = numba_backend.solve(batch, SolveSettings(), cold)
    assert cold.iterations > 0
    assert warm.iterations == 0
    judge(batch, [warm])
    assert cold.x is not None
    for wrong in (replace(cold, x=cold.x[:-1]), replace(cold, y=np.full(batch.base.m, np.nan))):
        with pytest.raises(UsageError, match="warm start"):
            list(numba_backend.solve(batch, SolveSettings(), wrong))


def test_high_accuracy(numba_backend: PdhgBackend) -> None:
    """tol 1e-8 is met where the LP allows it."""
    batch = LPBatch.of([optimal_by_construction(seed)[0] for seed in (4,)])
    claims = solve_all(numba_backend, batch, SolveSettings(tol=1e-8))
    assert all(v.verified for v in verify(batch, claims, 1e-8))


@pytest.mark.parametrize(("given", "status"), [({"iteration_limit": 1}, "iteration_limit"), ({"time_limit": 1e-5}, "time_limit")])
def test_limits_keep_the_last_iterate(backend: PdhgBackend, given: dict[str, Any], status: str) -> None:
    """A member at a limit says so, in words with its residuals, keeps to it, and returns finite x, y, r = c - A'y."""
    batch = LPBatch.of([hard_lp(size=40)] * 2)
    for claim in solve_all(backend, batch, SolveSettings(**given)):
        assert claim.status == status
        assert claim.iterations <= given.get("iteration_limit", 100)
        assert "residual" in claim.message
        assert claim.x is not None
        assert claim.y is not None
        assert np.isfinite(claim.x).all()
        np.testing.assert_array_equal(claim.r, batch.base.c - batch.base.A.T @ claim.y)


@pytest.mark.parametrize("way", list(WAYS))
def test_the_best_dual_bound_is_kept_at_a_limit(way: str) -> None:
    """A limit that is later never means a worse bound, though prices from a bad start swing; the row says where y is older."""
    backend = PdhgBackend(1, replace(WAYS[way], check_every=1))
    older = 0
    for seed in (1, 2, 3):
        batch = LPBatch.of([optimal_by_construction(seed)[0]])
        start = Solution(Status.OPTIMAL, x=np.full(batch.base.n, 1e3), y=np.zeros(batch.base.m))
        prices = []
        for limit in (1, 3, 7, 15, 31):  # the last checks at which bounds are looked at
            settings = SolveSettings(tol=1e-9, iteration_limit=limit, fallback=False)
            ((_, claim),) = backend.solve(batch, settings, start)
            assert claim.status is Status.ITERATION_LIMIT
            assert claim.y is not None
            np.testing.assert_array_equal(claim.r, batch.base.c - batch.base.A.T @ claim.y)
            older += claim.message.endswith("y is an earlier one, with a better bound")
            prices.append(claim.y)
        bounds = dual_bound(LPBatch.of([batch.base] * 5), np.stack(prices))
        assert (np.diff(bounds) >= 0).all(), bounds
    assert older
    backend.close()


def test_stall_is_a_numerical_error_in_words(numba_backend: PdhgBackend) -> None:
    """A member without progress is given up with its best iterate and the reason."""
    parameters = PdhgParameters()
    eager = replace(parameters, termination=replace(parameters.termination, stall_steps=50))
    lp = hard_lp(size=60)
    (claim,) = solve_all(PdhgBackend(1, eager), LPBatch.of([lp]), SolveSettings(tol=1e-10))
    assert claim.status in (Status.NUMERICAL_ERROR, Status.OPTIMAL)
    if claim.status is Status.NUMERICAL_ERROR:
        assert claim.message.startswith("stalled")
        assert claim.x is not None


def test_overflow_in_one_member_leaves_the_others_alone(numba_backend: PdhgBackend) -> None:
    """A member whose numbers overflow is a numerical error or a limit, and its mates' bytes are those without it."""
    batch = scenario_batch(5, 6)
    lps = [batch.member(i) for i in range(6)]
    lps[2] = replace(lps[2], c=lps[2].c * 1e307, row_lower=lps[2].row_lower * 1e307)
    poisoned = solve_all(numba_backend, LPBatch.of(lps), SolveSettings(iteration_limit=20_000))
    clean = solve_all(numba_backend, batch)
    assert all(same_bytes(poisoned[k], clean[k]) for k in range(6) if k != 2)


def test_close_from_another_thread_stops_soon() -> None:
    """close() ends a solve that would take long."""
    made = PdhgBackend(1)
    batch = LPBatch.of([hard_lp(size=300)])
    timer = threading.Timer(0.3, made.close)
    timer.start()
    begin = time.perf_counter()
    claims = list(made.solve(batch, SolveSettings(tol=1e-10, iteration_limit=100_000_000)))
    assert time.perf_counter() - begin < 5
    assert claims == []
    made.close()


def test_caller_may_stop_early(numba_backend: PdhgBackend) -> None:
    """A caller that wants no more answers leaves no thread behind."""
    before = threading.active_count()
    answers = numba_backend.solve(scenario_batch(2, 30), SolveSettings())
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_more_nonzeros_than_32_bits_are_refused_in_words(numba_backend: PdhgBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix with too many nonzeros gives every member a reason, not an exception."""
    monkeypatch.setattr(solve_module, "MOST_NNZ", 3)
    batch = scenario_batch(2, 3)
    for claim in solve_all(numba_backend, batch):
        assert claim.status is Status.NUMERICAL_ERROR
        assert "nonzeros" in claim.message


def test_less_memory_means_fewer_lanes(numba_backend: PdhgBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a tile doesn't fit, one of half the lanes is tried, with the same bytes in the end."""
    from batchlp_cli.backends.pdhg import lanes
    from batchlp_cli.backends.pdhg.kernels import base

    batch = transport_scenarios(transport(3, 4, 1), 40, 2)
    expected = solve_all(numba_backend, batch)
    made = base.make_tile
    widths = []

    def small(kernel: Any, matrix: Any, entries: Any, width: int, dtype: Any) -> Any:
        widths.append(width)
        if width > 8:
            raise MemoryError
        return made(kernel, matrix, entries, width, dtype)

    monkeypatch.setattr(lanes, "make_tile", small)
    claims = solve_all(numba_backend, batch)
    assert max(widths) > 8
    assert all(same_bytes(a, b) for a, b in zip(expected, claims, strict=True))


def test_choice_and_labels(backend: PdhgBackend) -> None:
    """The choice tells lanes, kernel and precision; claims name backend and method."""
    batch = scenario_batch(6, 5)
    for _, _, claim in backend.solve_many([batch], SolveSettings()):
        assert claim.backend == "pdhg"
        assert claim.method
    (words,) = backend.choices()
    assert "lanes" in words
    assert "float64" in words or "mixed" in words


def test_missing_kernel_is_a_missing_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the kernel's library the backend says so with exit code 4."""
    monkeypatch.setitem(__import__("sys").modules, "batchlp_cli.backends.pdhg.kernels.numba_kernel", None)
    with pytest.raises(BackendMissing, match="numba"):
        list(PdhgBackend(1).solve(scenario_batch(2, 2), SolveSettings()))


@pytest.mark.parametrize(
    ("precision", "tol", "mixed"),
    [("auto", 1e-4, True), ("auto", 1e-5, True), ("auto", 1e-6, False), ("mixed", 1e-6, True), ("float64", 1e-4, False)],
)
def test_precision_follows_the_tolerance_unless_it_is_given(precision: str, tol: float, mixed: bool) -> None:
    """auto is mixed at loose tolerances only; what is asked for by name is taken."""
    parameters = parameters_of(SolveSettings(precision=Precision(precision), tol=tol, device=Device.CPU))
    assert (parameters.precision is Arithmetic.MIXED) is mixed


def test_large_tiles_on_the_cpu_are_narrower() -> None:
    """Rows of a tile are half as long where x, x0, y and y0 take more than 16 MB, but on no other device."""
    assert lane_row_bytes("cpu", 10_200, 10_050) == 256
    assert lane_row_bytes("cpu", 40_200, 40_200) == 128
    assert lane_row_bytes("cuda", 40_200, 40_200) == 256


def test_a_lane_alone_is_in_float64_unless_mixed_was_asked_for() -> None:
    """At a coarse tolerance auto takes mixed precision for lanes side by side only; who asks for mixed gets it."""
    batch = LPBatch.of([facility_location(4, 5, 0)] * 3)
    methods = {}
    for precision in (Precision.AUTO, Precision.MIXED):
        settings = SolveSettings(jobs=1, precision=precision, tol=1e-4)
        for members in ([0], [0, 1, 2]):
            claims = PdhgBackend.of(settings).solve(batch.take(members), settings)
            methods[precision, len(members)] = {claim.method for _, claim in claims}
    assert methods[Precision.AUTO, 1] == {"numba float64"}
    assert methods[Precision.AUTO, 3] == {"numba mixed"}
    assert methods[Precision.MIXED, 1] == {"numba mixed"}


def test_missing_device_is_named_with_what_would_run() -> None:
    """A device that is not there is a missing backend, and the message says what would run instead."""
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(BackendMissing, match="--device cpu would run"):
        PdhgBackend.of(SolveSettings(device=Device.CUDA))
    with pytest.raises(BackendMissing, match="float64"):
        PdhgBackend.of(SolveSettings(device=Device.MPS))
    assert find_device(Device.AUTO) == find_device(Device.CPU) == "cpu"


def test_members_leave_their_lanes_once_their_bound_passes_the_cutoff(backend: PdhgBackend) -> None:
    """Members above the cutoff end early with y that proves it; the others are solved as without one."""
    batch = transport_scenarios(transport(6, 8, seed=5), 24, seed=5)
    batch = LPBatch(replace(batch.base, offset=-300.0), batch.changes, batch.names)
    free = solve_all(backend, batch)
    values = [verdict.objective or 0.0 for verdict in judge(batch, free)]
    cutoff = float(np.mean(np.sort(values)[11:13]))
    cut = solve_all(backend, batch, SolveSettings(cutoff=cutoff))
    for i, (whole, claim) in enumerate(zip(free, cut, strict=True)):
        if values[i] < cutoff:
            assert (claim.status, claim.iterations) == (Status.OPTIMAL, whole.iterations)
        else:
            assert claim.status is Status.CUTOFF
            assert claim.y is not None
            assert claim.iterations < whole.iterations
            assert dual_bound(batch.take([i]), claim.y[None, :])[0] >= cutoff


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("alone_after", [2_000, 10_000, 35_000, 100_000])
def test_an_lp_that_is_infeasible_by_a_hair_is_never_optimal(data_dir: Path, tol: float, alone_after: int) -> None:
    """cplex2 has points within any tolerance in use, and no feasible one; its prices give it away, whichever way lanes go."""
    lp = parse_mps((data_dir / "netlib_infeas" / "cplex2.mps").read_bytes(), "cplex2").lp
    alone = PdhgBackend(1, PdhgParameters(alone_after=(alone_after,)))
    (claim,) = solve_all(alone, LPBatch.of([lp]), SolveSettings(tol=tol, fallback=False))
    assert claim.status is not Status.OPTIMAL
