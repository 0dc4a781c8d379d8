"""Seeded generators of families of linear programs. Files and solvers do not belong here.

The same arguments give the same numbers. All but random_optimal are relaxations of known models, with names, and with the
integer mask of the model they relax. Indices in names count from 1.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np
import scipy.sparse as sp

from batchlp_cli.batch import Changes, Field, Indices, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.solution import Solution, Status

Block = tuple[Indices, Indices, Vector]
"""Rows, columns and values of some entries of a matrix."""


Part = tuple[Field, Indices, Vector]
"""A field, the places in it that change, [k], and their values, [B, k]."""


class KoerkelGhosh(StrEnum):
    """Classes of fixed costs by Koerkel (1989) and Ghosh (2003): a [100, 200], b [1000, 2000], c [10000, 20000]."""

    A = "a"
    B = "b"
    C = "c"


class Varied(StrEnum):
    """What `vary` changes from member to member."""

    RHS = "rhs"
    COST = "cost"
    BOUNDS = "bounds"


def facility_location(facilities: int, clients: int, seed: int, costs: KoerkelGhosh | None = None) -> LinearProgram:
    """Returns an uncapacitated facility location problem in its strong form, C + F * C rows and F * (1 + C) columns.

    min f @ open + d @ serve,  sum_i serve_ij = 1,  serve_ij <= open_i (Krarup and Pruzan 1983, EJOR 12, 36-81). Without
    `costs`, places are uniform in the unit square and d are distances; with it, d are integers of [1000, 2000] and f of the
    class (Koerkel 1989, EJOR 39, 157-173; Ghosh 2003, EJOR 150, 150-162).
    """
    rng = np.random.default_rng(seed)
    if costs is None:
        d = _distances(rng, facilities, clients)
        f = rng.uniform(0.5, 1.5, facilities) * np.sqrt(clients) * 0.3
    else:
        d = rng.integers(1000, 2001, (facilities, clients)).astype(np.float64)
        low = {KoerkelGhosh.A: 100, KoerkelGhosh.B: 1000, KoerkelGhosh.C: 10000}[KoerkelGhosh(costs)]
        f = rng.integers(low, 2 * low + 1, facilities).astype(np.float64)
    return _location(f"facility_location_{facilities}x{clients}_s{seed}", f, d)


def capacitated_facility_location(facilities: int, clients: int, seed: int, ratio: float = 5.0) -> LinearProgram:
    """Returns a capacitated facility location problem with linking rows, C + F * C + F rows and F * (1 + C) columns.

    As facility_location, and sum_j demand_j serve_ij <= capacity_i open_i. Demands are integers of [5, 35], capacities of
    [10, 160] scaled to `ratio` times the total demand, f = U[0, 90] + U[100, 110] sqrt(capacity), and a unit costs ten times
    the distance (Cornuejols, Sridharan and Thizy 1991, EJOR 50, 280-297).
    """
    rng = np.random.default_rng(seed)
    d = _distances(rng, facilities, clients)
    demand = rng.integers(5, 36, clients).astype(np.float64)
    raw = rng.integers(10, 161, facilities)
    capacity = np.ceil(raw * (ratio * demand.sum() / raw.sum()))
    f = np.round(rng.integers(100, 111, facilities) * np.sqrt(capacity) + rng.integers(0, 91, facilities), 3)
    base = _location(f"capacitated_facility_location_{facilities}x{clients}_s{seed}", f, np.round(10 * d * demand, 3))
    i, j, pair = _pairs(facilities, clients)
    load: Block = (i, facilities + pair, demand[j])
    room: Block = (np.arange(facilities), np.arange(facilities), -capacity)
    return replace(
        base,
        A=sp.csr_array(sp.vstack([base.A, _matrix((facilities, base.n), load, room)])),
        row_lower=np.concatenate([base.row_lower, np.full(facilities, -np.inf)]),
        row_upper=np.concatenate([base.row_upper, np.zeros(facilities)]),
        row_names=(*base.row_names, *_names("capacity", facilities)),
    )


def set_cover(elements: int, sets: int, seed: int, density: float = 0.05) -> LinearProgram:
    """Returns a set covering problem: min c @ x, A x >= 1, x in [0, 1], costs integers of [1, 9], at least 2 sets.

    Entries are 1 with probability `density`; every element is in two sets or more and every set covers an element (Balas
    and Ho 1980, Mathematical Programming Study 12, 37-60).
    """
    if sets < 2 or elements < 1:
        raise UsageError(f"set_cover of {elements} elements by {sets} sets, expected at least 1 element and 2 sets")
    rng = np.random.default_rng(seed)
    covers = rng.random((elements, sets)) < density
    one, step = rng.integers(sets, size=elements), 1 + rng.integers(sets - 1, size=elements)
    covers[np.arange(elements), one] = covers[np.arange(elements), (one + step) % sets] = True
    covers[rng.integers(elements, size=sets), np.arange(sets)] = True
    return LinearProgram(
        name=f"set_cover_{elements}x{sets}_s{seed}",
        c=rng.integers(1, 10, sets).astype(np.float64),
        A=sp.csr_array(covers.astype(np.float64)),
        row_lower=np.ones(elements),
        row_upper=np.full(elements, np.inf),
        col_lower=np.zeros(sets),
        col_upper=np.ones(sets),
        integer=np.ones(sets, dtype=np.bool_),
        row_names=_names("cover", elements),
        col_names=_names("use", sets),
    )


def generalised_assignment(agents: int, tasks: int, seed: int) -> LinearProgram:
    """Returns a generalised assignment problem of type C, T + A rows and A * T columns; the relaxation may be infeasible if tiny.

    min c @ x, each task done once, sum_j w_ij x_ij <= 0.8 sum_j w_ij / A; w integers of [5, 25], c of [10, 50] (Martello and
    Toth 1981, Operational Research '81, 589-603).
    """
    rng = np.random.default_rng(seed)
    w = rng.integers(5, 26, (agents, tasks)).astype(np.float64)
    c = rng.integers(10, 51, agents * tasks).astype(np.float64)
    i, j, pair = _pairs(agents, tasks)
    return LinearProgram(
        name=f"generalised_assignment_{agents}x{tasks}_s{seed}",
        c=c,
        A=_matrix((tasks + agents, pair.size), (j, pair, np.ones(pair.size)), (tasks + i, pair, w.ravel())),
        row_lower=np.concatenate([np.ones(tasks), np.full(agents, -np.inf)]),
        row_upper=np.concatenate([np.ones(tasks), 0.8 * w.sum(axis=1) / agents]),
        col_lower=np.zeros(pair.size),
        col_upper=np.ones(pair.size),
        integer=np.ones(pair.size, dtype=np.bool_),
        row_names=(*_names("task", tasks), *_names("agent", agents)),
        col_names=_pair_names("assign", agents, tasks),
    )


def transport(origins: int, destinations: int, seed: int, slack: float = 1.25) -> LinearProgram:
    """Returns a transport problem (Hitchcock 1941, J. Math. Phys. 20, 224-230), O + D rows and O * D columns, integer data.

    min c @ ship,  sum_j ship_ij <= supply_i,  sum_i ship_ij >= demand_j,  ship >= 0; costs of [5, 60], demands of [10, 50],
    and supplies that sum to at least `slack` times the demand.
    """
    rng = np.random.default_rng(seed)
    c = rng.integers(5, 61, origins * destinations).astype(np.float64)
    demand = rng.integers(10, 51, destinations).astype(np.float64)
    share = rng.integers(50, 151, origins)
    supply = np.ceil(share * (slack * demand.sum() / share.sum()))
    i, j, pair = _pairs(origins, destinations)
    return LinearProgram(
        name=f"transport_{origins}x{destinations}_s{seed}",
        c=c,
        A=_matrix((origins + destinations, pair.size), (i, pair, np.ones(pair.size)), (origins + j, pair, np.ones(pair.size))),
        row_lower=np.concatenate([np.full(origins, -np.inf), demand]),
        row_upper=np.concatenate([supply, np.full(destinations, np.inf)]),
        col_lower=np.zeros(pair.size),
        col_upper=np.full(pair.size, np.inf),
        row_names=(*_names("supply", origins), *_names("demand", destinations)),
        col_names=_pair_names("ship", origins, destinations),
    )


def transport_scenarios(base: LinearProgram, members: int, seed: int, spread: float = 0.2) -> LPBatch:
    """Returns a batch in which each demand of a transport problem is drawn anew, an integer within `spread` of the base's.

    Feasible for all members while 1 + spread is at most the slack of the base.
    """
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(np.isfinite(base.row_lower))
    demand = base.row_lower[rows]
    low, high = np.ceil(demand * (1 - spread)), np.floor(demand * (1 + spread))
    values = rng.integers(low.astype(np.int64), high.astype(np.int64) + 1, (members, rows.size)).astype(np.float64)
    return _batch(base, [(Field.ROW_LOWER, rows, values)])


def random_optimal(m: int, n: int, seed: int, density: float = 0.3) -> tuple[LinearProgram, Solution]:
    """Returns a random LP and an optimal solution of it, exact in float64 since all data are small integers.

    x, y, r are chosen first; then every row and column gets bounds with which they are complementary, and c = A.T y + r
    (the optimality conditions read backwards). There are rows and columns of all kinds: one-sided, two-sided, equal, free,
    active and inactive. The optimal value is certain; other optimal solutions may exist.
    """
    rng = np.random.default_rng(seed)
    A = sp.csr_array(np.where(rng.random((m, n)) < density, rng.integers(-4, 5, (m, n)), 0).astype(np.float64))
    x = rng.integers(-9, 10, n).astype(np.float64)
    y = np.where(rng.random(m) < 0.5, rng.integers(-9, 10, m), 0).astype(np.float64)
    r = np.where(rng.random(n) < 0.5, rng.integers(-9, 10, n), 0).astype(np.float64)
    row_lower, row_upper = _complementary(rng, np.asarray(A @ x), y)
    col_lower, col_upper = _complementary(rng, x, r)
    offset = float(rng.integers(-99, 100))
    lp = LinearProgram(f"random_optimal_{m}x{n}_s{seed}", A.T @ y + r, A, row_lower, row_upper, col_lower, col_upper, offset)
    return lp, Solution(Status.OPTIMAL, x=x, y=y, r=r)


def vary(base: LinearProgram, members: int, seed: int, what: str, *, size: float = 0.1, keep: Vector | None = None) -> LPBatch:
    """Returns a batch of LPs like the base, with one part of it (`Varied`) redrawn for each member by up to `size`, relative.

    cost: every non-zero cost is multiplied by a number of [1 - size, 1 + size]; a member is bounded where the base is bounded
    because of the signs of its costs or because its feasible set is. rhs: the sides of rows that are no equations
    move outwards, by up to size * max(1, |side|). bounds: finite bounds other than 0 move outwards, by up to size * |bound|.
    Outwards, a feasible base gives feasible members, and a bounded one bounded members, as the cost and the finite sides stay.
    With `keep` ([n] float64, a feasible point) they move both ways, but never past that point, which stays feasible.

    Raises UsageError where the base has nothing of the kind to vary.
    """
    rng = np.random.default_rng(seed)
    parts: list[Part]
    match Varied(what):
        case Varied.COST:
            index = np.flatnonzero(base.c)
            parts = [(Field.COST, index, base.c[index] * rng.uniform(1 - size, 1 + size, (members, index.size)))]
        case Varied.RHS:
            point = None if keep is None else np.asarray(base.A @ keep)
            parts = [_moved(rng, base, field, (members, size), point) for field in (Field.ROW_LOWER, Field.ROW_UPPER)]
        case Varied.BOUNDS:
            parts = [_moved(rng, base, field, (members, size), keep) for field in (Field.COL_LOWER, Field.COL_UPPER)]
    if not any(index.size for _, index, _ in parts):
        raise UsageError(f"{base.name} has no {what} to vary; expected one of: {', '.join(Varied)} that it has")
    return _batch(base, parts)


def _moved(rng: np.random.Generator, base: LinearProgram, field: Field, extent: tuple[int, float], point: Vector | None) -> Part:
    """Returns the finite entries of one side, moved outwards, or both ways as far as a point allows; extent: members, size."""
    values, (members, size), of_rows = getattr(base, field.attribute), extent, field in (Field.ROW_LOWER, Field.ROW_UPPER)
    movable = base.row_lower != base.row_upper if of_rows else (base.col_lower != base.col_upper) & (values != 0)
    index = np.flatnonzero(movable & np.isfinite(values))
    step = size * np.maximum(float(of_rows), np.abs(values[index]))  # [k]
    moved = step * rng.uniform(0.0 if point is None else -1.0, 1.0, (members, index.size))  # [B, k]
    if field in (Field.ROW_LOWER, Field.COL_LOWER):
        lower = values[index] - moved
        return field, index, lower if point is None else np.minimum(lower, point[index])
    upper = values[index] + moved
    return field, index, upper if point is None else np.maximum(upper, point[index])


def _batch(base: LinearProgram, parts: list[Part]) -> LPBatch:
    members = parts[0][2].shape[0]
    codes = np.concatenate([np.full(index.size, field, dtype=np.int8) for field, index, _ in parts])
    index = np.concatenate([index for _, index, _ in parts])
    values = np.concatenate([values for _, _, values in parts], axis=1)  # [B, k]
    member = np.repeat(np.arange(members, dtype=np.int64), index.size)
    changes = Changes(member, np.tile(codes, members), np.tile(index, members), values.ravel())
    return LPBatch(base, changes, tuple(f"{base.name}_{k:0{len(str(members - 1))}d}" for k in range(members)))


def _complementary(rng: np.random.Generator, value: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Returns bounds around values with which prices are complementary: a positive price puts its value at the lower one."""
    gap = rng.integers(0, 6, (2, value.size)).astype(np.float64)
    gap[rng.random((2, value.size)) < 0.3] = np.inf
    equal = rng.random(value.size) < 0.15
    lower = np.where(equal | (price > 0), value, value - gap[0])
    return lower, np.where(equal | (price < 0), value, value + gap[1])


def _location(name: str, f: Vector, d: Vector) -> LinearProgram:
    """Returns the strong facility location problem with fixed costs f [F] and service costs d [F, C]."""
    facilities, clients = d.shape
    i, j, pair = _pairs(facilities, clients)
    ones, n = np.ones(pair.size), facilities + pair.size
    blocks: list[Block] = [(j, facilities + pair, ones), (clients + pair, facilities + pair, ones), (clients + pair, i, -ones)]
    return LinearProgram(
        name=name,
        c=np.concatenate([f, d.ravel()]),
        A=_matrix((clients + pair.size, n), *blocks),
        row_lower=np.concatenate([np.ones(clients), np.full(pair.size, -np.inf)]),
        row_upper=np.concatenate([np.ones(clients), np.zeros(pair.size)]),
        col_lower=np.zeros(n),
        col_upper=np.ones(n),
        integer=np.arange(n) < facilities,
        row_names=(*_names("demand", clients), *_pair_names("link", facilities, clients)),
        col_names=(*_names("open", facilities), *_pair_names("serve", facilities, clients)),
    )


def _distances(rng: np.random.Generator, facilities: int, clients: int) -> Vector:
    """Returns distances between uniform places in the unit square: [F, C]."""
    one, other = rng.random((facilities, 2)), rng.random((clients, 2))
    distances: Vector = np.sqrt(((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=-1))
    return distances


def _pairs(p: int, q: int) -> tuple[Indices, Indices, Indices]:
    """Returns i, j and i * q + j of all pairs, each [p * q] int64."""
    pair = np.arange(p * q, dtype=np.int64)
    return pair // q, pair % q, pair


def _matrix(shape: tuple[int, int], *blocks: Block) -> sp.csr_array:
    rows, cols, values = (np.concatenate([block[k] for block in blocks]) for k in range(3))
    return sp.csr_array((values, (rows, cols)), shape=shape)


def _names(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}_{k}" for k in range(1, count + 1))


def _pair_names(prefix: str, p: int, q: int) -> tuple[str, ...]:
    return tuple(f"{prefix}_{i}_{j}" for i in range(1, p + 1) for j in range(1, q + 1))
