"""Flux networks like those of metabolic models: badly scaled, the negative control for first-order methods."""

from __future__ import annotations

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.families.blocks import Block, block_matrix, names
from batchlp_cli.problem import LinearProgram, Vector

UPTAKE = 10.0
"""Most that a nutrient flows in, in mmol a gram of dry weight and hour."""

FLOW = 1000.0
"""Bound of every other flux, the "infinite" flux of such models."""


def flux_network(metabolites: int, reactions: int, seed: int) -> LinearProgram:
    """Returns a flux balance problem, M rows (all equations to 0), R columns, a maximisation of growth.

    max v_growth,   S v = 0,   lower <= v <= upper (Orth, Thiele and Palsson 2010, Nature Biotechnology 28, 245-248). The
    shape follows genome-scale models: metabolites in the order of their making, each made from one or two earlier ones;
    a few hubs (the carriers of energy) in a third of all reactions; reversible ones, with bounds of -1000 and 1000; nutrients
    that flow in at 10 at most; drains; and a growth reaction that takes a tenth of all metabolites in amounts spread evenly in
    magnitude from 1e-6 to 1e2, as do one reaction in twenty (lumped ones) from 1e-6 to 1e3. v = 0 is feasible.

    Raises UsageError with fewer than 20 metabolites, or not twice as many reactions as metabolites.
    """
    if metabolites < 20 or reactions < 2 * metabolites:
        raise UsageError(
            f"flux_network with {metabolites} metabolites and {reactions} reactions, "
            "expected at least 20 metabolites and twice as many reactions"
        )
    rng = np.random.default_rng(seed)
    nutrients = max(3, metabolites // 50)
    internal = reactions - metabolites - 1  # then a way out of (for nutrients: into) each metabolite, then growth
    entries = [_internal(rng, metabolites, internal, nutrients), _growth(rng, metabolites, reactions - 1)]
    exchange = np.arange(metabolites)
    entries.append((exchange, internal + exchange, np.where(exchange < nutrients, 1.0, -1.0)))
    lower = np.zeros(reactions)
    lower[:internal] = np.where(rng.random(internal) < 0.4, -FLOW, 0.0)
    upper = np.full(reactions, FLOW)
    upper[internal : internal + nutrients] = UPTAKE
    closed = internal + np.flatnonzero((exchange >= nutrients) & (rng.random(metabolites) < 0.5))
    upper[closed] = 0.0
    c = np.zeros(reactions)
    c[-1] = -1.0
    return LinearProgram(
        name=f"flux_{metabolites}x{reactions}_s{seed}",
        c=c,
        A=block_matrix((metabolites, reactions), *entries),
        row_lower=np.zeros(metabolites),
        row_upper=np.zeros(metabolites),
        col_lower=lower,
        col_upper=upper,
        maximize=True,
        row_names=names("metabolite", metabolites),
        col_names=(*names("reaction", internal), *names("exchange", metabolites), "growth"),
    )


def _internal(rng: np.random.Generator, metabolites: int, internal: int, nutrients: int) -> Block:
    """Returns the entries of the internal reactions: substrates (-), products (+), and a hub that is used and given back."""
    hubs = max(2, metabolites // 200)
    rows, cols, values = [], [], []
    for j in range(internal):
        product = nutrients + j if nutrients + j < metabolites else int(rng.integers(nutrients, metabolites))
        substrates = rng.integers(0, product, size=int(rng.integers(1, 3))).tolist()
        sides = [*((s, -1.0) for s in substrates), (product, 1.0)]
        if rng.random() < 1 / 3:
            one, other = rng.choice(nutrients + 2 * hubs, size=2, replace=False).tolist()
            sides += [(one, -1.0), (other, 1.0)]
        amounts = rng.integers(1, 3, len(sides)) if rng.random() > 0.05 else _spread(rng, len(sides), 3.0)
        for (row, sign), amount in zip(sides, amounts.tolist(), strict=True):
            rows.append(row)
            cols.append(j)
            values.append(sign * amount)
    return np.array(rows, dtype=np.int64), np.array(cols, dtype=np.int64), np.array(values)


def _growth(rng: np.random.Generator, metabolites: int, column: int) -> Block:
    """Returns the entries of the growth reaction."""
    needed = np.sort(rng.choice(metabolites, size=max(2, metabolites // 10), replace=False)).astype(np.int64)
    return needed, np.full(needed.size, column), -_spread(rng, needed.size, 2.0)


def _spread(rng: np.random.Generator, count: int, top: float) -> Vector:
    """Returns amounts spread evenly in magnitude from 1e-6 to 10^top, with 6 digits."""
    amounts = 10.0 ** rng.uniform(-6.0, top, count)
    return np.array([float(f"{amount:.6g}") for amount in amounts.tolist()])
