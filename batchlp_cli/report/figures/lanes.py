"""Lanes in use over time: how well the lanes were filled, and how long the last members kept the machine alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from batchlp_cli.report.figures.canvas import FAINT, LOOKS, drawing, new_figure, put_text, to_svg
from batchlp_cli.report.occupancy import Occupancy

AREA = "#9ecae1"
"""Colour of what is in use, pale beside the lines on it."""


def draw_lanes(runs: Sequence[Occupancy], key: str, description: str) -> str:
    """Returns lanes that held a member, filled, and lanes that there were, as a line, over seconds; a panel a report."""
    with drawing(key):
        figure, grid = new_figure(0.5 + 1.9 * len(runs), rows=len(runs), squeeze=False)
        for axes, lanes in zip(grid[:, 0], runs, strict=True):
            edges = lanes.span * np.arange(len(lanes.busy) + 1)
            busy, width = (np.array(values) / lanes.span for values in (lanes.busy, lanes.width))
            axes.stairs(busy, edges, fill=True, color=AREA, label="lanes with a member")
            axes.stairs(busy, edges, color=LOOKS[0].colour, linewidth=1.2)
            axes.stairs(width, edges, color=LOOKS[1].colour, linewidth=1.4, linestyle=LOOKS[1].dash, label="lanes there were")
            axes.set_ylim(0, 1.25 * max(float(width.max(initial=0.0)), 1.0))
            axes.set_xlim(0, edges[-1])
            axes.set_ylabel("lanes")
            words = f"{100 * lanes.share:.0f} % in use"
            put_text(axes, 0.995, 0.98, words, ha="right", va="top", color=FAINT, transform=axes.transAxes)
            axes.legend(loc="upper left", ncols=2, borderaxespad=0)
        grid[-1, 0].set_xlabel("time since the first lane began [s]")
        return to_svg(figure, key, "Lanes in use over time", description)
