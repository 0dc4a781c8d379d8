"""The linear program in its one standard form, and nothing about how it is read or solved.

    min  c @ x + offset    subject to    row_lower <= A @ x <= row_upper,   col_lower <= x <= col_upper

with m rows and n columns. Row duals y and reduced costs r satisfy r = c - A.T @ y; y_i > 0 prices the lower side of
row i and y_i < 0 its upper side, and likewise for r_j and the bounds of column j. Every other module refers to this text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from batchlp_cli.errors import ModelError
from batchlp_cli.matrix import Csr

if TYPE_CHECKING:
    import scipy.sparse as sp

Vector = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """One linear program, stored for minimisation.

    c: [n] float64; A: scipy CSR [m, n] float64 with sorted indices; row_lower, row_upper: [m] float64; col_lower,
    col_upper: [n] float64, infinities allowed; integer: [n] bool, the columns that were integer before relaxation.
    `maximize` tells that the file asked for a maximum: c and offset are then already negated, and whoever shows values,
    row duals or reduced costs to a person negates them again. Empty names mean that the file gave none.
    rows: the arrays of A; who needs no algebra takes these, since A may be made only when it is first asked for.

    Raises ModelError when shapes disagree, a cost or a coefficient is not finite, or a bound is NaN.
    """

    name: str
    c: Vector
    A: sp.csr_array
    row_lower: Vector
    row_upper: Vector
    col_lower: Vector
    col_upper: Vector
    offset: float = 0.0
    maximize: bool = False
    integer: Mask = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    row_names: tuple[str, ...] = ()
    col_names: tuple[str, ...] = ()
    rows: Csr = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given: Any = self.A
        object.__setattr__(self, "rows", given if isinstance(given, Csr) else Csr.of(canonical_matrix(given)))
        object.__delattr__(self, "A")  # from here on A comes from `rows`
        m, n = self.rows.shape
        if self.integer.size == 0:
            object.__setattr__(self, "integer", np.zeros(n, dtype=np.bool_))
        self._check_lengths(m, n)
        self._check_values()

    def __getattr__(self, name: str) -> Any:
        if name == "A":  # its slot is empty
            return self.rows.scipy
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return with_parts, ({part.name: getattr(self, part.name) for part in fields(self) if part.name != "A"},)

    def _check_lengths(self, m: int, n: int) -> None:
        expected = {"c": n, "row_lower": m, "row_upper": m, "col_lower": n, "col_upper": n, "integer": n}
        for name, length in expected.items():
            array = getattr(self, name)
            if array.shape != (length,):
                raise ModelError(f"{self.name}: {name} has shape {array.shape}, expected ({length},) for a {m} x {n} matrix")
        for name, length in {"row_names": m, "col_names": n}.items():
            if len(getattr(self, name)) not in (0, length):
                raise ModelError(f"{self.name}: {len(getattr(self, name))} {name}, expected none or {length}")

    def _check_values(self) -> None:
        for name, array in (("cost", self.c), ("coefficient", self.rows.data), ("objective offset", np.array([self.offset]))):
            if not np.isfinite(array).all():
                raise ModelError(f"{self.name}: a {name} is not a finite number")
        for name in ("row_lower", "row_upper", "col_lower", "col_upper"):
            if np.isnan(getattr(self, name)).any():
                raise ModelError(f"{self.name}: {name} holds a NaN")

    @property
    def m(self) -> int:
        """Number of rows."""
        return self.rows.shape[0]

    @property
    def n(self) -> int:
        """Number of columns."""
        return self.rows.shape[1]

    @property
    def nnz(self) -> int:
        """Number of non-zero coefficients."""
        return self.rows.nnz

    @property
    def sign(self) -> float:
        """-1 where the file asked for a maximum, else 1: stored value * sign is what a person is shown."""
        return -1.0 if self.maximize else 1.0

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays, with a fair guess for the names (Python strings of about 60 bytes)."""
        arrays = (self.c, self.row_lower, self.row_upper, self.col_lower, self.col_upper, self.integer)
        return self.rows.nbytes + sum(a.nbytes for a in arrays) + 60 * (len(self.row_names) + len(self.col_names))

    def row_name(self, i: int) -> str:
        """Name of row i, R1, R2, ... where the file gave none."""
        return self.row_names[i] if self.row_names else f"R{i + 1}"

    def col_name(self, j: int) -> str:
        """Name of column j, C1, C2, ... where the file gave none."""
        return self.col_names[j] if self.col_names else f"C{j + 1}"


def with_parts(parts: Mapping[str, Any]) -> LinearProgram:
    """Returns the linear program of fields that were checked before (all but A, which comes from `rows`), not checked again."""
    lp = object.__new__(LinearProgram)
    for name, value in parts.items():
        object.__setattr__(lp, name, value)
    return lp


def canonical_matrix(A: Any) -> sp.csr_array:
    """Returns A (any scipy sparse or dense matrix) as float64 CSR with sorted indices, no duplicates and no stored zeros;
    the same object where it is so already."""
    from scipy.sparse import csr_array

    if isinstance(A, csr_array) and A.has_canonical_format and A.data.dtype == np.float64 and A.data.all():
        return A
    matrix: sp.csr_array = csr_array(A).astype(np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
