"""The first screen of a report in words: whether all is proved, how long it took, and what deserves a look. Only facts with
numbers, worst first; where nothing stands out, that is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from batchlp_cli.report.facts import RunFacts
from batchlp_cli.report.words import listed, percent, plural, seconds_in_words

HEAVY_MEMBER, FEWEST_MEMBERS = 0.25, 8
"""A single member stands out when it takes this share of the time of at least so many."""

HEAVY_STAGE = 0.4
"""A stage that is not solving stands out from this share of the wall time, if it takes longer than HEAVY_SECONDS."""

HEAVY_SECONDS = 2.0

HEAVY_RETRIES = 0.1
"""Second tries stand out from this share of all solving."""


BUSY = 0.5
"""Getting ready stands out when members' times, summed, are less than this share of the stage that solves them."""


class Severity(StrEnum):
    """How much a concern matters: an answer is missing; time or certainty was lost; good to know."""

    MISSING = "missing"
    COSTLY = "costly"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Concern:
    """One sentence about a run, and how much it matters."""

    severity: Severity
    text: str


def headline(facts: RunFacts) -> tuple[bool, str]:
    """Returns whether every input has a proved verdict, and that in a sentence."""
    if facts.rows == 0:
        return False, "No instance has a row yet."
    whole = facts.missing == 0 and facts.state == "finished"
    what = f"row of the {facts.study}" if facts.study else "instance"
    whats = f"rows of the {facts.study}" if facts.study else "instances"
    if facts.unverified == 0 and whole:
        return True, f"All {facts.rows:,} {whats} have a verified answer." if facts.rows > 1 else f"The {what} is verified."
    if facts.unverified == 0:
        lacking = (
            plural(facts.missing, "input has", "inputs have") + " no row yet" if facts.missing else "the run is not complete"
        )
        return False, f"All {plural(facts.rows, 'row')} are verified, but {lacking}."
    lacking = f", and {plural(facts.missing, 'input has', 'inputs have')} no row" if facts.missing else ""
    noun, nouns = ("row", "rows") if facts.missing else (what, whats)
    return False, f"{facts.unverified:,} of {plural(facts.rows, noun, nouns)} have no verified answer{lacking}."


def concerns(facts: RunFacts) -> list[Concern]:
    """Returns what deserves a look, worst first; never empty."""
    order = list(Severity)
    found = [*_missing(facts), *_costly(facts), *_noted(facts)]
    found.sort(key=lambda concern: order.index(concern.severity))
    return found or [Concern(Severity.NOTED, "Nothing stands out.")]


def _missing(facts: RunFacts) -> Iterator[Concern]:
    go_on = "go on with --resume"
    if facts.state == "interrupted":
        yield Concern(Severity.MISSING, f"The run was interrupted; what was finished is here: {go_on}.")
    if facts.reports == 0:
        yield Concern(
            Severity.MISSING,
            f"There is no report.json: the run still works or was killed, and times of stages are not known; if it was: {go_on}.",
        )
    if facts.shards is not None and facts.shards[0] < facts.shards[1]:
        yield Concern(Severity.MISSING, f"Only {facts.shards[0]} of {facts.shards[1]} shards have left a report.")
    if facts.missing:
        yield Concern(Severity.MISSING, f"{plural(facts.missing, 'input has', 'inputs have')} no row.")
    for failure in facts.failures:
        names = listed(failure.examples[:3], failure.count)
        yield Concern(Severity.MISSING, f"{failure.status.replace('_', ' ')} ({failure.count:,}): {failure.reason} [{names}]")


def _costly(facts: RunFacts) -> Iterator[Concern]:
    total = facts.solve_time
    solved = sum(share.count for share in facts.shares)
    if facts.slowest and solved >= FEWEST_MEMBERS and facts.slowest[0].solve_time > HEAVY_MEMBER * total > 0:
        slow = facts.slowest[0]
        share, took = percent(slow.solve_time / total), seconds_in_words(slow.solve_time)
        yield Concern(Severity.COSTLY, f"{slow.name} alone took {took}, {share} of the solve time of all members.")
    if facts.retried and total > 0 and facts.retry_time > HEAVY_RETRIES * total:
        cost = f"{seconds_in_words(facts.retry_time)}, {percent(facts.retry_time / total)} of all solve time"
        yield Concern(Severity.COSTLY, f"{plural(facts.retried, 'instance')} needed a second try, which took {cost}.")
    wall = sum(facts.stage_times.values())
    solving = facts.stage_times.get("solve", 0.0)
    if solving > 1.0 and not facts.study and not facts.kept and facts.reports == 1 and total < BUSY * solving:
        why = " (kernels were compiled)" if any("compiled in" in g.choice for g in facts.groups) else ""
        took = f"{seconds_in_words(solving)}, of which members account for at most {seconds_in_words(total)}"
        yield Concern(
            Severity.COSTLY, f"The stage 'solve' took {took}: the rest went into getting ready, or into measuring{why}."
        )
    for stage, seconds in facts.stage_times.items():
        if stage not in ("start", "solve") and seconds > max(HEAVY_SECONDS, HEAVY_STAGE * wall):
            took = f"{seconds_in_words(seconds)}, {percent(seconds / wall)} of the wall time"
            yield Concern(Severity.COSTLY, f"The stage '{stage}' took {took}: more than is usual beside solving.")


def _noted(facts: RunFacts) -> Iterator[Concern]:
    if facts.retried and not facts.retry_time > HEAVY_RETRIES * facts.solve_time:
        yield Concern(Severity.NOTED, f"{plural(facts.retried, 'instance')} needed a second try.")
    for tally in facts.tallies:
        if tally.status in ("infeasible", "unbounded") and tally.verified:
            proof = "certificate" if tally.verified == 1 else "certificates"
            yield Concern(Severity.NOTED, f"{plural(tally.verified, 'instance')} proved {tally.status}, with checked {proof}.")
    if facts.relaxed:
        yield Concern(
            Severity.NOTED,
            f"{plural(facts.relaxed, 'model' if facts.study else 'instance')} had integer columns, which were relaxed.",
        )
    if facts.warned:
        yield Concern(Severity.NOTED, f"{plural(facts.warned, 'input')} came with warnings of the reader; the rows hold them.")
    if facts.duplicates:
        yield Concern(Severity.NOTED, f"{plural(facts.duplicates, 'input names', 'inputs name')} the same file as another one.")
    if facts.kept:
        kept = plural(facts.kept, "row was", "rows were")
        yield Concern(Severity.NOTED, f"{kept} kept from an earlier run; times of stages are those of the last run.")
    yield from (Concern(Severity.NOTED, f"{note}.") for note in facts.notes)
