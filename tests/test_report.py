"""What reports say of runs: counts, sentences, tables, and which of several rows counts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.commands.report import destinations
from batchlp_cli.errors import UsageError
from batchlp_cli.files.stored import open_stored, stored_rows
from batchlp_cli.report.concerns import Severity, concerns, headline
from batchlp_cli.report.facts import quantile
from batchlp_cli.report.rows import RESULT_FIELDS
from batchlp_cli.report.words import percent, seconds_in_words
from batchlp_cli.reporting import StoredRun, labels, load_runs
from tests.command import batchlp
from tests.report_rows import Row, failed, report, reported, row, run_folder

SAMPLES = Path(__file__).parents[1] / "sample_instances"


def load(path: Path) -> StoredRun:
    """Returns the one run of a folder."""
    return load_runs([path])[0]


def test_the_last_row_of_a_name_counts(tmp_path: Path) -> None:
    """Of two rows with one name in a file the later one is reported, as --resume would use it, and half a line is passed over."""
    folder = run_folder(tmp_path / "run", [failed("a", "first try"), row("b"), row("a", objective=7.0)], report(2))
    with (folder / "results.jsonl").open("a") as stream:
        stream.write('{"name": "c", "ver')
    found = {str(r["name"]): r["objective"] for r in stored_rows(open_stored(folder))}
    assert found == {"a": 7.0, "b": 1.0}


def test_a_verified_row_of_another_shard_is_not_lost(tmp_path: Path) -> None:
    """Between files, a row without a verdict does not hide one with a proof, in whatever order the files come."""
    for proved, other in (("-1-of-2", "-2-of-2"), ("-2-of-2", "-1-of-2")):
        folder = tmp_path / proved
        run_folder(folder, [row("a")], report(1), proved)
        run_folder(folder, [failed("a", "no")], report(1), other)
        assert [r["verified"] for r in stored_rows(open_stored(folder))] == [True]


def test_a_damaged_row_is_told_with_its_line(tmp_path: Path) -> None:
    """A file that was edited is refused with file and line, not reported in part."""
    folder = run_folder(tmp_path / "run", [row("a"), row("b")], report(2))
    text = (folder / "results.jsonl").read_text()
    (folder / "results.jsonl").write_text("x" + text)
    with pytest.raises(UsageError, match=r"results\.jsonl, line 1"):
        load(folder)


@pytest.mark.parametrize("kind", ["missing", "a file", "empty"])
def test_what_is_no_run_folder_is_refused(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is no run folder ends with exit code 2 and says what is expected."""
    path = tmp_path / "there"
    if kind == "a file":
        path.write_text("x")
    elif kind == "empty":
        path.mkdir()
    code, _, err = reported(capsys, path)
    assert code == 2
    assert "expected a run folder" in err


@given(st.lists(st.floats(0, 1, allow_nan=False), min_size=1), st.floats(0.01, 1))
def test_quantile_is_the_smallest_that_enough_values_reach(values: list[float], share: float) -> None:
    """At least the share of the values is at or below the quantile, and any smaller value has less than the share."""
    q = quantile(sorted(values), share)
    assert sum(v <= q for v in values) >= share * len(values) - 1e-9
    assert all(sum(v <= lower for v in values) < share * len(values) for lower in values if lower < q)


ROWS = [row("a"), row("b", status="infeasible", objective=None), failed("c", "stalled at 17"), failed("d", "stalled at 3e-5")]


def test_counts_and_failures_partition_the_rows(tmp_path: Path) -> None:
    """Statuses, groups, solvers and failures each count every row once, and messages that differ in numbers are one reason."""
    facts = load(run_folder(tmp_path / "run", ROWS, report(4))).facts
    assert (facts.rows, facts.verified, facts.missing) == (4, 2, 0)
    assert sum(t.count for t in facts.tallies) == sum(g.members for g in facts.groups) == sum(s.count for s in facts.shares) == 4
    assert sum(t.verified for t in facts.tallies) == 2
    assert [(f.count, f.reason, f.examples) for f in facts.failures] == [(2, "stalled at 17", ("c", "d"))]
    assert [spread.count for spread in facts.accuracy] == [1, 1, 1]


