"""The parts of the page about one run, each made of a heading, what there is to see, and the numbers beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from batchlp_cli.report.concerns import Concern, Severity, concerns, headline
from batchlp_cli.report.facts import QUANTILES, RunFacts
from batchlp_cli.report.markup import Markup, image, joined, table, tag
from batchlp_cli.report.occupancy import Occupancy
from batchlp_cli.report.outcome import Outcome
from batchlp_cli.report.studied import Study
from batchlp_cli.report.trace import Trace
from batchlp_cli.report.words import bytes_in_words, listed, percent, plural, seconds_in_words, value_in_words

MOST_ROWS, MOST_GROUPS, MOST_CONCERNS, MOST_TRACES = 200, 25, 20, 50
SEVERITY_WORDS = {Severity.MISSING: "missing", Severity.COSTLY: "costly", Severity.NOTED: "note"}


class Shown(Protocol):
    """What a page needs to know of a run."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """A row each."""

    @property
    def facts(self) -> RunFacts:
        """What they come to."""

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Recorded members."""

    @property
    def lanes(self) -> tuple[Occupancy, ...]:
        """Lanes over time, one a report that tells of them."""

    @property
    def study(self) -> Study | None:
        """What a study came to, None for a run."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its anchor, its heading and its content."""

    anchor: str
    heading: str
    content: Markup

    def markup(self) -> Markup:
        """Returns the part as HTML."""
        return tag("section", tag("h2", self.heading, id=self.anchor), self.content)


Pictures = Mapping[str, Markup]
"""Figures of a run by name (stages, members, traces, lanes); one that could not be drawn is missing."""


def answer(run: Shown) -> Markup:
    """Returns the first screen: proved or not, how long, where the time went, what to look at."""
    facts = run.facts
    proved, sentence = headline(facts)
    mark = tag("span", "✓ " if proved else "✗ ", class_="mark", aria_hidden="true")
    first = tag("p", mark, sentence, class_="answer good" if proved else "answer bad")
    return joined(first, tag("p", _where_time_went(facts)), _tiles(facts), _look(concerns(facts)))


def sections(run: Shown, pictures: Pictures, prefix: str) -> Iterator[Section]:
    """Yields the parts about a run; prefix makes anchors unique."""
    facts = run.facts
    yield Section(f"{prefix}time", "Where the time went", joined(*_time(facts, pictures)))
    if run.study is not None:
        yield from _study(run.study, facts, prefix)
        return
    yield Section(f"{prefix}members", "Members", joined(*_members(facts, pictures)))
    if run.traces:
        yield Section(f"{prefix}traces", "Residuals against iterations", joined(*_traces(run, pictures)))
    if run.lanes:
        yield Section(f"{prefix}lanes", "Lanes in use", joined(*_lanes(run, pictures)))
    yield Section(f"{prefix}accuracy", "Accuracy", _accuracy(facts))
    yield Section(f"{prefix}groups", "Groups", joined(*_groups(facts)))
    if facts.failures:
        yield Section(f"{prefix}failures", "Without a verified answer", _failures(facts))
    yield Section(f"{prefix}rows", "Rows", joined(*_rows(run.outcomes)))
    yield Section(f"{prefix}made", "How it was made", _made(facts))


def _study(study: Study, facts: RunFacts, prefix: str) -> Iterator[Section]:
    headings, rows = study.model_cells()
    models = table(headings, rows[:MOST_ROWS], _shown(len(rows[:MOST_ROWS]), len(rows), "model"), text_columns=3)
    drawn = (image(svg, f"Candidates of {name}", f"Candidates of {name}, best first.") for name, svg in study.pictures)
    yield Section(f"{prefix}models", "Models", joined(models, *drawn))
    headings, rows = study.found_cells()
    found = table(
        headings, rows, f"{_shown(len(rows), study.count, 'row')}; `batchlp report DIR --csv` writes all", text_columns=2
    )
    yield Section(f"{prefix}rows", "Columns", found)
    if facts.failures:
        yield Section(f"{prefix}failures", "Without a verified answer", _failures(facts))
    yield Section(f"{prefix}made", "How it was made", _made(facts))


def _shown(shown: int, count: int, noun: str) -> str:
    return plural(count, noun) if shown == count else f"{shown:,} of {plural(count, noun)}"


