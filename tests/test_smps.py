"""Stochastic programs in SMPS: what the sections mean, what is refused, and the published scenario values."""

from __future__ import annotations

import csv
import gzip
import json
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.commands import exit_code_of
from batchlp_cli.errors import Interrupted, UsageError
from batchlp_cli.files.decompress import decompress
from batchlp_cli.files.inputs import compression_of
from batchlp_cli.files.mps_family import FamilyReader
from batchlp_cli.files.scenario_cells import What
from batchlp_cli.files.smps import Program, SmpsFiles, find_smps, read_program
from batchlp_cli.files.smps_stoch import COEFFICIENT
from batchlp_cli.producers import scenario_groups
from tests.command import batchlp, rows_of

DATA = Path(__file__).parents[2] / "shared" / "data"
LIMIT = 1 << 30

CORE = """NAME newsvendor
ROWS
 N cost
 L bought
 L sold
 G kept
COLUMNS
 buy cost 1 bought 1
 buy sold -1
 sell cost -3 sold 1
 sell kept -1
RHS
 RHS bought 100 kept -50
ENDATA
"""
TIME = "TIME newsvendor\nPERIODS\n buy bought first\n sell sold second\nENDATA\n"


def program(folder: Path, stoch: str, *, samples: int | None = None, seed: int = 0) -> Program:
    """Returns a program with the core above: buy at 1, sell at 3 at most what was bought and what is asked for (50)."""
    files = SmpsFiles(folder / "p.cor", folder / "p.tim", folder / "p.sto")
    for path, text in ((files.core, CORE), (files.time, TIME), (files.stoch, f"STOCH newsvendor\n{stoch}ENDATA\n")):
        path.write_text(text)
    lp = FamilyReader().read(CORE.encode(), "p.cor").lp
    return read_program(files, lp, samples=samples, seed=seed, limit_bytes=LIMIT)


def demands(found: Program, memory: int = 1 << 20) -> list[float]:
    """Returns what is asked for in each scenario."""
    windows = [s for window in found.windows(memory) for s in window]
    return [-float(s.batch.member(k).row_lower[2]) for s in windows for k in range(len(s.batch))]


INDEP = "INDEP DISCRETE\n RHS kept -20 second 0.25\n RHS kept -40 second 0.75\n"


def test_wait_and_see_mean_and_expected_result_by_hand(tmp_path: Path) -> None:
    """Demand 20 or 40: WS buys what is asked for, 2 each, -2 (20/4 + 40 3/4) = -70; the mean is 35, EV = -70; buying 35 and
    selling 20 or 35 costs 35 - 3 (20/4 + 35 3/4) = -58.75."""
    program(tmp_path, INDEP)
    done = batchlp("solve", "--smps", tmp_path / "p", "-o", tmp_path / "run")
    rows = {str(row["name"]): row for row in rows_of(done)}
    assert {name: row["probability"] for name, row in rows.items()} == {"S1": 0.25, "S2": 0.75}
    found = json.loads((tmp_path / "run" / "report.json").read_text())["stochastic"]
    assert found["wait_and_see"] == pytest.approx(-70)
    assert found["mean_value"] == pytest.approx(-70)
    assert found["mean_solution"] == pytest.approx(-58.75)


