"""Generalised assignment."""

from __future__ import annotations

import numpy as np

from batchlp_cli.families.blocks import block_matrix, names, pair_names, pairs
from batchlp_cli.problem import LinearProgram


def generalised_assignment(agents: int, tasks: int, seed: int) -> LinearProgram:
    """Returns a generalised assignment problem of type C, T + A rows and A * T columns; the relaxation may be infeasible if tiny.

    min c @ x, each task done once, sum_j w_ij x_ij <= 0.8 sum_j w_ij / A; w integers of [5, 25], c of [10, 50] (Martello and
    Toth 1981, Operational Research '81, 589-603).
    """
    rng = np.random.default_rng(seed)
    w = rng.integers(5, 26, (agents, tasks)).astype(np.float64)
    c = rng.integers(10, 51, agents * tasks).astype(np.float64)
    i, j, pair = pairs(agents, tasks)
    return LinearProgram(
        name=f"generalised_assignment_{agents}x{tasks}_s{seed}",
        c=c,
        A=block_matrix((tasks + agents, pair.size), (j, pair, np.ones(pair.size)), (tasks + i, pair, w.ravel())),
        row_lower=np.concatenate([np.ones(tasks), np.full(agents, -np.inf)]),
        row_upper=np.concatenate([np.ones(tasks), 0.8 * w.sum(axis=1) / agents]),
        col_lower=np.zeros(pair.size),
        col_upper=np.ones(pair.size),
        integer=np.ones(pair.size, dtype=np.bool_),
        row_names=(*names("task", tasks), *names("agent", agents)),
        col_names=pair_names("assign", agents, tasks),
    )
