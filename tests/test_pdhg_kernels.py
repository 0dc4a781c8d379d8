"""The kernels agree with the textbook and with each other, and a lane's bits depend on nothing but its member."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.backends.pdhg.kernels.base import Kernel, Measured, Moved, displacement_of, point_of, resized_tile, set_numbers
from batchlp_cli.backends.pdhg.kernels.numba_kernel import NumbaKernel
from batchlp_cli.backends.pdhg.kernels.torch_kernel import TorchKernel
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.restart import fixed_point_error
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix, ScalingParameters, scale_matrix
from batchlp_cli.backends.pdhg.weight import first_weight
from batchlp_cli.batch import LPBatch
from batchlp_cli.problem import Vector
from tests.conformance import optimal_by_construction, scenario_batch
from tests.pdhg_tiles import open_tile, start_lanes

TOLERANCE = {"float64": 1e-11, "float32": 2e-3}


@cache
def scenarios(seed: int) -> tuple[LPBatch, ScaledMatrix]:
    """Returns members that differ in costs and row bounds, and their matrix, scaled."""
    batch = scenario_batch(seed, 12)
    return batch, scale_matrix(batch.base.A, ScalingParameters())


def run_kernel(kernel: Kernel, seed: int, members: list[int], dtype: str, steps: int) -> list[Vector]:
    """Returns the sums of probe, measure and directions, and the iterates, after steps, a restart of some lanes, and steps."""
    batch, matrix = scenarios(seed)
    tile = open_tile(kernel, matrix, batch, members, dtype)
    start_lanes(kernel, tile, members, seed)
    kernel.advance(tile, steps)
    sums = [kernel.probe(tile), kernel.measure(tile), kernel.directions(tile)]
    kernel.restart(tile, np.array(members) % 3 == 0)
    kernel.advance(tile, steps)
    return [*sums, kernel.host(tile.x), kernel.host(tile.y), kernel.host(tile.k)]


@settings(max_examples=10)
@given(seed=st.integers(1, 6), steps=st.integers(0, 20), dtype=st.sampled_from(["float64", "float32"]))
def test_torch_and_numba_agree(seed: int, steps: int, dtype: str) -> None:
    """Both kernels give the same iterates and sums, up to the rounding of their precision."""
    members = [0, 1, 2, 3, 4, -1, 11, 10, 9]
    for one, other in zip(*(run_kernel(k, seed, members, dtype, steps) for k in (TorchKernel(), NumbaKernel())), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE[dtype] * (1 + np.abs(one).max(initial=0.0)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [1, 2, 8, 13, 16, 32, 64])
def test_numba_bits_do_not_depend_on_the_tile(width: int, dtype: str) -> None:
    """A member has the same bits alone and in a tile of any width, in any lane, beside any mates."""
    alone = run_kernel(NumbaKernel(), 2, [5], dtype, 17)
    members = [(5 + 7 * lane) % 12 for lane in range(width)]
    members[0], members[-1] = members[-1], members[0]
    together = run_kernel(NumbaKernel(), 2, members, dtype, 17)
    lane = members.index(5)
    for single, wide in zip(alone, together, strict=True):
        assert np.array_equal(single[..., 0], wide[..., lane])


def test_parallel_rows_change_no_bit() -> None:
    """One member on several threads has the bits that it has on one."""
    from batchlp_cli.backends.pdhg.kernels import numba_kernel

    serial = run_kernel(NumbaKernel(1), 3, [4], "float64", 11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba_kernel, "PARALLEL_NNZ", 0)
        parallel = run_kernel(NumbaKernel(2), 3, [4], "float64", 11)
    assert all(np.array_equal(a, b) for a, b in zip(serial, parallel, strict=True))


@pytest.mark.parametrize("kernel", [TorchKernel(), NumbaKernel()], ids=["torch", "numba"])
def test_nan_stays_in_its_lane(kernel: Kernel) -> None:
    """A lane that is not finite leaves the numbers of all others as they are, and shows in its own sums."""
    batch, matrix = scenarios(4)
    members = list(range(9))
    results = []
    for poison in (False, True):
        tile = open_tile(kernel, matrix, batch, members)
        start_lanes(kernel, tile, members, 4)
        if poison:
            tile.x[0, 3] = np.nan
        kernel.advance(tile, 5)
        results.append(np.concatenate([kernel.probe(tile), kernel.measure(tile)]))
    others = [lane for lane in members if lane != 3]
    assert np.array_equal(results[0][:, others], results[1][:, others])
    assert not np.isfinite(results[1][:, 3]).all()


def textbook(lp_seed: int, steps: int) -> tuple[Vector, Vector, float]:
    """Returns x, y in original units and the fixed-point error after steps of algorithm 1 with explicit theta scaling.

    Plain dense formulas: everything is scaled by D1, D2, theta_b and theta_c, the weight starts at 1.
    """
    lp, _ = optimal_by_construction(lp_seed)
    matrix = scale_matrix(lp.A, ScalingParameters())
    D1, D2, eta = matrix.row_scale, matrix.col_scale, matrix.eta
    A, c, lc, uc, lv, uv = (
        D1[:, None] * lp.A.toarray() * D2,
        D2 * lp.c,
        D1 * lp.row_lower,
        D1 * lp.row_upper,
        lp.col_lower / D2,
        lp.col_upper / D2,
    )
    finite = [lc[np.isfinite(lc)], uc[np.isfinite(uc) & (uc != lc)]]
    theta_b, theta_c = 1 / (1 + np.linalg.norm(np.concatenate(finite))), 1 / (1 + np.linalg.norm(c))
    c, lc, uc, lv, uv = theta_c * c, theta_b * lc, theta_b * uc, theta_b * lv, theta_b * uv
    tau = sigma = eta
    x = x0 = np.clip(np.zeros(lp.n), lv, uv)
    y = y0 = np.zeros(lp.m)
    for k in range(steps + 1):
        xh = np.clip(x - tau * (c - A.T @ y), lv, uv)
        xb = 2 * xh - x
        t = y / sigma - A @ xb
        yh = sigma * (t - np.clip(t, -uc, -lc))
        yb = 2 * yh - y
        dx, dy = xh - x, yh - y
        if k < steps:
            x, y = (k + 1) / (k + 2) * xb + x0 / (k + 2), (k + 1) / (k + 2) * yb + y0 / (k + 2)
    fpe = np.sqrt(dx @ dx + dy @ dy + 2 * eta * (A.T @ dy) @ dx)
    return D2 * xh / theta_b, D1 * yh / theta_c, float(fpe / np.sqrt(theta_b * theta_c))


@pytest.mark.parametrize("steps", [0, 1, 7, 40])
@pytest.mark.parametrize("kernel", [TorchKernel(), NumbaKernel()], ids=["torch", "numba"])
def test_theta_scaling_is_a_first_weight(kernel: Kernel, steps: int) -> None:
    """Lanes without theta, at the weight theta_b/theta_c, walk as the textbook does with explicit theta scaling."""
    lp, _ = optimal_by_construction(11)
    matrix = scale_matrix(lp.A, ScalingParameters())
    tile = open_tile(kernel, matrix, LPBatch.of([lp]), [0])
    omega = first_weight(matrix.col_scale * lp.c, matrix.row_scale * lp.row_lower, matrix.row_scale * lp.row_upper)
    tile.tau[:], tile.sigma[:] = matrix.eta / omega, matrix.eta * omega
    start = kernel.array(np.clip(np.zeros(lp.n), lp.col_lower, lp.col_upper) / matrix.col_scale, np.dtype(np.float64))
    tile.x[:, 0] = start
    tile.x0[:, 0] = start
    kernel.advance(tile, steps)
    moved = kernel.probe(tile)
    kernel.measure(tile)
    x, y = point_of(kernel, tile, 0)
    expected_x, expected_y, expected_fpe = textbook(11, steps)
    np.testing.assert_allclose(x, expected_x, rtol=0, atol=1e-12 * (1 + np.abs(expected_x).max()))
    np.testing.assert_allclose(y, expected_y, rtol=0, atol=1e-12 * (1 + np.abs(expected_y).max()))
    assert fixed_point_error(moved, np.array([omega]), matrix.eta)[0] == pytest.approx(expected_fpe, rel=1e-8)


@pytest.mark.parametrize("kernel", [TorchKernel(), NumbaKernel()], ids=["torch", "numba"])
def test_measures_are_those_of_the_unscaled_lp(kernel: Kernel) -> None:
    """The sums of `measure` are those of plain formulas on each member's own numbers, and X lies within its bounds."""
    batch, matrix = scenarios(5)
    members = list(range(9))
    tile = open_tile(kernel, matrix, batch, members)
    start_lanes(kernel, tile, members, 5)
    kernel.advance(tile, 3)
    moved, sums = kernel.probe(tile), kernel.measure(tile)
    for lane, member in enumerate(members):
        lp = batch.member(member)
        x, y = point_of(kernel, tile, lane)
        assert ((lp.col_lower <= x) & (x <= lp.col_upper)).all()
        off = lp.A @ x - np.clip(lp.A @ x, lp.row_lower, lp.row_upper)
        price = np.concatenate([y, lp.c - lp.A.T @ y])
        side = np.where(price > 0, np.r_[lp.row_lower, lp.col_lower], np.r_[lp.row_upper, lp.col_upper])
        loose = np.isinf(side)
        expected = {
            Measured.PRIMAL_SQUARED: off @ off,
            Measured.LOOSE_SQUARED: price[loose] @ price[loose],
            Measured.PRIMAL_VALUE: lp.c @ x,
            Measured.DUAL_VALUE: price[~loose] @ side[~loose],
            Measured.DUAL_LARGEST: np.abs(y).max(),
        }
        for row, value in expected.items():
            assert sums[row, lane] == pytest.approx(value, rel=1e-10, abs=1e-12), row.name
        d, e = displacement_of(kernel, tile, lane)
        assert moved[Moved.PRIMAL_SQUARED, lane] == pytest.approx(((d / matrix.col_scale) ** 2).sum(), rel=1e-9)
        assert moved[Moved.DUAL_SQUARED, lane] == pytest.approx(((e / matrix.row_scale) ** 2).sum(), rel=1e-9)


@pytest.mark.parametrize("kernel", [TorchKernel(), NumbaKernel()], ids=["torch", "numba"])
def test_narrowing_moves_lanes_as_they_are(kernel: Kernel) -> None:
    """Lanes that are moved to a narrower tile go on as they would have."""
    batch, matrix = scenarios(6)
    members = list(range(9))
    wide = open_tile(kernel, matrix, batch, members)
    start_lanes(kernel, wide, members, 6)
    kernel.advance(wide, 4)
    kept = [7, 2]
    narrow = resized_tile(kernel, wide, kept, 2)
    numbers = numbers_of(batch, np.array(kept, dtype=np.int64))
    set_numbers(kernel, narrow, numbers, scaled_numbers(numbers, matrix, np.dtype(np.float64)))
    for tile in (wide, narrow):
        kernel.advance(tile, 6)
    np.testing.assert_allclose(kernel.host(narrow.x), kernel.host(wide.x)[:, kept], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel.host(narrow.y), kernel.host(wide.y)[:, kept], rtol=0, atol=1e-12)