@pytest.mark.parametrize(
    ("rows", "told", "proved", "words"),
    [
        ([row("a"), row("b")], report(2), True, "All 2 instances have a verified answer"),
        ([row("a"), failed("b", "no")], report(2), False, "1 of 2 instances have no verified answer"),
        ([row("a")], report(3, state="interrupted"), False, "2 inputs have no row"),
        ([row("a")], None, False, "not complete"),
        ([], report(0), False, "No instance has a row"),
    ],
)
def test_the_headline_promises_only_what_is_proved(
    tmp_path: Path, rows: list[Row], told: Row | None, proved: bool, words: str
) -> None:
    """`All verified` is said only when every input has a proved row and the run came to its end."""
    sure, sentence = headline(load(run_folder(tmp_path / "run", rows, told)).facts)
    assert sure is proved
    assert words in sentence


@pytest.mark.parametrize(
    ("rows", "told", "words"),
    [
        ([row("a")], report(2, state="interrupted"), "interrupted"),
        ([row("a")], None, "no report.json"),
        ([failed("a", "", "time_limit")], report(1), "--time-limit"),
        ([row(f"m{i}") for i in range(9)] + [row("slow", solve_time=9.0)], report(10), "slow alone took 9.00 s, 99 %"),
        ([row("a", integer_columns=3)], report(1), "1 instance had integer columns"),
        ([row("a", warnings=["odd"])], report(1), "1 input came with warnings"),
        ([row("a"), row("b", duplicate_of="a")], report(2), "names the same file"),
        ([row("a")], report(1, kept=1), "1 row was kept"),
        ([row("a", attempts=[{"seconds": 1.0}, {"seconds": 2.0}], solve_time=3.0)], report(1), "2.00 s, 67 %"),
        ([row("a")], report(1, stage_times={"read": 9.0, "solve": 1.0}), "'read' took 9.00 s, 90 %"),
        ([row("a", solve_time=0.1)], report(1, stage_times={"solve": 8.0}), "at most 100 ms"),
        ([row("a")], report(1, stage_times={"solve": 0.5}), "Nothing stands out"),
    ],
)
def test_what_stands_out_is_said_with_its_numbers(tmp_path: Path, rows: list[Row], told: Row | None, words: str) -> None:
    """Each concern is raised by the run that shows it."""
    facts = load(run_folder(tmp_path / "run", rows, told)).facts
    assert any(words in concern.text for concern in concerns(facts)), [c.text for c in concerns(facts)]


def test_concerns_come_worst_first(tmp_path: Path) -> None:
    """A missing answer is said before lost time, and that before notes."""
    rows = [*ROWS, row("slow", solve_time=9.0, integer_columns=1), *(row(f"m{i}") for i in range(9))]
    found = [c.severity for c in concerns(load(run_folder(tmp_path / "run", rows, report(len(rows)))).facts)]
    assert set(found) == set(Severity)
    assert found == sorted(found, key=list(Severity).index)


def test_reports_of_all_shards_are_one(tmp_path: Path) -> None:
    """Inputs and stages of shards add up, the wall time is the longest, and a missing shard is said."""
    folder = tmp_path / "run"
    for k, wall in ((1, 3.0), (3, 5.0)):
        run_folder(folder, [row(f"m{k}")], report(1, wall_time=wall), f"-{k}-of-3")
    facts = load(folder).facts
    assert (facts.inputs, facts.wall_time, facts.stage_times["solve"], facts.state) == (2, 5.0, 3.0, "unfinished")
    assert any("2 of 3 shards" in c.text for c in concerns(facts))


