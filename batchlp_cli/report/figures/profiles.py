"""Runs against each other: performance profiles, and the times of two runs member by member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from batchlp_cli.report.figures.canvas import (
    FAINT,
    LOOKS,
    MOST_VECTOR_POINTS,
    Look,
    drawing,
    literal,
    new_figure,
    put_text,
    show_seconds,
    to_svg,
)
from batchlp_cli.report.markup import plain
from batchlp_cli.report.profile import SHORTEST, Profile

MOST_NAME = 30


def draw_profiles(profiles: Sequence[Profile], key: str, description: str) -> str:
    """Returns the share of instances solved within a factor of the best run, over that factor."""
    farthest = max((p.tau[-1] for p in profiles if p.tau), default=1.0)
    end = max(2.0, 1.15 * farthest)
    with drawing(key):
        figure, axes = new_figure(3.2)
        for look, profile in zip(_looks(len(profiles)), profiles, strict=True):
            tau, rho = [*profile.tau, end], [*profile.rho, profile.rho[-1] if profile.rho else 0.0]
            if len(tau) == 1 or tau[0] > 1.0:
                tau, rho = [1.0, *tau], [0.0, *rho]
            axes.step(tau, rho, where="post", color=look.colour, linestyle=look.dash, label=literal(_short(profile.label)))
        axes.set_xscale("log", base=2 if end < 64 else 10)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlim(1.0, end)
        axes.set_ylim(-0.02, 1.05)
        axes.set_xlabel("time relative to the fastest run on each instance")
        axes.set_ylabel("share of instances")
        axes.grid()
        axes.legend(loc="lower right", handlelength=3.4, frameon=True, framealpha=0.9, edgecolor="none")
        return to_svg(figure, key, "Performance profile", description)


def draw_pairs(labels: Sequence[str], times: Sequence[Sequence[float]], key: str, description: str) -> str:
    """Returns a point an instance that both runs verified: seconds of the first run across, of the second one up."""
    x, y = ([max(t, SHORTEST) for t in own] for own in times)
    low, high = min([*x, *y]) / 1.5, max([*x, *y]) * 1.5
    with drawing(key):
        figure, axes = new_figure(4.4)
        axes.plot([low, high], [low, high], color=FAINT, linewidth=0.9)
        for factor in (0.1, 10.0):
            axes.plot([low, high], [factor * low, factor * high], color=FAINT, linewidth=0.7, linestyle=(0, (1, 2)))
        look = LOOKS[0]
        many = len(x) > MOST_VECTOR_POINTS
        axes.scatter(
            x, y, s=6 if many else 18, c=look.colour, marker=look.marker, linewidths=0, alpha=0.7, rasterized=many, zorder=3
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        axes.set_aspect("equal")
        show_seconds(axes.xaxis)
        show_seconds(axes.yaxis)
        axes.grid()
        axes.set_xlabel(f"solve time in {_short(labels[0])}", parse_math=False)
        axes.set_ylabel(f"solve time in {_short(labels[1])}", parse_math=False)
        where = {"transform": axes.transAxes, "color": FAINT, "fontsize": 8}
        put_text(axes, 0.02, 0.98, f"{_short(labels[0])} is faster", va="top", ha="left", **where)
        put_text(axes, 0.98, 0.02, f"{_short(labels[1])} is faster", va="bottom", ha="right", **where)
        return to_svg(figure, key, "Solve times of two runs", description)


def _looks(count: int) -> list[Look]:
    """Returns a look for each series; where colours come again, they have another dash."""
    size = len(LOOKS)
    return [replace(LOOKS[k % size], dash=LOOKS[(k + k // size) % size].dash) for k in range(count)]


def _short(label: str) -> str:
    label = plain(label)
    return label if len(label) <= MOST_NAME else "…" + label[-MOST_NAME:]
