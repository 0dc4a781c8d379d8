"""The reading of one model inside a worker process: bytes, digest, unpacking, the reader for its format, what is sent back."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections import OrderedDict
from collections.abc import Callable

from batchlp_cli.errors import ModelError, ReadError
from batchlp_cli.files.decompress import decompress
from batchlp_cli.files.inputs import ModelFormat
from batchlp_cli.files.mps_family import FamilyReader
from batchlp_cli.files.read.messages import VECTORS, Answer, Names, Numbers, ReadRequest, Work, digest_matrix, digest_names
from batchlp_cli.files.refuse import refuse_what_is_no_lp, refuse_what_is_no_text
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Vector

REMEMBERED = 64
MOST_WARNINGS = 10
MOST_CHARACTERS = 1000


class Sent:
    """The digests of what this worker has sent, the most recent ones."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, None] = OrderedDict()

    def before(self, digest: str) -> bool:
        """Tells whether the part was sent before, and notes that it is now."""
        known = digest in self._digests
        self._digests[digest] = None
        self._digests.move_to_end(digest)
        if len(self._digests) > REMEMBERED:
            self._digests.popitem(last=False)
        return known


class Digests:
    """Digests of the last matrices and names; related files share those objects, whose digest is then known already."""

    def __init__(self) -> None:
        self._matrices: list[tuple[Csr, str]] = []
        self._names: list[tuple[Names, str]] = []

    def of_matrix(self, A: Csr) -> str:
        """Returns the digest of a matrix."""
        for known, digest in self._matrices:
            if known is A:
                return digest
        self._matrices = [(A, digest_matrix(A)), *self._matrices[:3]]
        return self._matrices[0][1]

    def of_names(self, names: Names) -> str:
        """Returns the digest of names and integer marks."""
        for known, digest in self._names:
            same_names = known.row_names is names.row_names and known.col_names is names.col_names
            if same_names and known.integer.tobytes() == names.integer.tobytes():
                return digest
        self._names = [(names, digest_names(names)), *self._names[:3]]
        return self._names[0][1]


class Vectors:
    """The vectors that this worker sent last: files of a family share most of theirs, which need not be sent again."""

    def __init__(self) -> None:
        self._worker = secrets.token_hex(8)
        self._number = 0
        self._last: dict[str, Vector] = {}

    def of(self, lp: LinearProgram, resend: bool) -> Numbers:
        """Returns the numbers of an LP without the vectors that the last one had, or with all of them."""
        vectors: dict[str, Vector] = {name: getattr(lp, name) for name in VECTORS}
        new = {name: v for name, v in vectors.items() if resend or not _same_bits(v, self._last.get(name))}
        self._last = vectors
        self._number += 1
        return Numbers(self._worker, self._number, new, lp.offset, lp.maximize)


def _same_bits(a: Vector, b: Vector | None) -> bool:
    return a is b or (b is not None and len(a) == len(b) and a.tobytes() == b.tobytes())


class Reader:
    """What a worker keeps from file to file: the last bases of families, and what it has sent."""

    def __init__(self) -> None:
        self._sent = Sent()
        self._vectors = Vectors()
        self._digests = Digests()
        self._families = FamilyReader()

    def read(self, work: Work) -> Answer:
        """Reads one model. What cannot be read is an answer with an error."""
        request, digest = work.request, ""
        try:
            raw = load_bytes(request, work.limit_bytes)
            digest = hashlib.sha256(raw).hexdigest()
            if digest == request.known_digest:
                return Answer(digest, unchanged=True)
            text = decompress(raw, request.compression, work.limit_bytes, request.name)
            lp, warnings = self._read_text(text, work)
        except ModelError as error:
            return Answer(digest, error=_cut(str(error)))
        return self._answer(lp, digest, _shortened(warnings), work.resend)

    def _read_text(self, text: bytes, work: Work) -> tuple[LinearProgram, tuple[str, ...]]:
        request = work.request
        refuse_what_is_no_text(text, request.format, request.name)
        if request.format is ModelFormat.MPS:
            if self._families.negative_upper is not work.negative_upper:
                self._families = FamilyReader(negative_upper=work.negative_upper)
            parsed = self._families.read(text, request.name)
            return parsed.lp, parsed.warnings
        from batchlp_cli.files.read.lp_format import read_lp  # loads HiGHS, which MPS files do not need

        refuse_what_is_no_lp(text, request.name)
        return read_lp(text, work)

    def _answer(self, lp: LinearProgram, digest: str, warnings: tuple[str, ...], resend: bool) -> Answer:
        names = Names(lp.integer, lp.row_names, lp.col_names)
        matrix_digest, names_digest = self._digests.of_matrix(lp.rows), self._digests.of_names(names)
        matrix_known, names_known = self._sent.before(matrix_digest), self._sent.before(names_digest)
        return Answer(
            input_digest=digest,
            warnings=warnings,
            numbers=self._vectors.of(lp, resend),
            matrix_digest=matrix_digest,
            matrix=None if matrix_known and not resend else lp.rows,
            names_digest=names_digest,
            names=None if names_known and not resend else names,
        )


def make_handler() -> Callable[[Work], Answer]:
    """Returns the handler of a worker process."""
    return Reader().read


def _shortened(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the first warnings, each of a fair length, and how many more there are."""
    warnings = tuple(map(_cut, warnings))
    if len(warnings) <= MOST_WARNINGS:
        return warnings
    more = len(warnings) - MOST_WARNINGS + 1
    return (*warnings[: MOST_WARNINGS - 1], f"and {more} warnings more, the last: {warnings[-1]}")


def _cut(text: str) -> str:
    """Returns a message without its middle where that is long, as where it quotes a name of a megabyte."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[: MOST_CHARACTERS // 2]} ... {text[-MOST_CHARACTERS // 2 :]}"


def load_bytes(request: ReadRequest, limit_bytes: int) -> bytes:
    """Returns the bytes of a regular file, or those that came with the request; never waits for a pipe or a device."""
    if request.path is None:
        data = request.data or b""
        if len(data) > limit_bytes:
            raise ReadError(f"{request.name}: {len(data)} bytes, the limit is {limit_bytes}; raise --max-file-size")
        return data
    try:
        with open(os.open(request.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ReadError(f"{request.name}: this is a {_kind(found.st_mode)}, expected a regular file")
            if found.st_size > limit_bytes:
                raise ReadError(f"{request.name}: {found.st_size} bytes, the limit is {limit_bytes}; raise --max-file-size")
            return file.read()
    except OSError as error:
        kind = " (is it a folder?)" if error.errno == errno.EISDIR else ""
        raise ReadError(f"{request.name}: cannot be read: {error.strerror}{kind}") from error


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "folder",
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "socket",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
    }
    return kinds.get(stat.S_IFMT(mode), "special file")
