"""Comparisons and generated families: the crossover is found where it is put, disagreements are seen, files are reproducible."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.batch import LPBatch
from batchlp_cli.commands import exit_code_of
from batchlp_cli.errors import UsageError
from batchlp_cli.report.comparison import SHIFT
from batchlp_cli.report.profile import shifted_mean
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Residuals, Solution, Status, Verdict
from batchlp_cli.studies.comparison import SIDES, compare_batch, parse_sides
from batchlp_cli.studies.crossover import Timed, find_crossover
from tests.command import batchlp
from tests.conformance import BACKENDS, lp_of, scenario_batch


def sizes(slope: float, noise: float, at: float = 1e4, repeats: int = 5) -> list[Timed]:
    """Returns times of two sides whose ratio is (nonzeros / at) ** slope, times some noise."""
    rng = np.random.default_rng(3)
    found = []
    for nonzeros in (100, 1_000, 8_000, 50_000, 300_000):
        first = np.exp(noise * rng.normal(size=repeats))
        second = (nonzeros / at) ** slope * np.exp(noise * rng.normal(size=repeats))
        found.append(Timed(nonzeros, tuple(first.tolist()), tuple(second.tolist())))
    return found


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("slope", [0.5, -0.5])
def test_crossover_is_found_where_it_was_put(slope: float, noise: float) -> None:
    """The estimate is near the true place, inside its interval, and tells which side wins above it."""
    found = find_crossover(sizes(slope, noise))
    assert found.at is not None
    assert found.at == pytest.approx(1e4, rel=0.01 + 3 * noise)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.at * 1.0001
    assert found.high >= found.at * 0.9999
    assert found.grows is (slope > 0)
    assert ("a is faster below" in found.in_words("a", "b", sizes(slope, noise))) is (slope < 0)


def test_range_without_a_crossover_says_who_is_faster() -> None:
    """Where one side is faster at all sizes, that is said, with the range."""
    apart = sizes(0.5, 0.0, at=1.0)
    found = find_crossover(apart)
    assert found.at is None
    assert found.in_words("a", "b", apart) == "no crossover in the range: a is faster from 100 to 300,000 nonzeros"


def test_sizes_without_times_are_left_out() -> None:
    """A size at which one side has no times takes no part, and without any nothing is said."""
    empty = [Timed(10, (), (1.0,))]
    assert find_crossover(empty).at is None
    assert "nothing can be said" in find_crossover(empty).in_words("a", "b", empty)
    assert find_crossover([*sizes(0.5, 0.0), *empty]) == find_crossover(sizes(0.5, 0.0))


def test_shifted_mean_is_the_definition() -> None:
    """The shifted geometric mean of equal times is that time; a tiny time doesn't decide."""
    assert shifted_mean([0.5, 0.5], SHIFT) == pytest.approx(0.5)
    mean = shifted_mean([1e-9, 1.0], SHIFT)
    assert mean is not None
    assert mean > 0.02


@pytest.mark.parametrize("text", ["pdhg", "pdhg-vs-", "a-vs-b", "ipm-vs-ipm", "simplex vs pdhg"])
def test_what_is_no_comparison_is_refused(text: str) -> None:
    """Only two different known sides make a comparison."""
    with pytest.raises(UsageError):
        parse_sides(text)
    assert parse_sides("pdhg-mixed-vs-simplex-cold") == ("pdhg-mixed", "simplex-cold")


class Liar:
    """A backend that proves another LP: its claims are optimal for costs that are not the member's."""

    name = "liar"

    def solve_many(self, batches: list[LPBatch], settings: SolveSettings) -> object:
        """Yields x = 1, which is optimal for the minimum of x in [1, 2] and not for its maximum."""
        for k, batch in enumerate(batches):
            for member in range(len(batch)):
                yield k, member, Solution(Status.OPTIMAL, x=np.ones(1), y=np.zeros(0), r=np.array(batch.member(member).c))

    def choices(self) -> list[str]:
        """Returns nothing."""
        return []


def test_answer_that_is_not_proved_is_a_failure_and_counts_with_the_limit() -> None:
    """A side whose claim the referee refuses fails that member, and its time is that of the limit."""
    lp = lp_of("line", [1.0], np.zeros((0, 1)), ([], []), ([1.0], [2.0]))
    batch = LPBatch.of([lp, replace(lp, c=np.array([-1.0]))])
    highs = BACKENDS["highs"]()
    found = compare_batch("line", batch, [highs, Liar()], SolveSettings(jobs=1, time_limit=40.0), 1)  # type: ignore[list-item]
    highs.close()
    assert [side.failed for side in found.sides] == [0, 1]
    assert found.sides[1].seconds[0] >= 20.0 > found.sides[0].seconds[0]
    assert not found.disagreements  # what is not proved contradicts nothing


