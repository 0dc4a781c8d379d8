"""The backend `auto`: what it decides from numbers, and that nothing is lost between the two sides."""

from __future__ import annotations

import json
import math
import re
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from batchlp_cli.backends.auto import together
from batchlp_cli.backends.auto.cost import Profile, fingerprint, load_profile, profile_path, save_profile
from batchlp_cli.backends.auto.policy import (
    PolicyParameters,
    Rest,
    Stage,
    breaks_promise,
    cost_in_lanes,
    is_called_back,
    is_hopeless,
    may_pay,
    race_is_due,
    who_takes_rest,
)
from batchlp_cli.backends.auto.rates import Memory, Rates, rates_path
from batchlp_cli.backends.auto.steering import Steering
from batchlp_cli.backends.auto.stint import Purpose, Stint
from batchlp_cli.backends.auto.together import AutoBackend, LanesFirst
from batchlp_cli.backends.highs.course import Course
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.backends.pdhg import loading
from batchlp_cli.backends.pdhg.kernels.base import Tile
from batchlp_cli.backends.pdhg.kernels.numba_kernel import NumbaKernel
from batchlp_cli.backends.pdhg.parameters import PdhgParameters
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.cache import VARIABLE
from batchlp_cli.errors import BackendMissing
from batchlp_cli.processes import Ending, Outcome
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import DECIDED, Solution, Status
from tests.conformance import judge, optimal_by_construction, scenario_batch, solve_all
from tests.highs_faults import DAWDLES, HANGS

P = PolicyParameters()
LANES_TAKE_ALL = PolicyParameters(worth=0.0, least_iterations=0, clearly=1e-9, race_after=60.0, probe_share=1e9)


def test_lanes_are_not_tried_where_they_cannot_pay() -> None:
    """A batch that HiGHS finishes soon, or whose members take HiGHS less than the least that lanes need, stays with HiGHS."""
    slow, quick = Rest(1000, 0.1, 2), Rest(10, 0.1, 2)
    assert may_pay(P, slow, iteration=1e-5)[0]
    assert not may_pay(P, slow, iteration=1e-3)[0]
    assert not may_pay(P, quick, iteration=1e-5)[0]
    assert "too soon" in may_pay(P, quick, iteration=1e-5)[1]
    assert not may_pay(P, Rest(P.least_members - 1, 1e6, 1), iteration=0.0)[0]
    short = Rest(100, 2 * (P.worth + P.worth_loaded) / 200, 2)
    assert may_pay(P, short, iteration=0.0, loaded=True)[0]
    assert not may_pay(P, short, iteration=0.0)[0]
    saves = Rest(100, 2 * P.worth * 1.5 / 100, 2)  # half as long again as it is worth
    assert may_pay(P, saves, iteration=0.3 * saves.highs / P.least_iterations)[0]
    assert not may_pay(P, saves, iteration=0.4 * saves.highs / P.least_iterations)[0]
    assert "at best" in may_pay(P, saves, iteration=0.4 * saves.highs / P.least_iterations)[1]


@pytest.mark.parametrize(
    ("lanes", "measured", "stage"),
    [
        (0.01, True, Stage.LANES),
        (0.01, False, Stage.LANES),
        (0.095, True, Stage.BOTH),
        (0.11, True, Stage.BOTH),
        (0.11, False, Stage.OPEN),
        (1.0, True, Stage.HIGHS),
        (math.inf, False, Stage.HIGHS),
    ],
)
def test_rest_goes_to_who_is_faster(lanes: float, measured: bool, stage: Stage) -> None:
    """Clearly faster takes all, about equal means both, and against a guess only a clear win of the lanes decides."""
    chosen, words = who_takes_rest(P, Rest(100, 0.1, 2, measured), lanes)
    assert chosen is stage
    assert "HiGHS 100 ms" in words


def test_probe_is_charged_its_mean_member() -> None:
    """Lanes that are refilled pay for the mean of the iterations, not for the slowest; too few answers are no answer."""
    least, even = cost_in_lanes(P, 8.0, 8, [100] * 8, 100)
    assert least == even == pytest.approx(1.0 / P.widening)
    assert cost_in_lanes(P, 8.0, 8, [100] * 7 + [1500], 1500)[1] == pytest.approx(even * 275 / 1500)
    assert math.isinf(cost_in_lanes(P, 8.0, 8, [100] * 1, 100)[1])
    assert math.isinf(cost_in_lanes(P, 8.0, 0, [], 0)[1])


