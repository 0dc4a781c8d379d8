"""One look for all figures, and SVG that can stand in a page: titled, described, with ids of its own, the same for the same data.

Colours are those of Okabe and Ito, told apart by people who don't see all colours; every colour comes with its own dash and
marker, so that a figure also survives a grey printer.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from batchlp_cli.report.markup import escape, plain

INK, FAINT, GRID = "#1a1a1a", "#6b6b6b", "#d9d9d9"
WIDTH = 7.2
"""Inches of a figure across: the text column of the page."""

MOST_VECTOR_POINTS = 2000
"""From so many points on, markers are drawn as one image inside the SVG: a page of thousands of members stays small."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one of several series is drawn."""

    colour: str
    dash: Any
    marker: str


LOOKS = (
    Look("#0072B2", "-", "o"),
    Look("#D55E00", (0, (5, 2)), "^"),
    Look("#009E73", (0, (5, 1.5, 1, 1.5)), "s"),
    Look("#CC79A7", (0, (1, 1.2)), "D"),
    Look("#E69F00", (0, (8, 2)), "v"),
    Look("#56B4E9", (0, (3, 1, 1, 1, 1, 1)), "P"),
    Look("#000000", (0, (2, 2)), "X"),
)
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "axes.unicode_minus": True,
}


@contextmanager
def drawing(key: str) -> Iterator[None]:
    """Sets the look for what is drawn in the block; key is unique among the figures of a page."""
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": key}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's own font shows it: text stays text
        yield


def new_figure(height: float, rows: int = 1, columns: int = 1, **given: Any) -> tuple[Figure, Any]:
    """Returns a figure of the page's width with its axes, [rows, columns] where there are several."""
    figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(hspace=0.06))
    FigureCanvasSVG(figure)
    return figure, figure.subplots(rows, columns, **given)


def put_text(axes: Axes, x: float, y: float, text: str, by: tuple[float, float] = (0.0, 0.0), **given: Any) -> Text:
    """Writes text so many points away from x, y; it is never taken for mathematics, whatever dollar signs a name holds."""
    where = given.pop("transform", axes.transData)
    return axes.annotate(plain(text), (x, y), xycoords=where, xytext=by, textcoords="offset points", parse_math=False, **given)


def literal(text: str) -> str:
    """Returns text for legends and ticks, in which matplotlib would take dollar signs for mathematics."""
    return plain(text).replace("$", r"\$")


def show_seconds(axis: Axis) -> None:
    """Labels an axis of powers of ten with durations and their units."""
    _label_powers(axis, _duration)


def show_counts(axis: Axis) -> None:
    """Labels an axis of powers of ten with whole numbers."""
    _label_powers(axis, lambda value: f"{value:,.0f}")


def _label_powers(axis: Axis, words: Callable[[float], str]) -> None:
    """Labels powers of ten, and twice and five times those where the axis spans little."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    axis.set_minor_formatter(NullFormatter())


def _duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if round(seconds * factor, 3) >= 1:
            return f"{seconds * factor:,.0f} {unit}"
    return f"{seconds:.0e} s"


def to_svg(figure: Figure, key: str, title: str, description: str) -> str:
    """Returns a figure as an SVG element for a page, with title and description for those who don't see it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = _own_ids(text, key)
    head = re.match(r"<svg[^>]*>", text)
    assert head is not None, "savefig writes an svg element"
    box = re.search(r'viewBox="[^"]*"', head[0])
    names = f'aria-labelledby="{key}-title {key}-desc"'
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    opening = f'<svg {spaces} class="figure" role="img" {names} {box[0] if box else ""}>'
    words = f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(description)}</desc>'
    return opening + words + text[head.end() :]


def _own_ids(text: str, key: str) -> str:
    """Drops ids that nothing refers to and puts the figure's key before the others, so that figures of a page don't mix."""
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: f' id="{key}-{m[1]}"' if m[1] in used else "", text)
    return re.sub(r'(url\(#|href="#)([^")]+)', rf"\g<1>{key}-\g<2>", text)