def test_rows_that_wait_for_their_write_count_in_expected_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go to disk together when a run waits; one that never waits has seen all of them when it adds them up."""
    program(tmp_path, INDEP)
    monkeypatch.setattr("batchlp_cli.solving.Backlog.has_items", lambda _: True)
    assert exit_code_of(["solve", "--smps", str(tmp_path / "p"), "-o", str(tmp_path / "run"), "-q"], 0.0) == 0
    found = json.loads((tmp_path / "run" / "report.json").read_text())["stochastic"]
    assert (found["scenarios"], found["wait_and_see"], found["mean_solution"]) == (2, pytest.approx(-70), pytest.approx(-58.75))


def test_an_interrupted_study_of_the_mean_still_counts_the_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal while the mean's first stage is tried leaves a report with the rows and groups of the scenarios themselves."""
    program(tmp_path, INDEP)

    def interrupted(*given: object, held: object = None) -> Iterator[object]:
        if held is not None:
            raise Interrupted(signal.SIGTERM)
        yield from scenario_groups(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("batchlp_cli.producers.scenario_groups", interrupted)
    assert exit_code_of(["solve", "--smps", str(tmp_path / "p"), "-o", str(tmp_path / "run"), "-q"], 0.0) == 143
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert (report["state"], report["rows"], len(report["groups"])) == ("interrupted", 2, 1)


@pytest.mark.parametrize(
    ("stoch", "expected"),
    [
        (INDEP, [20, 40]),
        ("INDEP DISCRETE ADD\n RHS kept -5 second 1\n", [55]),
        ("INDEP DISCRETE MULTIPLY\n RHS kept 2 second 1\n", [100]),
        ("BLOCKS DISCRETE\n BL b second 0.5\n RHS kept -7\n RHS bought 3\n BL b second 0.5\n RHS bought 4\n", [7, 7]),
        ("SCENARIOS DISCRETE\n SC a ROOT 0.5 first\n RHS kept -7\n SC b a 0.5 second\n RHS bought 4\n", [7, 7]),
        ("SCENARIOS\n SC a 'ROOT' 1 first\n", [50]),
    ],
)
def test_sections(tmp_path: Path, stoch: str, expected: list[float]) -> None:
    """Values replace, add to or scale the core's; later blocks and children list only what differs."""
    assert demands(program(tmp_path, stoch)) == expected


def test_a_random_coefficient_changes_the_matrix(tmp_path: Path) -> None:
    """Scenarios with the same matrix are together, those with another one apart; a coefficient may become 0."""
    found = program(tmp_path, f"INDEP DISCRETE\n buy sold -1 second 0.5\n buy sold 0 second 0.5\n{INDEP}")
    (window,) = found.windows(1 << 20)
    assert sorted(s.batch.names for s in window) == [("S1", "S2"), ("S3", "S4")]
    assert sorted(float(s.batch.base.A[1, 0]) for s in window) == [-1, 0]
    assert all(s.batch.base.A.data.all() for s in window)


@pytest.mark.parametrize("law", ["UNIFORM", "NORMAL", "LOGNORM", "GAMMA", "BETA"])
def test_samples_depend_on_the_seed_only_and_have_the_mean(tmp_path: Path, law: str) -> None:
    """Windows of any size draw the same; another seed draws others; the sample's mean is near the distribution's."""
    stoch = f"INDEP {law}\n RHS kept 1 second 2\n"
    drawn = demands(program(tmp_path, stoch, samples=6000, seed=3))
    assert drawn == demands(program(tmp_path, stoch, samples=6000, seed=3), memory=4_000_00)
    assert drawn != demands(program(tmp_path, stoch, samples=6000, seed=4))
    mean = -float(program(tmp_path, stoch, samples=1).mean().batch.member(0).row_lower[2])
    assert np.mean(drawn) == pytest.approx(mean, abs=5 * np.std(drawn) / 6000**0.5)


@pytest.mark.parametrize(
    ("stoch", "words"),
    [
        ("NODES\n", "not supported"),
        ("BLOCKS LINTR\n", "not supported"),
        ("INDEP DISCRETE\n RHS keept 1 second 1\n", "line 3: the core has no row 'keept'; did you mean kept"),
        ("INDEP DISCRETE\n buyy kept 1 second 1\n", "no column or right-hand side"),
        ("INDEP DISCRETE\n RHS kept x second 1\n", "expected a number"),
        ("INDEP DISCRETE\n RHS kept 1 second 2\n", "probability"),
        ("INDEP NORMAL\n RHS kept 1 second 1\n", "--samples"),
        ("SCENARIOS\n SC a b 1 first\n", "parent"),
        ("", "nothing random"),
    ],
)
def test_what_is_not_supported_is_refused_in_words(tmp_path: Path, stoch: str, words: str) -> None:
    """Each message names the file, and the line where there is one."""
    with pytest.raises(UsageError, match=words) as caught:
        program(tmp_path, stoch)
    assert "p.sto" in str(caught.value)


def test_a_stem_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Without the three files the message says what was looked for."""
    with pytest.raises(UsageError, match=r"no core file .* expected one of .cor"):
        find_smps([str(tmp_path / "nothing")])


def content(found: Program, known: dict[str, object]) -> list[tuple[int, int, float]]:
    """Returns the changes of a published scenario as entries (what, place, value)."""
    rows = {found.lp.row_name(i): i for i in range(found.lp.m)}
    columns = {found.lp.col_name(j): j for j in range(found.lp.n)}
    entries = []
    changes = known["changes"]
    assert isinstance(changes, list)
    for kind, row, column, value in changes:
        if kind == "cost":
            entries.append((int(What.COST), columns[column or row], float(value)))
        elif kind == "rhs":
            entries.append((int(What.RHS), rows[row], float(value)))
        else:
            entries.append((COEFFICIENT, rows[row] * found.lp.n + columns[column], float(value)))
    return entries


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the public instances in ../shared/data")
def test_all_published_scenario_values(tmp_path: Path) -> None:
    """The changes of all 1,041 published scenarios, made by our reader's own machinery, have the published status and value."""
    from batchlp_cli.backends.highs.session import Mode, Session
    from batchlp_cli.batch import Changes, LPBatch
    from batchlp_cli.kkt import verify
    from batchlp_cli.settings import SolveSettings

    families = defaultdict(list)
    with gzip.open(DATA / "SMPS_SCENARIOS.jsonl.gz", "rt") as stream:
        for line in stream:
            known = json.loads(line)
            families[known["family"]].append(known)
    tried, wrong = 0, []
    for entry in csv.DictReader((DATA / "SMPS.csv").read_text().splitlines()):
        path = DATA / entry["cor"]
        lp = FamilyReader().read(decompress(path.read_bytes(), compression_of(path.name), LIMIT, path.name), path.name).lp
        found = Program(lp, *_core_only(path), np.zeros(lp.n, dtype=np.bool_), (), None, 0)  # type: ignore[arg-type]
        for known in families[entry["name"]]:
            rows = np.array(content(found, known)).reshape(-1, 3)
            member = np.zeros(len(rows), dtype=np.int64)
            (one,) = found._scenarios(["s"], member, rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2])
            own = one.batch.member(0)
            claim = Session(own).solve(Changes(), Mode.COLD, SolveSettings())
            (verdict,) = verify(LPBatch.of([own]), [claim], 1e-6)
            tried += 1
            value = None if verdict.objective is None else own.sign * verdict.objective
            same = claim.status.value == known["status"].lower() and verdict.verified
            if not same or (value is not None and abs(value - known["objective"]) > 1e-6 * (1 + abs(known["objective"]))):
                wrong.append((entry["name"], known["scenario"], claim.status.value, verdict.reason, value, known["objective"]))
    assert not wrong
    assert tried == 1041


def _core_only(path: Path) -> tuple[object, object]:
    from batchlp_cli.files.smps_core import read_core_names
    from batchlp_cli.files.smps_stoch import Stoch

    return read_core_names(path, LIMIT), Stoch()
