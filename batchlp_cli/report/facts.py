"""What a run came to: counts, times, groups, accuracy and failures, from its rows and its report. No text is made here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain

from batchlp_cli.report.failures import Failure, group_failures
from batchlp_cli.report.outcome import Outcome, count, number

Report = Mapping[str, object]
QUANTILES = (0.5, 0.9, 0.99, 1.0)
MOST_SLOW = 10


@dataclass(frozen=True, slots=True)
class Tally:
    """How many instances have a status, and how many of them with proof."""

    status: str
    count: int
    verified: int


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """A group: members with one matrix, who solved them in what time (seconds, summed over members), and why so."""

    group: str
    members: int
    verified: int
    rows: int
    columns: int
    nonzeros: int
    backends: str
    solve_time: float
    iterations: int
    second_tries: int
    choice: str


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles (QUANTILES) of one measure over verified optima, and of how many."""

    measure: str
    count: int
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """Instances that one backend answered with one method, and their time in seconds, summed."""

    backend: str
    method: str
    count: int
    solve_time: float
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """All that a report tells of one run. inputs, wall_time: None where no report.json says so; missing: inputs without row.

    state: finished, interrupted, or unfinished (a part of the run has left no report). reports: how many report files. study: of
    which kind, if rows are those of a study rather than of inputs.
    """

    label: str
    state: str
    inputs: int | None
    rows: int
    kept: int
    verified: int
    missing: int
    tallies: tuple[Tally, ...]
    wall_time: float | None
    stage_times: dict[str, float]
    reports: int
    shards: tuple[int, int] | None
    solve_time: float
    retried: int
    retry_time: float
    warned: int
    relaxed: int
    duplicates: int
    shares: tuple[Share, ...]
    groups: tuple[GroupFacts, ...]
    slowest: tuple[Outcome, ...]
    failures: tuple[Failure, ...]
    accuracy: tuple[Spread, ...]
    settings: dict[str, object]
    machine: dict[str, object]
    versions: dict[str, object]
    peak_memory_bytes: int | None
    notes: tuple[str, ...]
    study: str = ""

    @property
    def unverified(self) -> int:
        """Rows without a proved verdict."""
        return self.rows - self.verified

    @property
    def tolerance(self) -> float | None:
        """The relative tolerance of the referee, None where no report tells."""
        return number(self.settings.get("tol"))


