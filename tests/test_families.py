"""Families: seeded, shaped as said, feasible and bounded where promised, and optimal where built to be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from batchlp_cli.batch import Field, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.families import (
    FAMILIES,
    KoerkelGhosh,
    Varied,
    branching_children,
    capacitated_facility_location,
    facility_location,
    find_family,
    flux_network,
    generalised_assignment,
    knapsack,
    network_design,
    random_optimal,
    random_optimal_batch,
    set_cover,
    transport,
    transport_scenarios,
    vary,
)
from batchlp_cli.problem import LinearProgram, Vector

MAKERS: dict[str, Callable[[int], LinearProgram]] = {
    "facility_location": lambda seed: facility_location(4, 7, seed),
    "koerkel_ghosh": lambda seed: facility_location(4, 7, seed, KoerkelGhosh.B),
    "capacitated_facility_location": lambda seed: capacitated_facility_location(4, 7, seed),
    "set_cover": lambda seed: set_cover(12, 9, seed, density=0.2),
    "generalised_assignment": lambda seed: generalised_assignment(4, 10, seed),
    "transport": lambda seed: transport(3, 5, seed),
    "network_design": lambda seed: network_design(4, 9, 3, seed),
    "knapsack": lambda seed: knapsack(3, 12, seed),
    "flux": lambda seed: flux_network(20, 45, seed),
    "random_optimal": lambda seed: random_optimal(6, 9, seed)[0],
}
SHAPES = {
    "facility_location": (7 + 28, 4 + 28, 28 * 3),
    "koerkel_ghosh": (7 + 28, 4 + 28, 28 * 3),
    "capacitated_facility_location": (7 + 28 + 4, 4 + 28, 28 * 3 + 28 + 4),
    "generalised_assignment": (10 + 4, 40, 80),
    "transport": (3 + 5, 15, 30),
    "network_design": (4 * 3 + 9 + 9 * 3, 9 + 27, 27 * 3 + 9 + 27 * 2),
    "knapsack": (3, 12, 36),
}
each_family = pytest.mark.parametrize("name", MAKERS)


def optimum(lp: LinearProgram) -> tuple[int, float]:
    """Returns SciPy's status (0 optimal, 2 infeasible, 3 unbounded) and the value with offset, NaN where there is none."""
    equal = lp.row_lower == lp.row_upper
    A = lp.A.toarray()
    up, low = ~equal & np.isfinite(lp.row_upper), ~equal & np.isfinite(lp.row_lower)
    answer = linprog(
        lp.c,
        A_ub=np.concatenate([A[up], -A[low]]),
        b_ub=np.concatenate([lp.row_upper[up], -lp.row_lower[low]]),
        A_eq=A[equal],
        b_eq=lp.row_lower[equal],
        bounds=list(zip(lp.col_lower.tolist(), lp.col_upper.tolist(), strict=True)),
    )
    return int(answer.status), lp.offset + (np.nan if answer.fun is None else float(answer.fun))


def numbers(lp: LinearProgram) -> list[bytes]:
    """Returns everything of an LP that a seed decides."""
    arrays = (lp.c, lp.A.indptr, lp.A.indices, lp.A.data, lp.row_lower, lp.row_upper, lp.col_lower, lp.col_upper, lp.integer)
    return [a.tobytes() for a in arrays]


@each_family
def test_same_seed_same_numbers(name: str) -> None:
    """A seed decides every number, and another seed gives other numbers."""
    assert numbers(MAKERS[name](3)) == numbers(MAKERS[name](3))
    assert numbers(MAKERS[name](3)) != numbers(MAKERS[name](4))


@each_family
@pytest.mark.parametrize("seed", range(3))
def test_family_is_feasible_and_bounded(name: str, seed: int) -> None:
    """SciPy finds an optimum of every recipe at ordinary sizes."""
    assert optimum(MAKERS[name](seed))[0] == 0


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_that_of_the_docstring(name: str) -> None:
    """Rows, columns and entries are counted as the recipe says, and all have names."""
    lp = MAKERS[name](1)
    assert (lp.m, lp.n, lp.nnz) == SHAPES[name]
    assert len(set(lp.row_names)) == lp.m
    assert len(set(lp.col_names)) == lp.n


