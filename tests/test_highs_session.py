"""One live HiGHS model: any order of members and modes gives the answers of a fresh model; limits and refusals are statuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.backends.highs import rays
from batchlp_cli.backends.highs.engine import Engine
from batchlp_cli.backends.highs.session import Mode, Session, changed, feasibility_tolerance
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import INF, hard_lp, judge, lp_of, mixed_batch, optimal_by_construction, scenario_batch

FIELDS = ("c", "row_lower", "row_upper", "col_lower", "col_upper")
SOLVE, CAREFUL = SolveSettings(), SolveSettings(careful=True)


MODES = [mode for mode in Mode if mode is not Mode.CROSSOVER]
"""Ways to solve a member that need no other solution of it."""


def solve_member(session: Session, batch: LPBatch, member: int, mode: Mode) -> Solution:
    """Returns the session's claim for a member."""
    changes = batch.take([member]).changes
    return session.solve(changes, mode, CAREFUL if mode is Mode.CAREFUL else SOLVE)


def random_batch(seed: int, members: int = 4) -> LPBatch:
    """Returns small random members of one matrix: optimal, infeasible, unbounded and crossing ones, 0 to 5 rows and columns."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(0, 6, 2)
    A = np.where(rng.random((m, n)) < 0.5, rng.integers(-3, 4, (m, n)), 0)

    def bounds(size: int) -> tuple[np.ndarray, np.ndarray]:
        lower = rng.integers(-3, 3, size).astype(np.float64)
        upper = lower + rng.integers(0, 4, size) - (rng.random(size) < 0.02)
        lower[rng.random(size) < 0.4], upper[rng.random(size) < 0.4] = -INF, INF
        return lower, upper

    base = lp_of("base", rng.integers(-3, 4, n), A, bounds(m), bounds(n))
    lps = [base]
    for k in range(members - 1):
        other = lp_of(f"member{k}", rng.integers(-3, 4, n), A, bounds(m), bounds(n))
        for field in FIELDS:
            array = getattr(other, field)
            array[:] = np.where(rng.random(array.size) < 0.6, getattr(base, field), array)
        lps.append(other)
    return LPBatch.of(lps)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), order=st.permutations([(i, mode) for i in range(4) for mode in MODES]))
def test_any_order_and_mode_gives_the_same_proved_answers(seed: int, order: list[tuple[int, Mode]]) -> None:
    """Whatever was solved before and in whatever mode, a member's status and value are the same, and proved."""
    batch = random_batch(seed)
    session = Session(batch.base)
    seen: dict[int, tuple[Status, float | None]] = {}
    for member, mode in order:
        claim = solve_member(session, batch, member, mode)
        (verdict,) = judge(batch.take([member]), [claim])
        status, value = seen.setdefault(member, (claim.status, verdict.objective))
        assert claim.status is status
        assert verdict.objective == (None if value is None else pytest.approx(value, rel=1e-6, abs=1e-6))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), mode=st.sampled_from([Mode.COLD, Mode.WARM]), first=st.integers(0, 5))
def test_members_run_through_have_the_optima_that_each_has_alone(seed: int, mode: Mode, first: int) -> None:
    """Who has an optimum, and its value, are those of a session of its own, and all are proved; the model is then known."""
    batch = random_batch(seed, 8)
    session = Session(batch.base)
    solve_member(session, batch, first, Mode.COLD)
    if not session.goes_through(mode, SOLVE):
        return
    alone = [Session(batch.base).solve(batch.changes.of_member(k), Mode.COLD, SOLVE) for k in range(8)]
    for members in (range(8), range(3, 7)):
        found = session.solve_many(batch.changes.take(members), len(members), mode, SOLVE)
        assert found.found.tolist() == [alone[k].status is Status.OPTIMAL for k in members]
        mine = [members[i] for i in np.flatnonzero(found.found)]
        claims = [Solution(Status.OPTIMAL, x, y, None) for x, y in zip(found.x[found.found], found.y[found.found], strict=True)]
        verdicts, expected = judge(batch.take(mine), claims), judge(batch.take(mine), [alone[k] for k in mine])
        for one, other in zip(verdicts, expected, strict=True):
            assert one.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)
        assert solve_member(session, batch, first, mode).status is alone[first].status