def gather(
    label: str, outcomes: Sequence[Outcome], reports: Sequence[tuple[str, Report]], notes: Sequence[str], study: str = ""
) -> RunFacts:
    """Returns the facts of a run from its outcomes and its reports, each with its tag ("" or "-i-of-n"); study: of which kind."""
    plain = [report for _, report in reports]
    inputs = sum(count(report.get("inputs")) for report in plain) if plain else None
    shards = _shards(reports)
    whole = bool(plain) and (shards is None or shards[0] == shards[1])
    states = {str(report.get("state")) for report in plain}
    state = "interrupted" if "interrupted" in states else "finished" if whole else "unfinished"
    walls = [wall for wall in (number(report.get("wall_time")) for report in plain) if wall is not None]
    solved = [o for o in outcomes if o.solved]
    retried = [o for o in solved if o.tries > 1]
    peaks = [count(report.get("peak_memory_bytes")) for report in plain]
    return RunFacts(
        label=label,
        state=state,
        inputs=inputs,
        rows=len(outcomes),
        kept=sum(count(report.get("kept")) for report in plain),
        verified=sum(o.verified for o in outcomes),
        missing=max(0, (inputs or 0) - len(outcomes)),
        tallies=_tallies(outcomes),
        wall_time=max(walls, default=None),
        stage_times=_stages(plain),
        reports=len(plain),
        shards=shards,
        solve_time=sum(o.solve_time for o in solved),
        retried=len(retried),
        retry_time=sum(o.retry_time for o in retried),
        warned=sum(o.warnings > 0 for o in outcomes),
        relaxed=sum(o.relaxed for o in outcomes),
        duplicates=sum(o.duplicate for o in outcomes),
        shares=_shares(solved),
        groups=_groups(outcomes, plain),
        slowest=tuple(nlargest(MOST_SLOW, solved, key=lambda o: o.solve_time)),
        failures=group_failures(outcomes),
        accuracy=tuple(_accuracy(outcomes)),
        settings=_first(plain, "settings"),
        machine=_first(plain, "machine"),
        versions=_first(plain, "versions"),
        peak_memory_bytes=max(peaks, default=0) or None,
        notes=tuple(notes),
        study=study,
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Returns the smallest value of a sorted sequence that at least this share of it does not exceed."""
    rank = -int(-share * len(ordered) // 1)  # the ceiling
    return ordered[min(len(ordered), max(1, rank)) - 1]


def _shards(reports: Sequence[tuple[str, Report]]) -> tuple[int, int] | None:
    """Returns (reports that are there, shards that there are), None where a run was not divided."""
    counts = [int(tag.rpartition("-")[2]) for tag, _ in reports if tag]
    return (len(counts), max(counts)) if counts else None


def _tallies(outcomes: Iterable[Outcome]) -> tuple[Tally, ...]:
    both = Counter((o.status, o.verified) for o in outcomes)
    statuses = {status for status, _ in both}
    tallies = [Tally(s, both[s, True] + both[s, False], both[s, True]) for s in statuses]
    return tuple(sorted(tallies, key=lambda t: (-t.count, t.status)))


def _stages(reports: Iterable[Report]) -> dict[str, float]:
    """Returns the seconds of each stage, summed over reports."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in reports:
        for stage, value in _mapping(report.get("stage_times")).items():
            seconds[stage] += number(value) or 0.0
    return dict(seconds)


def _shares(solved: Iterable[Outcome]) -> tuple[Share, ...]:
    parts: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for o in solved:
        parts[o.backend, o.method].append(o)
    shares = [Share(*key, len(p), sum(o.solve_time for o in p), sum(o.iterations for o in p)) for key, p in parts.items()]
    return tuple(sorted(shares, key=lambda s: -s.solve_time))


def _groups(outcomes: Iterable[Outcome], reports: Iterable[Report]) -> tuple[GroupFacts, ...]:
    """Returns the groups by time, longest first; what rows cannot tell (the choice) is taken from the reports."""
    lists = chain.from_iterable(g for g in (report.get("groups") for report in reports) if isinstance(g, list))
    told = {str(entry.get("group")): entry for entry in lists if isinstance(entry, dict)}
    members: defaultdict[str, list[Outcome]] = defaultdict(list)
    for o in outcomes:
        if o.group:
            members[o.group].append(o)
    groups = []
    for name, parts in members.items():
        by = Counter(o.backend for o in parts if o.backend)
        backends = next(iter(by)) if len(by) == 1 else ", ".join(f"{backend} {n}" for backend, n in by.most_common())
        first, solved = parts[0], [o for o in parts if o.solved]
        sums = sum(o.solve_time for o in solved), sum(o.iterations for o in solved), sum(o.tries > 1 for o in solved)
        sizes = first.rows, first.columns, first.nonzeros
        choice = str(told.get(name, {}).get("choice") or "")
        groups.append(GroupFacts(name, len(parts), sum(o.verified for o in parts), *sizes, backends, *sums, choice))
    return tuple(sorted(groups, key=lambda g: (-g.solve_time, g.group)))


def _accuracy(outcomes: Sequence[Outcome]) -> Iterable[Spread]:
    optima = [o for o in outcomes if o.verified and o.status == "optimal"]
    for measure, values in (
        ("primal residual", [o.primal for o in optima]),
        ("dual residual", [o.dual for o in optima]),
        ("duality gap", [o.gap for o in optima]),
    ):
        ordered = sorted(v for v in values if v is not None)
        if ordered:
            yield Spread(measure, len(ordered), tuple(quantile(ordered, share) for share in QUANTILES))


def _first(reports: Iterable[Report], key: str) -> dict[str, object]:
    return next((dict(found) for found in (_mapping(report.get(key)) for report in reports) if found), {})


def _mapping(value: object) -> dict[str, object]:
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {}
