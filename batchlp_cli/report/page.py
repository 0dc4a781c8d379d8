"""One self-contained page: no script, no network, all names escaped; without matplotlib it says how to get figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import ModuleType

from batchlp_cli import __version__
from batchlp_cli.report.comparison import Comparison
from batchlp_cli.report.markup import Markup, joined, table, tag
from batchlp_cli.report.profile import SHOWN_FACTORS
from batchlp_cli.report.sections import Section, Shown, answer, sections
from batchlp_cli.report.style import CSS
from batchlp_cli.report.words import percent, plural, seconds_in_words, value_in_words

NO_FIGURES = "the page has no figures, as matplotlib is not installed: pip install 'batchlp[report]'"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Forbids the browser scripts and every request, whatever a page may hold."""

MOST_DIFFERENCES = 200


def make_page(runs: Sequence[Shown], comparison: Comparison | None, pairs: Sequence[Sequence[float]] = ()) -> tuple[str, str]:
    """Returns the page of one run or of several, and a note for the user, empty if there is nothing to say.

    pairs: solve times [runs][instances] of what all runs verified.
    """
    figures = _figures()
    note = "" if figures is not None else NO_FIGURES
    names = ", ".join(run.facts.label for run in runs)
    parts = [tag("h1", f"batchlp report: {names}")]
    if comparison is None:
        parts += _single(runs[0], figures)
    else:
        parts += _several(runs, comparison, pairs, figures)
    if note:
        parts.append(tag("p", note[0].upper() + note[1:] + "."))
    parts.append(
        tag("footer", f"Made by batchlp {__version__}. Residuals, gaps and proofs are the referee's, on the original data.")
    )
    return document(f"batchlp report: {names}", parts), note


def document(title: str, parts: Sequence[Markup]) -> str:
    """Returns a whole HTML document."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(CSS)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', tag('main', *parts)), lang='en')}\n"


def _figures() -> ModuleType | None:
    try:
        return import_module("batchlp_cli.report.figures")
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "matplotlib":
            return None
        raise


def _single(run: Shown, figures: ModuleType | None) -> Iterator[Markup]:
    found = list(sections(run, pictures(run, figures, "run"), ""))
    yield answer(run)
    yield _contents(found)
    yield from (section.markup() for section in found)


def _several(
    runs: Sequence[Shown], comparison: Comparison, pairs: Sequence[Sequence[float]], figures: ModuleType | None
) -> Iterator[Markup]:
    differ = bool(comparison.differences)
    sentences = list(comparison.sentences())
    mark = tag("span", "✗ " if differ else "✓ ", class_="mark", aria_hidden="true")
    if comparison.count == 0:
        mark = tag("span", "", class_="mark")
    yield tag("p", mark, sentences[0], class_="answer bad" if differ else "answer good")
    yield from (tag("p", sentence) for sentence in sentences[1:])
    found = [Section("comparison", "Side by side", joined(*_comparison(comparison, pairs, figures)))]
    yield _contents(found + [Section(f"r{k}", run.facts.label, Markup("")) for k, run in enumerate(runs)])
    yield found[0].markup()
    for k, run in enumerate(runs):
        yield tag("h2", f"Run {k + 1}: {run.facts.label}", id=f"r{k}")
        yield answer(run)
        yield from (section.markup() for section in sections(run, pictures(run, figures, f"r{k}"), f"r{k}-"))


def _contents(found: Sequence[Section]) -> Markup:
    return tag("nav", *(tag("a", section.heading, href=f"#{section.anchor}") for section in found), aria_label="Contents")


def _comparison(comparison: Comparison, pairs: Sequence[Sequence[float]], figures: ModuleType | None) -> Iterator[Markup]:
    if comparison.differences:
        shown = [(d.name, d.text) for d in comparison.differences[:MOST_DIFFERENCES]]
        caption = f"{len(shown)} of {plural(len(comparison.differences), 'instance')} on which verified answers differ"
        yield table(("input", "difference"), shown, caption, text_columns=2)
    sides = [
        (
            *(s.label, f"{s.verified:,} of {comparison.count:,}"),
            *(seconds_in_words(s.wall_time), seconds_in_words(s.solve_time), f"{s.fastest:,}", seconds_in_words(s.mean_time)),
        )
        for s in comparison.sides
    ]
    headings = ("run", "verified", "wall time, whole run", "solve time, summed", "fastest on", "mean time")
    caption = (
        "Over common instances. The mean is the geometric one, shifted by 1 ms, over what all runs verified; times under 0.1 ms "
        "count as equal"
    )
    yield table(headings, sides, caption)
    if comparison.count == 0:
        return
    shares = [(p.label, *(percent(p.at(f)) for f in SHOWN_FACTORS)) for p in comparison.profiles]
    words = "; ".join(
        f"{p.label}: {percent(p.at(1.0))} fastest, {percent(p.at(float('inf')))} solved" for p in comparison.profiles
    )
    if figures is not None:
        caption = (
            "Performance profile (Dolan and Moré 2002): how many instances a run solves, with proof, within a factor of the time "
            "of the fastest run. Higher is better: at the left who is fastest, at the right who solves most."
        )
        yield tag("figure", Markup(figures.draw_profiles(comparison.profiles, "profile", words)), tag("figcaption", caption))
    factors = tuple("fastest" if f == 1 else f"within {f:g} times" for f in SHOWN_FACTORS)
    yield table(("run", *factors), shares, "The profile at some factors")
    if figures is not None and len(pairs) == 2 and pairs[0]:
        names = [side.label for side in comparison.sides]
        means = ", ".join(f"{s.label}: mean time {value_in_words(s.mean_time, '.3g')} s" for s in comparison.sides)
        drawn = Markup(figures.draw_pairs(names, pairs, "pairs", means))
        yield tag("figure", drawn, tag("figcaption", "A mark an instance that both verified; dotted lines are factors of ten."))


def pictures(run: Shown, figures: ModuleType | None, prefix: str) -> dict[str, Markup]:
    """Returns the figures of a run by name, as far as there is something to draw and matplotlib to draw it."""
    if figures is None:
        return {}
    facts, solved = run.facts, [o for o in run.outcomes if o.solved]
    drawn: dict[str, Callable[[str], str]] = {}
    if sum(facts.stage_times.values()) > 0:
        stages = "; ".join(f"{stage} {seconds_in_words(seconds)}" for stage, seconds in facts.stage_times.items())
        drawn["stages"] = lambda key: figures.draw_stages(facts.stage_times, key, stages)
    if len(solved) > 1:
        slow = facts.slowest[0]
        words = f"{len(solved):,} members; the slowest, {slow.name}, took {seconds_in_words(slow.solve_time)}"
        drawn["members"] = lambda key: figures.draw_members(solved, key, words)
    if run.traces:
        traced = "; ".join(f"{t.name}: {t.iteration[-1]:.0f} iterations" for t in run.traces[:6])
        drawn["traces"] = lambda key: figures.draw_traces(run.traces, facts.tolerance, key, traced)
    if run.lanes:
        shares = "; ".join(f"{percent(lanes.share)} of the lanes' time in use" for lanes in run.lanes)
        drawn["lanes"] = lambda key: figures.draw_lanes(run.lanes[:4], key, shares)
    return {name: Markup(draw(f"{prefix}-{name}")) for name, draw in drawn.items()}
