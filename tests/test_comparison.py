"""Runs side by side: performance profiles, means, and answers that contradict each other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.report.comparison import Comparison, compare
from batchlp_cli.report.profile import performance_profiles, shifted_mean
from batchlp_cli.reporting import common, load_runs
from tests.report_rows import Row, failed, report, row, run_folder

TIMES = st.integers(1, 40).flatmap(
    lambda n: st.lists(
        st.lists(st.one_of(st.floats(1e-3, 1e3), st.just(math.inf)), min_size=n, max_size=n), min_size=2, max_size=4
    )
)


def comparison(folder: Path, *runs: list[Row], **given_settings: object) -> Comparison:
    """Returns how runs compare; the settings are those of the last run, beside what all have."""
    paths = []
    for k, rows in enumerate(runs):
        settings = {"tol": 1e-6} | (given_settings if k == len(runs) - 1 else {})
        paths.append(run_folder(folder / f"run{k}", rows, report(len(rows), settings=settings)))
    loaded = load_runs(paths)
    return compare([run.facts for run in loaded], list(common(loaded)))


@given(TIMES)
def test_profiles_are_distributions(times: list[list[float]]) -> None:
    """A profile never falls, ends at the share that its run solves, and equals the definition of Dolan and Moré at any factor."""
    best = [min(column) for column in zip(*times, strict=True)]
    for own, profile in zip(times, performance_profiles([str(k) for k in range(len(times))], times), strict=True):
        assert list(profile.rho) == sorted(profile.rho)
        assert profile.at(math.inf) == sum(map(math.isfinite, own)) / len(own)
        for factor in (1.0, 1.5, 10.0, 1e9):
            within = sum(math.isfinite(t) and t / b <= factor for t, b in zip(own, best, strict=True))
            assert profile.at(factor) == within / len(own)


@given(TIMES)
def test_every_solved_instance_has_a_fastest_run(times: list[list[float]]) -> None:
    """The shares at factor 1 add up to at least the share of instances that any run solves."""
    profiles = performance_profiles([""] * len(times), times)
    solved = sum(math.isfinite(min(column)) for column in zip(*times, strict=True)) / len(times[0])
    assert sum(p.at(1.0) for p in profiles) >= solved - 1e-12


def test_times_that_no_clock_can_tell_apart_are_equal() -> None:
    """Microseconds of difference win nothing."""
    one, two = performance_profiles(["a", "b"], [[1e-6], [9e-5]])
    assert one.at(1.0) == two.at(1.0) == 1.0


@given(st.lists(st.floats(0, 100), min_size=1))
def test_the_shifted_mean_lies_between_its_times(times: list[float]) -> None:
    """The mean of equal times is that time, and of others lies between them."""
    mean = shifted_mean(times, 1e-3)
    assert mean is not None
    assert min(times) - 1e-9 <= mean <= max(times) * (1 + 1e-9) + 1e-9


def test_only_common_instances_are_compared(tmp_path: Path) -> None:
    """Rows that one run lacks count for nothing, and without common rows that is said."""
    found = comparison(tmp_path, [row("a"), row("b")], [row("b", solve_time=0.1), row("c")])
    assert (found.count, [side.fastest for side in found.sides]) == (1, [1, 0])
    assert any("run0 is 10 times faster than run1" in s for s in found.sentences()), list(found.sentences())
    assert "no instance in common" in next(iter(comparison(tmp_path, [row("a")], [row("c")]).sentences()))


@pytest.mark.parametrize(
    ("one", "two", "words"),
    [
        (row("a"), row("a", status="infeasible", objective=None), "optimal in run0; infeasible in run1"),
        (row("a", objective=1.0), row("a", objective=1.001), "objectives 1 in run0, 1.001 in run1"),
        (row("a", objective=1.0), row("a", objective=1.000001), ""),
        (row("a"), failed("a", "no", "infeasible"), ""),
        (row("a", objective=1.0), failed("a", "no"), ""),
    ],
)
def test_verified_answers_that_contradict_are_shown(tmp_path: Path, one: Row, two: Row, words: str) -> None:
    """Verified statuses or objectives that cannot both hold are a difference; what is within tolerance or unproved is none."""
    found = comparison(tmp_path, [one], [two])
    assert [d.text for d in found.differences] == ([words] if words else [])
    assert ("disagree on" in next(iter(found.sentences()))) is bool(words)


def test_a_failure_is_never_fast(tmp_path: Path) -> None:
    """An instance without a verified answer is not solved at any factor and wins nothing, however short it took."""
    found = comparison(tmp_path, [failed("a", "no", solve_time=1e-5), row("b")], [row("a", solve_time=5.0), row("b")])
    assert [p.at(1e12) for p in found.profiles] == [0.5, 1.0]
    assert [side.fastest for side in found.sides] == [1, 2]
    assert "Verified answers: run0 1, run1 2 of 2." in list(found.sentences())


def test_unlike_settings_are_named(tmp_path: Path) -> None:
    """A tolerance that differs is said, so that nobody takes it for speed."""
    found = comparison(tmp_path, [row("a")], [row("a")], tol=1e-4)
    assert any("tol differs: 1e-06 in run0, 0.0001 in run1" in s for s in found.sentences())
