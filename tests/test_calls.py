"""What large batches cost in Python: nothing is called for a member but what HiGHS alone can tell of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.highs.chunk import ChunkSolver, ChunkTask
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.batch import Changes, Field
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings

FEW, MANY = 2000, 6000
MOST = 0.25
"""Calls a member of any one function, between so few members and so many. One a chunk is some thousandth."""

SOLVER = {"run", "getModelStatus", "getSolution", "getInfoValue"}
"""What HiGHS is asked of each member, beside what changes."""

COUNTED = """
import collections, json, sys, threading
calls = collections.Counter()
def count(frame, event, argument):
    if event == "call":
        code = frame.f_code
        calls[f"{code.co_filename}:{code.co_name}"] += 1
threading.setprofile(count)
sys.setprofile(count)
from batchlp_cli.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.setprofile(None)
json.dump(calls, open("calls.json", "w"))
"""


def transport() -> LinearProgram:
    """Returns a transport LP of four sources and five sinks, whose demands may rise by a quarter."""
    A = sp.vstack([sp.kron(sp.eye_array(4), np.ones((1, 5))), sp.kron(np.ones((1, 4)), sp.eye_array(5))])
    lower, upper = np.r_[np.full(4, -np.inf), np.full(5, 10.0)], np.r_[np.full(4, 20.0), np.full(5, np.inf)]
    cost = np.random.default_rng(0).integers(1, 50, 20).astype(np.float64)
    names = tuple(f"r{i}" for i in range(9))
    return LinearProgram("t", cost, sp.csr_array(A), lower, upper, np.zeros(20), np.full(20, np.inf), row_names=names)


def demands(members: int) -> Vector:
    """Returns the demands of each member: [members, 5]."""
    return np.round(10.0 * np.random.default_rng(1).uniform(0.75, 1.25, (members, 5)), 2)


def write_wide(path: Path, table: Vector) -> None:
    """Writes a scenario a line."""
    lines = [f"s{k}," + ",".join(map(repr, row)) for k, row in enumerate(table.tolist())]
    path.write_text("\n".join(["scenario," + ",".join(f"rhs:r{4 + j}" for j in range(5)), *lines, ""]))


def write_long(path: Path, table: Vector) -> None:
    """Writes a change a line."""
    lines = [f"s{k},rhs,r{4 + j},{value!r}" for k, row in enumerate(table.tolist()) for j, value in enumerate(row)]
    path.write_text("\n".join(["scenario,what,name,value", *lines, ""]))


def write_jsonl(path: Path, table: Vector) -> None:
    """Writes an object a scenario."""
    rows = ({"scenario": f"s{k}"} | {f"rhs:r{4 + j}": v for j, v in enumerate(row)} for k, row in enumerate(table.tolist()))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def write_parquet(path: Path, table: Vector) -> None:
    """Writes a column a place."""
    pa = pytest.importorskip("pyarrow")
    columns = {"scenario": [f"s{k}" for k in range(len(table))]} | {f"rhs:r{4 + j}": table[:, j] for j in range(5)}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)


def calls_of_run(folder: Path, members: int, name: str) -> Counter[str]:
    """Returns how often each function was called in the main process of a run over so many scenarios."""
    place = folder / str(members)
    place.mkdir()
    (place / "t.mps").write_text(write_mps(transport()))
    {"wide.csv": write_wide, "long.csv": write_long, "t.jsonl": write_jsonl, "t.parquet": write_parquet}[name](
        place / name, demands(members)
    )
    flags = ["-j", "2", "-o", "run", "--solutions", "none", "--backend", "highs", "-q"]
    command = [sys.executable, "-c", COUNTED, "solve", "t.mps", "--scenarios", name, *flags]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL, timeout=120)
    assert json.loads((place / "run" / "report.json").read_text())["verified"] == members
    return Counter(json.loads((place / "calls.json").read_text()))


@pytest.mark.parametrize("name", ["wide.csv", "long.csv", "t.jsonl", "t.parquet"])
def test_the_main_process_calls_nothing_for_a_member(tmp_path: Path, name: str) -> None:
    """No function is called as often as there are members: tables, claims, proofs and rows are columns."""
    few, many = calls_of_run(tmp_path, FEW, name), calls_of_run(tmp_path, MANY, name)
    growth = {function: (count - few[function]) / (MANY - FEW) for function, count in many.items()}
    assert {function: each for function, each in growth.items() if each > MOST} == {}


@contextmanager
def counted(calls: Counter[str]) -> Iterator[None]:
    """Counts calls of Python functions, and of HiGHS, by their names."""

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            calls[f"{frame.f_code.co_filename}:{frame.f_code.co_name}"] += 1
        elif event == "c_call" and "highspy" in str(getattr(argument, "__module__", "")) + str(type(argument)) + repr(argument):
            calls[getattr(argument, "__name__", "")] += 1

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("mode", [Mode.WARM, Mode.COLD])
def test_a_worker_calls_nothing_but_the_solver_for_a_member(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of members that no basis is shared by, each costs no call of a Python function, and of HiGHS those that it needs."""
    monkeypatch.setattr("batchlp_cli.backends.highs.chunk.MOST_ROWS", 0)  # nothing is shared
    base, table = transport(), demands(600)
    solver, session = ChunkSolver(base, SolveSettings()), Session(base)
    calls: Counter[str] = Counter()
    for start in range(0, 600, 200):
        part = table[start : start + 200]
        member, index = np.repeat(np.arange(200), 5), np.tile(np.arange(4, 9), 200)
        changes = Changes(member, np.full(1000, int(Field.ROW_LOWER), dtype=np.int8), index, part.ravel())
        with counted(calls) if start else counted(Counter()):  # the first chunk makes what all need
            answer = solver.solve(session, ChunkTask(0, changes, 200, mode))
        assert sum(map(len, answer.optima)) == 200
    often = {name: count / 400 for name, count in calls.items() if count > 0.9 * 400}
    allowed = SOLVER | {"changeRowsBounds"} | ({"clearSolver"} if mode is Mode.COLD else set())
    assert set(often) <= allowed
    assert set(often) >= {"run"}
    assert max(often.values()) < 1.1
