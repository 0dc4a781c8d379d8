"""Time and iterations of every member, slowest first: the tail, and whether time follows iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from batchlp_cli.report.figures.canvas import (
    FAINT,
    LOOKS,
    MOST_VECTOR_POINTS,
    Look,
    drawing,
    literal,
    new_figure,
    put_text,
    show_counts,
    show_seconds,
    to_svg,
)
from batchlp_cli.report.outcome import Outcome

SHORTEST = 1e-6
"""Seconds that a time of 0 is drawn at, on an axis of powers: the resolution of the rows."""

SOLVERS = (LOOKS[0], LOOKS[2], LOOKS[3])
UNPROVED = Look("#D55E00", "-", "x")
MOST_NAME = 44


def draw_members(outcomes: Sequence[Outcome], key: str, description: str) -> str:
    """Returns two panels over members sorted by solve time: seconds above, iterations below."""
    ordered = sorted(outcomes, key=lambda o: -o.solve_time)
    kinds: defaultdict[str, list[int]] = defaultdict(list)
    for place, o in enumerate(ordered):
        kinds[o.backend if o.verified else "not verified"].append(place)
    backends = sorted(kinds.keys() - {"not verified"})
    with drawing(key):
        figure, (above, below) = new_figure(4.1, rows=2, sharex=True, height_ratios=(3, 2))
        for name, places in sorted(kinds.items(), key=lambda item: -len(item[1])):
            if name == "not verified" and len(ordered) > MOST_VECTOR_POINTS:
                _rug(above, [place + 1 for place in places])
                continue
            look = UNPROVED if name == "not verified" else SOLVERS[backends.index(name) % len(SOLVERS)]
            x = [place + 1 for place in places]
            _scatter(above, x, [max(ordered[p].solve_time, SHORTEST) for p in places], look, literal(name), len(ordered))
            _scatter(below, x, [float(ordered[p].iterations) for p in places], look, literal(name), len(ordered))
        _scale(above, below, ordered)
        above.set_ylabel("solve time")
        below.set_ylabel("iterations")
        below.set_xlabel("member, slowest first")
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        below.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        for axes in (above, below):
            axes.grid(axis="y")
            axes.set_axisbelow(True)
        _name_slowest(above, ordered)
        if len(kinds) > 1:
            above.legend(
                loc="upper right",
                handletextpad=0.2,
                borderaxespad=0,
                markerscale=1.0 if len(ordered) <= MOST_VECTOR_POINTS else 3.0,
            )
        return to_svg(figure, key, "Solve time and iterations by member", description)


def _scatter(axes: Axes, x: Sequence[float], y: Sequence[float], look: Look, label: str, total: int) -> None:
    size = 26 if total <= 200 else 12 if total <= MOST_VECTOR_POINTS else 3
    given = {"linewidths": 1.2 if total <= MOST_VECTOR_POINTS else 0.5} if look.marker == "x" else {"linewidths": 0}
    axes.scatter(
        x, y, s=size, c=look.colour, marker=look.marker, label=label, rasterized=total > MOST_VECTOR_POINTS, zorder=3, **given
    )


def _rug(axes: Axes, x: Sequence[float]) -> None:
    """Marks places at the foot, where a few members among thousands are seen."""
    foot, colour = axes.get_xaxis_transform(), UNPROVED.colour
    axes.plot(
        x,
        [0.04] * len(x),
        "|",
        transform=foot,
        rasterized=True,
        label="not verified (ticks)",
        color=colour,
        markersize=7,
        markeredgewidth=0.5,
    )


def _name_slowest(axes: Axes, ordered: Sequence[Outcome]) -> None:
    if not ordered or ordered[0].solve_time <= 0:
        return
    name = ordered[0].name
    name = name if len(name) <= MOST_NAME else "…" + name[-MOST_NAME:]
    put_text(axes, 1, ordered[0].solve_time, name, by=(-3, 5), va="bottom", ha="left", color=FAINT, fontsize=8)


def _scale(above: Axes, below: Axes, ordered: Sequence[Outcome]) -> None:
    """Sets axes of powers with room for the name of the slowest; iterations of 0, which presolve leaves, keep a place."""
    above.set_yscale("log")
    above.set_ylim(0.6 * max(ordered[-1].solve_time, SHORTEST), 2.2 * max(ordered[0].solve_time, SHORTEST))
    show_seconds(above.yaxis)
    fewest, most = (pick(o.iterations for o in ordered) for pick in (min, max))
    if fewest > 0:
        below.set_yscale("log")
        below.set_ylim(0.6 * fewest, 1.7 * most)
        show_counts(below.yaxis)
    else:
        below.set_yscale("symlog", linthresh=1)
        below.set_ylim(-0.4, 1.7 * max(most, 1))
        below.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
