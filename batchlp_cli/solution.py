"""What a backend answers and what the referee says of it. What its vectors mean depends on the status, see status.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from batchlp_cli.problem import Vector
from batchlp_cli.status import DECIDED, SETTLED, Status

__all__ = ["BASIS_CODES", "DECIDED", "SETTLED", "Basis", "BasisArray", "Residuals", "Solution", "Status", "Verdict"]

BasisArray = np.ndarray[tuple[int, ...], np.dtype[np.int8]]

BASIS_CODES = 5
"""Number of basis statuses, whose codes `Basis` lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Basis statuses: cols [n], rows [m] int8 in HiGHS' numbering (0 lower, 1 basic, 2 upper, 3 zero, 4 nonbasic)."""

    cols: BasisArray
    rows: BasisArray


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A backend's claim about one instance; `status` tells what the vectors mean.

    x [n], y [m], r [n] float64 or None; ray [m] or [n] float64 or None; seconds of solving; iterations as the backend
    counts them; method names how it was solved ("simplex warm", "simplex cold"); message is empty or a sentence; earlier:
    what other solvers inside the backend came to before, without vectors.
    """

    status: Status
    x: Vector | None = None
    y: Vector | None = None
    r: Vector | None = None
    ray: Vector | None = None
    basis: Basis | None = None
    iterations: int = 0
    seconds: float = 0.0
    backend: str = ""
    method: str = ""
    message: str = ""
    earlier: tuple[Solution, ...] = ()


@dataclass(frozen=True, slots=True)
class Residuals:
    """Absolute and relative residuals on original data; NaN where there is no vector to measure."""

    primal_abs: float = float("nan")
    primal_rel: float = float("nan")
    dual_abs: float = float("nan")
    dual_rel: float = float("nan")
    gap_abs: float = float("nan")
    gap_rel: float = float("nan")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The referee's word on one solution.

    verified: the claimed status was proved. objective: c @ x + offset for minimisation, only where optimal was proved,
    else None. dual_bound: a rigorous lower bound on the optimal value with offset, -inf where there is none.
    reason: empty when verified, else what failed. notes: facts that a user should know of a proved verdict.
    """

    verified: bool
    objective: float | None
    dual_bound: float
    residuals: Residuals
    reason: str = ""
    notes: tuple[str, ...] = ()
