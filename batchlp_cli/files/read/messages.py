"""What the reader is asked, what it answers, and what passes between it and its worker processes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from batchlp_cli.files.inputs import Compression, Input, ModelFormat
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Mask, Vector
from batchlp_cli.settings import NegativeUpper

VECTORS = ("c", "row_lower", "row_upper", "col_lower", "col_upper")


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One model to read: a file (path) or bytes that are here already (data, when path is None).

    name: for messages, and the name of the LP. known_digest: where the bytes have this SHA-256, nothing is parsed.
    """

    key: int
    path: str | None
    data: bytes | None
    format: ModelFormat
    compression: Compression
    name: str
    known_digest: str | None = None

    @staticmethod
    def of(found: Input, stdin: bytes | None = None, known_digest: str | None = None) -> ReadRequest:
        """Returns the request for an input without a problem; stdin is the model of the input that has no path."""
        assert found.format is not None, "an input without a problem has a format"
        data = stdin if found.path is None else None
        return ReadRequest(found.index, found.path, data, found.format, found.compression, found.shown, known_digest)


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """What became of a request: an LP, or unchanged bytes, or an error in words that begins with the name.

    matrix_digest: of shape, pattern and values, equal for equal matrices. input_digest: SHA-256 of the bytes as they are
    on disk, empty where they could not be read. warnings: what the reader found odd. seconds: time in the worker.
    """

    key: int
    lp: LinearProgram | None = None
    matrix_digest: str = ""
    input_digest: str = ""
    warnings: tuple[str, ...] = ()
    error: str = ""
    unchanged: bool = False
    seconds: float = 0.0


class Names(NamedTuple):
    """What a file calls its rows and columns, and the [n] mask of its integer columns."""

    integer: Mask
    row_names: tuple[str, ...]
    col_names: tuple[str, ...]

    @property
    def memory_bytes(self) -> int:
        """Bytes, with about 60 for a name."""
        return int(self.integer.nbytes) + 60 * (len(self.row_names) + len(self.col_names))


@dataclass(frozen=True, slots=True)
class Work:
    """A request as a worker gets it: its limit, spool folders to try in turn, what a negative upper bound means in MPS.

    resend: send matrix, names and all vectors even if they were sent before.
    """

    request: ReadRequest
    limit_bytes: int
    spool: tuple[str, ...]
    negative_upper: NegativeUpper = NegativeUpper.FREE
    resend: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """What else an LP holds, stored for minimisation. vectors: by the names of LinearProgram, those of VECTORS; one that equals
    the vector of the worker's answer before, bit for bit, is left out.

    worker, number: who sent this, and how many answers with numbers it has sent with this one.
    """

    worker: str
    number: int
    vectors: dict[str, Vector]
    offset: float
    maximize: bool


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A worker's answer. matrix and names are None where that worker has sent parts with the same digest before."""

    input_digest: str = ""
    unchanged: bool = False
    error: str = ""
    warnings: tuple[str, ...] = ()
    numbers: Numbers | None = None
    matrix_digest: str = ""
    matrix: Csr | None = None
    names_digest: str = ""
    names: Names | None = field(default=None)


def digest_matrix(A: Csr) -> str:
    """Returns the BLAKE2b digest of shape, pattern and values of a matrix."""
    found = hashlib.blake2b(np.array(A.shape, dtype=np.int64).tobytes(), digest_size=32)
    for array in (A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data + 0.0):
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def digest_names(names: Names) -> str:
    """Returns the BLAKE2b digest of names and integer marks."""
    found = hashlib.blake2b(names.integer.tobytes(), digest_size=32)
    for group in (names.row_names, names.col_names):
        found.update(b"%d\n" % len(group) + "\n".join(group).encode())
    return found.hexdigest()