def test_probe_under_way_is_charged_what_its_open_members_have_taken() -> None:
    """A member without an answer counts as it stands for the least cost, twice that or more for the likely one."""
    least, likely = cost_in_lanes(P, 8.0, 8, [100] * 4, 200)
    of_one = 8.0 / 200 / 8 / P.widening
    assert least == pytest.approx((4 * 100 + 4 * 200) / 8 * of_one)
    assert likely == pytest.approx((4 * 100 + 4 * 400) / 8 * of_one)
    assert cost_in_lanes(P, 8.0, 8, [100] * 2, 200)[1] == pytest.approx((2 * 100 + 6 * 800) / 8 * of_one)
    least, likely = cost_in_lanes(P, 8.0, 8, [], 200)
    assert least == pytest.approx(200 * of_one)
    assert math.isinf(likely)


def test_probe_is_hopeless_only_against_what_was_measured() -> None:
    """Lanes that have taken longer than HiGHS takes have lost, unless HiGHS' time is a guess."""
    assert is_hopeless(P, Rest(100, 0.1, 2), least=0.2)
    assert not is_hopeless(P, Rest(100, 0.1, 2), least=0.1)
    assert not is_hopeless(P, Rest(100, 0.1, 2, measured=False), least=0.2)


def test_broken_promise_is_seen_only_after_its_time() -> None:
    """Lanes are left alone until they are late, and ended then if HiGHS would have been faster."""
    rest = Rest(100, 0.1, 2)
    assert not breaks_promise(P, rest, seconds=1.0, tiles=2, solved=0, expected=1.0)
    assert breaks_promise(P, rest, seconds=2.0, tiles=2, solved=0, expected=1.0)
    assert not breaks_promise(P, rest, seconds=2.0, tiles=2, solved=100, expected=1.0)


def test_only_members_with_long_left_to_do_are_called_back() -> None:
    """By the measured time of a member where it is known and not over yet, else as long again; not where lanes take longer."""
    guessed, measured = Rest(100, 0.1, 2, measured=False), Rest(100, 3.0, 2)
    assert not is_called_back(P, guessed, seconds=0.2, lanes=0.01)
    assert is_called_back(P, guessed, seconds=0.3, lanes=0.01)
    assert not is_called_back(P, guessed, seconds=0.3, lanes=0.3)
    assert is_called_back(P, measured, seconds=0.1, lanes=0.01)
    assert not is_called_back(P, measured, seconds=2.9, lanes=0.01)
    assert is_called_back(P, measured, seconds=3.1, lanes=0.01)


def test_race_is_sooner_on_an_idle_core() -> None:
    """An idle core races after a second, a busy one after ten."""
    assert race_is_due(P, 1.5, idle=True)
    assert not race_is_due(P, 1.5, idle=False)
    assert race_is_due(P, 11.0, idle=False)


class Starting:
    """A batch of whose members HiGHS has one for 5 seconds; both of its workers came `since`, None: not yet."""

    jobs, batches = 2, ("batch",)
    waiting, is_measured, has_both_modes, seconds_a_member = 100, False, False, None

    def __init__(self, since: float | None) -> None:
        self.ready_since, self.courses, self.highs = since, [self], self

    def at_work(self) -> list[tuple[range, float]]:
        """Returns the member with the time at which it was given out."""
        return [(range(1), time.perf_counter() - 5.0)]


def test_workers_that_start_are_not_taken_for_slow_members() -> None:
    """What is guessed of a member before one was solved counts from when there is a worker that can have begun it."""
    now = time.perf_counter()
    for since, seconds in ((None, 0.0), (now - 1.0, 1.0), (now - 9.0, 5.0)):
        rest = Steering(Starting(since), P, Profile(), lanes=True)._rest(0)  # type: ignore[arg-type]
        assert not rest.measured
        assert rest.highs == pytest.approx(seconds / P.warming, abs=0.1)


def test_first_of_both_kinds_tell_more_than_one_member() -> None:
    """Once a cold and a warm member were timed, the faster of them is nearer to what members will take than the first alone."""
    books = Starting(time.perf_counter())
    books.has_both_modes, books.seconds_a_member = True, 0.3  # type: ignore[assignment]
    rest = Steering(books, P, Profile(), lanes=True)._rest(0)  # type: ignore[arg-type]
    assert (rest.highs, rest.measured) == (0.3 / P.settling, False)