def test_labels_are_short_and_different() -> None:
    """A run is called by the end of its path that no other one has; the same folder twice is numbered."""
    assert labels([Path("/x/a"), Path("/x/b")]) == ["a", "b"]
    assert labels([Path("/x/one/run"), Path("/x/two/run")]) == ["one/run", "two/run"]
    assert labels([Path("/x/a"), Path("/x/a")]) == ["a", "a (2)"]


def test_destinations_take_a_folder_for_a_folder(tmp_path: Path) -> None:
    """`--html DIR` means the page of DIR, and a page and a table never go to one file."""
    assert destinations((), str(tmp_path), None) == ([tmp_path], tmp_path / "report.html", None)
    assert destinations((), None, str(tmp_path)) == ([tmp_path], None, Path("-"))
    assert destinations((tmp_path, tmp_path), "", None)[1] == tmp_path / "comparison.html"
    with pytest.raises(UsageError, match="both go to"):
        destinations((tmp_path,), "-", "-")
    with pytest.raises(UsageError, match="nothing to report"):
        destinations((), None, None)


def test_a_run_is_reported_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON line and table on stdout tell the same run as its rows do; nothing else is in the folder afterwards."""
    out = tmp_path / "out"
    batchlp("solve", SAMPLES / "mixed", "-o", out)
    before = sorted(p.name for p in out.iterdir())
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    code, text, _ = reported(capsys, out, "--format", "table")
    assert code == 0
    assert f"All {len(rows)} instances have a verified answer" in text
    record = json.loads(batchlp("report", out).stdout)
    assert (record["rows"], record["all_verified"], record["inputs"]) == (len(rows), True, len(rows))
    table = list(csv.DictReader(io.StringIO(reported(capsys, out, "--csv")[1])))
    assert [r["name"] for r in table] == [r["name"] for r in rows]
    assert list(table[0]) == list(RESULT_FIELDS)
    assert [float(r["objective"]) for r in table if r["objective"]] == [
        r["objective"] for r in rows if r["objective"] is not None
    ]
    assert sorted(p.name for p in out.iterdir()) == before


def test_the_table_is_flat_and_tells_runs_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No cell holds a list, and rows of several runs have the name of theirs."""
    one = run_folder(tmp_path / "one", [row("a", notes=["n1", "n2"]), row('q"uo,te\n')], report(2))
    two = run_folder(tmp_path / "two", [row("a")], report(1))
    table = list(csv.DictReader(io.StringIO(reported(capsys, one, two, "--csv")[1])))
    assert [(r["run"], r["name"]) for r in table] == [("one", "a"), ("one", 'q"uo,te\n'), ("two", "a")]
    assert (table[0]["notes"], table[0]["attempts"]) == ("n1; n2", "1")


def test_files_are_written_whole_and_where_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--html and --csv with files leave stdout to the summary; a place that cannot be written is exit code 5."""
    run = run_folder(tmp_path / "run", ROWS, report(4))
    code, out, _ = reported(capsys, run, "--html", tmp_path / "p.html", "--csv", tmp_path / "t.csv")
    assert code == 0
    assert json.loads(out)["rows"] == 4
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 5
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")
    assert {p.name for p in tmp_path.iterdir()} == {"run", "p.html", "t.csv"}
    assert reported(capsys, run, "--csv", tmp_path / "none" / "t.csv")[0] == 5


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((None, "-"), (0.0, "0 us"), (4.4e-5, "44 us"), (0.0123, "12.3 ms"), (0.9996, "1.00 s"), (61.4, "61.4 s")),
        *((125.0, "2 min 05 s"), (3599.9, "1 h 00 min"), (7500.0, "2 h 05 min")),
    ],
)
def test_durations_have_a_unit_and_three_digits(seconds: float | None, words: str) -> None:
    """Every duration is readable at a glance, and rounding never shows 1000 ms or 60 s in a minute."""
    assert seconds_in_words(seconds) == words


def test_shares_are_not_rounded_to_nothing() -> None:
    """What took some time is not shown as 0 %."""
    assert (percent(0.0), percent(0.001), percent(0.994)) == ("0 %", "below 1 %", "99 %")