class Stuck(Liar):
    """A backend whose members run side by side into a limit: together they took far more than the time that passed."""

    def solve_many(self, batches: list[LPBatch], settings: SolveSettings) -> object:
        """Yields a time limit for every member, at once."""
        for k, batch in enumerate(batches):
            for member in range(len(batch)):
                yield k, member, Solution(Status.TIME_LIMIT, seconds=settings.time_limit)


def test_failures_side_by_side_count_with_the_limit_each() -> None:
    """A side that gives all members up together is not the faster one for it."""
    batch = LPBatch.of([lp_of("line", [1.0], np.zeros((0, 1)), ([], []), ([1.0], [2.0]))] * 8)
    found = compare_batch("line", batch, [Stuck(), Liar()], SolveSettings(jobs=2, time_limit=40.0), 1)  # type: ignore[list-item]
    assert [side.failed for side in found.sides] == [8, 0]
    assert found.sides[0].seconds[0] == pytest.approx(40.0 / 2, rel=0.01)
    assert found.timed.first > found.timed.second


class Changeable(Liar):
    """A backend that is right the first time, wrong the second, and right again."""

    def __init__(self) -> None:
        self.calls = -1  # the warm-up

    def solve_many(self, batches: list[LPBatch], settings: SolveSettings) -> object:
        """Yields x = 1, and every other time x = 2."""
        self.calls += 1
        for k, batch in enumerate(batches):
            for member in range(len(batch)):
                x = np.ones(1) * (2.0 if self.calls % 2 == 0 and self.calls else 1.0)
                yield k, member, Solution(Status.OPTIMAL, x=x, y=np.zeros(0), r=np.array(batch.member(member).c))


def test_failure_of_any_repeat_is_kept() -> None:
    """A member that was wrong once is a failure, also where the last repeat was right."""
    batch = LPBatch.of([lp_of("line", [1.0], np.zeros((0, 1)), ([], []), ([1.0], [2.0]))])
    found = compare_batch("line", batch, [Changeable(), Changeable()], SolveSettings(jobs=1, time_limit=40.0), 3)  # type: ignore[list-item]
    assert [side.failed for side in found.sides] == [1, 1]


def test_size_that_neither_side_solves_says_nothing_of_a_crossover() -> None:
    """Where both sides fail everywhere, the limit is all that was measured, and it takes no part in the estimate."""
    batch = LPBatch.of([lp_of("line", [-1.0], np.zeros((0, 1)), ([], []), ([1.0], [2.0]))])
    found = compare_batch("line", batch, [Liar(), Liar()], SolveSettings(jobs=1, time_limit=40.0), 2)  # type: ignore[list-item]
    assert [side.failed for side in found.sides] == [1, 1]
    assert found.timed.first == found.timed.second == ()


class Tricked:
    """A backend that answers what the judge of the test lets pass."""

    name = "tricked"

    def __init__(self, status: Status) -> None:
        self.status = status

    def solve_many(self, batches: list[LPBatch], settings: SolveSettings) -> object:
        """Yields a claim of the status for every member."""
        for k, batch in enumerate(batches):
            for member in range(len(batch)):
                yield k, member, Solution(self.status)

    def choices(self) -> list[str]:
        """Returns nothing."""
        return []


