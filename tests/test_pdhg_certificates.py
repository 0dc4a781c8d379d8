"""What the prover claims, the referee accepts; what proves nothing is not claimed."""

from __future__ import annotations

import numpy as np
import pytest

from batchlp_cli.backends.pdhg.certificates import CertificateParameters, Prover
from batchlp_cli.batch import LPBatch
from batchlp_cli.kkt import verify
from batchlp_cli.problem import LinearProgram
from batchlp_cli.solution import Solution, Status
from tests.conformance import lp_of, optimal_by_construction
from tests.known import KNOWN

INF = np.inf
INFEASIBLE = [k for k in KNOWN if k.status is Status.INFEASIBLE and k.ray is not None]
UNBOUNDED = [k for k in KNOWN if k.status is Status.UNBOUNDED]


def prover(lp: LinearProgram) -> Prover:
    """Returns a prover for the LP's matrix."""
    return Prover(lp.A, CertificateParameters(), 1e-6)


@pytest.mark.parametrize("known", INFEASIBLE, ids=lambda k: k.lp.name)
@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_farkas_rays_are_proved_and_accepted(known: object, noise: float) -> None:
    """A true ray is proved, also with noise on it, and the referee verifies what comes back."""
    lp, ray = known.lp, known.ray  # type: ignore[attr-defined]
    rough = ray + noise * np.abs(ray).max() * np.random.default_rng(0).normal(size=ray.size) * (ray != 0)
    proved = prover(lp).farkas(lp, 7.0 * rough)
    assert proved is not None
    (verdict,) = verify(LPBatch.of([lp]), [Solution(Status.INFEASIBLE, ray=proved)], 1e-6)
    assert verdict.verified, verdict.reason


@pytest.mark.parametrize("known", UNBOUNDED, ids=lambda k: k.lp.name)
def test_directions_are_proved_and_accepted(known: object) -> None:
    """A true direction is proved, and the referee verifies it with the known point."""
    lp = known.lp  # type: ignore[attr-defined]
    proved = prover(lp).direction(lp, 3.0 * known.ray)  # type: ignore[attr-defined]
    assert proved is not None
    claim = Solution(Status.UNBOUNDED, x=known.x, ray=proved)  # type: ignore[attr-defined]
    (verdict,) = verify(LPBatch.of([lp]), [claim], 1e-6)
    assert verdict.verified, verdict.reason


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_proved_of_a_feasible_bounded_lp(seed: int) -> None:
    """On an LP with an optimum no vector is a Farkas ray and none a direction of unboundedness."""
    lp, _ = optimal_by_construction(seed)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        assert prover(lp).farkas(lp, rng.normal(size=lp.m)) is None
        assert prover(lp).direction(lp, rng.normal(size=lp.n)) is None


@pytest.mark.parametrize("vector", [np.zeros(2), np.array([np.nan, 1.0]), np.array([INF, 0.0])], ids=["zero", "nan", "inf"])
def test_useless_vectors_prove_nothing(vector: np.ndarray) -> None:
    """Zeros, NaN and infinities are refused, not raised over."""
    lp = lp_of("infeasible", [1, 1], [[1, 1], [1, 1]], ([2, -INF], [INF, 1]), ([0, 0], [INF, INF]))
    assert prover(lp).farkas(lp, vector) is None
    assert prover(lp).direction(lp, vector) is None
