"""The result row of an instance and the report of a run, as plain dicts that become JSON. No file is touched here."""

from __future__ import annotations

import hashlib
import json
import math
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from batchlp_cli import __version__
from batchlp_cli.batch import Labels
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import Selection, SolutionFormat, SolveSettings, available_cores, available_memory_bytes
from batchlp_cli.solution import DECIDED, Residuals, Solution, Status, Verdict

SCHEMA_VERSION = 1
Row = dict[str, object]

RESULT_FIELDS = (
    "schema_version", "name", "input", "status", "verified", "objective", "dual_bound", "sense",
    "primal_residual_abs", "primal_residual_rel", "dual_residual_abs", "dual_residual_rel", "gap_abs", "gap_rel",
    "backend", "method", "basic", "iterations", "solve_time", "read_time", "group", "rows", "columns", "nonzeros",
    "integer_columns", "model_name", "attempts", "reason", "notes", "warnings", "error", "duplicate_of", "solution",
    "probability", "input_digest", "settings_digest",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Where a row comes from: its safe unique name, the path as the user knows it, what reading told, and the
    probability of a scenario that has one."""

    name: str
    shown: str
    input_digest: str = ""
    read_time: float = 0.0
    warnings: tuple[str, ...] = ()
    probability: float | None = None


def finite(value: float | None) -> float | None:
    """Returns the number, or None where there is none to show (NaN, infinity)."""
    return None if value is None or not math.isfinite(value) else float(value)


def empty_row(source: Source, settings_digest: str) -> Row:
    """Returns a row in which everything is null that only reading and solving could tell."""
    row: Row = dict.fromkeys(RESULT_FIELDS)
    row |= {"schema_version": SCHEMA_VERSION, "name": source.name, "input": source.shown, "verified": False}
    row |= {"read_time": round(source.read_time, 6), "attempts": [], "notes": [], "warnings": list(source.warnings)}
    row |= {"probability": source.probability, "input_digest": source.input_digest or None, "settings_digest": settings_digest}
    return row


def unreadable_row(source: Source, settings_digest: str, error: str) -> Row:
    """Returns the row of an input that is no readable LP."""
    return empty_row(source, settings_digest) | {"status": Status.UNREADABLE.value, "error": error}


def attempt(solution: Solution, verdict: Verdict) -> Row:
    """Returns the record of one try at an instance: who tried, how, what came of it."""
    return {
        "backend": solution.backend,
        "method": str(solution.method),
        "status": solution.status.value,
        "verified": verdict.verified,
        "seconds": solution.seconds,
        "iterations": solution.iterations,
        "reason": verdict.reason or solution.message,
    }


@dataclass(frozen=True, slots=True)
class Model:
    """What a row tells of a model, so that a batch of many members tells it once: sign is -1 for a maximisation."""

    sign: float
    rows: int
    columns: int
    nonzeros: int
    integer_columns: int

    @staticmethod
    def of(base: LinearProgram, label: Labels) -> Model:
        """Returns what rows tell of the members of a base that have this label."""
        return Model(-1.0 if label.maximize else 1.0, base.m, base.n, base.nnz, int(label.integer.sum()))


def unjudged(solution: Solution) -> Row:
    """Returns the record of a try that gave up inside its backend, so that the referee never saw it."""
    return attempt(solution, Verdict(False, None, -math.inf, Residuals(), solution.message))


def result_row(
    source: Source, settings_digest: str, model: Model, name: str, group: str, tries: Sequence[tuple[Solution, Verdict]]
) -> Row:
    """Returns the row of a solved instance whose model has this name; the last try given is the one that counts.

    A literal in the order of RESULT_FIELDS, since a batch may have millions of rows.
    """
    solution, verdict = tries[-1]
    every = [part for s, _ in tries for part in (*s.earlier, s)]
    residuals, sign, integers = verdict.residuals, model.sign, model.integer_columns
    notes = list(verdict.notes)
    if integers:
        notes.insert(0, f"relaxed: {integers} integer column{'s' if integers > 1 else ''}")
    return {
        "schema_version": SCHEMA_VERSION,
        "name": source.name,
        "input": source.shown,
        "status": solution.status.value,
        "verified": verdict.verified,
        "objective": None if verdict.objective is None else finite(sign * verdict.objective),
        "dual_bound": finite(sign * verdict.dual_bound),
        "sense": "max" if sign < 0 else "min",
        "primal_residual_abs": finite(residuals.primal_abs),
        "primal_residual_rel": finite(residuals.primal_rel),
        "dual_residual_abs": finite(residuals.dual_abs),
        "dual_residual_rel": finite(residuals.dual_rel),
        "gap_abs": finite(residuals.gap_abs),
        "gap_rel": finite(residuals.gap_rel),
        "backend": solution.backend,
        "method": str(solution.method),
        "basic": solution.backend == "highs" if solution.status is Status.OPTIMAL else None,
        "iterations": sum(s.iterations for s in every),
        "solve_time": round(sum(s.seconds for s in every), 6),
        "read_time": round(source.read_time, 6),
        "group": group,
        "rows": model.rows,
        "columns": model.columns,
        "nonzeros": model.nonzeros,
        "integer_columns": integers,
        "model_name": name,
        "attempts": [record for s, v in tries for record in (*map(unjudged, s.earlier), attempt(s, v))],
        "reason": verdict.reason or None,
        "notes": notes,
        "warnings": list(source.warnings),
        "error": solution.message or None if solution.status not in DECIDED else None,
        "duplicate_of": None,
        "solution": None,
        "probability": source.probability,
        "input_digest": source.input_digest or None,
        "settings_digest": settings_digest,
    }


def duplicate_row(source: Source, original: Row) -> Row:
    """Returns the row of an input that names the same file as an earlier one: its verdict under its own name."""
    same = {"name": source.name, "input": source.shown, "duplicate_of": original["input"], "read_time": 0.0, "solve_time": 0.0}
    return original | same


def settings_record(settings: SolveSettings) -> Row:
    """Returns what a report tells of settings: what a user can ask for, null where a limit is none."""
    unasked = ("careful", "cutoff", "near", "watch", "starts", "backlog")
    told = {key: value for key, value in asdict(settings).items() if key not in unasked}
    return told | {"time_limit": finite(settings.time_limit)}


def settings_digest(
    settings: SolveSettings,
    solutions: SolutionFormat,
    version_text: str = __version__,
    *,
    kept: Selection | None = None,
    start: str | None = None,
) -> str:
    """Returns a digest of all that can change an answer or what is kept of it: what --resume compares. start: the run folder
    that solutions come from to start with, as the user named it."""
    names = ("backend", "tol", "time_limit", "iteration_limit", "fallback", "crossover", "precision", "device", "negative_upper")
    values = [str(getattr(settings, name)) for name in names]
    if kept is not None and kept != Selection():
        values += ["".join(sorted(kept.vectors)), str(kept.columns)]
    if start is not None:
        values.append(f"from {start}")
    return hashlib.sha256("\0".join([*values, solutions.value, version_text]).encode()).hexdigest()[:16]


@dataclass(slots=True)
class Totals:
    """Counts of the rows of a run, from which the exit code follows."""

    statuses: Counter[str] = field(default_factory=Counter)
    verified: int = 0
    rows: int = 0
    readable: int = 0
    kept: int = 0  # of all rows, those that an earlier run has left

    def add(self, row: Mapping[str, object]) -> None:
        """Counts one row."""
        self.rows += 1
        self.statuses[str(row["status"])] += 1
        self.verified += bool(row["verified"])
        self.readable += row["status"] != Status.UNREADABLE.value

    def add_verified(self, status: str, count: int) -> None:
        """Counts so many rows that have a verified status."""
        self.rows += count
        self.statuses[status] += count
        self.verified += count
        self.readable += count

    def exit_code(self, fail_on: Iterable[Status] = ()) -> int:
        """Returns 0 when every row has a verified verdict and none has a status to fail on, 3 when nothing was readable."""
        if self.rows == 0 or self.readable == 0:
            return 3
        return 1 if self.verified < self.rows or any(self.statuses[s.value] for s in fail_on) else 0


def versions() -> dict[str, str]:
    """Returns the versions that an answer can depend on; those of the lanes' libraries where lanes were loaded."""
    from importlib.metadata import PackageNotFoundError, version  # late: this is slow to import

    found = {"batchlp": __version__, "python": platform.python_version()}
    for package in ("highspy", "numpy", "scipy", *(name for name in ("numba", "torch") if name in sys.modules)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, object]:
    """Returns what the report tells of the machine."""
    memory = available_memory_bytes()
    system = f"{platform.system()} {platform.release()}"
    return {"system": system, "processor": platform.machine(), "cores": available_cores(), "memory_bytes": memory}


def peak_memory_bytes() -> int | None:
    """Returns the largest resident memory of this process so far, or None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def json_line(row: Mapping[str, object]) -> str:
    """Returns a row as one line of strict JSON, without the line's end."""
    return _encode(row)


_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode  # made once, since json.dumps makes one a call
