"""What both children of each candidate gain over the root, best candidate first: what is proved, and what may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from batchlp_cli.report.figures.canvas import FAINT, LOOKS, drawing, literal, new_figure, put_text, to_svg

MOST = 40
"""Candidates that are drawn: more names than that cannot be read on a page."""

MOST_NAME = 24


@dataclass(frozen=True, slots=True)
class Gains:
    """A candidate. down, up: least and most that the child gains over the root, or in a word why it is pruned."""

    name: str
    down: tuple[float, float] | str
    up: tuple[float, float] | str
    unsure: bool


def draw_candidates(candidates: Sequence[Gains], key: str, description: str) -> str:
    """Returns a line a candidate, at most `MOST`, as SVG: marks at the gains that are proved, bars to what they may be."""
    shown = candidates[:MOST]
    ends = [end for g in shown for side in (g.down, g.up) if not isinstance(side, str) for end in side if math.isfinite(end)]
    largest = max(ends, default=0.0) or 1.0
    with drawing(key):
        figure, axes = new_figure(1.1 + 0.2 * max(4, len(shown)))
        for offset, look, side in ((-0.17, LOOKS[0], "down"), (0.17, LOOKS[1], "up")):
            places = [k + offset for k in range(len(shown))]
            gains = [getattr(g, side) for g in shown]
            known = [(y, g) for y, g in zip(places, gains, strict=True) if not isinstance(g, str)]
            axes.plot(
                [g[0] for _, g in known],
                [y for y, _ in known],
                look.marker,
                color=look.colour,
                markersize=4.5,
                label=f"{side} child",
            )
            for y, (low, high) in known:
                axes.plot([low, min(high, 1.05 * largest)], [y, y], color=look.colour, linewidth=1.0, alpha=0.6)
            for y, gain in zip(places, gains, strict=True):
                if isinstance(gain, str):
                    put_text(axes, 1.08 * largest, y, f"{side} {gain}", color=look.colour, fontsize=7, ha="right", va="center")
        _name(axes, shown, largest)
        axes.set_xlabel("gain of the child's bound over the root, in the objective")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, handletextpad=0.2, borderaxespad=0)
        put_text(axes, 0.0, 1.0, _caption(candidates), (0, 4), transform=axes.transAxes, color=FAINT, fontsize=8)
        return to_svg(figure, key, "Candidates of branching", description)


def _caption(candidates: Sequence[Gains]) -> str:
    """Returns what the marks beside the names mean, and how many candidates are left out."""
    words = ["* might be better than the first"] if any(g.unsure for g in candidates[:MOST]) else []
    words += [f"{len(candidates) - MOST} more are not drawn"] if len(candidates) > MOST else []
    return "; ".join(words)


def _name(axes: Axes, shown: Sequence[Gains], largest: float) -> None:
    """Names the lines, with a star where the candidate might be better than the first."""
    names = [g.name if len(g.name) <= MOST_NAME else "…" + g.name[-MOST_NAME:] for g in shown]
    axes.set_yticks(range(len(shown)), [literal(name) + (" *" if g.unsure else "") for name, g in zip(names, shown, strict=True)])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(-0.02 * largest, 1.08 * largest)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
