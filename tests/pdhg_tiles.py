"""Tiles for the tests of the PDHG kernels: random members of one matrix in some lanes, on any kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from batchlp_cli.backends.pdhg.kernels.base import Kernel, Tile, load_lane, make_tile, set_numbers, set_rates
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix
from batchlp_cli.batch import LPBatch
from batchlp_cli.problem import Vector


def open_tile(kernel: Kernel, matrix: ScaledMatrix, batch: LPBatch, members: list[int], dtype: str = "float64") -> Tile:
    """Returns a tile with a lane for each given member (-1: idle), its numbers set and a weight of 1."""
    kind: np.dtype[Any] = np.dtype(dtype)
    tile = make_tile(kernel, matrix, kernel.entries(matrix, kind), len(members), kind)
    numbers = numbers_of(batch, np.array(members, dtype=np.int64))
    set_numbers(kernel, tile, numbers, scaled_numbers(numbers, matrix, kind))
    set_rates(kernel, tile, np.ones(len(members)))
    return tile


def start_lanes(kernel: Kernel, tile: Tile, members: list[int], seed: int) -> Vector:
    """Starts every lane at a random point and weight that depend on its member only; returns the weights [W]."""
    omega = np.ones(len(members))
    for lane, member in enumerate(members):
        rng = np.random.default_rng([seed, member + 1])
        omega[lane] = np.exp(rng.normal())
        load_lane(kernel, tile, lane, rng.normal(size=tile.matrix.n), rng.normal(size=tile.matrix.m))
    set_rates(kernel, tile, omega)
    return omega
