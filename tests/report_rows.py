"""Run folders made by hand, with rows as a run writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from batchlp_cli.commands import exit_code_of
from batchlp_cli.report.rows import RESULT_FIELDS

Row = dict[str, object]


def row(name: str, **given: object) -> Row:
    """Returns the row of a verified optimum that took 10 ms and 20 iterations, with the given values in place of those."""
    base: Row = dict.fromkeys(RESULT_FIELDS)
    base |= {"schema_version": 1, "name": name, "input": name, "status": "optimal", "verified": True, "objective": 1.0}
    base |= {"primal_residual_rel": 1e-9, "dual_residual_rel": 1e-9, "gap_rel": 1e-9, "sense": "min", "group": "g1"}
    base |= {"backend": "highs", "method": "simplex warm", "iterations": 20, "solve_time": 0.01, "read_time": 0.001}
    base |= {"rows": 3, "columns": 4, "nonzeros": 9, "integer_columns": 0, "notes": [], "warnings": []}
    base |= {"attempts": [{"backend": "highs", "seconds": 0.01}]}
    return base | given


def failed(name: str, reason: str, status: str = "numerical_error", **given: object) -> Row:
    """Returns the row of an instance without a verdict."""
    return row(name, status=status, verified=False, objective=None, reason=reason, **given)


def report(rows: int, **given: object) -> Row:
    """Returns the report of a finished run with so many inputs."""
    base: Row = {"schema_version": 1, "state": "finished", "inputs": rows, "rows": rows, "wall_time": 2.0}
    base |= {"stage_times": {"start": 0.25, "read": 0.25, "solve": 1.5}, "settings": {"tol": 1e-6, "jobs": 2, "backend": "highs"}}
    base |= {"machine": {"system": "Linux", "cores": 2}, "versions": {"batchlp": "0.1.0"}, "groups": []}
    return base | given


def run_folder(path: Path, rows: Sequence[Row], told: Mapping[str, object] | None, tag: str = "") -> Path:
    """Writes a run folder, without a report where none is told; returns its path."""
    path.mkdir(parents=True, exist_ok=True)
    (path / f"results{tag}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    if told is not None:
        (path / f"report{tag}.json").write_text(json.dumps(told))
    return path


def reported(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Runs `batchlp report` in this process; returns its exit code, stdout and stderr."""
    capsys.readouterr()
    code = exit_code_of(["report", *map(str, arguments)], 0.0)
    out, err = capsys.readouterr()
    return code, out, err
