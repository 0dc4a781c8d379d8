"""The series of a figure are told apart by those who lack a kind of cones and on a grey printer."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from batchlp_cli.report.figures import lanes, members, profiles
from batchlp_cli.report.figures.canvas import LOOKS, Look
from tests.colour_vision import SEEN, apart, lab, linear, parse

LEAST = 15.0
"""Least distance of colours in L*a*b* where colour tells series apart: six times what is just noticeable side by side."""

CONES = [kind for kind in SEEN if kind != "grey"]
TOGETHER = {"series": LOOKS, "members": (*members.SOLVERS, members.UNPROVED)}
"""Looks that may stand in one figure: lines of a profile or of residuals; points of members."""


def strokes(look: Look) -> tuple[int, float]:
    """Returns how many strokes a dash repeats, and the length of what it repeats; 0 for a line without gaps."""
    return (0, 0.0) if look.dash == "-" else (len(look.dash[1]) // 2, sum(look.dash[1]))


def dashes_differ(one: Look, other: Look) -> bool:
    """Tells whether two dashes look different without colour: in their number of strokes, or clearly in their length."""
    (n, length), (k, size) = strokes(one), strokes(other)
    return n != k or max(length, size) > 1.6 * min(length, size)


@pytest.mark.parametrize("kind", CONES)
@pytest.mark.parametrize("looks", TOGETHER.values(), ids=TOGETHER)
def test_colours_of_a_figure_are_apart(looks: tuple[Look, ...], kind: str) -> None:
    """Any two colours that may stand in one figure are told apart with any one kind of cones missing."""
    near = {(a.colour, b.colour): d for a, b in combinations(looks, 2) if (d := apart(a.colour, b.colour, kind)) < LEAST}
    assert not near


@pytest.mark.parametrize("kind", SEEN)
def test_area_and_lines_of_lanes_are_apart(kind: str) -> None:
    """The area of lanes in use is told from the lines on it, also on a grey printer."""
    assert min(apart(lanes.AREA, look.colour, kind) for look in LOOKS[:2]) >= LEAST


def test_lines_are_told_apart_without_colour() -> None:
    """On a grey printer two lines differ in their dashes, or in how dark they are."""
    alike = [(a, b) for a, b in combinations(LOOKS, 2) if not dashes_differ(a, b) and apart(a.colour, b.colour, "grey") < LEAST]
    assert not alike


@pytest.mark.parametrize("looks", TOGETHER.values(), ids=TOGETHER)
def test_points_are_told_apart_without_colour(looks: tuple[Look, ...]) -> None:
    """Every series has a marker of its own."""
    assert len({look.marker for look in looks}) == len(looks)


@pytest.mark.parametrize("count", [1, len(LOOKS), 2 * len(LOOKS), len(LOOKS) ** 2])
def test_no_two_series_of_a_profile_look_the_same(count: int) -> None:
    """However many runs are compared, each has a colour with a dash that no other has."""
    assert len({(look.colour, str(look.dash)) for look in profiles._looks(count)}) == count


@pytest.mark.parametrize(
    ("colour", "value"), [("#ffffff", [100, 0, 0]), ("#000000", [0, 0, 0]), ("#ff0000", [53.24, 80.09, 67.20])]
)
def test_lab_of_known_colours(colour: str, value: list[float]) -> None:
    """The instrument gives the published L*a*b* of white, black and the red of sRGB."""
    assert lab(linear(parse(colour))) == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("kind", [kind for kind in SEEN if kind != "all cones"])
def test_simulated_sight_keeps_greys(kind: str) -> None:
    """No kind of sight gives a grey a colour: the rows of each matrix add up to 1."""
    assert SEEN[kind].sum(axis=1) == pytest.approx(np.ones(3), abs=2e-6)


def test_instrument_sees_what_dichromats_confuse() -> None:
    """Red and green of one lightness, far apart for others, are near for who lacks one of the two kinds of cones."""
    red, green = "#c05050", "#708000"
    assert apart(red, green, "all cones") > 3 * apart(red, green, "deuteranopia")
