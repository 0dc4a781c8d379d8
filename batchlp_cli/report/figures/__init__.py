"""The pictures of a report, the only place of matplotlib: each function draws one figure and returns it as SVG text."""

from __future__ import annotations

from batchlp_cli.report.figures.lanes import draw_lanes
from batchlp_cli.report.figures.members import draw_members
from batchlp_cli.report.figures.profiles import draw_pairs, draw_profiles
from batchlp_cli.report.figures.stages import draw_stages
from batchlp_cli.report.figures.traces import draw_traces

__all__ = ["draw_lanes", "draw_members", "draw_pairs", "draw_profiles", "draw_stages", "draw_traces"]
