"""Residuals against iterations: a panel a member, with the tolerance, and a tick at every restart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from batchlp_cli.report.figures.canvas import FAINT, INK, LOOKS, drawing, new_figure, to_svg
from batchlp_cli.report.markup import plain
from batchlp_cli.report.trace import Trace

MOST_PANELS = 6
MOST_CHECKS = 800
"""Checks drawn of one member; a longer trace is thinned, keeping the largest value of each stretch."""

LOWEST = 1e-12
"""What an error of 0 or below is drawn at where there is no tolerance, on an axis of powers."""

BELOW = 1e4
"""What lies this far below the tolerance or deeper, such as an error of exactly 0, is drawn there, at the foot of the panel."""

MOST_NAME = 46


def draw_traces(traces: Sequence[Trace], tolerance: float | None, key: str, description: str) -> str:
    """Returns at most MOST_PANELS panels of relative primal residual, dual residual and gap against iterations."""
    shown = traces[:MOST_PANELS]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    with drawing(key):
        figure, grid = new_figure(0.5 + 2.1 * rows, rows=rows, columns=columns, sharey=True, squeeze=False)
        panels = list(grid.flat)
        for axes, trace in zip(panels, shown, strict=False):
            _panel(axes, trace, tolerance)
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        for row in grid:
            row[0].set_ylabel("relative error")
        for axes in panels[max(0, len(shown) - columns) : len(shown)]:
            axes.set_xlabel("iterations")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper left", ncols=len(names), handlelength=2.6)
        return to_svg(figure, key, "Residuals against iterations", description)


def _panel(axes: Axes, trace: Trace, tolerance: float | None) -> None:
    lowest = tolerance / BELOW if tolerance else LOWEST
    names = ("primal residual", "dual residual", "duality gap")
    for look, name, values in zip(LOOKS, names, _errors(trace, lowest), strict=False):
        x, y = _thinned(np.array(trace.iteration), values)
        axes.plot(x, y, color=look.colour, linestyle=look.dash, label=name)
    axes.set_yscale("log")
    axes.set_ylim(bottom=lowest / 10)
    if tolerance:
        axes.axhline(tolerance, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), label=f"tolerance {tolerance:.0e}")
    steps = np.diff(np.array(trace.restarts), prepend=0.0) > 0
    at = np.array(trace.iteration)[steps]
    foot = axes.get_xaxis_transform()
    axes.plot(at, np.full(at.size, 0.04), "|", color=INK, markersize=7, markeredgewidth=0.9, transform=foot, label="restart")
    axes.grid(axis="y")
    name = plain(trace.name)
    axes.set_title(name if len(name) <= MOST_NAME else "…" + name[-MOST_NAME:], parse_math=False)


def _errors(trace: Trace, lowest: float) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    series = (trace.primal, trace.dual, trace.gap)
    return [np.array([math.nan if v is None else max(v, lowest) for v in values]) for values in series]


def _thinned(
    x: np.ndarray[tuple[int], np.dtype[np.float64]], y: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Returns x, y with at most MOST_CHECKS entries and the last one kept."""
    stride = -(-x.size // MOST_CHECKS)
    starts = np.arange(0, x.size, stride)
    ends = np.minimum(starts + stride, x.size) - 1
    return x[ends], np.fmax.reduceat(y, starts)