def test_facility_location_means_what_its_names_say() -> None:
    """Row link_i_j is serve_i_j - open_i <= 0, row demand_j sums serve_i_j over i, and only `open` is integer."""
    lp = facility_location(3, 4, seed=1)
    link = lp.A[[lp.row_names.index("link_3_2")], :].toarray()[0]
    assert {lp.col_names[j]: link[j] for j in np.flatnonzero(link)} == {"serve_3_2": 1.0, "open_3": -1.0}
    demand = lp.A[[lp.row_names.index("demand_2")], :].toarray()[0]
    assert {lp.col_names[j] for j in np.flatnonzero(demand)} == {"serve_1_2", "serve_2_2", "serve_3_2"}
    assert [lp.col_names[j] for j in np.flatnonzero(lp.integer)] == ["open_1", "open_2", "open_3"]


def test_capacity_rows_bind_the_load_by_the_opened_capacity() -> None:
    """Row capacity_i is sum_j demand_j serve_i_j - capacity_i open_i <= 0, and the capacities cover `ratio` times the demand."""
    lp = capacitated_facility_location(4, 7, seed=2, ratio=3.0)
    rows = lp.A[-4:, :].toarray()
    assert (lp.row_upper[-4:] == 0).all()
    assert np.array_equal(rows[:, :4], np.diag(np.diag(rows[:, :4])))
    loads = rows[:, 4:].reshape(4, 4, 7)
    demand = loads[0, 0]
    assert all(np.array_equal(loads[i, k], demand if i == k else np.zeros(7)) for i in range(4) for k in range(4))
    assert 3.0 * demand.sum() <= -np.diag(rows[:, :4]).sum() <= 3.0 * demand.sum() + 4


@pytest.mark.parametrize(("costs", "low"), [(KoerkelGhosh.A, 100), (KoerkelGhosh.B, 1000), (KoerkelGhosh.C, 10000)])
def test_koerkel_ghosh_costs_are_of_their_class(costs: KoerkelGhosh, low: int) -> None:
    """Fixed costs are integers of [low, 2 low] that spread over it, service costs integers of [1000, 2000]."""
    lp = facility_location(40, 5, seed=1, costs=costs)
    fixed, service = lp.c[:40], lp.c[40:]
    assert low <= fixed.min() < 1.3 * low
    assert 1.7 * low < fixed.max() <= 2 * low
    assert 1000 <= service.min() < 1100 < 1900 < service.max() <= 2000
    assert np.array_equal(lp.c, np.round(lp.c))


def test_set_cover_leaves_nothing_uncovered() -> None:
    """Even at density 0, every element is in two sets and every set covers an element."""
    A = set_cover(30, 20, seed=5, density=0.0).A.toarray()
    assert set(np.unique(A)) == {0.0, 1.0}
    assert (A.sum(axis=1) >= 2).all()
    assert (A.sum(axis=0) >= 1).all()


def test_set_cover_refuses_what_cannot_be_covered_twice() -> None:
    """One set is too few, and the message says how many are needed."""
    with pytest.raises(UsageError, match="2 sets"):
        set_cover(3, 1, seed=1)


def test_transport_scenarios_change_only_demands() -> None:
    """Members differ from the base in integer demands within the spread, and every one has an optimum."""
    base = transport(3, 6, seed=1)
    batch = transport_scenarios(base, 8, seed=2, spread=0.25)
    assert set(batch.changes.field.tolist()) == {Field.ROW_LOWER}
    demand = batch.dense(Field.ROW_LOWER)[:, 3:]
    assert np.array_equal(demand, np.round(demand))
    assert (np.abs(demand / base.row_lower[3:] - 1) <= 0.25).all()
    assert len({row.tobytes() for row in demand}) == 8
    assert {optimum(batch.member(k))[0] for k in range(8)} == {0}


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(1, 15))
def test_random_optimal_is_optimal_exactly(seed: int, m: int, n: int) -> None:
    """x is feasible, y and r price only active sides, r = c - A.T y, and the gap is 0, all without any rounding."""
    lp, known = random_optimal(m, n, seed)
    x, y, r = known.x, known.y, known.r
    assert x is not None
    assert y is not None
    assert r is not None
    assert np.array_equal(r, lp.c - lp.A.T @ y)
    for value, price, lower, upper in ((lp.A @ x, y, lp.row_lower, lp.row_upper), (x, r, lp.col_lower, lp.col_upper)):
        assert ((lower <= value) & (value <= upper)).all()
        assert (value[price > 0] == lower[price > 0]).all()
        assert (value[price < 0] == upper[price < 0]).all()


