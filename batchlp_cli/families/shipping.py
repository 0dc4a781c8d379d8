"""Transport problems, and scenarios of their demands."""

from __future__ import annotations

import numpy as np

from batchlp_cli.batch import Field, LPBatch
from batchlp_cli.families.blocks import batch_of, block_matrix, names, pair_names, pairs
from batchlp_cli.problem import LinearProgram


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
    i, j, pair = pairs(origins, destinations)
    return LinearProgram(
        name=f"transport_{origins}x{destinations}_s{seed}",
        c=c,
        A=block_matrix(
            (origins + destinations, pair.size), (i, pair, np.ones(pair.size)), (origins + j, pair, np.ones(pair.size))
        ),
        row_lower=np.concatenate([np.full(origins, -np.inf), demand]),
        row_upper=np.concatenate([supply, np.full(destinations, np.inf)]),
        col_lower=np.zeros(pair.size),
        col_upper=np.full(pair.size, np.inf),
        row_names=(*names("supply", origins), *names("demand", destinations)),
        col_names=pair_names("ship", origins, destinations),
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
    return batch_of(base, [(Field.ROW_LOWER, rows, values)])
