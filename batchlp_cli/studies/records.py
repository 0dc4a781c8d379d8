"""The rows of a study as plain dicts that become JSON, with the signs that a person expects, and how a table shows them.

Each model has one row of kind `model`; before it come its candidates, or its columns and rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from batchlp_cli.batch import Field
from batchlp_cli.problem import LinearProgram
from batchlp_cli.report.rows import SCHEMA_VERSION, Row, Source, finite
from batchlp_cli.report.words import plural
from batchlp_cli.solution import Status
from batchlp_cli.studies.branching import BranchResult, Candidate, Child, ChildState
from batchlp_cli.studies.tightening import Range, TightenResult

_COMMON = ("schema_version", "kind", "name", "input", "status", "verified", "sense")
_MODEL = ("rows", "columns", "integer_columns", "iterations", "solve_time", "choice", "reason", "notes", "warnings", "error")
_FILES = ("model_file", "input_digest", "settings_digest")
_CHILD = ("bound", "value", "upper", "state", "verified", "backend", "iterations", "solve_time")

BRANCH_FIELDS = (
    *_COMMON, "column", "x", "place", "score", "score_upper", "contender", "fixed",
    *(f"{side}_{key}" for side in ("down", "up") for key in _CHILD),
    "root_bound", "root_value", "candidates", "best", "contenders", "fixings", *_MODEL, *_FILES,
)  # fmt: skip

TIGHTEN_FIELDS = (
    *_COMMON, "column", "row", "minimum", "maximum", "minimum_state", "maximum_state", "old_minimum", "old_maximum", "changed",
    "optimum", "rounds", "changed_bounds", "solved", "filtered", *_MODEL, *_FILES,
)  # fmt: skip


NO_CUTS = "the root is the plain relaxation: no cuts are added"


@dataclass(frozen=True, slots=True)
class Layout:
    """fields: all keys of a study's rows, in order. headings: of its table, by key."""

    fields: tuple[str, ...]
    headings: Mapping[str, str]


