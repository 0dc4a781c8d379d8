"""Scaling, restarts, weights, stopping, and the sparse table of numbers: each rule against its formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.backends.pdhg.kernels.base import Measured
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.polish import PolishParameters, repair
from batchlp_cli.backends.pdhg.restart import RestartParameters, RestartState, fixed_point_error, wants_restart
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix, spectral_norm
from batchlp_cli.backends.pdhg.termination import (
    TerminationParameters,
    TerminationState,
    errors_of,
    merit,
    relative_errors,
    sensitivity,
    stalled,
)
from batchlp_cli.backends.pdhg.weight import WeightParameters, WeightState, first_weight, update_weights
from batchlp_cli.batch import Changes, Field, LPBatch
from tests.conformance import lp_of, scenario_batch

INF = np.inf


@pytest.mark.parametrize("seed", range(3))
def test_scaled_matrix_is_the_matrix_between_its_scales(seed: int) -> None:
    """A~ = D1 A D2 entry by entry, both ways round; rows and columns are near 1, and eta ||A~||_2 is below 1."""
    rng = np.random.default_rng(seed)
    A = sp.csr_array(sp.random_array((30, 20), density=0.3, rng=rng)) * 10.0 ** rng.integers(-4, 5, (30, 1))
    matrix = scale_matrix(sp.csr_array(A), ScalingParameters())
    expected = matrix.row_scale[:, None] * A.toarray() * matrix.col_scale
    np.testing.assert_allclose(matrix.scaled.toarray(), expected, rtol=1e-12)
    np.testing.assert_array_equal(matrix.scaled_t.toarray(), matrix.scaled.toarray().T)
    norm = np.linalg.norm(expected, 2)
    assert 0.9 < matrix.eta * norm < 1
    assert norm <= 1.01  # Pock and Chambolle's last pass bounds it by 1


@pytest.mark.parametrize("seed", range(6))
def test_step_size_is_safe_where_singular_values_lie_close(seed: int) -> None:
    """eta ||A~||_2 stays below 1, and near it, where a hundred power iterations end per cents too low."""
    rng = np.random.default_rng(seed)
    matrix = scale_matrix(sp.csr_array(np.eye(200) + 0.01 * rng.normal(size=(200, 200))), ScalingParameters())
    assert 0.99 < matrix.eta * np.linalg.norm(matrix.scaled.toarray(), 2) < 1


def low_rank(seed: int) -> np.ndarray:
    """Returns a 60 x 40 matrix of rank 3 with every third row a copy."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40))
    A[::3] = A[0]
    return A


@pytest.mark.parametrize(
    "A",
    [np.ones((50, 70)), np.eye(64), np.diag([0.0, 0.0, 5.0]), np.array([[3.0]]), low_rank(1), low_rank(2).T, np.zeros((4, 0))],
    ids=["rank one", "identity", "zeros", "one entry", "low rank", "low rank, wide", "no columns"],
)
def test_norm_of_matrices_whose_lanczos_ends_early(A: np.ndarray) -> None:
    """A start that meets only a few eigenvalues gives the norm, the same bits each time; no norm is 1."""
    matrix = sp.csr_array(A)
    norms = [spectral_norm(matrix, sp.csr_array(matrix.T), ScalingParameters()) for _ in range(3)]
    assert norms[0] == pytest.approx(np.linalg.norm(A, 2) if A.size else 1.0, rel=1e-5)
    assert len(set(norms)) == 1


@pytest.mark.parametrize("passes", [7, 13, 300])
def test_norm_is_told_where_the_passes_end(passes: int) -> None:
    """What the last pass allowed has found counts: rather too large than too small, and near where there were passes enough."""
    A = sp.csr_array(sp.random_array((40, 60), density=0.3, rng=np.random.default_rng(1)))
    norm, true = spectral_norm(A, sp.csr_array(A.T), ScalingParameters(norm_passes=passes)), np.linalg.norm(A.toarray(), 2)
    assert true * (1 - 1e-5) <= norm <= true * (1.2 if passes < 300 else 1 + 1e-5)


def test_scaling_bears_empty_rows_and_columns() -> None:
    """Empty rows and columns have scale 1, and a matrix without entries has norm 1."""
    matrix = scale_matrix(sp.csr_array(np.array([[4.0, 0, 1], [0, 0, 0]])), ScalingParameters())
    assert matrix.row_scale[1] == 1
    assert matrix.col_scale[1] == 1
    for shape in ((0, 3), (3, 0), (0, 0), (2, 2)):
        empty = sp.csr_array(shape)
        assert spectral_norm(empty, sp.csr_array(empty.T), ScalingParameters()) == 1.0