@pytest.mark.parametrize(("seconds", "stopped"), [(0.01, True), (5.0, False)])
def test_probe_may_take_longer_the_longer_highs_is_at_its_first_members(seconds: float, stopped: bool) -> None:
    """What a probe may take is a share of what the rest takes HiGHS, of which little is known when the probe begins."""
    now = time.perf_counter()
    books = Starting(now - 9.0)
    books.at_work = lambda: [(range(1), time.perf_counter() - seconds)]  # type: ignore[method-assign]
    stops: list[Stint] = []
    stint = Stint(0, Purpose.PROBE, 1, books, most=8)  # type: ignore[arg-type]
    stint.started, stint.taken, stint.budget = now - 2.0, 8, P.least_probe
    lanes = SimpleNamespace(began=now - 1.0, steps=50, tiles_at_work=1)
    for name, value in {"lanes": lanes, "stint": stint, "stop_stint": lambda: stops.append(stint)}.items():
        setattr(books, name, value)
    Steering(books, P, Profile(), lanes=True)._supervise(stint, now)  # type: ignore[arg-type]
    assert stops == [stint] * stopped


def lanes_of(parameters: PdhgParameters) -> object:
    """Returns what makes lanes with these parameters."""
    return lambda self, settings: PdhgBackend(2, parameters)


def test_lanes_take_over_a_batch_and_lose_nobody() -> None:
    """Where lanes are chosen they solve most members; every member has one proved claim, and the reason is told."""
    scenarios = scenario_batch(5, 150)
    members = [replace(scenarios.member(i), offset=DAWDLES if i else 0.0) for i in range(150)]
    batch = LPBatch.of(members)
    lanes = PdhgBackend(2)
    solve_all(lanes, scenarios)  # compiles what lanes need, which may take longer than HiGHS needs for all members
    lanes.close()
    backend = AutoBackend(2, parameters=LANES_TAKE_ALL)
    backend._highs.close()
    backend._highs = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    claims = solve_all(backend, batch)
    judge(batch, claims)
    assert sum(c.backend == "pdhg" for c in claims) > 75
    assert "lanes" in backend.choices()[0]
    backend.close()


def test_lanes_that_have_won_also_get_what_highs_is_long_at() -> None:
    """Members at which HiGHS hangs are called back once lanes take the rest: nobody is lost, no crash is told, words say it."""
    scenarios = scenario_batch(5, 60)
    offsets = [0.0, HANGS, HANGS, *[DAWDLES] * 57]
    batch = LPBatch.of([replace(scenarios.member(i), offset=offsets[i]) for i in range(60)])
    backend = AutoBackend(2, parameters=replace(LANES_TAKE_ALL, long=0.0))
    backend._highs.close()
    backend._highs = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    started = time.monotonic()
    claims = solve_all(backend, batch)
    assert time.monotonic() - started < 60
    judge(batch, claims)
    assert [claims[i].backend for i in (1, 2)] == ["pdhg", "pdhg"]
    assert not claims[1].earlier
    assert "lanes take the rest" in backend.choices()[0]
    assert re.search("also [12] that HiGHS had for up to", backend.choices()[0])
    backend.close()


@pytest.mark.parametrize("ending", [Ending.CANCELLED, Ending.DONE])
def test_member_called_back_waits_again_unless_it_was_done(ending: Ending) -> None:
    """A cancelled member is the first to be withdrawn and the last that HiGHS takes; one that came to an answer is over."""
    batch = scenario_batch(5, 4)
    course = Course(0, batch, SolveSettings(), None, False)
    task = course.next_task(0, True)
    assert task is not None
    assert (task.key, course.waiting) == ((0, 0), 3)
    course.call_back(0)
    claim = Solution(Status.OPTIMAL)
    came = course.take_in(Outcome(task.key, ending, claim if ending is Ending.DONE else None, "", 0, 0.1))
    if ending is Ending.DONE:
        assert came == (0, claim)
        assert [course.withdraw() for _ in range(4)] == [3, 2, 1, None]
        return
    assert came is None
    assert (course.waiting, course.has_waiting) == (4, True)
    assert [course.withdraw() for _ in range(5)] == [0, 3, 2, 1, None]