@pytest.mark.parametrize("seed", range(4))
def test_random_optimal_agrees_with_a_solver(seed: int) -> None:
    """SciPy finds the value that was built in, offset included."""
    lp, known = random_optimal(15, 20, seed)
    status, value = optimum(lp)
    assert status == 0
    assert known.x is not None
    assert value == pytest.approx(float(lp.c @ known.x) + lp.offset, abs=1e-6)


def test_random_optimal_has_all_kinds_of_rows_and_columns() -> None:
    """One-sided, two-sided, equal and free rows and columns all occur."""
    lp, _ = random_optimal(80, 80, seed=1)
    for lower, upper in ((lp.row_lower, lp.row_upper), (lp.col_lower, lp.col_upper)):
        has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
        kinds = (has_lower & ~has_upper, ~has_lower & has_upper, ~has_lower & ~has_upper, lower == upper)
        assert all(kind.any() for kind in (*kinds, has_lower & has_upper & (lower < upper)))


def moved(batch: LPBatch, code: Field) -> Vector:
    """Returns by how much each member's values of a field differ from the base's: [B, size], 0 where both are infinite."""
    base: Vector = getattr(batch.base, code.attribute)
    values = batch.dense(code)
    difference: Vector = np.zeros_like(values)
    np.subtract(values, base, out=difference, where=values != base)
    return difference


ALWAYS = [(name, what) for name in ("facility_location", "generalised_assignment", "set_cover") for what in Varied]


@pytest.mark.parametrize(("name", "what"), [*ALWAYS, ("random_optimal", Varied.RHS), ("random_optimal", Varied.BOUNDS)])
def test_varied_members_stay_feasible_and_bounded(name: str, what: Varied) -> None:
    """Where the feasible set is bounded, or only sides move outwards, every member has an optimum; members differ."""
    base = MAKERS[name](1)
    batch = vary(base, 5, seed=2, what=what)
    assert batch.base is base
    assert len({b"".join(numbers(batch.member(k))) for k in range(5)}) == 5
    assert {optimum(batch.member(k))[0] for k in range(5)} == {0}


def test_varied_costs_keep_their_signs() -> None:
    """Costs move by at most `size`, relative, zeros stay, and nothing else moves."""
    base = random_optimal(10, 30, seed=3)[0]
    batch = vary(base, 6, seed=1, what="cost", size=0.3)
    assert set(batch.changes.field.tolist()) == {Field.COST}
    assert (np.abs(moved(batch, Field.COST)) <= 0.3 * np.abs(base.c) * (1 + 1e-12)).all()
    assert (np.abs(moved(batch, Field.COST)).max(axis=1) > 0).all()


def test_varied_sides_move_outwards_only() -> None:
    """Without a point to keep, lower sides fall, upper sides rise, by at most `size`, and equations stay."""
    base = random_optimal(30, 30, seed=3)[0]
    batch = vary(base, 6, seed=1, what="rhs", size=0.3)
    low, high = moved(batch, Field.ROW_LOWER), moved(batch, Field.ROW_UPPER)
    assert (low <= 0).all()
    assert (high >= 0).all()
    assert low.min() < 0 < high.max()
    assert (np.abs(low) <= 0.3 * np.maximum(1, np.abs(base.row_lower)) + 1e-12).all()
    equal = base.row_lower == base.row_upper
    assert not low[:, equal].any()
    assert not high[:, equal].any()


@pytest.mark.parametrize("what", ["rhs", "bounds"])
def test_a_kept_point_stays_feasible_while_sides_tighten(what: str) -> None:
    """With a point to keep, some sides move inwards, and the point satisfies all of them in every member."""
    base, known = random_optimal(30, 30, seed=4)
    x = known.x
    assert x is not None
    batch = vary(base, 10, seed=1, what=what, size=0.5, keep=x)
    lower, upper = (Field.ROW_LOWER, Field.ROW_UPPER) if what == "rhs" else (Field.COL_LOWER, Field.COL_UPPER)
    value = base.A @ x if what == "rhs" else x
    assert ((batch.dense(lower) <= value) & (value <= batch.dense(upper))).all()
    assert moved(batch, lower).max() > 0 > moved(batch, upper).min()