def test_limits_and_sessions_without_basis_go_one_by_one() -> None:
    """Members run through only where nothing but an optimum can be asked for, and warm ones only from a basis."""
    session = Session(optimal_by_construction(0, name="base")[0])
    assert session.goes_through(Mode.COLD, SOLVE)
    assert not session.goes_through(Mode.WARM, SOLVE)
    assert session.solve(Changes(), Mode.COLD, SOLVE).status is Status.OPTIMAL
    assert session.goes_through(Mode.WARM, SOLVE)
    for limited in (replace(SOLVE, iteration_limit=5), replace(SOLVE, cutoff=1.0), replace(SOLVE, time_limit=1.0)):
        assert not session.goes_through(Mode.COLD, limited)
    for other in (Mode.CAREFUL, Mode.IPM, Mode.CROSSOVER):
        assert not session.goes_through(other, SOLVE)


@given(seed=st.integers(0, 2**32 - 1))
def test_changed_is_the_member(seed: int) -> None:
    """The unchecked way to a member's numbers gives what LPBatch.member gives."""
    batch = random_batch(seed)
    for i in range(len(batch)):
        fast, slow = changed(batch.base, batch.take([i]).changes), batch.member(i)
        for name in FIELDS:
            assert np.array_equal(getattr(fast, name), getattr(slow, name)), name


def test_base_that_highs_refuses_is_mended_by_a_member() -> None:
    """A base with crossing or impossible bounds does not spoil the members that mend them."""
    batch, expected = mixed_batch()
    for first in (3, 5):
        rotated = LPBatch.of([batch.member(i) for i in [*range(first, len(batch)), *range(first)]])
        session = Session(rotated.base)
        claims = [solve_member(session, rotated, i, Mode.WARM) for i in range(len(rotated))]
        assert [c.status for c in claims] == expected[first:] + expected[:first]
        judge(rotated, claims)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"c": [1e20, 1.0]}, "cost 1e+20"),
        ({"row_lower": [1e21, -2.0], "row_upper": [INF, INF]}, "bounds"),
        ({"col_upper": [-1e20, INF], "col_lower": [-INF, 0.0]}, "bounds"),
    ],
)
def test_refused_numbers_are_a_numerical_error(part: dict[str, list[float]], words: str) -> None:
    """Numbers that HiGHS takes as infinite or refuses are a numerical error that names them; the next member is solved."""
    base = mixed_batch()[0].base
    arrays: dict[str, Any] = {name: np.array(numbers) for name, numbers in part.items()}
    batch = LPBatch.of([base, replace(base, name="huge", **arrays), base])
    session = Session(batch.base)
    claims = [solve_member(session, batch, i, Mode.WARM) for i in range(3)]
    assert [c.status for c in claims] == [Status.OPTIMAL, Status.NUMERICAL_ERROR, Status.OPTIMAL]
    assert words in claims[1].message


def test_huge_coefficient_is_a_numerical_error() -> None:
    """A coefficient that HiGHS refuses is named with its row and column."""
    lp = lp_of("huge", [1, 1], [[1, 1], [1, 1e15]], ([1, 1], [INF, INF]), ([0, 0], [INF, INF]))
    claim = Session(lp).solve(Changes(), Mode.COLD, SOLVE)
    assert claim.status is Status.NUMERICAL_ERROR
    assert "row R2, column C2: coefficient 1000000000000000.0" in claim.message


def test_tiny_coefficients_are_kept() -> None:
    """A coefficient of 5e-10, which HiGHS drops by default, decides the optimum; one of 1e-13 is left out with a note."""
    lp = lp_of("tiny", [1, 1], [[5e-10, 0], [0, 1]], ([1, 1], [INF, INF]), ([0, 0], [INF, INF]))
    claim = Session(lp).solve(Changes(), Mode.COLD, SOLVE)
    assert claim.x == pytest.approx([2e9, 1], rel=1e-6)
    lp = lp_of("tinier", [1, 1], [[1e-13, 1], [0, 1]], ([1, 1], [INF, INF]), ([0, 0], [INF, INF]))
    assert "leaves out 1 coefficients" in Session(lp).solve(Changes(), Mode.COLD, SOLVE).message


def test_time_limit_is_the_members_own() -> None:
    """HiGHS' clock counts all runs of a model: thirty members of a tenth of the limit each are solved all the same."""
    lp = hard_lp(size=80)
    session = Session(lp)
    alone = max(session.solve(Changes(), Mode.COLD, SOLVE).seconds for _ in range(3))
    limited = SolveSettings(time_limit=10 * alone)
    started = [session.solve(Changes(), Mode.COLD, limited) for _ in range(30)]
    assert sum(claim.seconds for claim in started) > 10 * alone
    assert {claim.status for claim in started} == {Status.OPTIMAL}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not Mode.IPM])
