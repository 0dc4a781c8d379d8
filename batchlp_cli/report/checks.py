"""The record of one checked row: what the row says against what its input and its stored solution say. It touches no file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import numpy as np

from batchlp_cli.exact_referee import ExactVerdict, Word
from batchlp_cli.exact_sums import float_at_least, float_at_most
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.report.rows import finite
from batchlp_cli.solution import DECIDED, Residuals, Solution, Status, Verdict

Record = dict[str, object]

CHECK_FIELDS = (
    "name", "input", "status", "check", "findings", "objective", "dual_bound", "primal_residual_rel", "dual_residual_rel",
    "gap_rel", "exact_verdict", "exact_objective", "exact_dual_bound", "exact_row_violation", "exact_column_violation",
    "exact_dual_violation", "exact_gap", "exact_farkas_bound", "exact_ray_slope", "exact_ray_violation", "notes",
)  # fmt: skip

SAME = 1e-12
"""Two sums of the same products may differ by this, relative to the sum of their absolute values."""

RESIDUAL_NOISE = 1e-9
"""Two relative residuals that differ by less are the same: they are sums that nearly cancel."""


class Check(StrEnum):
    """HOLDS: the row is right. FAILS: something is wrong, see findings. NONE: the row claims no verdict, and is else right."""

    HOLDS = "holds"
    FAILS = "fails"
    NONE = "none"


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of a row's instance: the LP as read anew, its solution as stored and the referees' words on it."""

    lp: LinearProgram
    solution: Solution
    stored_objective: float | None
    stored_activity: Vector | None
    verdict: Verdict
    exact: ExactVerdict | None = None


def record(row: Mapping[str, object], findings: Sequence[str], evidence: Evidence | None = None) -> Record:
    """Returns the record of a row. findings: what is wrong beyond what the evidence shows."""
    wrong = [*findings, *(_differences(row, evidence) if evidence else ())]
    claims = row.get("verified") is True and row.get("status") in DECIDED
    found: Record = dict.fromkeys(CHECK_FIELDS)
    found |= {"name": row.get("name"), "input": row.get("input"), "status": row.get("status"), "notes": []}
    found |= {"check": (Check.FAILS if wrong else Check.HOLDS if claims else Check.NONE).value, "findings": wrong}
    return found if evidence is None else found | _numbers(evidence)


def _numbers(evidence: Evidence) -> Record:
    verdict, sign = evidence.verdict, evidence.lp.sign
    residuals = verdict.residuals
    objective = None if verdict.objective is None else sign * verdict.objective
    notes = [*verdict.notes, *([evidence.exact.note] if evidence.exact and evidence.exact.note else [])]
    numbers: Record = {
        "objective": finite(objective),
        "dual_bound": finite(sign * verdict.dual_bound),
        "primal_residual_rel": finite(residuals.primal_rel),
        "dual_residual_rel": finite(residuals.dual_rel),
        "gap_rel": finite(residuals.gap_rel),
        "notes": notes,
    }
    return numbers | (_exact_numbers(evidence.exact, evidence.lp) if evidence.exact else {})


def _exact_numbers(exact: ExactVerdict, lp: LinearProgram) -> Record:
    """Returns exact numbers as float64, each rounded to the side on which it claims less."""
    objective = None if exact.objective is None else lp.sign * _nearest(exact.objective)
    bound = None if exact.dual_bound is None else lp.sign * float_at_most(exact.dual_bound)
    up = {key: getattr(exact, key) for key in ("row_violation", "column_violation", "dual_violation", "gap")}
    up |= {"ray_slope": exact.ray_slope, "ray_violation": exact.ray_violation}
    numbers: Record = {f"exact_{key}": None if value is None else finite(float_at_least(value)) for key, value in up.items()}
    farkas = None if exact.farkas_bound is None else finite(float_at_most(exact.farkas_bound))
    numbers |= {"exact_verdict": exact.word.value, "exact_objective": finite(objective), "exact_dual_bound": finite(bound)}
    return numbers | {"exact_farkas_bound": farkas}


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _differences(row: Mapping[str, object], evidence: Evidence) -> Iterator[str]:
    """Yields what the row or the stored solution says and the evidence does not bear out."""
    claims = row.get("verified") is True
    verdict, exact = evidence.verdict, evidence.exact
    if claims and not verdict.verified:
        yield f"the verdict is not proved: {verdict.reason}"
    if not claims and verdict.verified:
        yield f"the row says not verified, but the stored solution proves {evidence.solution.status}"
    if claims and exact is not None and exact.word is Word.REFUSED:
        yield f"not proved in exact arithmetic: {exact.reason}"
    yield from _of_model(row, evidence.lp)
    yield from _of_values(row, evidence)
    yield from _of_residuals(row, verdict.residuals)