def test_nothing_to_vary_is_said() -> None:
    """Transport has no finite bound but 0, which means a sign: the error names what was asked."""
    with pytest.raises(UsageError, match="bounds"):
        vary(transport(2, 3, seed=1), 4, seed=1, what="bounds")


def test_varied_members_have_distinct_sorted_names() -> None:
    """Names follow the order of the members also past ten."""
    names = vary(transport(2, 3, seed=1), 11, seed=1, what="cost").names
    assert len(set(names)) == 11
    assert list(names) == sorted(names)


@pytest.mark.parametrize("name", FAMILIES)
def test_family_by_name_makes_what_it_says(name: str) -> None:
    """At its smallest size every family gives members of one matrix that have an optimum, for all that may vary."""
    family = find_family(name)
    for what in family.varies:
        batch = family.members(family.sizes[0], 3, 2, what)
        assert (len(batch), len(set(batch.names))) == (3, 3)
        assert batch.base.integer.any() == family.integer
        assert optimum(batch.member(2))[0] == 0


def test_families_by_name_never_share_the_name_of_a_model() -> None:
    """Two families of the same size and seed give files of different names, so that both fit into one folder."""
    names = [FAMILIES[name].members(FAMILIES[name].sizes[0], 2, 1).names[0] for name in FAMILIES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", range(3))
def test_members_of_random_optimal_have_the_optima_that_come_with_them(seed: int) -> None:
    """Each member has one matrix with the others, and the value of the solution that was built in."""
    batch, known = random_optimal_batch(8, 12, 4, seed)
    for k, solution in enumerate(known):
        lp = batch.member(k)
        assert solution.x is not None
        assert optimum(lp)[0] == 0
        assert optimum(lp)[1] == pytest.approx(float(lp.c @ solution.x) + lp.offset, abs=1e-6)


def test_children_bound_the_root_from_above() -> None:
    """Each fractional column gives a child below and one above; the root's point is in none, and none is better."""
    root = knapsack(3, 12, 1)
    x = np.array(linprog(root.c, A_ub=root.A.toarray(), b_ub=root.row_upper, bounds=(0, 1)).x)
    batch = branching_children(root, x, 100)
    fractional = np.flatnonzero(root.integer & (np.abs(x - np.round(x)) > 1e-5))
    assert sorted(batch.changes.index.tolist()) == sorted([*fractional.tolist(), *fractional.tolist()])
    for k in range(len(batch)):
        child = batch.member(k)
        assert ((x < child.col_lower) | (x > child.col_upper)).sum() == 1
        status, value = optimum(child)
        assert status == 2 or value >= float(root.c @ x) - 1e-6
    with pytest.raises(UsageError, match="no children"):
        branching_children(root, np.round(x), 4)


def test_flux_networks_are_badly_scaled() -> None:
    """Coefficients span eight orders of magnitude or more, which is what the family is for."""
    sizes = np.abs(flux_network(200, 500, 1).A.data)
    assert sizes.max() / sizes.min() > 1e8
    assert 1e-6 <= sizes.min() <= sizes.max() <= 1e3


def test_single_columns_are_least_and_greatest() -> None:
    """Members come in pairs on one column, once least and once greatest, whatever the base's costs were."""
    base = knapsack(2, 6, 1)
    batch = vary(base, 12, 1, Varied.COLUMN)
    values = [optimum(batch.member(k))[1] for k in range(12)]
    assert values[::2] == pytest.approx([0.0] * 6, abs=1e-9)
    assert values[1::2] == pytest.approx([-1.0] * 6, abs=1e-9)


@pytest.mark.parametrize("size", ["", "3", "3x", "0x3", "-1x2", "axb", "3x4x5", "3.5x2", "1e3x2", "99999999x99999999"])
def test_sizes_that_make_no_sense_are_refused(size: str) -> None:
    """A size of another form, with a 0, or so large that no machine has room for it is refused in words."""
    with pytest.raises(UsageError, match="size"):
        find_family("set-cover").base(size, seed=1)