def test_limits_bring_the_last_iterate(mode: Mode) -> None:
    """At an iteration limit there is an iterate of the right size, and the session then solves the member."""
    lp = hard_lp(size=60)
    session = Session(lp)
    claim = session.solve(Changes(), mode, SolveSettings(iteration_limit=3))
    assert claim.status is Status.ITERATION_LIMIT
    assert claim.x is not None
    assert claim.x.shape == (lp.n,)
    assert session.solve(Changes(), mode, SOLVE).status is Status.OPTIMAL


def test_other_thread_counts_in_the_process_do_no_harm() -> None:
    """A process in which HiGHS ran with another number of threads before still solves."""
    highspy = pytest.importorskip("highspy")
    highspy.Highs.resetGlobalScheduler(True)
    other = Engine()
    other._highs.setOptionValue("threads", 2)
    other.tell(hard_lp(size=20))
    other._highs.run()
    lp, value = optimal_by_construction(3)
    (verdict,) = judge(LPBatch.of([lp]), [Session(lp).solve(Changes(), Mode.COLD, SOLVE)])
    assert verdict.objective == pytest.approx(value, rel=1e-6)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither HiGHS nor its banner reaches stdout or stderr."""
    batch, _ = mixed_batch()
    session = Session(batch.base)
    for member in range(6):
        solve_member(session, batch, member, Mode.COLD)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("member", [1, 2])
def test_rays_are_constructed_where_the_solver_brings_none(member: int) -> None:
    """The elastic LP and the box LP find rays that the referee proves, and none where there is none."""
    batch, expected = mixed_batch()
    lp = batch.member(member)
    if expected[member] is Status.INFEASIBLE:
        claim = Solution(Status.INFEASIBLE, ray=rays.construct_farkas(lp, INF))
    else:
        claim = Solution(Status.UNBOUNDED, x=rays.feasible_point(lp, INF).x, ray=rays.construct_direction(lp, INF))
    judge(batch.take([member]), [claim])
    assert rays.construct_farkas(batch.member(0), INF) is None
    assert rays.construct_direction(batch.member(0), INF) is None


def test_unusable_rays_are_recognised() -> None:
    """A ray of the wrong sign is turned; zeros, NaN and a ray that proves nothing are refused."""
    lp: LinearProgram = mixed_batch()[0].member(1)
    proof = rays.construct_farkas(lp, INF)
    assert proof is not None
    assert rays.proven_farkas(lp, -3.0 * proof) == pytest.approx(proof)
    for bad in (None, np.zeros(2), np.array([np.nan, 1.0]), np.array([0.0, 1.0])):
        assert rays.proven_farkas(lp, bad) is None
    unbounded = mixed_batch()[0].member(2)
    for bad in (None, np.zeros(2), np.array([np.nan, 1.0]), np.array([-1.0, 0.0]), np.array([0.0, 1.0])):
        assert rays.proven_direction(unbounded, bad) is None


@pytest.mark.parametrize("seed", range(3))
def test_warm_needs_fewer_iterations_than_cold(seed: int) -> None:
    """The basis is kept: the same member again takes no iteration, related ones fewer than from scratch."""
    batch = scenario_batch(seed, 8)
    session = Session(batch.base)
    solve_member(session, batch, 0, Mode.COLD)
    again = solve_member(session, batch, 0, Mode.WARM)
    assert (again.method, again.iterations) == (Mode.WARM, 0)
    warm = sum(solve_member(session, batch, i, Mode.WARM).iterations for i in range(8))
    cold = sum(solve_member(session, batch, i, Mode.CAREFUL).iterations for i in range(8))
    assert warm < cold


def test_feasibility_tolerance_stays_in_highs_range() -> None:
    """HiGHS' tolerance is tighter than the referee's, tighter still when careful, and never below what HiGHS takes."""
    for tol in (1e-1, 1e-6, 1e-8, 1e-10):
        plain, careful = feasibility_tolerance(tol, Mode.COLD), feasibility_tolerance(tol, Mode.CAREFUL)
        assert 1e-10 <= careful <= plain <= max(min(tol / 10, 1e-7), 1e-10)
