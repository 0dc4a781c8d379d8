"""The ratio of times of two ways of solving over the size, and where they change places."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from batchlp_cli.report.figures.canvas import FAINT, LOOKS, drawing, literal, new_figure, put_text, show_counts, to_svg


def draw_crossover(
    sides: tuple[str, str],
    nonzeros: Sequence[int],
    speedups: Sequence[float],
    repeats: Sequence[Sequence[float]],
    at: float | None,
    interval: tuple[float, float] | None,
    description: str,
    key: str = "crossover",
) -> str:
    """Returns how many times faster the first side is over the nonzeros, as SVG.

    speedups: by size, the ones that the crossover follows from; repeats: by size, one a repeat, drawn as ticks.
    """
    first, second = map(literal, sides)
    look = LOOKS[0]
    with drawing(key):
        figure, axes = new_figure(3.6)
        axes.axhline(1.0, color=FAINT, linewidth=0.9)
        axes.plot(nonzeros, speedups, color=look.colour, linestyle=look.dash, marker=look.marker, markersize=5)
        for size, own in zip(nonzeros, repeats, strict=True):
            axes.plot([size] * len(own), own, color=look.colour, linestyle="none", marker="_", markersize=7, alpha=0.7)
        axes.set_xscale("log")
        axes.set_yscale("log")
        if at is not None:
            axes.axvline(at, color=LOOKS[1].colour, linestyle=LOOKS[1].dash, linewidth=1.2)
        if interval is not None:
            axes.axvspan(*interval, color=LOOKS[1].colour, alpha=0.12, linewidth=0)
        every = [1.0, *speedups, *(value for own in repeats for value in own)]
        axes.set_ylim(min(0.5, *every) / 1.2, max(2.0, *every) * 1.2)  # a tick on either side of 1 at least
        if at is not None:
            _tell(axes, at, interval is not None)
        show_counts(axes.xaxis)
        axes.yaxis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0))  # often there is no power of ten but 1
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        axes.yaxis.set_minor_formatter(lambda value, _: "")
        axes.set_xlabel("nonzeros of the matrix")
        axes.set_ylabel(f"{first} faster than {second}, times")
        where = {"transform": axes.transAxes, "color": FAINT, "fontsize": 8, "ha": "left"}
        put_text(axes, 0.02, 0.98, f"{sides[0]} is faster", va="top", **where)
        put_text(axes, 0.02, 0.02, f"{sides[1]} is faster", va="bottom", **where)
        axes.grid()
        return to_svg(figure, key, f"{sides[0]} against {sides[1]}", description)


def _tell(axes: Axes, at: float, has_interval: bool) -> None:
    """Writes beside the line of the crossover where it is, on the side where there is more room."""
    words = f"crossover at {at:,.0f}" + "; the band holds 90 % of the draws" * has_interval
    place = axes.transAxes.inverted().transform(axes.transData.transform((at, 1.0)))[0]
    by, side = ((4, -2), "left") if place < 0.5 else ((-4, -2), "right")
    where = {"transform": axes.get_xaxis_transform(), "color": LOOKS[1].colour, "fontsize": 8, "va": "top"}
    put_text(axes, at, 0.9, words, by, ha=side, **where)