def test_members_of_a_probe_that_was_ended_are_open_to_both_sides() -> None:
    """What is put back can be withdrawn again, and HiGHS takes it after all others."""
    course = Course(0, scenario_batch(5, 3), SolveSettings(), None, False)
    taken = [course.withdraw(), course.withdraw()]
    for member in taken:
        assert member is not None
        course.put_back(member)
    assert (course.waiting, course.has_returned()) == (3, False)
    assert course.withdraw() == taken[1]
    keys = [task.key for slot in range(4) if (task := course.next_task(slot, True)) is not None]
    assert keys == [(0, 0), (0, taken[0])]


def test_member_called_back_goes_to_highs_last_where_lanes_leave_it() -> None:
    """Every member is given out once more at most, and none is lost."""
    course = Course(0, scenario_batch(5, 3), SolveSettings(), None, False)
    first = course.next_task(0, True)
    assert first is not None
    course.call_back(0)
    course.take_in(Outcome(first.key, Ending.CANCELLED, None, "", 0, 0.1))
    keys = [task.key for slot in range(5) if (task := course.next_task(slot, True)) is not None]
    assert keys == [(0, 1), (0, 2), (0, 0)]
    assert not course.has_waiting


def test_what_lanes_give_up_goes_to_highs_with_both_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that stop after one iteration hand every member on; each claim is HiGHS' and tells of the first try."""
    monkeypatch.setattr(AutoBackend, "_load_lanes", lanes_of(PdhgParameters(iteration_limit=1)))
    batch = scenario_batch(6, 20)
    backend = LanesFirst(2)
    claims = solve_all(backend, batch)
    judge(batch, claims)
    handed = [c for c in claims if c.backend == "highs"]
    assert len(handed) > 10
    assert all([s.status for s in c.earlier] == [Status.ITERATION_LIMIT] for c in handed)
    assert all(s.x is None for c in handed for s in c.earlier)
    backend.close()


def test_limit_of_the_user_is_an_answer() -> None:
    """With an iteration limit of the user's, lanes hand nothing on."""
    backend = LanesFirst(1)
    claims = solve_all(backend, scenario_batch(6, 6), SolveSettings(iteration_limit=1))
    assert {c.status for c in claims} - DECIDED <= {Status.ITERATION_LIMIT}
    assert all(not c.earlier and c.backend == "pdhg" for c in claims)
    backend.close()


def test_lanes_win_a_race_against_a_hanging_worker() -> None:
    """A member at which HiGHS hangs is raced after a second, answered by lanes, and HiGHS' worker is ended."""
    lp, value = optimal_by_construction(3)
    batch = LPBatch.of([lp, replace(lp, offset=HANGS)])
    backend = AutoBackend(2)
    backend._highs.close()
    backend._highs = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    started = time.monotonic()
    claims = solve_all(backend, batch)
    assert time.monotonic() - started < 60
    assert (claims[0].backend, claims[1].backend) == ("highs", "pdhg")
    assert judge(batch, claims)[1].objective == pytest.approx(value + HANGS, rel=1e-5)
    alone = batch.take([0])
    judge(alone, solve_all(backend, alone))  # and the backend lives on
    backend.close()


class EndlessLanes:
    """Lanes that hold what they are given until they are stopped."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.tiles_at_work = self.steps = 0
        self.choice = ""
        self._stopped = threading.Event()
        self.cancelled: set[int] = set()

    def load(self) -> None:
        """Needs nothing."""

    def solve_fed(self, batch: LPBatch, settings: SolveSettings, feed: object, *rest: object) -> object:
        """Takes one member and yields nothing until it is stopped or the member cancelled."""
        member = feed.take()  # type: ignore[attr-defined]
        self.began, self.tiles_at_work = time.perf_counter(), 1
        while not self._stopped.is_set() and member not in self.cancelled:
            time.sleep(0.01)
        self.tiles_at_work = 0
        return iter(())

    def cancel(self, member: int) -> None:
        """Lets go of a member."""
        self.cancelled.add(member)

    def stop(self) -> None:
        """Ends the work."""
        self._stopped.set()

    close = stop


def test_hopeless_probe_is_ended_and_its_members_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that never answer are stopped at the budget of their probe; HiGHS solves what they held."""
    monkeypatch.setattr(AutoBackend, "_load_lanes", lambda self, settings: EndlessLanes())
    eager = PolicyParameters(worth=0.0, least_iterations=0, probe_share=0.0, race_after=0.2)
    batch = scenario_batch(8, 60)
    backend = AutoBackend(1, parameters=eager)
    started = time.monotonic()
    claims = solve_all(backend, batch)
    assert time.monotonic() - started < 30
    judge(batch, claims)
    assert {c.backend for c in claims} == {"highs"}
    backend.close()