def _of_model(row: Mapping[str, object], lp: LinearProgram) -> Iterator[str]:
    sense = "max" if lp.maximize else "min"
    facts = {"rows": lp.m, "columns": lp.n, "nonzeros": lp.nnz, "integer_columns": int(lp.integer.sum()), "sense": sense}
    for key, value in facts.items():
        if row.get(key) != value:
            yield f"{key} is {row.get(key)!r} in the row and {value!r} in the input"


def _of_values(row: Mapping[str, object], evidence: Evidence) -> Iterator[str]:
    """Yields where objective, dual bound or row activities differ from those of the stored vectors."""
    lp, x, verdict = evidence.lp, evidence.solution.x, evidence.verdict
    size = abs(lp.offset) + (float(np.abs(lp.c) @ np.abs(x)) if x is not None else 0.0)
    value = None if x is None else lp.sign * (float(lp.c @ x) + lp.offset)
    claimed = row.get("objective")
    if claimed is not None and (value is None or row.get("status") != Status.OPTIMAL or not _near(claimed, value, size)):
        yield f"the row's objective is {claimed!r}, that of the stored solution is {value!r}"
    if claimed is None and verdict.objective is not None and row.get("verified") is True:
        yield f"the row has no objective, that of the stored solution is {value!r}"
    stored = evidence.stored_objective
    if stored is not None and (value is None or not _near(stored, value, size)):
        yield f"the solution file says objective {stored!r}, its values give {value!r}"
    yield from _of_bound(row.get("dual_bound"), evidence, size)
    activity = evidence.stored_activity
    if activity is not None and x is not None:
        off = np.abs(activity - lp.A @ x) > 4 * SAME * (abs(lp.A) @ np.abs(x))
        if off.any():
            yield f"the solution file has a value for row {lp.row_name(int(off.argmax()))} that its columns do not give"


def _of_bound(claimed: object, evidence: Evidence, size: float) -> Iterator[str]:
    """Yields where a recorded dual bound is better than what the stored duals prove; a weaker one is true as well."""
    if claimed is None:
        return
    sign, bounds = evidence.lp.sign, [evidence.verdict.dual_bound]
    if evidence.exact is not None and evidence.exact.dual_bound is not None:
        bounds.append(float_at_least(evidence.exact.dual_bound))
    best = max(bounds)
    if not isinstance(claimed, int | float) or not sign * claimed <= best + SAME * (abs(best) + size):
        yield f"the row's dual bound is {claimed!r}, the stored row duals prove {finite(sign * best)!r}"


def _of_residuals(row: Mapping[str, object], residuals: Residuals) -> Iterator[str]:
    for kind in ("primal_residual", "dual_residual", "gap"):
        attribute = kind.removesuffix("_residual")
        relative = finite(getattr(residuals, f"{attribute}_rel"))
        for of, slack in (("rel", RESIDUAL_NOISE), ("abs", RESIDUAL_NOISE * _scale(residuals, attribute))):
            claimed, value = row.get(f"{kind}_{of}"), finite(getattr(residuals, f"{attribute}_{of}"))
            same = claimed == value if None in (claimed, value, relative) else _near(claimed, value or 0.0, slack / SAME)
            if not same:
                yield f"{kind}_{of} is {claimed!r} in the row, that of the stored solution is {value!r}"


def _scale(residuals: Residuals, kind: str) -> float:
    """Returns what a residual was divided by to become relative, at least 1."""
    absolute, relative = getattr(residuals, f"{kind}_abs"), getattr(residuals, f"{kind}_rel")
    return max(1.0, absolute / relative) if relative > 0 and math.isfinite(absolute / relative) else 1.0


def _near(claimed: object, value: float, size: float) -> bool:
    """Tells whether a claimed number is the value, but for rounding of a sum whose absolute terms add up to size."""
    number = isinstance(claimed, int | float) and not isinstance(claimed, bool) and math.isfinite(claimed)
    return number and abs(float(str(claimed)) - value) <= SAME * (size + abs(value)) + 1e-300


@dataclass(slots=True)
class CheckTotals:
    """Counts of checked rows, from which the exit code follows."""

    counts: dict[str, int] = field(default_factory=lambda: {check.value: 0 for check in Check})
    read: int = 0
    inputs: int = 0

    def add(self, found: Mapping[str, object]) -> None:
        """Counts one record."""
        self.counts[str(found["check"])] += 1

    def in_words(self) -> dict[str, int]:
        """Returns the counts by what they mean."""
        words = {Check.HOLDS: "hold", Check.FAILS: "do not hold", Check.NONE: "claim no verdict"}
        return {text: self.counts[check.value] for check, text in words.items()}

    @property
    def exit_code(self) -> int:
        """Returns 0 when every row holds, 3 when there are inputs and not one could be read, else 1."""
        if self.inputs and not self.read:
            return 3
        return 0 if self.counts["holds"] and sum(self.counts.values()) == self.counts["holds"] else 1