def number_text(value: object) -> str:
    """Returns a value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return format(value, ".10g") if isinstance(value, float) else str(value)


def study_row(fields: tuple[str, ...], kind: str, source: Source, digest: str) -> Row:
    """Returns a row of a study in which everything is null that only the study could tell."""
    row: Row = dict.fromkeys(fields)
    row |= {"schema_version": SCHEMA_VERSION, "kind": kind, "name": source.name, "input": source.shown, "verified": False}
    return row | {"input_digest": source.input_digest or None, "settings_digest": digest, "notes": [], "warnings": []}


def unreadable_study_row(fields: tuple[str, ...], source: Source, digest: str, error: str) -> Row:
    """Returns the row of an input that is no readable model, or of which the study cannot be made."""
    return study_row(fields, "model", source, digest) | {"status": Status.UNREADABLE.value, "error": error}


def _about(lp: LinearProgram) -> Row:
    integers = int(lp.integer.sum())
    return {"sense": "max" if lp.maximize else "min", "rows": lp.m, "columns": lp.n, "integer_columns": integers}


def branch_rows(result: BranchResult, source: Source, digest: str) -> tuple[list[Row], Row]:
    """Returns a row a candidate, best first and those that fix a bound last, and the row of the model."""
    lp = result.lp
    order = sorted(range(len(result.candidates)), key=lambda k: (result.candidates[k].place or math.inf, k))
    rows = [_candidate_row(result, k, source, digest) for k in order]
    solution, verdict = result.root
    children = [child for c in result.candidates for child in (c.down, c.up)]
    tries = [t for child in children for t in child.tries]
    model = study_row(BRANCH_FIELDS, "model", source, digest) | _about(lp)
    verified = verdict.verified and all(child.verified for child in children)
    notes = [*result.notes, NO_CUTS]
    if result.closed:
        notes.append("both children of a column are pruned: the model has no solution of interest")
    model |= {"status": solution.status.value, "verified": verified, "notes": notes, "choice": result.choice or None}
    model |= {"root_bound": finite(lp.sign * result.interval.low), "root_value": finite(lp.sign * result.interval.high)}
    model |= {"candidates": len(result.candidates), "best": None if result.best is None else _name(result, result.best)}
    model |= {"contenders": [_name(result, k) for k in result.contenders], "fixings": _fixings(result)}
    model |= {"iterations": solution.iterations + sum(s.iterations for s, _ in tries)}
    model |= {"solve_time": round(solution.seconds + sum(s.seconds for s, _ in tries), 6)}
    undecided = sum(not child.verified for child in children)
    model |= {"reason": verdict.reason or (f"undecided children: {undecided}" if undecided else None)}
    return rows, model


def _name(result: BranchResult, k: int) -> str:
    return result.lp.col_name(result.candidates[k].column)


def _fixings(result: BranchResult) -> list[Row]:
    words = {Field.COL_LOWER: "lower", Field.COL_UPPER: "upper"}
    return [
        {"column": result.lp.col_name(f.column), "bound": words[f.side], "value": f.bound, "reason": f.reason.value}
        for f in result.fixings
    ]


def _candidate_row(result: BranchResult, k: int, source: Source, digest: str) -> Row:
    candidate, lp = result.candidates[k], result.lp
    name = lp.col_name(candidate.column)
    row = study_row(BRANCH_FIELDS, "candidate", source, digest)
    row |= {"name": f"{source.name}:{name}", "column": name, "x": candidate.x, "place": candidate.place}
    row |= {"sense": "max" if lp.maximize else "min", "fixed": _fixed(candidate), "contender": k in result.contenders}
    if candidate.score is not None:
        row |= {"score": finite(candidate.score.low), "score_upper": finite(candidate.score.high)}
    for side, child in (("down", candidate.down), ("up", candidate.up)):
        row |= {f"{side}_{key}": value for key, value in _child(child, lp.sign).items()}
    decided = candidate.down.verified and candidate.up.verified
    return row | {"status": "fixing" if _fixed(candidate) else "ranked", "verified": decided}


def _fixed(candidate: Candidate) -> str | None:
    """Returns which sides of a candidate are pruned, in a word."""
    sides = [side for side, child in (("down", candidate.down), ("up", candidate.up)) if child.pruned]
    return {0: None, 1: sides[0] if sides else None, 2: "both"}[len(sides)]


def _child(child: Child, sign: float) -> Row:
    last = child.tries[-1][0] if child.tries else None
    return {
        "bound": finite(sign * child.bound),
        "value": finite(sign * child.value),
        "upper": finite(sign * child.high),
        "state": child.state.value,
        "verified": child.verified,
        "backend": last.backend if last else "root duals",
        "iterations": sum(s.iterations for s, _ in child.tries),
        "solve_time": round(sum(s.seconds for s, _ in child.tries), 6),
    }


def tighten_rows(result: TightenResult, source: Source, digest: str) -> tuple[list[Row], Row]:
    """Returns a row a column or row that was asked for, and the row of the model."""
    lp = result.lp
    rows = [_range_row(r, lp, source, digest) for r in result.ranges]
    model = study_row(TIGHTEN_FIELDS, "model", source, digest) | _about(lp)
    model |= {"status": result.status.value, "verified": result.verified, "reason": result.reason or None}
    model |= {"optimum": None if result.optimum is None else finite(lp.sign * result.optimum), "choice": result.choice or None}
    model |= {name: getattr(result, name) for name in ("rounds", "solved", "filtered", "iterations")}
    model |= {"changed_bounds": result.changed_bounds}
    return rows, model | {"solve_time": round(result.seconds, 6), "notes": list(result.notes)}


def _range_row(found: Range, lp: LinearProgram, source: Source, digest: str) -> Row:
    kind = "row" if found.is_row else "column"
    name = lp.row_name(found.index) if found.is_row else lp.col_name(found.index)
    row = study_row(TIGHTEN_FIELDS, kind, source, digest)
    row |= {"name": f"{source.name}:{kind}:{name}", kind: name, "sense": "max" if lp.maximize else "min"}
    row |= {"minimum": finite(found.lower), "maximum": finite(found.upper), "changed": found.changed}
    row |= {"minimum_state": found.lower_state.value, "maximum_state": found.upper_state.value}
    row |= {"old_minimum": finite(found.old_lower), "old_maximum": finite(found.old_upper)}
    known = "unknown" not in (found.lower_state.value, found.upper_state.value)
    return row | {"status": "changed" if found.changed else "kept", "verified": known}


def branch_words(row: Mapping[str, object]) -> str:
    """Returns what branching on a model came to, in a sentence."""
    if row["error"]:
        return f"{row['input']}: {row['error']}"
    parts = [f"{row['input']}: root {row['status']}"]
    parts += [f"value {number_text(row['root_value'])}"] if row["root_value"] is not None else []
    parts += [_candidates_words(row)] if row["candidates"] is not None else []
    contenders = row["contenders"]
    assert isinstance(contenders, list)
    if row["best"] is not None:
        more = f"{len(contenders)} within its uncertainty: {', '.join(contenders[:5])}" if contenders else "proved by the bounds"
        parts.append(f"best {row['best']} ({more})")
    fixings = row["fixings"]
    parts += [f"{plural(len(fixings), 'bound')} fixed"] if isinstance(fixings, list) and fixings else []
    notes = row["notes"]
    parts += [note for note in notes if note != NO_CUTS] if isinstance(notes, list) else []
    return "; ".join([*parts, *([str(row["reason"])] if row["reason"] else [])])


def _candidates_words(row: Mapping[str, object]) -> str:
    if row["candidates"] or row["root_value"] is None:
        return plural(int(str(row["candidates"])), "candidate")
    return "no candidates: " + (
        "no integer column is fractional" if row["integer_columns"] else "the model has no integer columns"
    )


def tighten_words(row: Mapping[str, object]) -> str:
    """Returns what tightening a model came to, in a sentence."""
    if row["error"]:
        return f"{row['input']}: {row['error']}"
    changed, solved, filtered, rounds = (int(str(row[key])) for key in ("changed_bounds", "solved", "filtered", "rounds"))
    parts = [f"{row['input']}: {row['status']}", f"{plural(changed, 'bound')} changed"]
    parts += [f"{plural(solved, 'LP')} solved, {plural(filtered, 'end')} filtered, {plural(rounds, 'round')}"]
    return "; ".join([*parts, *([str(row["reason"])] if row["reason"] else [])])


def draw_branching(rows: Sequence[Row], model: Row) -> str | None:
    """Returns the candidates of a model as SVG; None where there are none, or no matplotlib."""
    root = model["root_value"]
    if not rows or not isinstance(root, float):
        return None
    try:
        from batchlp_cli.report.figures.candidates import Gains, draw_candidates
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        return None
    sides = [(_gains(row, "down", root), _gains(row, "up", root)) for row in rows]
    drawn = [Gains(str(row["column"]), *both, bool(row["contender"])) for row, both in zip(rows, sides, strict=True)]
    about = f"{model['name']}: {plural(len(rows), 'candidate')}, best first; the root's value is {number_text(root)}"
    words = {True: "; a star marks those that might be better than the first", False: ""}
    return draw_candidates(drawn, "candidates", about + words[any(g.unsure for g in drawn)])


def _gains(row: Row, side: str, root: float) -> tuple[float, float] | str:
    """Returns what a child gains over the root, least and most as far as they are known, or why it is pruned."""
    state, sign = row[f"{side}_state"], -1.0 if row["sense"] == "max" else 1.0
    if state in (ChildState.INFEASIBLE, ChildState.CUTOFF):
        return str(state)
    ends = [row[f"{side}_{key}"] for key in ("bound", "upper")]
    low, high = (max(sign * (end - root), 0.0) if isinstance(end, float) else None for end in ends)
    low = 0.0 if low is None else low
    return low, math.inf if high is None else max(low, high)


_SIDES = ("bound", "state")
BRANCH_LAYOUT = Layout(
    BRANCH_FIELDS,
    {"input": "input", "column": "column", "x": "x", "place": "place", "score": "score", "score_upper": "at most"}
    | {f"{side}_{key}": f"{side} {key}" for side in ("down", "up") for key in _SIDES}
    | {"fixed": "pruned"},
)
TIGHTEN_LAYOUT = Layout(
    TIGHTEN_FIELDS,
    {"input": "input", "column": "column", "row": "row", "minimum": "minimum", "maximum": "maximum"}
    | {"minimum_state": "minimum is", "maximum_state": "maximum is", "old_minimum": "old minimum", "old_maximum": "old maximum"}
    | {"changed": "changed"},
)
