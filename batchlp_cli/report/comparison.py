"""Runs side by side over the instances that all of them have: who is faster, by how much, and where answers differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from batchlp_cli.report.facts import RunFacts
from batchlp_cli.report.outcome import Outcome
from batchlp_cli.report.profile import SHORTEST, SHOWN_FACTORS, Profile, performance_profiles, shifted_mean
from batchlp_cli.report.words import plural

SHIFT = 1e-3
"""Shift of the geometric mean in seconds: half of the LPs of a usual batch take less."""

SLACK = 10.0
"""Verified objectives may differ by this many tolerances (relative to 1 + value) before they count as a difference: within its
tolerance of the constraints an objective may be off by more than the tolerance itself."""


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a comparison, over common instances only. mean_time: shifted geometric mean over what all runs verified."""

    label: str
    verified: int
    wall_time: float | None
    solve_time: float
    fastest: int
    mean_time: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """An instance on which runs do not agree, in words."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What several runs come to on their common instances. apart: settings or machines that differ, in words."""

    count: int
    both: int
    sides: tuple[Side, ...]
    profiles: tuple[Profile, ...]
    differences: tuple[Difference, ...]
    apart: tuple[str, ...]

    def sentences(self) -> Iterator[str]:
        """Yields what the comparison says, most important first."""
        if self.count == 0:
            yield "The runs have no instance in common: names are paths relative to what was given, so give the same folder."
            return
        if self.differences:
            yield f"The runs disagree on {plural(len(self.differences), 'instance')}."
        else:
            yield f"On {plural(self.count, 'common instance')}, no two verified answers disagree."
        if len({side.verified for side in self.sides}) > 1:
            counts = ", ".join(f"{side.label} {side.verified:,}" for side in self.sides)
            yield f"Verified answers: {counts} of {self.count:,}."
        first, *others = self.sides
        for other in others:
            if first.mean_time and other.mean_time:
                yield f"{_faster(first, other)} over {plural(self.both, 'instance')} that all runs verified."
        yield from self.apart

    def record(self) -> dict[str, object]:
        """Returns the comparison as plain values; a profile by the factors of SHOWN_FACTORS."""
        shares = {p.label: {str(f): p.at(f) for f in SHOWN_FACTORS} for p in self.profiles}
        sides, differences = [asdict(side) for side in self.sides], [asdict(d) for d in self.differences]
        counts = {"common": self.count, "verified_by_all": self.both}
        words = {"sentences": list(self.sentences()), "apart": list(self.apart)}
        return {"comparison": [side.label for side in self.sides], **counts, **words} | {
            "sides": sides,
            "profiles": shares,
            "differences": differences,
        }


def compare(facts: Sequence[RunFacts], pairs: Sequence[tuple[Outcome, ...]]) -> Comparison:
    """Returns how runs compare on their common instances, given as one tuple of outcomes an instance."""
    times = [[o.solve_time if o.verified else math.inf for o in own] for own in zip(*pairs, strict=True)] or [[]] * len(facts)
    solved_by_all = [k for k, outcomes in enumerate(pairs) if all(o.verified for o in outcomes)]
    best = [min(max(t, SHORTEST) for t in column) for column in zip(*times, strict=True)]
    sides = []
    for k, run in enumerate(facts):
        own = [outcomes[k] for outcomes in pairs]
        wins = sum(math.isfinite(t) and max(t, SHORTEST) <= b for t, b in zip(times[k], best, strict=True))
        mean = shifted_mean([times[k][i] for i in solved_by_all], SHIFT)
        total = sum(o.solve_time for o in own)
        sides.append(Side(run.label, sum(o.verified for o in own), run.wall_time, total, wins, mean))
    tolerance = max((run.tolerance or 0.0 for run in facts), default=0.0)
    differences = tuple(d for outcomes in pairs for d in _differences(outcomes, [f.label for f in facts], tolerance))
    profiles = performance_profiles([run.label for run in facts], times)
    return Comparison(len(pairs), len(solved_by_all), tuple(sides), profiles, differences, tuple(_apart(facts)))


def _differences(outcomes: Sequence[Outcome], labels: Sequence[str], tolerance: float) -> Iterator[Difference]:
    """Yields at most one difference: verified statuses that contradict each other, or objectives further apart than rounding."""
    proved = [(label, o) for label, o in zip(labels, outcomes, strict=True) if o.verified]
    if len({o.status for _, o in proved}) > 1:
        yield Difference(outcomes[0].name, "; ".join(f"{o.status} in {label}" for label, o in proved))
        return
    values = [(label, o.objective) for label, o in proved if o.objective is not None]
    numbers = [value for _, value in values]
    if values and max(numbers) - min(numbers) > SLACK * tolerance * (1 + max(map(abs, numbers))):
        yield Difference(outcomes[0].name, "objectives " + ", ".join(f"{value:.10g} in {label}" for label, value in values))


def _apart(facts: Sequence[RunFacts]) -> Iterator[str]:
    """Yields what differs between the runs beside the backend, so that nobody compares unlike things unknowingly."""
    for name in ("tol", "time_limit", "iteration_limit", "jobs", "fallback"):
        values = [run.settings.get(name) for run in facts]
        if any(value != values[0] for value in values) and all(run.settings for run in facts):
            shown = ", ".join(f"{value} in {run.label}" for value, run in zip(values, facts, strict=True))
            yield f"The setting {name} differs: {shown}."
    machines = [{k: v for k, v in run.machine.items() if k != "memory_bytes"} for run in facts if run.machine]
    if any(machine != machines[0] for machine in machines):
        yield "The runs were made on different machines."
    versions = [dict(run.versions) for run in facts if run.versions]
    common = set.intersection(*map(set, versions)) if versions else set()  # a run names what it loaded
    if differing := [name for name in sorted(common) if len({str(version[name]) for version in versions}) > 1]:
        yield f"The runs were made with different versions of {', '.join(differing)}."
    for run in facts:
        if any(share.backend == "pdhg" for share in run.shares) and len(facts) > 1:
            yield (
                f"In {run.label} members share lanes: the time of a member runs while its neighbours work too, so sums exceed "
                "the wall time; compare wall times where whole batches count."
            )


def _faster(first: Side, other: Side) -> str:
    assert first.mean_time
    assert other.mean_time
    ratio = other.mean_time / first.mean_time
    quick, slow = (first, other) if ratio >= 1 else (other, first)
    factor = max(ratio, 1 / ratio)
    if factor < 1.05:
        return f"{first.label} and {other.label} take the same time within 5 % (shifted geometric mean)"
    return f"{quick.label} is {factor:.3g} times faster than {slow.label} (shifted geometric mean of times)"
