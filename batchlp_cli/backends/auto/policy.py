"""What is decided from what was measured, in numbers and in words. Nothing is measured and nobody is started here.

A batch begins in HiGHS. Where the rest would take long, a few of its members are tried in lanes, within a share of that time;
lanes then take over the batch, work beside HiGHS from the other end of the queue, or leave it alone. A single member that
takes HiGHS long is raced: the first to bring an answer stops the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What is known of a batch: nothing yet, or who takes its members."""

    OPEN = "open"
    HIGHS = "highs"
    LANES = "lanes"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """Constants of the choice; seconds unless said otherwise.

    least_members: members of a batch that lanes are tried for (default 8). worth: what the rest of a batch must take HiGHS
    for lanes to be tried at all, since loading and compiling them takes about a second (default 4). least_iterations: a
    member takes no fewer in lanes, as a rule (default 200: the medians of algorithm papers and of our tables lie above).
    probe_members: lanes of a probe (default 8). probe_share: of the time that the rest would take HiGHS, what a probe may
    take (default 0.1). widening: how much cheaper a member is in a full tile than in a probe's (default 2, measured 2 to 3).
    clearly: ratio of costs from which one side takes all (default 1.2). race_after: time in HiGHS after which an idle core
    races a member (default 1). patience: time after which a busy core does (default 10). late: ratio to what was predicted
    at which lanes have broken their promise (default 1.5).
    """

    least_members: int = 8
    worth: float = 4.0
    least_iterations: int = 200
    probe_members: int = 8
    probe_share: float = 0.1
    widening: float = 2.0
    clearly: float = 1.2
    race_after: float = 1.0
    patience: float = 10.0
    late: float = 1.5


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a batch: members that wait, seconds a member takes HiGHS, cores."""

    waiting: int
    highs: float
    jobs: int

    @property
    def seconds(self) -> float:
        """Time that HiGHS on all cores would take for it."""
        return self.waiting * self.highs / self.jobs


def may_pay(p: PolicyParameters, rest: Rest, iteration: float) -> tuple[bool, str]:
    """Tells whether trying lanes on a batch could pay, with the reason. iteration: seconds of one, a member of a full tile."""
    least = p.least_iterations * iteration
    measured = f"HiGHS: {_time(rest.highs)} a member measured"
    if least > rest.highs:
        return False, f"{measured}; lanes would need {_time(least)} for {p.least_iterations} iterations alone"
    if rest.waiting < p.least_members or rest.seconds < p.worth:
        return False, f"{measured}; the {rest.waiting} members left are done in {_time(rest.seconds)}, too soon to try lanes"
    return True, f"{measured}; lanes could be faster"


def after_probe(p: PolicyParameters, rest: Rest, seconds: float, tried: int, solved: int) -> tuple[Stage, float, str]:
    """Returns who takes the rest, seconds a member in lanes (infinite if unknown), and the reason.

    seconds: what a probe of `tried` members took, of which `solved` came to an answer.
    """
    measured = f"HiGHS {_time(rest.highs)} a member"
    if 2 * solved < tried or solved == 0:
        return Stage.HIGHS, float("inf"), f"{measured}; in lanes only {solved} of {tried} were done after {_time(seconds)}"
    lanes = seconds / solved / p.widening
    words = f"{measured}, lanes {_time(lanes)} a member (from a probe of {tried})"
    if lanes * p.clearly < rest.highs:
        return Stage.LANES, lanes, f"{words}: lanes take the rest"
    if lanes < rest.highs * p.clearly:
        return Stage.BOTH, lanes, f"{words}: both, from the two ends of the queue"
    return Stage.HIGHS, lanes, f"{words}: HiGHS takes the rest"


def breaks_promise(p: PolicyParameters, rest: Rest, seconds: float, tiles: int, solved: int, expected: float) -> bool:
    """Tells whether lanes that took over a batch are slower than HiGHS would have been.

    seconds: how long they have worked, on `tiles` cores, and solved so many members; expected: when the first should be done.
    """
    if seconds < p.late * expected:
        return False
    return seconds * tiles > p.late * max(solved, 1) * rest.highs


def race_is_due(p: PolicyParameters, seconds: float, idle: bool) -> bool:
    """Tells whether a member that HiGHS has had for so long is raced; idle: on a core that has nothing else to do."""
    return seconds > (p.race_after if idle else p.patience)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
