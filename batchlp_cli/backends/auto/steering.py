"""Looks at what both sides do, asks the policy, and moves cores and members between them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from batchlp_cli.backends.auto.books import Books
from batchlp_cli.backends.auto.cost import Profile
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
from batchlp_cli.backends.auto.rates import Rates
from batchlp_cli.backends.auto.stint import Purpose, Stint
from batchlp_cli.solution import Solution

LEAST_SOLVED = 32
"""Members that lanes must have solved for their rate to be kept in the place of a probe's."""

TICK = 0.05  # seconds between two looks at what could be done better


class Steering:
    """What is known of each batch, and how many HiGHS workers may work (`allowed`). words: the choice for each batch."""

    def __init__(
        self, books: Books, parameters: PolicyParameters, profile: Profile, lanes: bool, recalled: Sequence[Rates | None] = ()
    ) -> None:
        """recalled: for each batch what an earlier run measured of it, or of one like it."""
        self._books, self._parameters, self._profile = books, parameters, profile
        self._lanes = lanes
        self._recalled = recalled or [None] * len(books.batches)
        self._stages = [Stage.OPEN] * len(books.batches)
        # seconds a member in lanes, of batches that were tried or are known
        self._costs = {k: rates.lanes for k, rates in enumerate(self._recalled) if rates is not None and rates.same_matrix}
        self._measured: set[int] = set()  # batches whose cost was measured in this call
        self._raced: set[tuple[int, int]] = set()
        self._longest: dict[int, float] = {}  # batches taken over -> seconds that HiGHS had a member which was called back
        self._pending: Iterator[int] = iter(())
        self._looked = 0.0
        self.words = [""] * len(books.batches)
        self.handed: set[int] = set()  # batches of which HiGHS was handed members
        self.lanes_first = False
        self.allowed = books.jobs

    def give_all_to_lanes(self) -> None:
        """Takes all members from HiGHS."""
        self.lanes_first, self.allowed = True, 0
        self._pending = iter(range(len(self._books.batches)))
        for course in self._books.highs.courses:
            while course.withdraw() is not None:
                pass

    def lose_lanes(self, why: str) -> None:
        """Goes on without lanes, since they cannot be loaded."""
        self._lanes = False
        self.words = [f"lanes could not be loaded: {why}" for _ in self.words]

    def look(self) -> None:
        """Does what is better done now: begins a stint, ends one, moves cores."""
        now = time.perf_counter()
        if now - self._looked < TICK and not (self.lanes_first and self._books.stint is None):
            return
        self._looked = now
        if self._books.stint is not None:
            self._supervise(self._books.stint, now)
        elif self._lanes:
            stint = self._next_batch() if self.lanes_first else self._next_try() or self._next_race(now)
            if stint is not None:
                self._books.start_stint(stint)
        self._share()
        if self._books.stint is not None:
            self._call_back(self._books.stint)

    def lanes_loaded(self) -> None:
        """Lets the next look come at once, since lanes can begin."""
        self._looked = 0.0

    def stint_ended(self, stint: Stint) -> None:
        """Takes in what a stint has shown."""
        self._looked = 0.0  # what comes next comes at once
        lanes = self._books.lanes
        if lanes is None or lanes.began is None or lanes.began < stint.started:
            return
        if self.lanes_first:
            self.words[stint.k] = lanes.choice
            return
        seconds = time.perf_counter() - lanes.began
        if stint.purpose is Purpose.PROBE:
            self._take_in(stint.k, self._cost(stint, seconds)[1])
        elif stint.purpose is Purpose.WORK and (stint.solved >= LEAST_SOLVED or self._stages[stint.k] is Stage.HIGHS):
            self._take_in(stint.k, seconds * stint.tiles / max(1, stint.solved))

    def rates(self, k: int) -> Rates | None:
        """Returns what this call measured of a batch, for later runs; None where lanes were not tried on it."""
        if k not in self._measured:
            return None
        course, before = self._books.highs.courses[k], self._recalled[k]
        highs = course.seconds_a_member if course.is_measured else None
        if highs is None and before is not None and before.same_matrix:
            highs = before.highs
        return None if highs is None else Rates(highs, self._costs[k])

    def _take_in(self, k: int, cost: float) -> None:
        self._costs[k] = cost
        self._measured.add(k)

    def _cost(self, stint: Stint, seconds: float) -> tuple[float, float]:
        lanes = self._books.lanes
        steps = lanes.steps if lanes is not None else 0
        return cost_in_lanes(self._parameters, seconds, stint.taken, stint.iterations, steps)

    def tell_race(self, k: int, winner: Solution) -> None:
        """Notes who won a member that both had."""
        who = "lanes were" if winner.backend == "pdhg" else "HiGHS was"
        self.words[k] = self.words[k] or f"raced, since HiGHS took long: {who} first, after {winner.seconds:.3g} s"

    def _rest(self, k: int) -> Rest:
        """Returns what is left of a batch; before HiGHS is measured, by an earlier run or how long it is at its first members."""
        course, jobs, recalled = self._books.highs.courses[k], self._books.jobs, self._recalled[k]
        if course.is_measured and course.seconds_a_member is not None:
            return Rest(course.waiting, course.seconds_a_member, jobs)
        if recalled is not None and recalled.same_matrix:
            return Rest(course.waiting, recalled.highs, jobs)
        if course.has_both_modes and course.seconds_a_member is not None:
            return Rest(course.waiting, course.seconds_a_member / self._parameters.settling, jobs, measured=False)
        longest = max((seconds for _, seconds in self._at_work(k)), default=0.0)
        guess = max(longest, self._longest.get(k, 0.0), course.seconds_a_member or 0.0) / self._parameters.warming
        return Rest(course.waiting, guess, jobs, measured=False)

    def _at_work(self, k: int) -> list[tuple[range, float]]:
        """Returns the members that HiGHS workers have, alone or in chunks, with the seconds that they may have worked on them."""
        now = time.perf_counter()
        ready = self._books.highs.ready_since or now  # workers that still start take longer than a small batch
        return [(members, now - max(when, ready)) for members, when in self._books.highs.courses[k].at_work()]

    def _next_batch(self) -> Stint | None:
        """Returns the stint for the next batch where lanes take all."""
        k = next(self._pending, None)
        if k is None:
            return None
        course, members = self._books.highs.courses[k], range(len(self._books.batches[k]))
        return Stint(k, Purpose.WORK, self._books.jobs, course, given=members)

    def _next_try(self) -> Stint | None:
        """Returns a stint on a batch for which lanes may pay, or are known to."""
        p = self._parameters
        for k, batch in enumerate(self._books.batches):
            course = self._books.highs.courses[k]
            if len(batch) < p.least_members or not course.waiting or self._stages[k] is Stage.HIGHS:
                continue
            rest = self._rest(k)
            if k in self._costs and self._stages[k] is Stage.OPEN:
                source = "by a probe" if k in self._measured else "as an earlier run measured with this matrix"
                self._stages[k], self.words[k] = who_takes_rest(p, rest, self._costs[k], source)
            if self._stages[k] in (Stage.LANES, Stage.BOTH):
                return self._work(k)
            if k in self._costs:
                continue
            pays, words = self._may_pay(k, rest)
            self.words[k] = words if rest.measured or pays else self.words[k]
            if pays and self._books.lanes is None:
                self._books.load_lanes()
                return None
            if pays:
                stint = Stint(k, Purpose.PROBE, 1, course, most=p.probe_members)
                stint.budget = self._budget(rest)
                return stint
        return None

    def _budget(self, rest: Rest) -> float:
        """Returns the seconds that a probe may take for what is left of its batch."""
        return max(self._parameters.least_probe, self._parameters.probe_share * rest.seconds * self._books.jobs)

    def _may_pay(self, k: int, rest: Rest) -> tuple[bool, str]:
        """Tells whether lanes are tried on a batch, and says why: by size and time, or since they won on one like it."""
        recalled = self._recalled[k]
        if recalled is not None and recalled.lanes * self._parameters.clearly < recalled.highs:
            return True, "lanes were faster in an earlier run with a matrix of this size"
        return may_pay(
            self._parameters, rest, self._profile.iteration(self._books.batches[k].base), self._books.lanes is not None
        )

    def _work(self, k: int) -> Stint:
        """Returns the stint in which lanes take a batch over, or work beside HiGHS."""
        jobs = self._books.jobs
        tiles = jobs if self._stages[k] is Stage.LANES else max(1, jobs // 2)
        stint = Stint(k, Purpose.WORK, tiles, self._books.highs.courses[k])
        stint.expected = self._time_of(k, tiles)
        return stint

    def _next_race(self, now: float) -> Stint | None:
        """Returns a race for the member that HiGHS has had longest, where that is due."""
        courses = self._books.highs.courses
        at_work = [(now - when, k, members) for k, course in enumerate(courses) for members, when in course.at_work()]
        count = sum(len(members) for _, _, members in at_work)
        idle = not any(course.has_waiting for course in courses) and count < max(2, self._books.jobs)
        for seconds, k, members in sorted(at_work, key=lambda work: -work[0]):
            if not race_is_due(self._parameters, seconds, idle):
                return None
            member = next((member for member in members if (k, member) not in self._raced), None)
            if member is not None and self._stages[k] is not Stage.HIGHS:
                self._raced.add((k, member))
                tiles = max(1, self._books.jobs - count)
                stint = Stint(k, Purpose.RACE, tiles, courses[k], given=[member])
                stint.budget = float("inf") if idle else max(seconds, self._parameters.patience)
                return stint
        return None

    def _supervise(self, stint: Stint, now: float) -> None:
        """Ends a stint that has not kept what it promised; lets idle HiGHS workers help with what lanes are slow at."""
        lanes = self._books.lanes
        if self.lanes_first or lanes is None or lanes.began is None or lanes.began < stint.started:
            return
        seconds = now - lanes.began
        if stint.purpose is Purpose.PROBE:
            if self._weigh(stint, seconds):
                return
            stint.budget = max(stint.budget, self._budget(self._rest(stint.k)))  # the longer HiGHS is at its first members
        if stint.purpose is not Purpose.WORK:
            if seconds > stint.budget and self._others_wait(stint):
                self._books.stop_stint()
            return
        if breaks_promise(self._parameters, self._rest(stint.k), seconds, stint.tiles, stint.solved, stint.expected):
            self._stages[stint.k] = Stage.HIGHS
            self.words[stint.k] += f"; lanes then solved only {stint.solved} in {seconds:.3g} s, and HiGHS took the rest"
            self._books.stop_stint()
        elif stint.waiting == 0 and lanes.tiles_at_work < self._books.jobs:
            self._help(stint, now)
        else:
            self._grow(stint)

    def _weigh(self, stint: Stint, seconds: float) -> bool:
        """Lets a probe that has won go on with the rest, ends one that has lost; tells whether that could be decided."""
        k, p, lanes = stint.k, self._parameters, self._books.lanes
        rest, (least, likely) = self._rest(k), self._cost(stint, seconds)
        if not math.isinf(likely) and lanes is not None:
            stage, words = who_takes_rest(p, rest, likely)
            if stage is Stage.LANES:
                self._stages[k], self.words[k] = stage, words
                self._take_in(k, likely)
                stint.go_on(self._books.jobs, seconds + self._time_of(k, self._books.jobs))
                self._grow(stint)
                return True
        if stint.taken and is_hopeless(p, rest, least):
            self._stages[k], self.words[k] = who_takes_rest(p, rest, least, "or more by a probe")
            self._take_in(k, least)
            self._books.stop_stint()
            return True
        return False

    def _grow(self, stint: Stint) -> None:
        """Lets lanes that take over a batch have the cores that HiGHS is done with."""
        lanes, free = self._books.lanes, self._books.jobs - self._books.highs.busy
        tiles = max(1, min(stint.tiles, free))
        if lanes is not None and stint.waiting and (tiles > lanes.tiles_at_work or not stint.grown):
            stint.grown = True
            lanes.grow(tiles)

    def _call_back(self, stint: Stint) -> None:
        """Lets lanes that have just taken over a batch also have the members at which HiGHS would still be long."""
        k, p = stint.k, self._parameters
        new = stint.purpose is Purpose.WORK and self._stages[k] is Stage.LANES and k not in self._longest
        if self.lanes_first or not new or not stint.waiting or self._books.lanes is None:
            return
        rest, alone = self._rest(k), [(members[0], seconds) for members, seconds in self._at_work(k) if len(members) == 1]
        slow = [(member, seconds) for member, seconds in alone if is_called_back(p, rest, seconds, self._costs[k])]
        came = [seconds for member, seconds in slow if self._books.call_back(k, member)]
        self._longest[k] = max(came, default=0.0)
        if came:
            self.words[k] += f", also {len(came)} that HiGHS had for up to {max(came):.3g} s"

    def _time_of(self, k: int, tiles: int) -> float:
        """Returns the seconds in which a first round of members should be through the lanes."""
        return self._costs[k] * min(64.0, self._books.highs.courses[k].waiting / tiles)

    def _help(self, stint: Stint, now: float) -> None:
        """Races the member that lanes have had longest on an idle core, once it has taken longer than HiGHS would."""
        course = self._books.highs.courses[stint.k]
        if course.has_waiting or sum(len(members) for members, _ in course.at_work()) >= self._books.jobs - 1:
            return
        highs = course.seconds_a_member or float("inf")
        slow = [(when, member) for member, when in list(stint.held.items()) if now - when > 2 * highs]
        for _, member in sorted(slow)[:1]:
            if (stint.k, member) not in self._raced:
                self._raced.add((stint.k, member))
                self._books.hand_over(stint.k, member)

    def _others_wait(self, stint: Stint) -> bool:
        return stint.purpose is Purpose.PROBE or any(course.has_waiting for course in self._books.highs.courses)

    def _share(self) -> None:
        """Leaves HiGHS the cores that lanes do not use, and one for what it was handed."""
        allowed = self._books.jobs
        if self._books.stint is not None or self._books.loading:
            allowed -= self._tiles()
        courses = self._books.highs.courses
        if allowed < 1 and self._books.loading:
            allowed = 1  # of one core
        if allowed < 1 and any(courses[k].has_returned() for k in self.handed):
            allowed = 1
        if allowed != self.allowed:
            more = allowed > self.allowed
            self.allowed = allowed
            if more:
                self._books.highs.wake()

    def _tiles(self) -> int:
        """Returns how many cores lanes have, or will have as soon as HiGHS is done with them."""
        lanes, stint = self._books.lanes, self._books.stint
        if stint is not None and stint.purpose is Purpose.WORK and stint.waiting:
            return stint.tiles
        return max(1, lanes.tiles_at_work if lanes is not None else 1)