def test_restart_rule() -> None:
    """Lanes restart for enough progress, for progress that ends, and for age; not without, and never with a NaN."""
    #                     enough  ended  going on  age   none  NaN
    state = RestartState(np.ones(6), np.array([1.0, 0.5, 0.7, 1.0, 1.0, 1.0]))
    fpe = np.array([0.2, 0.6, 0.6, 1.0, 1.0, np.nan])
    k, total = np.array([10.0, 10, 10, 40, 10, 10]), np.full(6, 100.0)
    wanted = wants_restart(RestartParameters(), state, fpe, k, total)
    assert wanted.tolist() == [True, True, False, True, False, False]
    np.testing.assert_array_equal(state.previous, fpe)
    state.begin(wanted, np.full(6, 7.0))
    np.testing.assert_array_equal(state.first, [7, 7, 1, 7, 1, 1])


def test_fixed_point_error_is_the_norm_of_its_metric() -> None:
    """fpe^2 = omega |dx|^2 + |dy|^2 / omega + 2 eta <A'dy, dx>, per lane."""
    sums = np.array([[4.0, 1.0], [9.0, 1.0], [1.5, -1.0], [0, 0], [0, 0]])
    got = fixed_point_error(sums, np.array([2.0, 1.0]), 0.5)
    assert got == pytest.approx([np.sqrt(8 + 4.5 + 1.5), 1.0])


def test_weight_rule() -> None:
    """S = 0.3 S + e, omega *= exp(0.99 e + 0.01 S), skipped where a distance is 0 or not finite, and where no restart is."""
    state = WeightState(np.full(5, 2.0), np.full(5, 2.0), np.full(5, 1.0), np.zeros(5, dtype=np.bool_), np.zeros(5))
    primal, dual = np.array([1.0, 0.0, 1.0, np.nan, 1.0]), np.array([8.0, 1.0, 0.0, 1.0, 8.0])
    update_weights(WeightParameters(), state, np.array([True, True, True, True, False]), primal, dual, np.ones((3, 5)))
    e = np.log(8) - np.log(1) - np.log(2)
    S = 0.3 * 1 + e
    np.testing.assert_allclose(state.omega, [2 * np.exp(0.99 * e + 0.01 * S), 2, 2, 2, 2])
    np.testing.assert_allclose(state.integral, [S, 1, 1, 1, 1])


def test_balanced_rule_draws_the_weight_back() -> None:
    """Where the primal error is far above the others the weight doesn't fall but rises, and the other way round."""
    state = WeightState.of(4)
    state.balanced[:] = True
    # primal far above, dual far above, gap far above, all alike
    errors = np.array([[1.0, 1e-8, 1e-8, 1.0], [1e-8, 1.0, 0.0, 1.0], [1e-8, 0.0, 1.0, 1.0]])
    primal, dual = np.array([2.0, 1.0, 1.0, 1.0]), np.array([1.0, 2.0, 2.0, 2.0])
    update_weights(WeightParameters(), state, np.full(4, True), primal, dual, errors)
    back = np.exp(0.2 * (np.log(1e8) - np.log(100)))
    np.testing.assert_allclose(state.omega, [back, 1 / back, 1 / back, 2.0], rtol=1e-12)


def test_lanes_without_progress_change_rules() -> None:
    """A lane changes rules after so long without progress or since its last change, from its first weight on."""
    p, state = WeightParameters(), WeightState.of(3)
    state.begin(1, 3.0)
    state.omega[1] = 7.0
    state.change_rules(p, np.array([True, True, False]), np.full(3, p.patience + 100), np.array([200.0, 100.0, 0.0]))
    assert state.balanced.tolist() == [False, True, False]
    assert state.omega[1] == 3.0
    state.change_rules(p, np.full(3, True), np.full(3, 2 * p.patience), np.array([1.5 * p.patience, 100.0, 1.5 * p.patience]))
    assert state.balanced.tolist() == [False, True, False]
    state.change_rules(
        p, np.full(3, True), np.full(3, 2 * p.patience + 100), np.array([1.5 * p.patience, 100.0, 1.5 * p.patience])
    )
    assert state.balanced.tolist() == [False, False, False]


def test_first_weight_counts_an_equality_once() -> None:
    """theta_b/theta_c = (1 + |c|) / (1 + |b|) with b the finite bounds, an equality once, also where squares overflow."""
    lower, upper = np.array([3.0, -INF, 2.0]), np.array([3.0, 4.0, INF])
    assert first_weight(np.array([3.0, 4.0]), lower, upper) == pytest.approx(6 / (1 + np.sqrt(9 + 16 + 4)))
    assert first_weight(np.array([1e200]), np.array([1e200]), np.array([1e200])) == pytest.approx(1.0)


def test_errors_are_finite_first() -> None:
    """A NaN or an infinity in any sum makes the merit infinite, so that no lane stops on one."""
    sums = np.zeros((len(Measured), 4))
    sums[Measured.PRIMAL_SQUARED, 1] = np.nan
    sums[Measured.DUAL_VALUE, 2] = INF
    sums[Measured.PRIMAL_VALUE, 3] = -INF
    assert merit(relative_errors(sums, TerminationState.of(4))).tolist() == [0, INF, INF, INF]


