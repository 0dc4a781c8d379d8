"""Set covering."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from batchlp_cli.errors import UsageError
from batchlp_cli.families.blocks import names
from batchlp_cli.problem import LinearProgram


def set_cover(elements: int, sets: int, seed: int, density: float = 0.05) -> LinearProgram:
    """Returns a set covering problem: min c @ x, A x >= 1, x in [0, 1], costs integers of [1, 9], at least 2 sets.

    Entries are 1 with probability `density`; every element is in two sets or more and every set covers an element (Balas
    and Ho 1980, Mathematical Programming Study 12, 37-60).
    """
    if sets < 2 or elements < 1:
        raise UsageError(f"set_cover of {elements} elements by {sets} sets, expected at least 1 element and 2 sets")
    rng = np.random.default_rng(seed)
    covers = rng.random((elements, sets)) < density
    one, step = rng.integers(sets, size=elements), 1 + rng.integers(sets - 1, size=elements)
    covers[np.arange(elements), one] = covers[np.arange(elements), (one + step) % sets] = True
    covers[rng.integers(elements, size=sets), np.arange(sets)] = True
    return LinearProgram(
        name=f"set_cover_{elements}x{sets}_s{seed}",
        c=rng.integers(1, 10, sets).astype(np.float64),
        A=sp.csr_array(covers.astype(np.float64)),
        row_lower=np.ones(elements),
        row_upper=np.full(elements, np.inf),
        col_lower=np.zeros(sets),
        col_upper=np.ones(sets),
        integer=np.ones(sets, dtype=np.bool_),
        row_names=names("cover", elements),
        col_names=names("use", sets),
    )
