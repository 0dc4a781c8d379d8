"""The exact bound of row duals that prove none as they are: of the move that dual_repair.py finds, proved in rational arithmetic.

The move is a float64 proposal. Where it comes with a box, what is to be proved is that the box holds a y* with r_F = 0: with
M = A[I, F].T, g = r_F(y) and any C,   |C g| + |I - C M| e < e   gives one, and only one, z = y*_I - y_I with M z = g, and
|z| < e. [R. Krawczyk, Newton-Algorithmen zur Bestimmung von Nullstellen mit Fehlerschranken, Computing 4 (1969), 187-201]
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from batchlp_cli.dual_repair import Box, repair, written
from batchlp_cli.exact import ZERO, exact_bound, exact_bound_parts, reduced_costs
from batchlp_cli.exact_sums import dyadics, sum_of_products
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.products import Matrix, Numbers


def exact_repaired_bound(lp: LinearProgram, y: Vector) -> Fraction | None:
    """Returns `exact_bound` of row duals y [m], and where that is None, of a y that was moved; None where that fails too."""
    bound = exact_bound(lp, y)
    if bound is not None:
        return bound
    sides = (lp.c, lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper)
    found = repair(Numbers(Matrix(lp.rows), *(side[None, :] for side in sides)), y[None, :])
    if found is None:
        return None
    if found.box is None:
        return exact_bound(lp, found.y)
    if not holds_duals(lp, found.y, found.box):
        return None
    radius = np.zeros(lp.m)
    radius[found.box.rows] = found.box.radius
    return exact_bound_parts(lp, found.y, radius, found.box.zero.tolist()).bound


def holds_duals(lp: LinearProgram, y: Vector, box: Box) -> bool:
    """Tells whether a box around y [m] is proved to hold duals with r_j = 0 in its columns."""
    if not _are_multiples(lp, box):
        return False
    r = reduced_costs(lp, y)
    g = [r[j] for j in box.columns.tolist()]
    part = lp.A[box.rows][:, box.columns].tocsr()
    part.sort_indices()
    # column l of M is row I_l of A in the columns F
    starts, places = part.indptr.tolist(), part.indices.tolist()
    data, e = dyadics(part.data), [Fraction(v) for v in box.radius.tolist()]
    for i, C in enumerate(box.inverse):
        mantissas, exponents = dyadics(C)
        size = abs(sum((Fraction(c) * v for c, v in zip(C.tolist(), g, strict=True) if v), ZERO))
        for k, (begin, end) in enumerate(pairwise(starts)):
            taken = places[begin:end]
            there = [mantissas[q] for q in taken], [exponents[q] for q in taken]
            entry = sum_of_products(there, (data[0][begin:end], data[1][begin:end]))
            size += abs((1 if i == k else 0) - entry) * e[k]
        if not size < e[i]:
            return False
    return True


def _are_multiples(lp: LinearProgram, box: Box) -> bool:
    """Tells whether each column with r_j = 0 is one that defines y*, or has its entries and cost, or exactly their negatives."""
    At = lp.A.T.tocsr()
    known = {written(At, lp.c, j, sign) for j in box.columns.tolist() for sign in (1.0, -1.0)}
    return all(written(At, lp.c, j, 1.0) in known for j in box.zero.tolist())