def _where_time_went(facts: RunFacts) -> str:
    if facts.wall_time is None:
        return f"{seconds_in_words(facts.solve_time)} of solving, summed over members; the wall time is not known."
    total = sum(facts.stage_times.values())
    parts = sorted(facts.stage_times.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{stage} {percent(seconds / total)}" for stage, seconds in parts if total and seconds >= 0.005 * total)
    longest = " (the longest of the shards)" if facts.reports > 1 else ""
    return f"It took {seconds_in_words(facts.wall_time)}{longest}: {shares}."


def _tiles(facts: RunFacts) -> Markup:
    inputs = facts.rows if facts.inputs is None else max(facts.inputs, facts.rows)
    tiles = [(f"{inputs:,}", "rows" if facts.study else "inputs"), (f"{facts.verified:,}", "verified answers")]
    tiles += [(f"{tally.count:,}", tally.status.replace("_", " ")) for tally in facts.tallies[:4]]
    tiles.append((seconds_in_words(facts.wall_time), "wall time"))
    if facts.wall_time and facts.reports == 1 and facts.rows > facts.kept and not facts.study:
        rate = (facts.rows - facts.kept) / facts.wall_time
        tiles.append((f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}", "LPs a second, all stages"))
    return tag("ul", *(tag("li", tag("b", number), tag("span", words)) for number, words in tiles), class_="tiles")


def _look(found: Sequence[Concern]) -> Markup:
    items = [tag("li", tag("b", SEVERITY_WORDS[c.severity]), " ", c.text, class_=str(c.severity)) for c in found[:MOST_CONCERNS]]
    if len(found) > MOST_CONCERNS:
        items.append(tag("li", f"and {len(found) - MOST_CONCERNS} more kinds, listed below"))
    return joined(tag("h3", "What to look at"), tag("ul", *items, class_="look"))


def _picture(pictures: Pictures, name: str, caption: str) -> Markup:
    drawn = pictures.get(name)
    return Markup("") if drawn is None else tag("figure", drawn, tag("figcaption", caption))


def _time(facts: RunFacts, pictures: Pictures) -> Iterator[Markup]:
    yield _picture(
        pictures, "stages", "Wall time of the main thread; reading and solving run in other processes or threads beside it."
    )
    total = sum(facts.stage_times.values())
    if total:
        rows = [(stage, seconds_in_words(seconds), percent(seconds / total)) for stage, seconds in facts.stage_times.items()]
        yield table(("stage", "time", "share"), rows, "Stages" + (", summed over shards" if facts.reports > 1 else ""))
    shares = [
        (f"{s.backend} {s.method}", f"{s.count:,}", seconds_in_words(s.solve_time), f"{s.iterations:,}") for s in facts.shares
    ]
    if shares:
        caption = "Who solved; times are summed over members, which work side by side"
        yield table(("solved by", "members", "solve time", "iterations"), shares, caption)


def _members(facts: RunFacts, pictures: Pictures) -> Iterator[Markup]:
    yield _picture(pictures, "members", "Each member is one mark above and one below, at the same place.")
    slow = [
        (o.name, o.status, f"{o.backend} {o.method}", seconds_in_words(o.solve_time), f"{o.iterations:,}") for o in facts.slowest
    ]
    if slow:
        yield table(("slowest members", "status", "solved by", "time", "iterations"), slow, "", text_columns=3)
    else:
        yield tag("p", "No member was solved.")


def _traces(run: Shown, pictures: Pictures) -> Iterator[Markup]:
    shown = run.traces[:MOST_TRACES]
    yield _picture(
        pictures,
        "traces",
        "Relative errors at every check; those below a ten-thousandth of the tolerance are drawn there; ticks are restarts.",
    )
    rows = [
        (
            *(t.name, f"{t.iteration[-1]:,.0f}", f"{len(t.iteration):,}", f"{t.restarts[-1]:,.0f}"),
            *(value_in_words(series[-1], ".1e") for series in (t.primal, t.dual, t.gap, t.omega)),
        )
        for t in shown
    ]
    headings = ("member", "iterations", "checks", "restarts", "primal", "dual", "gap", "primal weight")
    caption = f"At the last check; {len(shown)} of {plural(len(run.traces), 'recorded member')}"
    yield table(headings, rows, caption)


def _lanes(run: Shown, pictures: Pictures) -> Iterator[Markup]:
    yield _picture(
        pictures, "lanes", "A lane without a member still costs time; a tile is narrowed when half of its lanes are idle."
    )
    rows = []
    for k, lanes in enumerate(run.lanes):
        seconds = lanes.span * len(lanes.busy)
        numbers = sum(lanes.busy) / seconds, max(lanes.width) / lanes.span
        rows.append((f"report {k + 1}", seconds_in_words(seconds), *(f"{v:.1f}" for v in numbers), percent(lanes.share)))
    yield table(("", "time", "lanes in use, mean", "most lanes", "in use"), rows, "Lanes")


def _accuracy(facts: RunFacts) -> Markup:
    if not facts.accuracy:
        return tag("p", "There is no verified optimum to measure.")
    names = tuple({0.5: "median", 1.0: "largest"}.get(q, f"{100 * q:.0f} % below") for q in QUANTILES)
    rows = [(s.measure, f"{s.count:,}", *(f"{v:.1e}" for v in s.quantiles)) for s in facts.accuracy]
    tolerance = value_in_words(facts.tolerance, ".0e")
    caption = f"Relative, of verified optima, measured by the referee on the original data; the tolerance is {tolerance}"
    return table(("measure", "optima", *names), rows, caption)


def _groups(facts: RunFacts) -> Iterator[Markup]:
    rows = [
        (
            *(g.group, g.choice or g.backends),
            *(f"{v:,}" for v in (g.members, g.verified, g.rows, g.columns, g.nonzeros)),
            *(seconds_in_words(g.solve_time), f"{g.second_tries:,}"),
        )
        for g in facts.groups[:MOST_GROUPS]
    ]
    headings = ("group", "choice", "members", "verified", "rows", "columns", "nonzeros", "solve time", "second tries")
    if rows:
        more = f"; the {MOST_GROUPS} that took longest of {len(facts.groups):,}" if len(facts.groups) > MOST_GROUPS else ""
        yield table(headings, rows, f"Members of a group share a matrix; times are summed over members{more}", text_columns=2)
    else:
        yield tag("p", "There is no group: no input was readable.")


def _failures(facts: RunFacts) -> Markup:
    rows = [(f.status.replace("_", " "), f.reason, listed(f.examples, f.count), f"{f.count:,}") for f in facts.failures]
    return table(("status", "reason (of the first)", "inputs", "count"), rows[:MOST_ROWS], "", text_columns=3)


def _rows(outcomes: Sequence[Outcome]) -> Iterator[Markup]:
    order = sorted(outcomes, key=lambda o: (o.verified, -o.solve_time, o.name))[:MOST_ROWS]
    rows = [
        (
            *(o.name, o.status.replace("_", " "), "yes" if o.verified else tag("b", "no"), o.remark),
            *(value_in_words(o.objective, ".10g"), value_in_words(o.gap, ".1e"), f"{o.iterations:,}"),
            seconds_in_words(o.solve_time) if o.solved else "-",
        )
        for o in order
    ]
    headings = ("name", "status", "verified", "remark", "objective", "gap", "iterations", "time")
    shown = "All rows" if len(order) == len(outcomes) else f"{len(order)} of {len(outcomes):,} rows"
    caption = f"{shown}, those without a verified answer first, then by time; `batchlp report DIR --csv` writes all of them"
    yield table(headings, rows, caption, text_columns=4)


def _made(facts: RunFacts) -> Markup:
    told = {"tool": ", ".join(f"{k} {v}" for k, v in facts.versions.items())}
    machine = {k: bytes_in_words(v) if k == "memory_bytes" and isinstance(v, int) else str(v) for k, v in facts.machine.items()}
    told["machine"] = ", ".join(f"{k.removesuffix('_bytes')} {v}" for k, v in machine.items())
    told |= {key: "none" if value is None else str(value) for key, value in facts.settings.items()}
    told["peak memory of the main process"] = bytes_in_words(facts.peak_memory_bytes)
    told["state"] = facts.state
    pairs = [joined(tag("dt", key.replace("_", " ")), tag("dd", value)) for key, value in told.items() if value]
    return tag("dl", *pairs)