def test_close_from_another_thread_ends_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """close() makes a call return within seconds though lanes would never end."""
    monkeypatch.setattr(AutoBackend, "_load_lanes", lambda self, settings: EndlessLanes())
    backend = LanesFirst(1)
    timer = threading.Timer(0.5, backend.close)
    timer.start()
    started = time.monotonic()
    assert len(dict(backend.solve(scenario_batch(9, 5), SolveSettings()))) < 5
    assert time.monotonic() - started < 10
    timer.join()


def test_without_the_lanes_libraries_highs_solves_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """auto needs nothing beyond HiGHS; pdhg asked for by name says what to install."""
    monkeypatch.setattr(together, "find_spec", lambda name: None)
    batch = scenario_batch(5, 12)
    backend = AutoBackend(2, parameters=LANES_TAKE_ALL)
    judge(batch, solve_all(backend, batch))
    backend.close()
    with pytest.raises(BackendMissing, match="pip install"):
        LanesFirst(2)


def test_where_no_kernel_can_be_loaded_highs_solves_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is there and breaks as it is loaded costs auto its lanes and nothing else; pdhg by name says so."""
    for name in ("numba_kernel", "torch_kernel"):
        broken = f"batchlp_cli.backends.pdhg.kernels.{name}"
        monkeypatch.setitem(sys.modules, broken, ModuleType(broken))
    batch = scenario_batch(5, 150)
    slow = LPBatch.of([replace(batch.member(i), offset=DAWDLES if i else 0.0) for i in range(30)])
    backend = AutoBackend(2, parameters=LANES_TAKE_ALL)
    backend._highs.close()
    backend._highs = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    claims = solve_all(backend, slow)
    judge(slow, claims)
    assert {claim.backend for claim in claims} == {"highs"}
    assert "lanes could not be loaded" in backend.choices()[0]
    backend.close()
    first = LanesFirst(2)
    with pytest.raises(BackendMissing, match="cannot be loaded"):
        solve_all(first, batch)
    first.close()


def test_profile_is_kept_and_never_trusted_blindly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile comes back on the machine that measured it; a damaged one, or another machine's, is as none."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert load_profile() == Profile()
    measured = Profile(((100, 2e-8), (1000, 4e-7)), calibrated=True)
    assert save_profile(measured) == profile_path()
    assert load_profile() == measured
    kept = json.loads(profile_path().read_text())
    others: list[dict[str, object]] = [{"machine": "another"}, {"points": [[100, -1.0], [1000, 1e-7]]}, {"points": 3}]
    for damaged in ("", "{}", *(json.dumps(kept | other) for other in others)):
        profile_path().write_text(damaged)
        assert load_profile() == Profile()


def test_calibration_counts_work_and_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others do on a busy machine while a kernel waits for its core is no cost of an iteration."""

    class Waiting(NumbaKernel):
        def advance(self, tile: Tile, steps: int) -> None:
            time.sleep(0.05)
            super().advance(tile, steps)

    monkeypatch.setattr(loading, "load_kernel", lambda parameters, jobs: Waiting(jobs))
    lp, _ = optimal_by_construction(1, m=30, n=40)
    cost = loading.seconds_of_iteration(lp, 0.3)
    assert 0 < cost < 0.01 / (10 * loading.LANE_ROW_BYTES // 8)


def test_cost_of_an_iteration_grows_with_the_caches_that_a_tile_leaves() -> None:
    """Between two sizes the cost of an entry is between theirs; outside it is that of the nearest."""
    profile = Profile(((100, 2e-8), (10000, 8e-6)))
    lp, _ = optimal_by_construction(1, m=30, n=40)
    size = lp.m + lp.n + lp.nnz
    assert 2e-10 < profile.iteration(lp) / size < 8e-10
    tiny, _ = optimal_by_construction(1, m=2, n=3)
    assert profile.iteration(tiny) == pytest.approx((tiny.m + tiny.n + tiny.nnz) * 2e-10)


def rates_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[LPBatch, SolveSettings]:
    """Returns a batch and settings, with rates in a folder of the test's own; compiled kernels stay where they are."""
    monkeypatch.setattr("batchlp_cli.backends.auto.rates.cache_root", lambda: tmp_path)
    return scenario_batch(5, 20), SolveSettings(jobs=2)


def test_rates_come_back_for_the_same_matrix_changes_and_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates are known again for the very matrix, also those of lanes without an answer; other settings or changes have none."""
    batch, settings = rates_on_disk(tmp_path, monkeypatch)
    assert Memory().recall(batch, settings) is None
    Memory().keep([(batch, Rates(0.1, math.inf))], settings)
    assert Memory().recall(batch, settings) == Rates(0.1, math.inf, same_matrix=True)
    Memory().keep([(batch, Rates(0.2, 0.3))], settings)  # what is newer counts
    assert Memory().recall(batch, settings) == Rates(0.2, 0.3, same_matrix=True)
    for other in (replace(settings, tol=1e-4), replace(settings, near=True), replace(settings, cutoff=1.0)):
        assert Memory().recall(batch, other) is None
    assert Memory().recall(batch.take([0] * 20), settings) is None  # nothing changes
    assert Memory().recall(batch.take([0, 1]), settings) is None


def test_rates_of_another_matrix_of_the_size_are_known_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other numbers in a matrix of the same size and number of entries are told apart from the same matrix."""
    batch, settings = rates_on_disk(tmp_path, monkeypatch)
    Memory().keep([(batch, Rates(0.1, 0.01))], settings)
    base = replace(batch.base, A=2 * batch.base.A)
    other = replace(batch, base=base)
    assert Memory().recall(other, settings) == Rates(0.1, 0.01, same_matrix=False)


@pytest.mark.parametrize(
    "damage", ["", "[]", "{}", '{"machine": "M", "rates": 3}', '{"machine": "M", "rates": [["a", "b", -1, 2]]}']
)
def test_damaged_rates_are_ignored_with_a_note(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be used costs nothing but a measurement, is said, and is written anew."""
    batch, settings = rates_on_disk(tmp_path, monkeypatch)
    rates_path().write_text(damage.replace("M", fingerprint()))
    memory = Memory()
    assert memory.recall(batch, settings) is None
    assert "cannot be used" in memory.note
    memory.keep([(batch, Rates(0.1, 0.01))], settings)
    assert Memory().recall(batch, settings) == Rates(0.1, 0.01)
    assert Memory().note == ""


def test_rates_are_bounded_and_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest rates are forgotten; those of another machine are as none."""
    batch, settings = rates_on_disk(tmp_path, monkeypatch)
    for tol in range(1, 6):
        monkeypatch.setattr("batchlp_cli.backends.auto.rates.MOST", 3)
        Memory().keep([(batch, Rates(0.1, float(tol)))], replace(settings, tol=tol * 1e-6))
    known = [Memory().recall(batch, replace(settings, tol=tol * 1e-6)) for tol in range(1, 6)]
    assert [rates is not None for rates in known] == [False, False, True, True, True]
    kept = json.loads(rates_path().read_text())
    rates_path().write_text(json.dumps(kept | {"machine": "another"}))
    assert Memory().recall(batch, replace(settings, tol=5e-6)) is None
    assert [path.name for path in tmp_path.iterdir()] == ["rates.json"]  # nothing is left beside


def test_known_rates_spare_the_probe_and_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With rates of an earlier run in which lanes won they take the batch unprobed, and the report says so."""
    batch, settings = rates_on_disk(tmp_path, monkeypatch)
    slow = LPBatch.of([replace(batch.member(i % 20), offset=DAWDLES) for i in range(100)])
    Memory().keep([(slow, Rates(10.0, 0.05))], settings)
    backend = AutoBackend(2, memory=Memory())
    backend._highs.close()
    backend._highs = HighsBackend(2, worker="tests.highs_faults:make_faulty_handler")
    claims = solve_all(backend, slow, settings)
    judge(slow, claims)
    assert sum(claim.backend == "pdhg" for claim in claims) > 50
    assert "as an earlier run measured with this matrix" in backend.choices()[0]
    backend.close()
    kept = Memory().recall(slow, settings)
    assert kept is not None
    assert kept.lanes != 0.05  # what lanes really took is known from now on


def test_without_the_cache_nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--no-cache neither uses nor keeps rates."""
    _, settings = rates_on_disk(tmp_path, monkeypatch)
    backend = AutoBackend.of(replace(settings, cache=False))
    assert backend._memory is None
    backend.close()
    backend = AutoBackend.of(settings)
    assert backend._memory is not None
    backend.close()
