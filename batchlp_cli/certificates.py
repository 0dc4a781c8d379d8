"""Checks of rays: is infeasibility or unboundedness proved by them? Signs and meanings are in solution.py.

Every check allows for the rounding of its own arithmetic; what is left to a tolerance is said in a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from batchlp_cli.problem import Mask, Vector
from batchlp_cli.products import Numbers, gamma
from batchlp_cli.safe_bound import BoundParts, bound_parts, priced, with_implied_bounds
from batchlp_cli.solution import Solution

Word = tuple[int, str, tuple[str, ...]]
"""(member, why the ray proves nothing or empty, notes)."""


def crosses(numbers: Numbers, members: int) -> Mask:
    """Tells for which of the members some bounds cross: [members] bool."""
    found = np.zeros(members, dtype=np.bool_)
    for lower, upper in ((numbers.row_lower, numbers.row_upper), (numbers.col_lower, numbers.col_upper)):
        found |= _crossed(lower, upper).any(axis=1)
    return found


def _crossed(lower: Vector, upper: Vector) -> Mask:
    return np.asarray((lower > upper) | np.isposinf(lower) | np.isneginf(upper), dtype=np.bool_)


def crossing(numbers: Numbers, members: int) -> list[str]:
    """Returns for each of the members which of its bounds cross, empty where none do: infeasible without a ray."""
    words = [""] * members
    sides = (("row", numbers.row_lower, numbers.row_upper), ("column", numbers.col_lower, numbers.col_upper))
    for kind, lower, upper in sides:
        lower, upper = np.broadcast_arrays(lower, upper)
        crossed = _crossed(lower, upper)
        for k in np.flatnonzero(crossed.any(axis=1)):
            i = int(np.argmax(crossed[k]))
            low, high = float(lower[k, i]), float(upper[k, i])  # in full: they may differ in the last digit only
            text = f"{kind} {i + 1} has lower bound {low!r} and upper bound {high!r}: no number lies between"
            for member in [int(k)] if len(crossed) > 1 else range(members):
                words[member] = words[member] or text
    return words


def check_farkas(numbers: Numbers, solutions: Sequence[Solution], members: Sequence[int], tol: float) -> Iterator[Word]:
    """Yields what each member's row ray y [m] proves: with c = 0, a positive safe bound means that no x is feasible.

    Solvers' rays leave rounding noise in reduced costs that price infinite bounds. Where the rows imply no bound for such
    a column, the ray still proves that no x with |x_j| <= R there is feasible, R = bound / sum |r_j|; that is accepted
    where R >= (1 + largest finite bound) / tol, with a note. The depth bound / (||y||_1 + ||r||_1) is, roughly, by how much
    some bound must be violated at least; a note says when it is below tol (1 + ||b||), b the finite row bounds.
    """
    if not members:
        return
    part = numbers.take(members)
    with np.errstate(over="ignore", invalid="ignore"):
        no_cost = replace(part, cost=np.zeros((1, part.cost.shape[1])))
        Y = _scaled_rays(solutions, members)
        plain = bound_parts(no_cost, Y)
        # a bound that the rows imply may be so large that the ray proves more without it
        implied = with_implied_bounds(no_cost, plain)
        weight = np.abs(priced(no_cost, Y)).sum(axis=1) + np.maximum(-plain.low, plain.high).sum(axis=1)
        shallow = np.broadcast_to(tol * (1 + _row_norm(part)), weight.shape) * weight
        far = np.broadcast_to((1 + _largest_bound(part)) / tol, weight.shape)
        facts = [np.stack([parts.finite, _noise(parts), weight, far, shallow], axis=1) for parts in (implied, plain)]
    for position, k in enumerate(members):
        words = [_farkas_word(*fact[position].tolist()) for fact in facts]
        yield k, *(words[1] if words[0][0] and not words[1][0] else words[0])


def _farkas_word(bound: float, noise: float, weight: float, far: float, shallow: float) -> tuple[str, tuple[str, ...]]:
    """Returns why a cost-free bound proves nothing, or empty and what a user should know of the proof.

    noise: sum of the |r_j| that price infinite bounds; weight: ||y||_1 + ||r||_1; far: the radius that is asked for;
    shallow: the bound below which the proof depends on the tolerance.
    """
    if not (np.isfinite(bound) and bound > 0):
        return f"the ray proves nothing: its cost-free dual bound is {bound:.3g}, not above 0", ()
    notes = []
    if noise != 0:
        radius = bound / noise
        if not radius >= far:
            return f"the ray proves infeasibility only for |x| up to {radius:.3g}, expected at least {far:.3g}", ()
        notes.append(f"the proof covers points with |x_j| up to {radius:.3g}")
    if bound < shallow:
        notes.append(f"infeasible by only about {bound / weight:.3g}: depends on the tolerance")
    return "", tuple(notes)


def _noise(parts: BoundParts) -> Vector:
    """Returns the sum [B] of the largest |r_j| of each interval over the columns whose term is -inf."""
    return np.asarray(np.where(parts.endless, np.maximum(-parts.low, parts.high), 0.0).sum(axis=1))


def check_unbounded(numbers: Numbers, solutions: Sequence[Solution], members: Sequence[int], tol: float) -> Iterator[Word]:
    """Yields what each member's column ray d [n] proves, scaled to max |d| = 1; the feasible point is judged elsewhere.

    Needs c @ d < 0 beyond rounding, and A @ d and d in the recession cones of the row and column bounds up to V with
    V (1 + ||c||) <= tol |c @ d|: a ray that near to the cone improves even after it is moved into it.
    """
    if not members:
        return
    part = numbers.take(members)
    D = _scaled_rays(solutions, members)
    with np.errstate(over="ignore", invalid="ignore"):
        # slope = c @ d,   |error| <= gamma_n |c| @ |d|
        terms = part.cost * D
        slope = terms.sum(axis=1)
        error = gamma(terms.shape[1] + 2.0) * np.abs(terms).sum(axis=1)
        violation = _leaves_cone(part, D)
        needed = tol * np.abs(slope) / (1 + np.linalg.norm(part.cost, axis=1))
    for position, k in enumerate(members):
        fall, off, most = float(slope[position] + error[position]), float(violation[position]), float(needed[position])
        if not (np.isfinite(fall) and fall < 0):
            yield k, f"the ray does not improve: c @ d is {slope[position]:.3g}, with rounding {fall:.3g}, expected below 0", ()
        elif not (np.isfinite(off) and off <= most):
            yield k, f"the ray leaves the feasible directions by {off:.3g}, expected at most {most:.3g}", ()
        else:
            yield k, "", ()


def _leaves_cone(part: Numbers, D: Vector) -> Vector:
    """Returns by how much, rounding included, D [B, n] leaves the recession cones of row and column bounds: [B]."""
    matrix = part.matrix
    along = matrix.times(D)
    error = gamma(matrix.row_counts + 2) * matrix.times(np.abs(D), absolute=True)
    zero = np.zeros((1, D.shape[1]))
    violation = np.zeros(len(D))
    for value, slack, lower, upper in (
        (along, error, part.row_lower, part.row_upper),
        (D, zero, part.col_lower, part.col_upper),
    ):
        down = np.where(np.isfinite(lower), slack - value, 0.0)
        up = np.where(np.isfinite(upper), slack + value, 0.0)
        violation = np.maximum(violation, np.maximum(down, up).max(axis=1, initial=0.0))
    return violation


def _scaled_rays(solutions: Sequence[Solution], members: Sequence[int]) -> Vector:
    """Returns the rays of the members with largest entry 1: [B, size]; a ray of zeros stays one."""
    rays = np.array([solutions[k].ray for k in members], dtype=np.float64)
    size = np.abs(rays).max(axis=1, initial=0.0)
    return rays / np.where(size > 0, size, 1.0)[:, None]


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
