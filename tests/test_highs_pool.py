"""The HiGHS backend as a pool: workers that die, hang or raise cost their own member only; modes are measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.backends.highs.trial import ModeTrial
from batchlp_cli.batch import LPBatch
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status
from tests.conformance import INF, hard_lp, judge, lp_of, optimal_by_construction, scenario_batch, solve_all
from tests.highs_faults import DIES, DIES_ONCE, HANGS, RAISES


@pytest.fixture
def faulty() -> Iterator[HighsBackend]:
    """A backend of two workers that misbehave at members with certain offsets."""
    backend = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    yield backend
    backend.close()


def batch_with(fault: float, name: str = "base", at: int = 5) -> LPBatch:
    """Returns a batch of twelve in which one member carries a fault; the name is that of its base."""
    batch = scenario_batch(11, 12)
    lps = [replace(batch.member(i), offset=fault) if i == at else batch.member(i) for i in range(12)]
    return LPBatch.of([replace(lps[0], name=name), *lps[1:]])


def others_are_proved(batch: LPBatch, claims: list[Solution], at: int = 5) -> None:
    """Fails where a member other than the faulty one is not proved."""
    rest = [i for i in range(len(batch)) if i != at]
    judge(batch.take(rest), [claims[i] for i in rest])


def test_member_that_kills_its_worker_is_crashed(faulty: HighsBackend) -> None:
    """A member whose worker dies on both tries is crashed, with the signal in its message; all others are solved."""
    batch = batch_with(DIES)
    claims = solve_all(faulty, batch)
    assert claims[5].status is Status.CRASHED
    assert "SIGKILL" in claims[5].message
    others_are_proved(batch, claims)


def test_first_crash_is_forgiven(faulty: HighsBackend, tmp_path: Path) -> None:
    """A member whose worker dies once is solved at the second try."""
    batch = batch_with(DIES_ONCE, str(tmp_path / "died"))
    judge(batch, solve_all(faulty, batch))
    assert (tmp_path / "died").exists()


def test_worker_that_hangs_is_ended_from_outside(faulty: HighsBackend) -> None:
    """A worker that does not stop at the limit is killed after a grace of 2 s; its member is time_limit, others are solved."""
    batch = batch_with(HANGS)
    started = time.monotonic()
    claims = solve_all(faulty, batch, SolveSettings(time_limit=0.5))
    assert time.monotonic() - started < 30
    assert claims[5].status is Status.TIME_LIMIT
    assert "killed from outside" in claims[5].message
    assert claims[5].seconds >= 2.5
    others_are_proved(batch, claims)


def test_exception_in_a_worker_is_a_numerical_error(faulty: HighsBackend) -> None:
    """A member at which the worker raises is a numerical error with the text; the worker goes on with the others."""
    batch = batch_with(RAISES)
    claims = solve_all(faulty, batch)
    assert claims[5].status is Status.NUMERICAL_ERROR
    assert "no solver feels like it" in claims[5].message
    others_are_proved(batch, claims)


def test_every_member_faulty(faulty: HighsBackend) -> None:
    """Where every member kills its worker, every member is crashed, and the backend lives on."""
    lp, _ = optimal_by_construction(1)
    batch = LPBatch.of([lp] + [replace(lp, offset=DIES)] * 4)
    assert [c.status for c in solve_all(faulty, batch)] == [Status.OPTIMAL] + [Status.CRASHED] * 4
    judge(batch.take([0]), solve_all(faulty, batch.take([0])))


def test_close_from_another_thread_ends_the_work(faulty: HighsBackend) -> None:
    """close() in another thread ends a solve that would otherwise hang, within seconds."""
    timer = threading.Timer(1.0, faulty.close)
    timer.start()
    started = time.monotonic()
    claims = dict(faulty.solve(batch_with(HANGS), SolveSettings()))
    timer.join()
    assert 5 not in claims
    assert time.monotonic() - started < 10


def test_abandoned_batch_leaves_nothing_to_the_next() -> None:
    """A caller that stops listening after the first member gets only its own members from the next batch."""
    backend = HighsBackend(2)
    first, second = scenario_batch(12, 20), scenario_batch(13, 9)
    claims = backend.solve(first, SolveSettings())
    next(claims)
    claims.close()  # type: ignore[attr-defined]
    judge(second, solve_all(backend, second))
    backend.close()


def test_basis_comes_back_where_it_is_wanted() -> None:
    """A batch of one brings its basis, a larger one only when asked; a first member started from it needs no iterations."""
    batch = LPBatch.of([hard_lp(size=40)] * 3)
    backend = HighsBackend(1)
    (alone,) = solve_all(backend, batch.take([0]))
    assert alone.basis is not None
    assert int((alone.basis.cols == 1).sum() + (alone.basis.rows == 1).sum()) == batch.base.m
    assert all(c.basis is None for c in solve_all(backend, batch))
    warm = dict(backend.solve(batch.take([1]), SolveSettings(), alone))[0]
    assert (warm.method, warm.iterations) == (Mode.WARM, 0)
    backend.close()
    wanting = HighsBackend(1, want_basis=True)
    assert all(c.basis is not None for c in solve_all(wanting, batch))
    wanting.close()


def test_choice_names_the_faster_mode_with_figures() -> None:
    """Equal members cost nothing from the last basis: warm is chosen, and the figures of both modes are told."""
    batch = LPBatch.of([hard_lp(size=60)] * 14)
    backend = HighsBackend(2)
    claims = solve_all(backend, batch)
    assert backend.choices()[0].startswith("warm: ")
    assert "against" in backend.choices()[0]
    assert sum(c.method == Mode.WARM for c in claims) >= 8
    solve_all(backend, batch.take([0]))
    assert backend.choices() == [""]
    backend.close()


def trial_after(seconds: dict[Mode, float], members: int) -> tuple[ModeTrial, list[Mode]]:
    """Returns a trial of one worker, each mode always taking the same time, and the modes of its members."""
    trial, modes = ModeTrial(), []
    for i in range(members):
        mode = trial.assign(without_basis=i == 0)
        trial.record(mode, mode, seconds[mode])
        modes.append(mode)
    return trial, modes


@pytest.mark.parametrize(("warm", "cold", "chosen"), [(1.0, 2.0, Mode.WARM), (2.0, 1.0, Mode.COLD), (1.0, 1.2, Mode.WARM)])
def test_trial_keeps_the_faster_mode(warm: float, cold: float, chosen: Mode) -> None:
    """After at most four members in each mode the faster one is kept for all others."""
    trial, modes = trial_after({Mode.WARM: warm, Mode.COLD: cold}, 30)
    assert trial.decided is chosen
    assert modes[0] is Mode.COLD
    assert set(modes[8:]) == {chosen}
    assert trial.words().startswith("warm:" if chosen is Mode.WARM else "cold:")


def test_trial_does_not_waste_a_second_slow_member() -> None:
    """Where one mode is far slower, it is tried once only."""
    _, modes = trial_after({Mode.WARM: 0.01, Mode.COLD: 5.0}, 20)
    assert modes.count(Mode.COLD) == 1


def test_trial_without_enough_members_decides_nothing() -> None:
    """Two members are too few to compare modes, and the words say so."""
    trial, _ = trial_after({Mode.WARM: 1.0, Mode.COLD: 1.0}, 2)
    assert trial.decided is None
    assert trial.words().startswith("undecided")


def test_crossover_goes_from_an_inner_optimum_to_a_vertex() -> None:
    """From optima that are no basic solutions crossover comes to proved ones with a basis, the value unchanged."""
    lp = lp_of("face", [1.0, 1.0, 2.0], [[1.0, 1.0, 1.0]], ([2.0], [INF]), ([0.0] * 3, [5.0] * 3))  # every x1 + x2 = 2 is optimal
    batch = LPBatch.of([replace(lp, offset=float(k)) for k in range(6)])
    inner = Solution(Status.OPTIMAL, x=np.array([1.0, 1.0, 0.0]), y=np.array([1.0]), r=np.array([0.0, 0.0, 1.0]))
    backend = HighsBackend(2)
    claims = dict(backend.cross_over(batch, [inner] * 6, SolveSettings()))
    backend.close()
    verdicts = judge(batch, [claims[k] for k in range(6)])
    assert [v.objective for v in verdicts] == pytest.approx([2.0 + k for k in range(6)])
    assert {c.method for c in claims.values()} == {Mode.CROSSOVER}
    for claim in claims.values():
        assert claim.basis is not None
        assert int((claim.basis.cols == 1).sum() + (claim.basis.rows == 1).sum()) == 1
        assert sorted(claim.x.tolist()) == [0.0, 0.0, 2.0]  # type: ignore[union-attr]
