"""Points next to a lane's that meet the rows: when they are looked for, what they are, and that they end members sooner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from batchlp_cli.backends.pdhg.mending import MendingParameters, mended_points, worth_mending
from batchlp_cli.backends.pdhg.parameters import Arithmetic, PdhgParameters
from batchlp_cli.backends.pdhg.scaling import ScalingParameters, scale_matrix
from batchlp_cli.backends.pdhg.solve import PdhgBackend
from batchlp_cli.backends.pdhg.termination import errors_of
from batchlp_cli.batch import LPBatch
from batchlp_cli.families import branching_children, find_family, relaxed
from batchlp_cli.generation import root_point
from batchlp_cli.kkt import verify
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Status
from tests.conformance import solve_all

SETTINGS = SolveSettings(tol=1e-4)
ALWAYS = MendingParameters(least_entries=0)


def children() -> LPBatch:
    """Returns children of a facility location problem, of all columns as integers: lanes miss its rows long after its gap."""
    root = find_family("koerkel-ghosh-b").base("40x40", seed=1)
    root = replace(root, integer=np.ones(root.n, dtype=np.bool_))
    return relaxed(branching_children(root, root_point(root, SolveSettings()), 24))


def test_what_is_worth_mending_misses_its_rows_alone_and_by_little() -> None:
    """Rows missed by up to three tolerances while dual residual and gap are met; never on small matrices, never without need."""
    tol = np.full(6, 1e-4)
    errors = np.array([[2e-4, 4e-4, 2e-4, 2e-4, 0.5e-4, np.nan], [0, 0, 2e-4, 0, 0, 0], [5e-5, 5e-5, 5e-5, 2e-4, 5e-5, 5e-5]])
    assert worth_mending(ALWAYS, 10, errors, tol).tolist() == [True, False, False, False, False, False]
    assert worth_mending(MendingParameters(), 60_000, errors, tol)[0]
    assert not worth_mending(MendingParameters(), 40_000, errors, tol).any()


@pytest.mark.parametrize("seed", range(3))
def test_mended_points_meet_the_rows_better(seed: int) -> None:
    """From a point near a feasible one, some point has a tenth of its residual; all are within the column bounds."""
    lp = find_family("koerkel-ghosh-c").base("12x12", seed=seed)
    rng = np.random.default_rng(seed)
    feasible = np.concatenate([np.full(12, 1 / 3), rng.dirichlet(np.full(12, 9.0), size=12).T.ravel()])
    x = np.clip(feasible + 1e-3 * rng.normal(size=lp.n) * (feasible > 0), 0, 1)
    matrix, y = scale_matrix(lp.A, ScalingParameters()), np.zeros(lp.m)
    points = list(mended_points(ALWAYS, matrix, lp, x))
    assert all(((z >= lp.col_lower) & (z <= lp.col_upper)).all() for z in points)
    residuals = [errors_of(lp, matrix.At, z, y)[0, 0] for z in points]
    assert min(residuals) <= 0.1 * errors_of(lp, matrix.At, x, y)[0, 0]


@pytest.mark.parametrize("precision", list(Arithmetic))
def test_mending_ends_members_sooner_and_all_are_verified(precision: Arithmetic) -> None:
    """With mending the members take fewer iterations in all, some are mended, and the referee verifies every answer."""
    batch, parameters = children(), PdhgParameters(precision=precision, lanes=16)
    plain, mended = (
        solve_all(PdhgBackend(1, replace(parameters, mending=way)), batch, SETTINGS) for way in (MendingParameters(), ALWAYS)
    )
    assert all(claim.status is Status.OPTIMAL for claim in mended)
    assert all(verdict.verified for verdict in verify(batch, mended, SETTINGS.tol))
    assert any(claim.message == "mended" for claim in mended)
    assert sum(claim.iterations for claim in mended) < sum(claim.iterations for claim in plain)


def test_mended_bits_do_not_depend_on_the_batch() -> None:
    """A member that is mended has the same bytes in a batch and alone."""
    batch, parameters = children(), PdhgParameters(lanes=8, mending=ALWAYS)
    together = solve_all(PdhgBackend(2, parameters), batch, SETTINGS)
    member = next(i for i, claim in enumerate(together) if claim.message == "mended")
    (alone,) = solve_all(PdhgBackend(1, parameters), batch.take([member]), SETTINGS)
    assert alone.iterations == together[member].iterations
    for name in ("x", "y"):
        assert np.array_equal(getattr(alone, name), getattr(together[member], name))
