"""What is decided from what was measured, in numbers and in words. Nothing is measured and nobody is started here.

A batch begins in HiGHS. Where the rest would take long, a few of its members are tried in lanes, within a share of that time;
lanes then take over the batch, work beside HiGHS from the other end of the queue, or leave it alone. A single member that
takes HiGHS long is raced: the first to bring an answer stops the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

FEW = 4
"""A probe tells nothing before one in so many of its members came to an answer."""


class Stage(StrEnum):
    """What is known of a batch: nothing yet, or who takes its members."""

    OPEN = "open"
    HIGHS = "highs"
    LANES = "lanes"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """Constants of the choice; seconds unless said otherwise.

    least_members: members of a batch that lanes are tried for (default 8). worth: what lanes must save of the time that the
    rest of a batch takes HiGHS, at best, to be loaded, which takes a core 0.3 to 0.4 s (default 0.8). worth_loaded: what they
    must save to be tried where they are loaded (default 0.3). least_iterations: a member takes no
    fewer in lanes, as a rule (default 200: the medians of our tables lie above). probe_members: lanes of a probe (default 8).
    probe_share: of the time that the rest would take HiGHS, what a probe may take (default 0.06), but at least least_probe
    (default 0.25). widening: how much cheaper a member is in a full tile than in a probe's (default 1.25, measured 1.1 to
    1.7). warming: how much faster the last basis may make a member than a cold start, of which the first is one (default 4);
    settling: how much faster members may become than the first of either kind (default 1.5).
    clearly: ratio of costs from which one side takes all (default 1.2). race_after: time in HiGHS after which an idle core
    races a member (default 1). patience: time after which a busy core does (default 10). late: ratio to what was predicted
    at which lanes have broken their promise (default 1.5). long: what a member must have left to do in HiGHS for it to be called
    back once lanes take the rest (default 0.25): a worker is ended by that, and takes about 0.1 to come back if it is needed.
    """

    least_members: int = 8
    worth: float = 0.8
    worth_loaded: float = 0.3
    least_iterations: int = 200
    probe_members: int = 8
    probe_share: float = 0.06
    least_probe: float = 0.25
    widening: float = 1.25
    warming: float = 4.0
    settling: float = 1.5
    clearly: float = 1.2
    race_after: float = 1.0
    patience: float = 10.0
    late: float = 1.5
    long: float = 0.25


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a batch: members that wait, seconds a member takes HiGHS, cores; measured: that it is not a guess."""

    waiting: int
    highs: float
    jobs: int
    measured: bool = True

    @property
    def seconds(self) -> float:
        """Time that HiGHS on all cores would take for it."""
        return self.waiting * self.highs / self.jobs


def may_pay(p: PolicyParameters, rest: Rest, iteration: float, loaded: bool = False) -> tuple[bool, str]:
    """Tells whether trying lanes on a batch could pay, with the reason.

    iteration: seconds of one, a member of a full tile. loaded: that the lanes' libraries are.
    """
    least = p.least_iterations * iteration
    measured = f"HiGHS: {_time(rest.highs)} a member {'measured' if rest.measured else 'or more, by the first that is at work'}"
    if least > rest.highs:
        return False, f"{measured}; lanes would need {_time(least)} for {p.least_iterations} iterations alone"
    worth = p.worth_loaded if loaded else p.worth
    if rest.waiting < p.least_members or rest.seconds < worth:
        return False, f"{measured}; the {rest.waiting} members left are done in {_time(rest.seconds)}, too soon to try lanes"
    saved = rest.seconds - rest.waiting * least / rest.jobs
    if saved < worth:
        return False, f"{measured}; lanes could save {_time(saved)} at best, too little to try them"
    return True, f"{measured}; lanes could be faster"


def cost_in_lanes(p: PolicyParameters, seconds: float, tried: int, iterations: Sequence[int], steps: int) -> tuple[float, float]:
    """Returns the least and the likely seconds a member in full tiles; likely is infinite where a probe came to too few answers.

    seconds: what a probe of `tried` members has taken; iterations: those of the members that came to an answer; steps: those of
    the tile. A probe waits for its slowest member, lanes that are refilled do not: they pay for the mean. A member without an
    answer takes no fewer iterations than it had, and is taken for one that has as many before it, or more where few came to one.
    """
    steps = max(steps, *iterations, 1)
    if tried < 1:
        return 0.0, math.inf
    open_members, an_iteration = tried - len(iterations), seconds / steps / tried / p.widening
    least = (sum(iterations) + open_members * steps) / tried * an_iteration
    if FEW * len(iterations) < tried:
        return least, math.inf
    likely = (sum(iterations) + open_members * max(2.0, tried / len(iterations)) * steps) / tried * an_iteration
    return least, likely


def is_hopeless(p: PolicyParameters, rest: Rest, least: float) -> bool:
    """Tells whether lanes have lost a probe that still goes on, taking no less than so many seconds a member."""
    return rest.measured and least > rest.highs * p.clearly


def who_takes_rest(p: PolicyParameters, rest: Rest, lanes: float, source: str = "by a probe") -> tuple[Stage, str]:
    """Returns who takes the rest of a batch, lanes taking so many seconds a member, and the reason; OPEN: cannot be told yet.

    source: how the cost in lanes was come by, in words.
    """
    if math.isinf(lanes):
        return Stage.HIGHS, f"HiGHS {_time(rest.highs)} a member; lanes came to no answer in the time given to a probe"
    words = f"HiGHS {_time(rest.highs)} a member, lanes {_time(lanes)} {source}"
    if lanes * p.clearly < rest.highs:
        return Stage.LANES, f"{words}: lanes take the rest"
    if not rest.measured:
        return Stage.OPEN, words
    if lanes < rest.highs * p.clearly:
        return Stage.BOTH, f"{words}: both, from the two ends of the queue"
    return Stage.HIGHS, f"{words}: HiGHS takes the rest"


def breaks_promise(p: PolicyParameters, rest: Rest, seconds: float, tiles: int, solved: int, expected: float) -> bool:
    """Tells whether lanes that took over a batch are slower than HiGHS would have been.

    seconds: how long they have worked, on `tiles` cores, and solved so many members; expected: when the first should be done.
    """
    if seconds < p.late * expected:
        return False
    return seconds * tiles > p.late * max(solved, 1) * rest.highs


def is_called_back(p: PolicyParameters, rest: Rest, seconds: float, lanes: float) -> bool:
    """Tells whether lanes that take the rest of a batch also take a member that HiGHS has had for so many seconds.

    lanes: seconds a member in lanes. What HiGHS has left to do is what is missing to its measured time; where there is none, or
    the member has taken longer, as long again as it has taken.
    """
    left = rest.highs - seconds if rest.measured and seconds < rest.highs else seconds
    return left > max(p.long, lanes * p.clearly)


def race_is_due(p: PolicyParameters, seconds: float, idle: bool) -> bool:
    """Tells whether a member that HiGHS has had for so long is raced; idle: on a core that has nothing else to do."""
    return seconds > (p.race_after if idle else p.patience)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