class Shut(Tricked):
    """One that can be closed, as a command closes its backends."""

    def close(self) -> None:
        """Frees nothing."""


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.OPTIMAL])
def test_verified_answers_that_differ_are_a_disagreement(status: Status, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two statuses, or two objectives, that a referee let pass are named with the member, in the sense of the file."""
    values = iter([1.0, 1.5])

    def judge(batch: LPBatch, claims: list[Solution], tol: float) -> list[Verdict]:
        value = next(values) if status is Status.OPTIMAL else 1.0
        return [Verdict(True, value if c.status is Status.OPTIMAL else None, 0.0, Residuals(0, 0, 0, 0, 0, 0)) for c in claims]

    monkeypatch.setattr("batchlp_cli.studies.comparison.verify", judge)
    batch = LPBatch.of([lp_of("line", [1.0], np.zeros((0, 1)), ([], []), ([1.0], [2.0]))])
    found = compare_batch("line", batch, [Tricked(Status.OPTIMAL), Tricked(status)], SolveSettings(jobs=1), 1)  # type: ignore[list-item]
    [sentence] = found.disagreements
    assert sentence.startswith("line: ")
    assert ("objectives 1 and 1.5" in sentence) == (status is Status.OPTIMAL)


def test_disagreement_comes_first_and_in_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two verified answers that differ are the first that is said, are in the record, and end with exit code 1."""

    def judge(batch: LPBatch, claims: list[Solution], tol: float) -> list[Verdict]:
        return [Verdict(True, 1.0 if c.status is Status.OPTIMAL else None, 0.0, Residuals(0, 0, 0, 0, 0, 0)) for c in claims]

    monkeypatch.setattr("batchlp_cli.studies.comparison.verify", judge)
    doubles = {"pdhg": Status.OPTIMAL, "ipm": Status.INFEASIBLE}
    for name, status in doubles.items():
        monkeypatch.setitem(SIDES, name, lambda settings, status=status: Shut(status))
    arguments = ["--family", "knapsack", "--sizes", "1x4,1x8", "--members", "2", "--repeats", "1", "-o", str(tmp_path)]
    code = exit_code_of(["compare", "pdhg-vs-ipm", *arguments], 0.0)
    said = [line for line in capsys.readouterr().err.splitlines() if " s an LP" not in line]
    assert code == 1
    assert "optimal and infeasible, both verified" in said[0]
    kept = json.loads((tmp_path / "compare.json").read_text())
    assert len(kept["disagreements"]) == sum(size["disagreements"] for size in kept["sizes"]) == 4


@pytest.mark.parametrize("side", ["simplex-cold", "ipm"])
def test_versions_of_highs_prove_all_answers(side: str) -> None:
    """A forced cold start and the interior point method bring verified answers to feasible and infeasible members alike."""
    batch = scenario_batch(4, 12)
    settings = SolveSettings(jobs=1)
    backends = [SIDES["simplex"](settings), SIDES[side](settings)]
    found = compare_batch("scenarios", batch, backends, settings, 2)
    for backend in backends:
        backend.close()
    assert [s.failed for s in found.sides] == [0, 0]
    assert not found.disagreements


def test_compare_writes_what_it_shows(tmp_path: Path) -> None:
    """A comparison on a generated family gives a record a size, the same in compare.json, and a figure; exit code 0."""
    asked = ("--family", "set-cover", "--sizes", "20x60,30x90", "--members", "4", "--repeats", "1", "-o", tmp_path / "out")
    done = batchlp("compare", "simplex-warm-vs-simplex-cold", *asked, "-q")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    kept = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert [r["label"] for r in records] == ["set-cover 20x60", "set-cover 30x90"] == [r["label"] for r in kept["sizes"]]
    assert all(r["speedup"] > 0 and r["first_failed"] == r["second_failed"] == r["disagreements"] == 0 for r in records)
    assert (tmp_path / "out" / "crossover.svg").read_text().startswith(("<?xml", "<svg"))


def test_gpu_without_a_device_exits_with_4_and_names_what_would_run(tmp_path: Path) -> None:
    """gpu-vs-simplex where there is no device says which comparison would run."""
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there may be a CUDA device")
    done = batchlp("compare", "gpu-vs-simplex", "--family", "set-cover")
    assert done.returncode == 4
    assert b"compare pdhg-vs-simplex would run" in done.stderr


@pytest.mark.parametrize("form", ["family", "children", "mip"])
def test_generated_files_are_the_same_for_a_seed(tmp_path: Path, form: str) -> None:
    """The same recipe gives the same bytes, another seed others, and solve proves what was written."""
    for name, seed in (("one", "5"), ("two", "5"), ("three", "6")):
        asked = ("--size", "8x12", "--members", "4", "--seed", seed, "--as", form, "-o", tmp_path / name)
        done = batchlp("generate", "capacitated-facility-location", *asked, "-q")
        assert done.returncode == 0, done.stderr
    one, two, three = ({p.name: p.read_bytes() for p in (tmp_path / n).glob("*.mps")} for n in ("one", "two", "three"))
    assert one == two
    assert one
    assert set(one.values()) != set(three.values())
    solved = batchlp("solve", tmp_path / "one", "-q")
    assert solved.returncode == 0
    groups = {json.loads(line)["group"] for line in solved.stdout.splitlines()}
    assert len(groups) == 1


def test_generate_lists_families_and_refuses_what_is_none() -> None:
    """--list shows each family with its source; an unknown one, or a size of another, is a usage error."""
    listed = [json.loads(line) for line in batchlp("generate", "--list").stdout.splitlines()]
    assert len(listed) > 8
    assert all(record["source"] and record["varies"] for record in listed)
    assert batchlp("generate", "no-such-family", "-o", "nowhere").returncode == 2
    assert batchlp("generate", "knapsack", "--size", "3x3x3", "-o", "nowhere").returncode == 2
