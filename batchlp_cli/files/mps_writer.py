"""A linear program as free-format MPS, so that every double reads back as it was. Reading does not belong here.

Conventions, as CPLEX and HiGHS read them: the constant of the objective is minus its right-hand side; OBJSENSE MAX marks a
maximisation, whose costs are written as the user wrote them (the negative of what is stored); a row without sides is an L
row with an infinite right-hand side, since readers leave out all rows of type N but the first; every bound that differs
from 0 <= x < inf is written, and both bounds of every integer column, since readers disagree on what is left out there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from batchlp_cli.errors import ModelError
from batchlp_cli.problem import LinearProgram

INFINITE = "1e+30"
"""An infinite right-hand side; readers take 1e20 and more for none."""

_UNFIT = re.compile(r"\s|^[$*]|^'MARKER'$|^$")


def write_mps(lp: LinearProgram) -> str:
    """Returns the text of an LP in free-format MPS; numbers are the shortest that read back as the same double.

    The one inexactness: a row with two finite sides is written as one side and a width. Where no double holds the
    width, the side that is larger in magnitude reads back within a unit or two in its last place.

    Raises ModelError for what MPS cannot say: a name that is empty, holds a blank, begins with $ or * or comes twice, row
    sides that cross, and a lower side or bound of inf or an upper one of -inf.
    """
    rows = _checked(lp, "row", [lp.row_name(i) for i in range(lp.m)])
    cols = _checked(lp, "column", [lp.col_name(j) for j in range(lp.n)])
    objective = _unused("obj", rows)
    parts = [f"NAME {re.sub(r'[^!-~]+', '_', lp.name)}".rstrip()]
    parts += ["OBJSENSE", " MAX"] if lp.maximize else []
    kinds, right, width = _sides(lp)
    parts += ["ROWS", f" N {objective}", *map(" {} {}".format, kinds, rows)]
    parts += ["COLUMNS", *_columns(lp, objective, rows, cols)]
    parts += ["RHS", *_right_hand_sides(lp, objective, rows, right)]
    if any(width):
        parts += ["RANGES", *(f" RANGES {rows[i]} {number(w)}" for i, w in enumerate(width) if w)]
    parts += ["BOUNDS", *_bounds(lp, cols), "ENDATA"]
    return "\n".join(parts) + "\n"


def number(value: float) -> str:
    """Returns the shortest text that reads back as the same double."""
    return repr(float(value) + 0.0).removesuffix(".0")


def _checked(lp: LinearProgram, kind: str, names: Sequence[str]) -> Sequence[str]:
    """Returns the names, or raises ModelError where free-format MPS cannot hold one."""
    unfit = next((name for name in names if _UNFIT.search(name)), None)
    if unfit is not None:
        raise ModelError(
            f"{lp.name}: the {kind} name {unfit!r} cannot stand in free-format MPS, expected no blanks, "
            f"no $ or * in front, and not 'MARKER'; rename it, or drop all {kind} names"
        )
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ModelError(f"{lp.name}: two {kind}s are called {twice!r}, expected distinct names; rename one")
    return names


def _unused(name: str, taken: Sequence[str]) -> str:
    names = set(taken)
    while name in names:
        name += "_"
    return name


def _sides(lp: LinearProgram) -> tuple[list[str], list[float], list[float]]:
    """Returns each row's type, its right-hand side and its width (0 where it has no range)."""
    sides: list[tuple[str, float, float]] = []
    for i, (lower, upper) in enumerate(zip(lp.row_lower.tolist(), lp.row_upper.tolist(), strict=True)):
        if lower > upper or lower == np.inf or upper == -np.inf:
            raise ModelError(
                f"{lp.name}: row {lp.row_name(i)} has sides {lower} and {upper}, which MPS cannot say; "
                "expected lower <= upper, lower < inf, upper > -inf"
            )
        sides.append(_side(lower, upper))
    return [s[0] for s in sides], [s[1] for s in sides], [s[2] for s in sides]


def _side(lower: float, upper: float) -> tuple[str, float, float]:
    if lower == upper:
        return "E", lower, 0.0
    if lower == -np.inf:
        return "L", upper, 0.0
    if upper == np.inf:
        return "G", lower, 0.0
    # G: [b, b + |R|], L: [b - |R|, b]. The smaller side in magnitude is b, so that the other one is rounded least.
    kind, base, other = ("G", lower, upper) if abs(lower) <= abs(upper) else ("L", upper, lower)
    sign = 1.0 if kind == "G" else -1.0
    width = upper - lower
    near = (width, float(np.nextafter(width, np.inf)), float(np.nextafter(width, 0.0)))
    return kind, base, min(near, key=lambda w: abs(base + sign * w - other))


def _columns(lp: LinearProgram, objective: str, rows: Sequence[str], cols: Sequence[str]) -> Iterator[str]:
    """Yields the lines of COLUMNS, with markers around each run of integer columns."""
    matrix = lp.A.tocsc()
    starts = matrix.indptr.tolist()
    entries = [f"{rows[i]} {number(a)}" for i, a in zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True)]
    cost = (lp.sign * lp.c).tolist()
    marker = 0
    for integer, run in groupby(range(lp.n), key=lp.integer.tolist().__getitem__):
        if integer:
            yield f" M{marker} 'MARKER' 'INTORG'"
        for j in run:
            own = entries[starts[j] : starts[j + 1]]
            if cost[j] or not own:  # a column without entries must still be named
                own.insert(0, f"{objective} {number(cost[j])}")
            yield from (f" {cols[j]} {' '.join(own[k : k + 2])}" for k in range(0, len(own), 2))
        if integer:
            yield f" M{marker + 1} 'MARKER' 'INTEND'"
            marker += 2


def _right_hand_sides(lp: LinearProgram, objective: str, rows: Sequence[str], right: Sequence[float]) -> Iterator[str]:
    if lp.offset:
        # the file says: objective = c @ x - RHS of the objective
        yield f" RHS {objective} {number(-lp.sign * lp.offset)}"
    for name, b in zip(rows, right, strict=True):
        if b:
            yield f" RHS {name} {number(b) if np.isfinite(b) else INFINITE}"


def _bounds(lp: LinearProgram, cols: Sequence[str]) -> Iterator[str]:
    for j in np.flatnonzero((lp.col_lower != 0) | (lp.col_upper != np.inf) | lp.integer).tolist():
        lower, upper = float(lp.col_lower[j]), float(lp.col_upper[j])
        if lower == np.inf or upper == -np.inf:
            raise ModelError(
                f"{lp.name}: column {cols[j]} has bounds {lower} and {upper}, which MPS cannot say; "
                "expected lower < inf and upper > -inf"
            )
        for kind, value in _bound(lower, upper, bool(lp.integer[j])):
            yield f" {kind} BOUND {cols[j]} {number(value)}" if value is not None else f" {kind} BOUND {cols[j]}"


def _bound(lower: float, upper: float, integer: bool) -> list[tuple[str, float | None]]:
    """Returns the lines for one column: type and value (None where the type has none)."""
    if integer and (lower, upper) == (0.0, 1.0):
        return [("BV", None)]
    if lower == upper:
        return [("FX", lower)]
    if lower == -np.inf and upper == np.inf:
        return [("FR", None)]
    lines: list[tuple[str, float | None]] = []
    if upper < np.inf:  # first, since a negative upper bound makes some readers free the lower one
        lines.append(("UP", upper))
    elif integer:
        lines.append(("PL", None))
    if lower == -np.inf:
        lines.append(("MI", None))
    elif lower != 0 or upper <= 0 or integer:
        lines.append(("LO", lower))
    return lines