def test_stall_counts_from_the_last_progress() -> None:
    """A lane is stalled when its merit has not fallen by a tenth for so many iterations."""
    p, state = TerminationParameters(), TerminationState.of(2)
    steps = np.full(2, 100.0)
    for iteration, merits, expected in (
        (0, [1, 1], [False, False]),
        (100, [0.95, 0.5], [True, False]),
        (200, [0.95, 0.5], [True, True]),
    ):
        got = stalled(p, state, np.array(merits, dtype=float), np.full(2, float(iteration)), steps)
        assert got.tolist() == expected


def test_numbers_are_those_of_the_members() -> None:
    """Shared numbers and slots give every lane its member's costs and bounds; an idle lane has the base's."""
    batch = scenario_batch(3, 7)
    lanes = [2, -1, 6, 2, -2 - 4]
    numbers = numbers_of(batch, np.array(lanes))
    for lane, member in enumerate(lanes):
        lp = batch.base if member == -1 else batch.member(member if member >= 0 else 4)
        expected = {
            "c": lp.c if member > -2 else 0 * lp.c,
            "lv": lp.col_lower,
            "uv": lp.col_upper,
            "lc": lp.row_lower,
            "uc": lp.row_upper,
        }
        for name, values in expected.items():
            slot = numbers.col_slot if name in ("c", "lv", "uv") else numbers.row_slot
            got = getattr(numbers, name).copy()
            got[slot >= 0] = getattr(numbers, f"lane_{name}")[slot[slot >= 0], lane]
            np.testing.assert_array_equal(got, values)


def test_numbers_stay_sparse() -> None:
    """Strong branching on a hundred thousand columns costs a slot for each branched column, not an array for each lane."""
    n, members = 100_000, 64
    base = replace(lp_of("wide", [1], [[1]], ([0], [1]), ([0], [1])))
    wide = replace(
        base,
        c=np.ones(n),
        A=sp.csr_array(np.ones((1, n))),
        col_lower=np.zeros(n),
        col_upper=np.ones(n),
        integer=np.zeros(n, dtype=bool),
    )
    member = np.arange(members)
    field = np.where(member % 2, int(Field.COL_LOWER), int(Field.COL_UPPER)).astype(np.int8)
    changes = Changes(member, field, member // 2 * 1000, (member % 2).astype(float))
    batch = LPBatch(wide, changes, tuple(map(str, range(members))))
    numbers = numbers_of(batch, np.arange(members))
    assert numbers.lane_lv.shape == (members // 2, members)
    assert numbers.lane_lc.shape[0] == 0
    matrix = scale_matrix(wide.A, ScalingParameters())
    assert sum(a.nbytes for a in scaled_numbers(numbers, matrix, np.dtype(np.float64))) < 4 * 8 * n


def test_sensitivity_is_the_price_of_moving_all_row_bounds() -> None:
    """min z, z - 200 x >= -399, x >= 2, at its optimum x = 2, z = 1 with prices 1 and 200."""
    lp = lp_of("steep", [0, 1.0], [[-200, 1], [1, 0]], ([-399, 2], [INF, INF]), ([-INF, -INF], [INF, INF]))
    x, y = np.array([2.0, 1.0]), np.array([1.0, 200.0])
    assert merit(errors_of(lp, sp.csr_array(lp.A.T), x, y))[0] == 0
    # sum |y_i| (1 + |b_i|) / (1 + |p|)
    assert sensitivity(lp, x, y) == (1 * 400 + 200 * 3) / 2


@pytest.mark.parametrize("seed", range(4))
def test_repair_reaches_the_rows_of_a_feasible_lp(seed: int) -> None:
    """From a point near a feasible one some point is feasible up to rounding; all are within the column bounds."""
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(8, 20)) * (rng.random((8, 20)) < 0.4), rng.uniform(0, 1, 20)
    upper = np.where(rng.random(8) < 0.5, A @ x, A @ x + rng.uniform(0, 1, 8))
    lp = lp_of("near", np.zeros(20), A, (A @ x, upper), (np.zeros(20), np.ones(20)))
    matrix = scale_matrix(lp.A, ScalingParameters())
    points = list(repair(PolishParameters(), matrix, lp, x + 1e-3 * rng.normal(size=20)))
    errors = [errors_of(lp, matrix.At, z, np.zeros(8))[0, 0] for z in points]
    assert all(((z >= 0) & (z <= 1)).all() for z in points)
    assert errors[0] > 1e-5
    assert min(errors) <= 1e-11


def test_repair_finds_no_point_where_two_rows_contradict_each_other_by_a_hair() -> None:
    """x1 + x2 <= 1 and >= 1 + 1e-9, which no point meets better than half of it."""
    lp = lp_of("hair", [1, 1], [[1, 1], [1, 1]], ([-INF, 1 + 1e-9], [1, INF]), ([0, 0], [INF, INF]))
    matrix = scale_matrix(lp.A, ScalingParameters())
    errors = [errors_of(lp, matrix.At, z, np.zeros(2))[0, 0] for z in repair(PolishParameters(), matrix, lp, np.full(2, 0.5))]
    assert min(errors) >= 1e-10
