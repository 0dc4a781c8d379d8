"""Multi-commodity network design with fixed costs and capacities."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from batchlp_cli.batch import Indices
from batchlp_cli.errors import UsageError
from batchlp_cli.families.blocks import block_matrix, names, pair_names, pairs
from batchlp_cli.problem import LinearProgram, Vector

TIGHT = 2.0
"""Capacities of all arcs together over the demand of all commodities, times the arcs that a path takes: tight."""

FIXED = 10.0
"""Fixed costs matter: one arc's against ten units through it."""


def network_design(nodes: int, arcs: int, commodities: int, seed: int) -> LinearProgram:
    """Returns a fixed-charge multi-commodity network design problem in its strong form.

    min f @ build + sum_k c_a flow_ak,   out - in = d_k at the origin, -d_k at the destination, 0 elsewhere,
    sum_k flow_ak <= u_a build_a,   flow_ak <= d_k build_a;   N K + A + A K rows, A (1 + K) columns.

    A ring through all nodes and random arcs; costs are integers of [1, 10], demands of [5, 20], fixed costs of
    FIXED times [1, 10], and capacities drawn around what makes them scarce, then raised where the cheapest routing of all
    demands needs more, so that it is feasible. Recipe and formulation follow Gendron and Crainic (1994, report CRT-965,
    Universite de Montreal), Holmberg and Yuan (2000, Operations Research 48, 461-481), and Crainic, Frangioni and Gendron
    (2001, Discrete Applied Mathematics 112, 73-99).

    Raises UsageError with fewer than 2 nodes, fewer arcs than nodes, or no commodity.
    """
    if nodes < 2 or arcs < nodes or commodities < 1:
        raise UsageError(
            f"network_design with {nodes} nodes, {arcs} arcs and {commodities} commodities, expected at least 2 nodes, "
            "as many arcs as nodes (a ring goes through all), and 1 commodity"
        )
    rng = np.random.default_rng(seed)
    tail, head = _arcs(rng, nodes, arcs)
    cost = rng.integers(1, 11, arcs).astype(np.float64)
    fixed = FIXED * rng.integers(1, 11, arcs)
    demand = rng.integers(5, 21, commodities).astype(np.float64)
    origin = rng.integers(nodes, size=commodities)
    target = (origin + 1 + rng.integers(nodes - 1, size=commodities)) % nodes
    load, hops = _cheapest_routing((tail, head), cost, demand, (origin, target), nodes)
    capacity = np.maximum(np.round(rng.uniform(0.5, 1.5, arcs) * (TIGHT * hops * demand.sum() / arcs)), np.maximum(load, 1.0))
    a, k, flow = pairs(arcs, commodities)
    ones, n, balances = np.ones(flow.size), arcs + flow.size, nodes * commodities
    balance = np.zeros(balances)
    np.add.at(balance, np.arange(commodities) * nodes + origin, demand)
    np.add.at(balance, np.arange(commodities) * nodes + target, -demand)
    links = balances + arcs + flow
    return LinearProgram(
        name=f"network_design_{nodes}x{arcs}x{commodities}_s{seed}",
        c=np.concatenate([fixed, np.repeat(cost, commodities)]),
        A=block_matrix(
            (balances + arcs + flow.size, n),
            (k * nodes + tail[a], arcs + flow, ones),
            (k * nodes + head[a], arcs + flow, -ones),
            (balances + a, arcs + flow, ones),
            (balances + np.arange(arcs), np.arange(arcs), -capacity),
            (links, arcs + flow, ones),
            (links, a, -demand[k]),
        ),
        row_lower=np.concatenate([balance, np.full(arcs + flow.size, -np.inf)]),
        row_upper=np.concatenate([balance, np.zeros(arcs + flow.size)]),
        col_lower=np.zeros(n),
        col_upper=np.concatenate([np.ones(arcs), demand[k]]),
        integer=np.arange(n) < arcs,
        row_names=(*pair_names("balance", commodities, nodes), *names("capacity", arcs), *pair_names("link", arcs, commodities)),
        col_names=(*names("build", arcs), *pair_names("flow", arcs, commodities)),
    )


def _arcs(rng: np.random.Generator, nodes: int, arcs: int) -> tuple[Indices, Indices]:
    """Returns tails and heads: a ring, then arcs between random distinct nodes (parallel ones may occur)."""
    ring = np.arange(nodes, dtype=np.int64)
    tail = rng.integers(nodes, size=arcs - nodes)
    head = (tail + 1 + rng.integers(nodes - 1, size=arcs - nodes)) % nodes
    return np.concatenate([ring, tail]), np.concatenate([(ring + 1) % nodes, head])


def _cheapest_routing(
    arcs: tuple[Indices, Indices], cost: Vector, demand: Vector, ends: tuple[Indices, Indices], nodes: int
) -> tuple[Vector, float]:
    """Returns the load of each arc [A] when every commodity takes its cheapest path, and the mean length of those in arcs."""
    (tail, head), (origin, target) = arcs, ends
    cheapest: dict[tuple[int, int], int] = {}
    for a in np.argsort(cost, kind="stable").tolist():
        cheapest.setdefault((int(tail[a]), int(head[a])), a)
    chosen = np.array(sorted(cheapest.values()))
    graph = sp.csr_array((cost[chosen], (tail[chosen], head[chosen])), shape=(nodes, nodes))
    _, before = csgraph.dijkstra(graph, return_predecessors=True)
    load, steps = np.zeros(cost.size), 0
    for k, amount in enumerate(demand.tolist()):
        at = int(target[k])
        while at != origin[k]:
            previous = int(before[origin[k], at])
            load[cheapest[previous, at]] += amount
            at, steps = previous, steps + 1
    return load, steps / demand.size
