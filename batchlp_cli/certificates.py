"""Checks of rays: is infeasibility or unboundedness proved by them? Signs and meanings are in solution.py.

Every check allows for the rounding of its own arithmetic; what is left to a tolerance is said in a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from batchlp_cli.problem import Vector
from batchlp_cli.safe_bound import BoundParts, Numbers, best_parts, gamma, priced, times
from batchlp_cli.solution import Solution

Word = tuple[int, str, tuple[str, ...]]
"""(member, why the ray proves nothing or empty, notes)."""


def crossing(numbers: Numbers, members: int) -> list[str]:
    """Returns for each of the members which of its bounds cross, empty where none do: infeasible without a ray."""
    words = [""] * members
    sides = (("row", numbers.row_lower, numbers.row_upper), ("column", numbers.col_lower, numbers.col_upper))
    for kind, lower, upper in sides:
        crossed = (lower > upper) | np.isposinf(lower) | np.isneginf(upper)
        for k in np.flatnonzero(crossed.any(axis=1)):
            i = int(np.flatnonzero(crossed[k])[0])
            low, high = (float(a[k if len(a) > 1 else 0, i]) for a in (lower, upper))
            text = f"{kind} {i + 1} has lower bound {low:.9g} and upper bound {high:.9g}: no number lies between"
            for member in [int(k)] if len(crossed) > 1 else range(members):
                words[member] = words[member] or text
    return words


def check_farkas(numbers: Numbers, solutions: Sequence[Solution], members: Sequence[int], tol: float) -> Iterator[Word]:
    """Yields what each member's row ray y [m] proves: with c = 0, a positive safe bound means that no x is feasible.

    Solvers' rays leave rounding noise in reduced costs that price infinite bounds. Where the rows imply no bound for such
    a column, the ray still proves that no x with |x_j| <= R there is feasible, R = bound / sum |r_j|; that is accepted
    where R >= (1 + largest finite bound) / tol, with a note. The depth bound / (||y||_1 + ||r||_1) is, roughly, by how much
    some bound must be violated at least; a note says when it is below tol.
    """
    if not members:
        return
    part = _part(numbers, members)
    no_cost = Numbers(part.A, np.zeros((1, part.A.shape[1])), part.row_lower, part.row_upper, part.col_lower, part.col_upper)
    Y = np.array([solutions[k].ray for k in members], dtype=np.float64)
    size = np.abs(Y).max(axis=1, initial=0.0)
    Y = Y / np.where(size > 0, size, 1.0)[:, None]
    parts = best_parts(no_cost, Y)
    depth = _depth(no_cost, Y, parts)
    largest = _largest_bound(part)
    rhs = _row_norm(part)
    for position, k in enumerate(members):
        notes: list[str] = []
        bound = float(parts.finite[position])
        noise = float(np.where(parts.endless[position], np.maximum(-parts.low[position], parts.high[position]), 0.0).sum())
        needed = (1 + largest[position if len(largest) > 1 else 0]) / tol
        if not bound > 0:
            yield k, f"the ray proves nothing: its cost-free dual bound is {bound:.3g}, not above 0", ()
            continue
        if noise > 0 and bound / noise < needed:
            yield k, f"the ray proves infeasibility only for |x| up to {bound / noise:.3g}, expected {needed:.3g}", ()
            continue
        if noise > 0:
            notes.append(f"the ray proves that no x with |x_j| up to {bound / noise:.3g} is feasible")
        if depth[position] < tol * (1 + rhs[position if len(rhs) > 1 else 0]):
            notes.append(f"infeasible by about {depth[position]:.3g} only: feasible within the tolerance {tol:g}")
        yield k, "", tuple(notes)


def _depth(numbers: Numbers, Y: Vector, parts: BoundParts) -> Vector:
    weights = np.abs(priced(numbers, Y)).sum(axis=1) + np.abs(parts.low + parts.high).sum(axis=1) / 2
    return np.asarray(np.where(weights > 0, parts.finite / np.where(weights > 0, weights, 1.0), 0.0))


def check_unbounded(numbers: Numbers, solutions: Sequence[Solution], members: Sequence[int], tol: float) -> Iterator[Word]:
    """Yields what each member's column ray d [n] proves, scaled to max |d| = 1; the feasible point is judged elsewhere.

    Needs c @ d < 0 beyond rounding, and A @ d and d in the recession cones of the row and column bounds up to V with
    V (1 + ||c||) <= tol |c @ d|: a ray that near to the cone improves even after it is moved into it.
    """
    if not members:
        return
    part = _part(numbers, members)
    D = np.array([solutions[k].ray for k in members], dtype=np.float64)
    size = np.abs(D).max(axis=1, initial=0.0)
    D = D / np.where(size > 0, size, 1.0)[:, None]
    n = part.A.shape[1]
    slope = (part.cost * D).sum(axis=1)
    slope_error = gamma(float(n + 2)) * np.abs(part.cost * D).sum(axis=1)
    entries = np.diff(part.A.indptr).astype(np.float64)
    along = times(part.A, D)
    along_error = gamma(entries + 2) * times(abs(part.A), np.abs(D))
    violation = np.zeros(len(members))
    for value, error, lower, upper in (
        (along, along_error, part.row_lower, part.row_upper),
        (D, np.zeros((1, n)), part.col_lower, part.col_upper),
    ):
        down = np.where(np.isfinite(lower), -value - error, 0.0)
        up = np.where(np.isfinite(upper), value - error, 0.0)
        violation = np.maximum(violation, np.maximum(down, up).max(axis=1, initial=0.0))
    scale = 1 + np.linalg.norm(part.cost, axis=1)
    for position, k in enumerate(members):
        improves = slope[position] + slope_error[position] < 0
        V, c_norm = float(violation[position]), float(scale[position if len(scale) > 1 else 0])
        if not improves:
            yield k, f"the ray does not improve: c @ d is {slope[position]:.3g}", ()
        elif not V * c_norm <= tol * abs(slope[position]):
            yield k, f"the ray leaves the feasible directions by {V:.3g}, with c @ d {slope[position]:.3g}", ()
        else:
            yield k, "", ()


def _part(numbers: Numbers, members: Sequence[int]) -> Numbers:
    """Returns the numbers of some members."""
    names = ("cost", "row_lower", "row_upper", "col_lower", "col_upper")
    arrays = (getattr(numbers, name) for name in names)
    return Numbers(numbers.A, *(a if len(a) == 1 else a[list(members)] for a in arrays))


def _largest_bound(numbers: Numbers) -> Vector:
    """Returns the largest finite |bound| of rows and columns, [B] or [1]."""
    sides = (numbers.row_lower, numbers.row_upper, numbers.col_lower, numbers.col_upper)
    sizes = [np.where(np.isfinite(a), np.abs(a), 0.0).max(axis=1, initial=0.0) for a in sides]
    largest: Vector = np.maximum.reduce(np.broadcast_arrays(*sizes))
    return largest


def _row_norm(numbers: Numbers) -> Vector:
    """Returns ||b|| with b the finite row bounds, [B] or [1]."""
    finite = [np.where(np.isfinite(a), np.abs(a), 0.0) for a in (numbers.row_lower, numbers.row_upper)]
    return np.asarray(np.linalg.norm(np.maximum(*finite), axis=1))
