"""Facility location, with and without capacities, in its strong form."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import numpy as np
import scipy.sparse as sp

from batchlp_cli.families.blocks import Block, block_matrix, distances, names, pair_names, pairs
from batchlp_cli.problem import LinearProgram, Vector


class KoerkelGhosh(StrEnum):
    """Classes of fixed costs by Koerkel (1989) and Ghosh (2003): a [100, 200], b [1000, 2000], c [10000, 20000]."""

    A = "a"
    B = "b"
    C = "c"


def facility_location(facilities: int, clients: int, seed: int, costs: KoerkelGhosh | None = None) -> LinearProgram:
    """Returns an uncapacitated facility location problem in its strong form, C + F * C rows and F * (1 + C) columns.

    min f @ open + d @ serve,  sum_i serve_ij = 1,  serve_ij <= open_i (Krarup and Pruzan 1983, EJOR 12, 36-81). Without
    `costs`, places are uniform in the unit square and d are distances; with it, d are integers of [1000, 2000] and f of the
    class (Koerkel 1989, EJOR 39, 157-173; Ghosh 2003, EJOR 150, 150-162).
    """
    rng = np.random.default_rng(seed)
    kind = "facility_location" if costs is None else f"koerkel_ghosh_{costs}"
    if costs is None:
        d = distances(rng, facilities, clients)
        f = rng.uniform(0.5, 1.5, facilities) * np.sqrt(clients) * 0.3
    else:
        d = rng.integers(1000, 2001, (facilities, clients)).astype(np.float64)
        low = {KoerkelGhosh.A: 100, KoerkelGhosh.B: 1000, KoerkelGhosh.C: 10000}[KoerkelGhosh(costs)]
        f = rng.integers(low, 2 * low + 1, facilities).astype(np.float64)
    return _location(f"{kind}_{facilities}x{clients}_s{seed}", f, d)


def capacitated_facility_location(facilities: int, clients: int, seed: int, ratio: float = 5.0) -> LinearProgram:
    """Returns a capacitated facility location problem with linking rows, C + F * C + F rows and F * (1 + C) columns.

    As facility_location, and sum_j demand_j serve_ij <= capacity_i open_i. Demands are integers of [5, 35], capacities of
    [10, 160] scaled to `ratio` times the total demand, f = U[0, 90] + U[100, 110] sqrt(capacity), and a unit costs ten times
    the distance (Cornuejols, Sridharan and Thizy 1991, EJOR 50, 280-297).
    """
    rng = np.random.default_rng(seed)
    d = distances(rng, facilities, clients)
    demand = rng.integers(5, 36, clients).astype(np.float64)
    raw = rng.integers(10, 161, facilities)
    capacity = np.ceil(raw * (ratio * demand.sum() / raw.sum()))
    f = np.round(rng.integers(100, 111, facilities) * np.sqrt(capacity) + rng.integers(0, 91, facilities), 3)
    base = _location(f"capacitated_facility_location_{facilities}x{clients}_s{seed}", f, np.round(10 * d * demand, 3))
    i, j, pair = pairs(facilities, clients)
    load: Block = (i, facilities + pair, demand[j])
    room: Block = (np.arange(facilities), np.arange(facilities), -capacity)
    return replace(
        base,
        A=sp.csr_array(sp.vstack([base.A, block_matrix((facilities, base.n), load, room)])),
        row_lower=np.concatenate([base.row_lower, np.full(facilities, -np.inf)]),
        row_upper=np.concatenate([base.row_upper, np.zeros(facilities)]),
        row_names=(*base.row_names, *names("capacity", facilities)),
    )


def _location(name: str, f: Vector, d: Vector) -> LinearProgram:
    """Returns the strong facility location problem with fixed costs f [F] and service costs d [F, C]."""
    facilities, clients = d.shape
    i, j, pair = pairs(facilities, clients)
    ones, n = np.ones(pair.size), facilities + pair.size
    blocks: list[Block] = [(j, facilities + pair, ones), (clients + pair, facilities + pair, ones), (clients + pair, i, -ones)]
    return LinearProgram(
        name=name,
        c=np.concatenate([f, d.ravel()]),
        A=block_matrix((clients + pair.size, n), *blocks),
        row_lower=np.concatenate([np.ones(clients), np.full(pair.size, -np.inf)]),
        row_upper=np.concatenate([np.ones(clients), np.zeros(pair.size)]),
        col_lower=np.zeros(n),
        col_upper=np.ones(n),
        integer=np.arange(n) < facilities,
        row_names=(*names("demand", clients), *pair_names("link", facilities, clients)),
        col_names=(*names("open", facilities), *pair_names("serve", facilities, clients)),
    )
