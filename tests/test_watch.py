"""Watching lanes: traces of chosen members, lanes over time, and that it changes nothing."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.report.trace import SERIES as READ_SERIES
from batchlp_cli.report.trace import Trace
from batchlp_cli.settings import SolveSettings
from batchlp_cli.watch import SERIES, SPANS, Watch
from tests.command import batchlp
from tests.conformance import scenario_batch, solve_all

SAMPLES = Path(__file__).parents[1] / "sample_instances"


def check(watch: Watch, names: list[str | None], iteration: int, since: int, error: float = 0.5) -> None:
    """Tells a watch of one check of lanes that are all equal."""
    width = len(names)
    numbers = (np.full(width, float(iteration)), np.full(width, float(since)), np.full((3, width), error), np.ones(width))
    watch.checked(names, *numbers)


@pytest.mark.parametrize(
    ("pattern", "name", "wanted"),
    [("a*", "abc", True), ("a*", "dir/abc", True), ("dir/*", "dir/abc", True), ("b*", "abc", False), ("A*", "abc", False)],
)
def test_a_pattern_is_that_of_a_shell(pattern: str, name: str, wanted: bool) -> None:
    """A pattern is compared with the whole name and with its last part, and case counts."""
    assert Watch([pattern]).wants(name) is wanted


def test_restarts_are_counted_where_lanes_begin_anew() -> None:
    """A restart is a step back of the iterations since the last one; members are told apart, and taken once."""
    watch = Watch(["a", "b"])
    for iteration, since in ((0, 0), (50, 50), (100, 100), (150, 50), (200, 50), (250, 100)):
        check(watch, ["a", None, "c"], iteration, since)
    check(watch, ["b"], 0, 0)
    taken = watch.take("a")
    assert taken is not None
    assert taken["iteration"] == [0, 50, 100, 150, 200, 250]
    assert taken["restarts"] == [0, 0, 0, 1, 2, 2]
    assert watch.take("a") is None
    assert watch.take("c") is None
    assert watch.take("b") is not None


def test_a_watch_stays_in_its_process() -> None:
    """Settings that are copied or sent to another process leave their watch behind, and are equal with and without one."""
    settings = SolveSettings(watch=Watch(["*"]))
    assert pickle.loads(pickle.dumps(settings)).watch is None
    assert copy.deepcopy(settings).watch is None
    assert settings == replace(settings, watch=None)


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(1e-6, 3), st.integers(0, 8)), min_size=1, max_size=40))
def test_no_lane_second_is_lost(spans: list[tuple[float, float, int]]) -> None:
    """However long it takes, the entries add up to what was told, busy never exceeds width, and their number is bounded."""
    watch = Watch()
    clock = [0.0]
    with patch("batchlp_cli.watch.time.perf_counter", lambda: clock[0]):
        watch.worked(0.0, 0, 8)
        for start, length, busy in spans:
            clock[0] = start + length
            watch.worked(start, busy, 8)
    lanes: Any = watch.lanes()
    assert lanes is not None
    assert len(lanes["busy"]) == len(lanes["width"]) <= SPANS
    assert sum(lanes["busy"]) == pytest.approx(sum(length * busy for _, length, busy in spans), abs=1e-3)
    assert sum(lanes["width"]) == pytest.approx(sum(8 * length for _, length, _ in spans), abs=1e-3)
    assert all(b <= w + 1e-5 for b, w in zip(lanes["busy"], lanes["width"], strict=True))


def test_readers_and_writers_of_traces_agree() -> None:
    """What a watch records is what a report reads."""
    assert SERIES == READ_SERIES
    watch = Watch(["*"])
    check(watch, ["a"], 0, 0, float("nan"))
    trace = Trace.of({"name": "a", "backend": "pdhg", **(watch.take("a") or {})})
    assert trace is not None
    assert (trace.primal, trace.iteration) == ((None,), (0.0,))


def test_watching_changes_no_answer_and_ends_within_tolerance() -> None:
    """Members take the same way bit for bit with and without a watch; the last check of a trace is that of the answer."""
    batch = scenario_batch(3, 12)
    named = replace(batch, names=tuple(f"m{i}" for i in range(len(batch))))
    watch = Watch(["m*"])
    settings = SolveSettings(jobs=2)
    with_watch, without = (solve_all(PdhgBackend(2), named, replace(settings, watch=w)) for w in (watch, None))
    for i, (one, other) in enumerate(zip(with_watch, without, strict=True)):
        assert one.iterations == other.iterations
        assert one.x is not None
        assert other.x is not None
        assert one.x.tobytes() == other.x.tobytes()
        trace = watch.take(f"m{i}")
        assert trace is not None
        assert trace["iteration"][-1] == one.iterations
        assert max(trace[series][-1] for series in ("primal", "dual", "gap")) <= settings.tol
        assert trace["iteration"] == sorted(set(trace["iteration"]))
    assert watch.lanes() is not None


def test_traces_come_into_the_run_folder(tmp_path: Path) -> None:
    """`--trace` records those inputs and no others, report.json tells of lanes, and the page draws both."""
    out = tmp_path / "out"
    done = batchlp(
        "solve", SAMPLES / "family", "-o", out, "--backend", "pdhg", "--trace", "transport_0[12]*", "--trace", "nobody"
    )
    assert done.returncode == 0, done.stderr
    found = sorted(p.name for p in (out / "traces").rglob("*.json"))
    assert found == ["transport_01.mps.json", "transport_02.mps.json"]
    rows = {r["name"]: r for r in map(json.loads, (out / "results.jsonl").read_text().splitlines())}
    for path in (out / "traces").rglob("*.json"):
        trace = json.loads(path.read_text())
        assert trace["iteration"][-1] == rows[trace["name"]]["iterations"]
    lanes = json.loads((out / "report.json").read_text())["lanes"]
    assert 0 < sum(lanes["busy"]) <= sum(lanes["width"])
    assert batchlp("report", out, "--html", tmp_path / "p.html").returncode == 0
    page = (tmp_path / "p.html").read_text()
    assert "Residuals against iterations</title>" in page
    assert "Lanes in use over time</title>" in page


def test_simplex_has_no_trace_and_that_is_said(tmp_path: Path) -> None:
    """With HiGHS, or a pattern that names nothing, a note says that there is no trace; without -o it is a usage error."""
    model = SAMPLES / "mixed" / "optimal.mps"
    done = batchlp("solve", model, "-o", tmp_path / "a", "--backend", "highs", "--trace", "opt*")
    assert (done.returncode, b"no trace of 1 member" in done.stderr) == (0, True)
    assert not (tmp_path / "a" / "traces").exists()
    done = batchlp("solve", model, "-o", tmp_path / "b", "--trace", "nobody")
    assert (done.returncode, b"names none of the members" in done.stderr) == (0, True)
    assert batchlp("solve", model, "--trace", "opt*").returncode == 2
