"""One call of the backend: the books of who has which member, and the threads that work on them.

HiGHS sessions run on one thread, lanes in stints on another; both put claims on one queue. A member may be on both sides: the
first answer counts and ends the other. What lanes give up goes on in HiGHS, and the claim then lists both. Once lanes take the
rest of a batch, members that would hold up a core in HiGHS for long are called back, and wait for lanes like the others.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from batchlp_cli.backends.auto.cost import Profile
from batchlp_cli.backends.auto.policy import PolicyParameters
from batchlp_cli.backends.auto.rates import Memory
from batchlp_cli.backends.auto.steering import TICK, Steering
from batchlp_cli.backends.auto.stint import Purpose, Stint
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import BackendMissing
from batchlp_cli.optima import Claim, Optima
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import SETTLED, Solution, Status

if TYPE_CHECKING:
    from batchlp_cli.backends.pdhg.solve import PdhgBackend

Claimed = tuple[bool, int, Claim]  # (from lanes, batch, claim)


class Joint:
    """Batches of one call. `run` yields the claims; it steers HiGHS as its reins."""

    def __init__(
        self,
        batches: Sequence[LPBatch],
        settings: SolveSettings,
        highs: HighsBackend,
        load_lanes: Callable[[], PdhgBackend] | None,
        jobs: int,
        parameters: PolicyParameters,
        profile: Profile,
        warm_start: Solution | None = None,
        memory: Memory | None = None,
    ) -> None:
        """warm_start: a solution of the base, from which the members of all batches start. memory: rates of earlier runs."""
        self.batches, self.settings, self.highs, self.jobs = batches, settings, highs, jobs
        highs.open(batches, settings, warm_start.basis if warm_start is not None else None)
        self.lanes: PdhgBackend | None = None
        self.starts = [warm_start] * len(batches)
        self.stint: Stint | None = None
        self._load_lanes = load_lanes
        self._events: SimpleQueue[Claimed | Stint | BaseException | None] = SimpleQueue()  # None: lanes are loaded
        self._open = [np.ones(len(batch), dtype=np.bool_) for batch in batches]
        self._left = sum(map(len, batches))
        self._earlier: defaultdict[tuple[int, int], tuple[Solution, ...]] = defaultdict(tuple)
        self._highs_thread: threading.Thread | None = None
        self._lanes_thread: threading.Thread | None = None
        self._before: Joint | None = None  # an earlier call whose lanes may still be on their way in or out
        self._closed = False
        self._memory = memory
        recalled = [memory.recall(batch, settings) for batch in batches] if memory is not None else []
        self._steering = Steering(self, parameters, profile, load_lanes is not None, recalled)

    def inherit(self, before: Joint) -> None:
        """Takes over the lanes of an earlier call, whose kernels are loaded or being loaded."""
        self.lanes = before.lanes
        self._before = before if before._lanes_thread is not None else before._before

    def give_all_to_lanes(self) -> None:
        """Lets lanes take all members, batch after batch, and HiGHS only what they give up."""
        self._steering.give_all_to_lanes()

    def run(self) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, claim) until every member had one, for one member or for several at once."""
        try:
            if not self._steering.lanes_first:
                self.start_highs()
            self._steering.look()
            while self._left and not self._closed:
                try:
                    event = self._events.get(timeout=TICK)
                except Empty:
                    self._steering.look()
                    continue
                if isinstance(event, BaseException):
                    raise event
                if event is None:
                    self._steering.lanes_loaded()
                elif isinstance(event, Stint):
                    self._end_stint(event)
                else:
                    yield from self._settle(*event)
                self._steering.look()
            if self._memory is not None and not self._left:
                self._keep_rates(self._memory)
        finally:
            self._stop()

    def _keep_rates(self, memory: Memory) -> None:
        """Lets later runs know what was measured, also by lanes that are still on their way out."""
        if self.stint is not None and self.stint.purpose is Purpose.WORK:
            self._steering.stint_ended(self.stint)
        found = ((batch, self._steering.rates(k)) for k, batch in enumerate(self.batches))
        memory.keep([(batch, rates) for batch, rates in found if rates is not None], self.settings)

    def choices(self) -> list[str]:
        """Returns for each batch what was chosen and measured, in words."""
        note = self._memory.note if self._memory is not None else ""
        words = zip(self._steering.words, self.highs.courses, strict=True)
        return ["; ".join(filter(None, (told, course.choice(), note))) for told, course in words]

    def close(self) -> None:
        """Ends the run at its next look; from any thread."""
        self._closed = True
        if self.lanes is not None:
            self.lanes.close()

    # The reins of HiGHS.

    def may_work(self, slot: int) -> bool:
        """Tells whether a HiGHS worker may have another member now."""
        return slot < self._steering.allowed

    def more(self) -> bool:
        """Tells whether members may still come to HiGHS."""
        return self._left > 0 and not self._closed

    # What steering does.

    def start_highs(self) -> None:
        """Starts the HiGHS sessions, if they are not running yet."""
        if self._highs_thread is None:
            self._highs_thread = threading.Thread(target=self._drive_highs, daemon=True, name="auto-highs")
            self._highs_thread.start()

    @property
    def loading(self) -> bool:
        """Tells whether the lanes are being loaded."""
        thread = self._lanes_thread
        return self.lanes is None and self.stint is None and thread is not None and thread.is_alive()

    def load_lanes(self) -> None:
        """Begins to load the lanes, beside what HiGHS does."""
        if self._lanes_thread is None:
            self._lanes_thread = threading.Thread(target=self._drive_loading, daemon=True, name="auto-lanes")
            self._lanes_thread.start()

    def start_stint(self, stint: Stint) -> None:
        """Starts lanes on what a stint gives them."""
        self.stint, before = stint, self._lanes_thread
        self._lanes_thread = threading.Thread(target=self._drive_lanes, args=(stint, before), daemon=True, name="auto-lanes")
        self._lanes_thread.start()

    def stop_stint(self) -> None:
        """Lets lanes end at their next check; what they still have goes back to HiGHS."""
        if self.stint is not None:
            self.stint.end()
        if self.lanes is not None:
            self.lanes.stop()

    def hand_over(self, k: int, member: int) -> None:
        """Gives a member to HiGHS, before all that wait there."""
        self.highs.courses[k].give_back(member)
        self._steering.handed.add(k)
        self.start_highs()
        self.highs.wake()

    def call_back(self, k: int, member: int) -> bool:
        """Takes a member away from its HiGHS worker and lets it wait again; tells whether it may: not if lanes have or had it."""
        if not self.is_open(k, member) or (k, member) in self._earlier or self._lanes_have(k, member):
            return False
        self.highs.call_back(k, member)
        return True

    def is_open(self, k: int, member: int) -> bool:
        """Tells whether a member has no answer yet."""
        return bool(self._open[k][member])

    def _drive_highs(self) -> None:
        try:
            for k, claim in self.highs.run(self):
                self._events.put((False, k, claim))
        except BaseException as error:  # raised where the claims are awaited
            self._events.put(error)

    def _drive_loading(self) -> None:
        try:
            self._ready_lanes()
            self._events.put(None)
        except BackendMissing as error:
            self._steering.lose_lanes(str(error))
        except BaseException as error:
            self._events.put(error)

    def _ready_lanes(self) -> PdhgBackend | None:
        """Returns the lanes, loaded and free of an earlier call."""
        before, self._before = self._before, None
        if before is not None and before._lanes_thread is not None:
            before._lanes_thread.join()
            self.lanes = before.lanes
        if self.lanes is None and self._load_lanes is not None:
            lanes = self._load_lanes()
            lanes.load()
            self.lanes = lanes
        return self.lanes

    def _drive_lanes(self, stint: Stint, before: threading.Thread | None) -> None:
        try:
            if before is not None:
                before.join()
            lanes = self._ready_lanes()
            if lanes is not None and not self._closed:
                batch, start = self.batches[stint.k], self.starts[stint.k]
                for member, claim in lanes.solve_fed(batch, self.settings, stint, stint.tiles, start):
                    self._events.put((True, stint.k, (member, claim)))
        except BackendMissing as error:
            if self._steering.lanes_first:  # lanes were asked for by name
                self._events.put(error)
            else:
                self._steering.lose_lanes(str(error))
        except BaseException as error:
            self._events.put(error)
        self._events.put(stint)

    def _settle(self, from_lanes: bool, k: int, claim: Claim) -> Iterator[tuple[int, Claim]]:
        """Yields claims that are answers; keeps those that are not, while the other side goes on or takes over."""
        if not isinstance(claim, Optima):
            yield from self._settle_one(from_lanes, k, *claim)
        elif self._only_highs_had(k, claim):
            self.starts[k] = self.starts[k] or claim.take([0]).solutions(self.batches[k])[0][1]
            self._open[k][claim.members] = False
            self._left -= len(claim)
            yield k, claim
        else:
            for member, solution in claim.solutions(self.batches[k]):
                yield from self._settle_one(from_lanes, k, member, solution)

    def _only_highs_had(self, k: int, claim: Optima) -> bool:
        """Tells whether members are open, and lanes neither have one of them nor gave one up."""
        lanes_have = (
            self.stint is not None and self.stint.k == k and not self.stint.held.keys().isdisjoint(claim.members.tolist())
        )
        return not self._earlier and not lanes_have and bool(self._open[k][claim.members].all())

    def _settle_one(self, from_lanes: bool, k: int, member: int, claim: Solution) -> Iterator[tuple[int, Claim]]:
        stint = self.stint
        if from_lanes and stint is not None:
            if claim.status in SETTLED:
                stint.iterations.append(claim.iterations)
            stint.held.pop(member, None)
        if not self.is_open(k, member):
            return
        elsewhere = self._highs_has(k, member) if from_lanes else self._lanes_have(k, member)
        if claim.status not in SETTLED and (elsewhere or (from_lanes and self._gave_up(claim))):
            self._earlier[k, member] += (_without_vectors(claim),)
            if not elsewhere:
                self.hand_over(k, member)
            return
        if elsewhere and from_lanes:
            self.highs.courses[k].retract(member)
            self.highs.cancel(k, member)
            self._steering.tell_race(k, claim)
        elif elsewhere and self.lanes is not None:
            self.lanes.cancel(member)
            self._steering.tell_race(k, claim)
        if self.starts[k] is None and claim.status is Status.OPTIMAL and not from_lanes:
            self.starts[k] = claim
        self._open[k][member] = False
        self._left -= 1
        earlier = self._earlier.pop((k, member), ())
        yield k, (member, replace(claim, earlier=earlier) if earlier else claim)

    def _gave_up(self, claim: Solution) -> bool:
        """Tells whether lanes came to no answer; a limit that the user set is one."""
        if claim.status is Status.ITERATION_LIMIT:
            return self.settings.iteration_limit is None
        return claim.status is Status.NUMERICAL_ERROR

    def _highs_has(self, k: int, member: int) -> bool:
        course = self.highs.courses[k]
        return course.is_at_work(member) or course.has_returned(member)

    def _lanes_have(self, k: int, member: int) -> bool:
        return self.stint is not None and self.stint.k == k and member in self.stint.held

    def _end_stint(self, stint: Stint) -> None:
        """Gives HiGHS what lanes have left, or either side what a probe has, and closes their books."""
        self.stint = None
        for member in [*stint.held, *stint.left_over()]:
            if self.is_open(stint.k, member) and not self._highs_has(stint.k, member):
                if stint.purpose is Purpose.PROBE:
                    self.highs.put_back(stint.k, member)
                else:
                    self.hand_over(stint.k, member)
        self._steering.stint_ended(stint)

    def _stop(self) -> None:
        """Ends whatever still works on this call."""
        self._left = 0
        self.stop_stint()
        for k, course in enumerate(self.highs.courses):
            for members, _ in course.at_work():
                if len(members) == 1:  # a chunk ends soon by itself
                    self.highs.cancel(k, members[0])
        self.highs.wake()
        if self._highs_thread is not None:
            self._highs_thread.join()


def _without_vectors(claim: Solution) -> Solution:
    return replace(claim, x=None, y=None, r=None, ray=None, basis=None)
