"""Where the wall time went: a bar a stage, labelled with its seconds and its share."""

from __future__ import annotations

from collections.abc import Mapping

from batchlp_cli.report.figures.canvas import LOOKS, drawing, literal, new_figure, put_text, to_svg
from batchlp_cli.report.words import percent, seconds_in_words


def draw_stages(stages: Mapping[str, float], key: str, description: str) -> str:
    """Returns a bar chart of seconds by stage."""
    total = sum(stages.values()) or 1.0
    with drawing(key):
        figure, axes = new_figure(0.55 + 0.27 * len(stages))
        places = range(len(stages))
        axes.barh(places, list(stages.values()), color=LOOKS[0].colour, height=0.62)
        for place, seconds in zip(places, stages.values(), strict=True):
            words = f"{seconds_in_words(seconds)}, {percent(seconds / total)}"
            put_text(axes, seconds, place, words, by=(4, 0), va="center", ha="left")
        axes.set_yticks(places, [literal(stage) for stage in stages])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, 1.24 * max(stages.values(), default=1.0))
        axes.set_xlabel("wall time of the main thread [s]")
        return to_svg(figure, key, "Wall time by stage", description)
