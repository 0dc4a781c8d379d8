"""Which kernel, device and precision the lanes get, and their first run, in which kernels are compiled or loaded."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.kernels.base import Kernel, make_tile, set_numbers
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.parameters import Arithmetic, KernelName, PdhgParameters
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.errors import BackendMissing
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import Device, Precision, SolveSettings

LANE_ROW_BYTES = 256
"""Bytes of one row of a tile on the CPU: 32 lanes in float64, 64 in float32; wider tiles leave the cache, narrower ones idle."""

LARGE = 16 * 2**20
"""Bytes of x, x0, y and y0 of a tile above which its rows are half as long: less of it leaves the cache, and fewer lanes run idle
at the end of a batch."""

MIXED_TOL = 1e-5
"""Tolerance from which float32 comes first where lanes stand side by side: up to 1.8 times as fast; at 1e-6
it gains less and stalls more often, and a lane alone is slower with it (docs/benchmarks.md)."""


def lane_row_bytes(device: str, m: int, n: int) -> int:
    """Returns the bytes of one row of a tile on a device for an LP of m rows and n columns."""
    large = device == "cpu" and 2 * (m + n) * LANE_ROW_BYTES > LARGE
    return LANE_ROW_BYTES // 2 if large else LANE_ROW_BYTES


def parameters_of(settings: SolveSettings) -> PdhgParameters:
    """Returns the parameters that settings ask for; raises BackendMissing where there is no such device."""
    mixed = settings.precision is Precision.MIXED or (settings.precision is Precision.AUTO and settings.tol >= MIXED_TOL)
    return PdhgParameters(precision=Arithmetic.MIXED if mixed else Arithmetic.FLOAT64, device=find_device(settings.device))


def find_device(asked: Device) -> str:
    """Returns the torch device for what was asked; torch is loaded only where a device other than the CPU may be there."""
    if asked is Device.CPU or (asked is Device.AUTO and not Path("/dev/nvidiactl").exists()):
        return "cpu"
    try:
        import torch
    except ModuleNotFoundError as error:
        if asked is Device.AUTO:
            return "cpu"
        raise BackendMissing(f"--device {asked} needs torch, which is not installed; try: pip install 'batchlp[pdhg]'") from error
    if asked is Device.MPS:
        raise BackendMissing("--device mps has no float64, which decides here; --device cpu would run")
    if torch.cuda.is_available():
        return "cuda"
    if asked is Device.AUTO:
        return "cpu"
    raise BackendMissing("--device cuda was asked for, but torch finds no CUDA device; --device cpu would run")


@contextmanager
def uncollected() -> Iterator[None]:
    """Keeps Python from looking for garbage in the block: among all that is imported for lanes that takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def load_kernel(parameters: PdhgParameters, jobs: int) -> Kernel:
    """Returns the kernel that the parameters ask for; raises BackendMissing where its library or device is missing."""
    name = parameters.kernel
    if name is KernelName.AUTO:
        compiled = parameters.device == "cpu" and find_spec("numba") is not None
        name = KernelName.NUMBA if compiled else KernelName.TORCH
    try:
        if name is KernelName.NUMBA:
            from batchlp_cli.backends.pdhg.kernels.numba_kernel import NumbaKernel

            return NumbaKernel(jobs)
        from batchlp_cli.backends.pdhg.kernels.torch_kernel import TorchKernel

        return TorchKernel(parameters.device)
    except ImportError as error:  # also what is there but does not go with its neighbours, as numba with a newer numpy
        raise BackendMissing(f"the backend pdhg cannot be loaded: {error}; try: pip install 'batchlp[pdhg]'") from error


def rehearse(kernel: Kernel, precision: str, width: int) -> None:
    """Does once what lanes do, on a matrix without rows and columns, so that kernels are compiled."""
    none = np.zeros(0)
    nothing = LinearProgram("nothing", none, sp.csr_array((0, 0)), none, none, none, none)
    empty = scale_matrix(nothing.A, ScalingParameters())
    dtype, lanes = np.dtype(precision), np.full(width, -1)
    tile = make_tile(kernel, empty, kernel.entries(empty, dtype), width, dtype)
    numbers = numbers_of(LPBatch(nothing, Changes(), ()), lanes)
    set_numbers(kernel, tile, numbers, scaled_numbers(numbers, empty, dtype))
    kernel.advance(tile, 1)
    for sums in (kernel.probe, kernel.measure, kernel.directions):
        sums(tile)
    kernel.restart(tile, np.zeros(width, dtype=np.bool_))


def seconds_of_iteration(lp: LinearProgram, seconds: float) -> float:
    """Returns what an iteration of one member costs in a full tile on one core, checks left out; `seconds` is spent on it."""
    kernel = load_kernel(PdhgParameters(), 1)
    kernel.use_threads(1)
    matrix, width, dtype = scale_matrix(lp.A, ScalingParameters()), LANE_ROW_BYTES // 8, np.dtype(np.float64)
    rehearse(kernel, "float64", width)
    tile = make_tile(kernel, matrix, kernel.entries(matrix, dtype), width, dtype)
    numbers = numbers_of(LPBatch.of([lp]), np.zeros(width, dtype=np.int64))
    set_numbers(kernel, tile, numbers, scaled_numbers(numbers, matrix, dtype))
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.thread_time()  # of this thread alone: others may want the core, too
        kernel.advance(tile, 10)
        best = min(best, (time.thread_time() - begun) / (10 * width))
    return float(best)
