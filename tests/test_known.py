"""The known answers are right: by exact arithmetic from the definitions, and by two solvers where there is a value."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from batchlp_cli.problem import Vector
from batchlp_cli.solution import Status
from tests import known as known_module
from tests.known import KNOWN, KNOWN_BY_NAME, KnownLP

INF = float("inf")
Interval = tuple[float, float]


def of_status(status: Status) -> pytest.MarkDecorator:
    """Returns the parametrization over all known LPs of one status."""
    return pytest.mark.parametrize("known", [k for k in KNOWN if k.status is status], ids=lambda k: k.lp.name)


def exact(vector: Vector | None) -> list[Fraction]:
    """Returns a vector as fractions; fails where there is none."""
    assert vector is not None
    return [Fraction(v) for v in vector.tolist()]


def activity(known: KnownLP, x: list[Fraction]) -> list[Fraction]:
    """Returns A @ x without rounding."""
    return [sum((Fraction(a) * v for a, v in zip(row, x, strict=True)), Fraction(0)) for row in known.lp.A.toarray().tolist()]


def reduced(known: KnownLP, c: list[Fraction], y: list[Fraction]) -> list[Fraction]:
    """Returns c - A.T @ y without rounding."""
    columns = known.lp.A.toarray().T.tolist()
    return [
        cost - sum((Fraction(a) * v for a, v in zip(column, y, strict=True)), Fraction(0))
        for cost, column in zip(c, columns, strict=True)
    ]


def priced(prices: list[Fraction], lower: Vector, upper: Vector) -> Fraction:
    """Returns sum of price * the side it prices; fails where that side is infinite."""
    total = Fraction(0)
    for price, low, high in zip(prices, lower.tolist(), upper.tolist(), strict=True):
        if price:
            side = low if price > 0 else high
            assert abs(side) < INF, f"price {price} on an infinite side"
            total += price * Fraction(side)
    return total


def within(values: list[Fraction], lower: Vector, upper: Vector) -> bool:
    """Tells whether values lie between sides, which may be infinite."""
    return all(low <= v <= high for v, low, high in zip(values, lower.tolist(), upper.tolist(), strict=True))


def is_feasible(known: KnownLP) -> bool:
    """Tells whether x satisfies rows and bounds exactly."""
    lp, x = known.lp, exact(known.x)
    return within(activity(known, x), lp.row_lower, lp.row_upper) and within(x, lp.col_lower, lp.col_upper)


@of_status(Status.OPTIMAL)
def test_optimum_is_proved_exactly(known: KnownLP) -> None:
    """x is feasible, r = c - A.T y, the dual value of (y, r) equals c @ x, and the value adds the offset: optimality."""
    lp, x, y = known.lp, exact(known.x), exact(known.y)
    assert is_feasible(known)
    r = reduced(known, exact(lp.c), y)
    assert r == exact(known.r)
    primal = sum((cost * v for cost, v in zip(exact(lp.c), x, strict=True)), Fraction(0))
    assert primal == priced(y, lp.row_lower, lp.row_upper) + priced(r, lp.col_lower, lp.col_upper)
    assert known.value == primal + Fraction(lp.offset)


@of_status(Status.INFEASIBLE)
def test_infeasibility_is_proved_exactly(known: KnownLP) -> None:
    """The Farkas ray has a positive bound, or without one two bounds cross."""
    lp = known.lp
    if known.ray is None:
        assert (lp.row_lower > lp.row_upper).any() or (lp.col_lower > lp.col_upper).any()
        return
    y = exact(known.ray)
    r = reduced(known, [Fraction(0)] * lp.n, y)
    assert priced(y, lp.row_lower, lp.row_upper) + priced(r, lp.col_lower, lp.col_upper) > 0


@of_status(Status.UNBOUNDED)
def test_unboundedness_is_proved_exactly(known: KnownLP) -> None:
    """x is feasible, and the ray improves and leaves no finite side."""
    lp, d = known.lp, exact(known.ray)
    assert is_feasible(known)
    assert sum((cost * v for cost, v in zip(exact(lp.c), d, strict=True)), Fraction(0)) < 0
    for move, lower, upper in ((activity(known, d), lp.row_lower, lp.row_upper), (d, lp.col_lower, lp.col_upper)):
        for step, low, high in zip(move, lower.tolist(), upper.tolist(), strict=True):
            assert step == 0 or (high == INF if step > 0 else low == -INF)


def optimal_face(prices: Vector, values: Vector, lower: Vector, upper: Vector) -> tuple[list[Interval], list[Interval]]:
    """Returns where complementary values and prices may lie: at a priced side, and a price only on an active side."""
    value_range, price_range = [], []
    for price, value, low, high in zip(prices.tolist(), values.tolist(), lower.tolist(), upper.tolist(), strict=True):
        value_range.append((low, low) if price > 0 else (high, high) if price < 0 else (low, high))
        price_range.append((-INF if value == high else 0.0, INF if value == low else 0.0))
    return value_range, price_range


def spread(A: Vector, rows: list[Interval], right: Vector, cols: list[Interval]) -> float:
    """Returns how far any column can move in {v: A @ v - right in rows, v in cols}; infinite where it is unbounded."""
    sides = np.array(rows, dtype=np.float64).reshape(-1, 2) + right[:, None]
    up, low = np.isfinite(sides[:, 1]), np.isfinite(sides[:, 0])
    solve = partial(
        linprog, A_ub=np.concatenate([A[up], -A[low]]), b_ub=np.concatenate([sides[up, 1], -sides[low, 0]]), bounds=cols
    )
    widest = 0.0
    for unit in np.eye(len(cols)):
        least, most = solve(unit), solve(-unit)
        assert {least.status, most.status} <= {0, 3}
        widest = max(widest, INF if least.fun is None or most.fun is None else -most.fun - least.fun)
    return widest


@of_status(Status.OPTIMAL)
def test_uniqueness_is_as_said(known: KnownLP) -> None:
    """The optimal faces of primal and dual, which complementarity with the known pair describes, are points or not."""
    lp, x, y, r = known.lp, known.x, known.y, known.r
    assert x is not None
    assert y is not None
    assert r is not None
    rows, y_range = optimal_face(y, lp.A @ x, lp.row_lower, lp.row_upper)
    cols, r_range = optimal_face(r, x, lp.col_lower, lp.col_upper)
    dense = lp.A.toarray()
    moves = spread(dense, rows, np.zeros(lp.m), cols)
    # r = c - A.T y in its range means A.T y - c in the mirrored range
    moves = max(moves, spread(dense.T, [(-high, -low) for low, high in r_range], lp.c, y_range))
    assert (moves < 1e-7) is known.unique


@pytest.mark.parametrize("known", [k for k in KNOWN if k.lp.n], ids=lambda k: k.lp.name)
def test_highs_agrees(known: KnownLP) -> None:
    """HiGHS finds the status, and value, x, y, r where they are unique; of an LP without columns it says only "empty"."""
    lp = known.lp
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("presolve", "off")
    model = highspy.HighsLp()
    model.num_col_, model.num_row_, model.offset_ = lp.n, lp.m, lp.offset
    model.col_cost_, model.col_lower_, model.col_upper_ = lp.c, lp.col_lower, lp.col_upper
    model.row_lower_, model.row_upper_ = lp.row_lower, lp.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = lp.n, lp.m
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = lp.A.indptr, lp.A.indices, lp.A.data
    solver.passModel(model)
    solver.run()
    assert solver.modelStatusToString(solver.getModelStatus()).lower() == known.status.value
    if known.value is not None:
        assert solver.getInfo().objective_function_value == pytest.approx(known.value, abs=1e-7)
    if known.unique:
        found = solver.getSolution()
        for ours, theirs in ((known.x, found.col_value), (known.y, found.row_dual), (known.r, found.col_dual)):
            assert theirs == pytest.approx(ours, abs=1e-7)


def test_every_derivation_is_in_the_list() -> None:
    """Each function that makes a known LP is in KNOWN, under its own name, and explains itself."""
    makers = {
        name: make
        for name, make in vars(known_module).items()
        if callable(make) and getattr(make, "__annotations__", {}) == {"return": "KnownLP"}
    }
    assert set(makers) == set(KNOWN_BY_NAME)
    assert len(KNOWN) == len(KNOWN_BY_NAME)
    assert all(make.__doc__ for make in makers.values())


def test_known_lps_cover_all_three_statuses() -> None:
    """Optimal, infeasible and unbounded each have several examples, and some maximise."""
    assert all(sum(k.status is status for k in KNOWN) >= 4 for status in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED))
    assert sum(k.lp.maximize for k in KNOWN) >= 3
