"""Bounds of columns out of the lines of a BOUNDS section: several bounds of one column, integer columns without any, and
negative upper bounds without a lower one. docs/formats.md says whom each rule follows.
"""

from __future__ import annotations

import numpy as np

from batchlp_cli.files.mps_model import Bound
from batchlp_cli.files.mps_numbers import INFINITE
from batchlp_cli.files.mps_trace import Findings, line_of
from batchlp_cli.problem import Mask, Vector
from batchlp_cli.settings import NegativeUpper

SETS_LOWER = np.isin(np.arange(9), [Bound.LO, Bound.FX, Bound.FR, Bound.MI, Bound.BV, Bound.LI])
SETS_UPPER = np.isin(np.arange(9), [Bound.UP, Bound.FX, Bound.FR, Bound.PL, Bound.BV, Bound.UI])
MAKES_INTEGER = np.isin(np.arange(9), [Bound.BV, Bound.LI, Bound.UI])
LOWER_OF = np.where(np.isin(np.arange(9), [Bound.FR, Bound.MI]), -np.inf, np.where(np.arange(9) == Bound.BV, 0.0, np.nan))
UPPER_OF = np.where(np.isin(np.arange(9), [Bound.FR, Bound.PL]), np.inf, np.where(np.arange(9) == Bound.BV, 1.0, np.nan))


def resolve_bounds(whole: Findings, negative_upper: NegativeUpper) -> tuple[Vector, Vector, Mask]:
    """Returns col_lower, col_upper and integer: [n] each. Bounds of one side of a column: the last one counts."""
    model, n = whole.model, len(whole.model.cols)
    lines, index, value, kind = model.bounds.arrays()
    integer = np.zeros(n, dtype=np.bool_)
    for start, stop in model.marked:
        integer[start : stop if stop >= 0 else n] = True
    lower: Vector = np.zeros(n)
    upper: Vector = np.full(n, np.inf)
    bounded = np.zeros(n, dtype=np.bool_)
    bounded[index] = True
    # Integer columns between markers without any bound are binary (CPLEX, Gurobi, HiGHS, SCIP, GLPK).
    upper[integer & ~bounded] = 1.0
    below, above = SETS_LOWER[kind], SETS_UPPER[kind]
    lower[index[below]] = np.where(np.isnan(LOWER_OF[kind]), value, LOWER_OF[kind])[below]
    upper[index[above]] = np.where(np.isnan(UPPER_OF[kind]), value, UPPER_OF[kind])[above]
    integer[index[MAKES_INTEGER[kind]]] = True
    _note_repeated(whole, index[below], "lower", lines[below])
    _note_repeated(whole, index[above], "upper", lines[above])
    free = bounded & (upper < 0)
    free[index[below]] = False
    _free_lower(whole, np.flatnonzero(free), lower, negative_upper)
    lower, upper = infinite(lower), infinite(upper)
    bad = np.flatnonzero((lower == np.inf) | (upper == -np.inf))
    if bad.size:
        line, name = line_of(model.bounds, int(bad[0])), list(model.cols)[bad[0]]
        whole.refuse(line, f"a bound of column {name!r} is infinite on the wrong side", "a finite one")
    return lower + 0.0, upper + 0.0, integer


def _free_lower(whole: Findings, columns: np.ndarray, lower: Vector, rule: NegativeUpper) -> None:
    """Applies the rule for negative upper bounds to the columns that have one and no lower bound."""
    if not columns.size:
        return
    line, name = line_of(whole.model.bounds, int(columns[0])), list(whole.model.cols)[columns[0]]
    found = f"column {name!r} has a negative upper bound and no lower bound"
    if rule is NegativeUpper.ERROR:
        whole.refuse(line, found, "a lower bound too")
    freed = rule is NegativeUpper.FREE
    done = "its lower bound is -infinity (CPLEX), not 0 (HiGHS)" if freed else "its lower bound stays 0 (HiGHS)"
    whole.note("negative upper", f"line {line}: {found}; {done}", len(columns))
    if freed:
        lower[columns] = -np.inf


def _note_repeated(whole: Findings, index: np.ndarray, side: str, lines: np.ndarray) -> None:
    if not len(index):
        return
    times = np.bincount(index)
    again = np.flatnonzero(times > 1)
    if again.size:
        line = int(lines[np.flatnonzero(index == again[0])[-1]])
        name = list(whole.model.cols)[again[0]]
        whole.note(f"repeated {side}", f"line {line}: column {name!r} has several {side} bounds; the last one counts", len(again))


def infinite(values: Vector) -> Vector:
    """Returns values with everything of magnitude INFINITE or more made infinite."""
    return np.where(np.abs(values) >= INFINITE, np.copysign(np.inf, values), values)
