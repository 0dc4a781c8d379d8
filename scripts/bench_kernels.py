"""Microseconds per member and iteration of the PDHG kernels, and what share of the machine's copy rate they reach.

Facility location LPs of four sizes, 64 lanes, one core, the best of several runs; beside our kernels `eager`, the formulas in
plain torch as one would write them first, with costs and bounds a column a member. Bytes are counted as if every array were read
or written once where a step does so: x, x0, xb, y, y0 and the gathered rows of y and xb; the matrix is left out, since all lanes
share it. The copy rate is that of numpy.copyto on an array far larger than the cache. Prints JSON lines.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from batchlp_cli.backends.pdhg.kernels.base import Kernel, Tile, load_lane, make_tile, set_numbers, set_rates
from batchlp_cli.backends.pdhg.kernels.numba_kernel import NumbaKernel
from batchlp_cli.backends.pdhg.kernels.torch_kernel import TorchKernel, lane_numbers
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.families import facility_location

SIZES = ((10, 30), (20, 60), (30, 100), (50, 200))


class EagerKernel(TorchKernel):
    """The rival: sparse matrix times dense matrix, and every formula as in kernels/base.py, on arrays [n, W] and [m, W]."""

    name = "eager"

    def advance(self, tile: Tile, steps: int) -> None:
        """Takes reflected Halpern steps on every lane."""
        A, At, *_ = tile.entries
        c, lv, uv, lc, uc = (a.expand(-1, tile.width).contiguous() for a in lane_numbers(tile.scaled))
        tau, sigma = tile.tau, tile.sigma
        for _ in range(steps):
            k, x, y = tile.k, tile.x, tile.y
            v = x - tau * (c - At @ y)
            xh = torch.clip(v, lv, uv)
            xb = 2 * xh - x
            t = y / sigma - A @ xb
            yh = sigma * (t - torch.clip(t, -uc, -lc))
            yb = 2 * yh - y
            tile.x = (k + 1) / (k + 2) * xb + tile.x0 / (k + 2)
            tile.y = (k + 1) / (k + 2) * yb + tile.y0 / (k + 2)
            tile.k = k + 1


KERNELS: dict[str, Callable[[], Kernel]] = {"eager": EagerKernel, "torch": TorchKernel, "numba": NumbaKernel}


def copy_rate() -> float:
    """Returns bytes a second read and written by a plain copy on one core."""
    source, target = np.ones(1 << 24), np.zeros(1 << 24)
    return 2 * source.nbytes / best(lambda: np.copyto(target, source), 5)


def best(run: Callable[[], Any], repeats: int) -> float:
    """Returns the seconds of the fastest of several runs."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measure(kernel: Kernel, size: tuple[int, int], dtype: str, width: int, steps: int) -> dict[str, Any]:
    """Returns what one kernel does on one size."""
    base = facility_location(*size, seed=1)
    matrix = scale_matrix(base.A, ScalingParameters())
    kind: np.dtype[Any] = np.dtype(dtype)
    tile = make_tile(kernel, matrix, kernel.entries(matrix, kind), width, kind)
    numbers = numbers_of(LPBatch(base, Changes(), ("base",) * width), np.arange(width))
    set_numbers(kernel, tile, numbers, scaled_numbers(numbers, matrix, kind))
    set_rates(kernel, tile, np.geomspace(0.5, 2.0, width))
    for lane in range(width):
        load_lane(kernel, tile, lane, np.zeros(base.n), np.zeros(base.m))
    kernel.advance(tile, 2)  # compiles, and warms the cache
    seconds = best(lambda: kernel.advance(tile, steps), 7) / steps / width
    # x read and written, x0 read, xb written, y gathered;  y read and written, y0 read, xb gathered
    moved = kind.itemsize * (4 * base.n + base.m + 3 * base.m + base.n)
    operations = 4 * base.nnz + 10 * base.n + 12 * base.m
    return {
        "kernel": kernel.name,
        "dtype": dtype,
        "rows": base.m,
        "cols": base.n,
        "nnz": base.nnz,
        "lanes": width,
        "microseconds": round(1e6 * seconds, 3),
        "bytes_per_second": round(moved / seconds),
        "flops": round(operations / seconds),
    }


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yields a row a kernel, precision, size and width."""
    rate = copy_rate()
    for name in options.kernel:
        for dtype in ("float64", "float32"):
            for size in SIZES:
                for width in options.lanes:
                    row = measure(KERNELS[name](), size, dtype, width, options.steps)
                    yield {**row, "share_of_copy_rate": round(row["bytes_per_second"] / rate, 2)}


def main() -> None:
    """Reads the options and prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--lanes", nargs="+", type=int, default=[64])
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for row in rows(options):
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
