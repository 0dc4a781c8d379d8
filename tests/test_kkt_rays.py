"""Certificates: which rays the referee takes for a proof of infeasibility or unboundedness, and which it refuses."""

from __future__ import annotations

import pytest

from batchlp_cli.solution import Status
from tests.kkt_cases import ENDLESS, GOOD, INF, INFEASIBLE, NAN, OPTIMAL, UNBOUNDED, Numbers, claim, judge, lp_of


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e300])
def test_farkas_ray_of_any_size(size: float) -> None:
    """A Farkas ray proves infeasibility whatever its length; there is no objective and nothing to note."""
    verdict = judge(INFEASIBLE, claim(Status.INFEASIBLE, ray=[-size, 0]))
    assert (verdict.verified, verdict.objective, verdict.notes) == (True, None, ())
    assert verdict.dual_bound == -INF


@pytest.mark.parametrize("ray", [[1, 0], [0, 0], [0, 1], [0, -3], [-1, 1.5]])
def test_wrong_farkas_ray(ray: Numbers) -> None:
    """A ray of the wrong sign, of zeros, of another row, or that prices infinite column bounds proves nothing."""
    assert judge(INFEASIBLE, claim(Status.INFEASIBLE, ray=ray)).reason.startswith("the ray proves")


def test_farkas_ray_of_feasible_lp() -> None:
    """No ray proves that a feasible LP is infeasible, the solver's word notwithstanding."""
    for ray in ([-1, 0], [1, 0], [-1.5, 0.5], [0, -1]):
        assert not judge(GOOD, claim(Status.INFEASIBLE, ray=ray)).verified


@pytest.mark.parametrize(("noise", "proved"), [(1e-13, True), (1e-3, False)])
def test_noise_on_free_column(noise: float, proved: bool) -> None:
    """Noise on a free column leaves a proof up to a radius, which is noted when far out and refused when near."""
    # x1 + noise x2 <= -1, x1 >= 0, x2 free: feasible only with x2 <= -1 / noise
    lp = lp_of([0, 0], [[1, noise]], ([-INF], [-1]), ([0, -INF], [INF, INF]))
    verdict = judge(lp, claim(Status.INFEASIBLE, ray=[-1]))
    assert verdict.verified is proved
    assert f"up to {1 / noise:.3g}" in (verdict.notes[0] if proved else verdict.reason)


def test_implied_bounds_complete_a_farkas_proof() -> None:
    """A reduced cost on an infinite bound is paid with the bound that another row implies: a full proof, no note."""
    # x1 + 1e-3 x2 <= -1, x1 >= 0, x2 free, but -5 <= x2 + x3, x3 <= 2: x2 >= -7
    lp = lp_of([0, 0, 0], [[1, 1e-3, 0], [0, 1, 1]], ([-INF, -5], [-1, INF]), ([0, -INF, -INF], [INF, INF, 2]))
    verdict = judge(lp, claim(Status.INFEASIBLE, ray=[-1, 0]))
    assert (verdict.verified, verdict.notes) == (True, ())


def test_shallow_infeasibility_is_noted() -> None:
    """Infeasible by less than the tolerance is infeasible, with a note that says so."""
    lp = lp_of([0], [[1]], ([-INF], [-1e-9]), ([0], [INF]))
    verdict = judge(lp, claim(Status.INFEASIBLE, ray=[-1]))
    assert verdict.verified
    assert "depends on the tolerance" in verdict.notes[0]


@pytest.mark.parametrize(
    ("rows", "cols", "where"),
    [
        (([4, -INF], [4 - 1e-15, 1]), ([0, 0], [1, 1]), "row 1"),
        (([0, INF], [1, INF]), ([0, 0], [1, 1]), "row 2"),
        (([0, 0], [1, 1]), ([0, 2], [1, 1]), "column 2"),
        (([0, 0], [1, 1]), ([-INF, 0], [-INF, 1]), "column 1"),
    ],
)
def test_crossing_bounds(rows: tuple[Numbers, Numbers], cols: tuple[Numbers, Numbers], where: str) -> None:
    """Bounds that cross prove infeasibility without a ray or with a bad one, and refuse every other claim."""
    lp = lp_of([1, 1], [[1, 0], [0, 1]], rows, cols)
    for ray in ({}, {"ray": [NAN]}):
        verdict = judge(lp, claim(Status.INFEASIBLE, **ray))
        assert verdict.verified
        assert where in verdict.notes[0]
    for other in (OPTIMAL, ENDLESS, claim(Status.OPTIMAL, x=[4, 0], y=[0, 0])):
        assert "no number lies between" in judge(lp, other).reason


def test_unbounded_is_proved() -> None:
    """A feasible point and an improving direction prove unboundedness; the direction may have any length."""
    for size in (1e-200, 1.0, 1e200):
        verdict = judge(UNBOUNDED, claim(Status.UNBOUNDED, x=[1, 3], ray=[size, size]))
        assert (verdict.verified, verdict.objective) == (True, None)


@pytest.mark.parametrize(
    ("x", "ray", "word"),
    [
        ([1, 3], [0, 0], "does not improve"),
        ([1, 3], [-1, -1], "does not improve"),
        ([1, 3], [2, -1], "does not improve"),
        ([1, 3], [0, 1], "leaves the feasible directions"),
        ([1, 3], [-1e-3, 1], "leaves the feasible directions"),
        ([1, 4], [1, 1], "not feasible"),
        ([-1, 0], [1, 1], "not feasible"),
    ],
)
def test_wrong_unbounded_claims(x: Numbers, ray: Numbers, word: str) -> None:
    """A direction that is none, does not improve, leaves rows or bounds, or starts at an infeasible point proves nothing."""
    verdict = judge(UNBOUNDED, claim(Status.UNBOUNDED, x=x, ray=ray))
    assert not verdict.verified
    assert word in verdict.reason
