"""The reading of one model inside a worker process: bytes, digest, unpacking, refusals, HiGHS' reader, arrays."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Callable

import highspy
import numpy as np
import scipy.sparse as sp

from batchlp_cli.errors import ReadError
from batchlp_cli.files.decompress import decompress
from batchlp_cli.files.inputs import Compression
from batchlp_cli.files.read.messages import Answer, Names, Numbers, ReadRequest, Work, digest_matrix, digest_names
from batchlp_cli.files.read.spool import remove_file, spool_file
from batchlp_cli.files.refuse import count_in_text, missing_parts, refuse_what_is_no_lp
from batchlp_cli.problem import canonical_matrix
from batchlp_cli.worker import captured_output

SMALLEST_COEFFICIENT = 1e-12  # HiGHS drops |a| at or below; its own default of 1e-9 would change models
REMEMBERED = 64
MOST_WARNINGS = 10
UTF8_BOM = b"\xef\xbb\xbf"
_SAID = re.compile(r"^(ERROR|WARNING):\s*(.*)$")
_PLACE = re.compile(r"^\s*-->\s.*?:(\d+):(\d+)\s*$")
_ROUTINE = re.compile(r"^(Running HiGHS|Copyright|Includes third|MIP |LP |QP |Coefficient ranges|\s|$)")


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


def make_handler() -> Callable[[Work], Answer]:
    """Returns the handler of a worker process."""
    sent = Sent()
    return lambda work: read_model(work, sent)


def read_model(work: Work, sent: Sent) -> Answer:
    """Reads one model. What cannot be read is an answer with an error."""
    request, digest = work.request, ""
    try:
        raw = load_bytes(request, work.limit_bytes)
        digest = hashlib.sha256(raw).hexdigest()
        if digest == request.known_digest:
            return Answer(digest, unchanged=True)
        text = decompress(raw, request.compression, work.limit_bytes, request.name)
        refuse_what_is_no_lp(text, request.format, request.name)
        lp, warnings = _read_text(text, work)
        return _answer(lp, digest, warnings, sent, work.resend)
    except ReadError as error:
        return Answer(digest, error=str(error))


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


def _read_text(text: bytes, work: Work) -> tuple[highspy.HighsLp, tuple[str, ...]]:
    """Gives HiGHS the file itself where it can read that, else a copy with the right ending and in UTF-8."""
    request = work.request
    plain, warning = _in_utf8(text)
    if plain is text and _is_direct(request):
        assert request.path is not None
        lp, warnings = _read_path(request.path, text, request)
        return lp, warnings
    try:
        path = spool_file(work.spool, request.key, request.format, plain)
    except ReadError as error:
        raise ReadError(f"{request.name}: {error}") from error
    try:
        lp, warnings = _read_path(path, plain, request)
    finally:
        remove_file(path)
    return lp, (*warning, *warnings)


def _is_direct(request: ReadRequest) -> bool:
    path = request.path
    return (
        path is not None
        and request.compression is Compression.NONE
        and path.endswith(f".{request.format}")
        and not any(0xD800 <= ord(c) <= 0xDFFF for c in path)
    )


def _in_utf8(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Returns the text without a byte-order mark, and in UTF-8 where it was in an 8-bit code."""
    if text.isascii():
        return text, ()
    plain = text.removeprefix(UTF8_BOM)
    try:
        plain.decode()
    except UnicodeDecodeError:
        return plain.decode("latin-1").encode(), ("the text is not UTF-8; it was taken as Latin-1",)
    return (plain if len(plain) < len(text) else text), ()


def _read_path(path: str, text: bytes, request: ReadRequest) -> tuple[highspy.HighsLp, tuple[str, ...]]:
    """Returns HiGHS' model of the file and its warnings; raises ReadError with what HiGHS said, or where it is no LP."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    with captured_output() as captured:
        highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
        highs.setOptionValue("output_flag", True)
        highs.setOptionValue("log_to_console", True)
        status = highs.readModel(path)
    errors, warnings = _said(captured.text.replace(path, request.name), request.name)
    if status == highspy.HighsStatus.kError:
        raise ReadError("; ".join(errors) or _silent_error(text, warnings, request))
    if status == highspy.HighsStatus.kWarning and not warnings:
        warnings = [line for line in captured.text.splitlines() if not _ROUTINE.match(line)] or ["HiGHS read it with a warning"]
    lp = highs.getLp()
    semi = {highspy.HighsVarType.kSemiContinuous, highspy.HighsVarType.kSemiInteger}
    if highs.getModel().hessian_.dim_:
        raise ReadError(f"{request.name}: a quadratic objective; this is no linear program")
    if semi.intersection(lp.integrality_):
        raise ReadError(f"{request.name}: semicontinuous or semi-integer columns; this is no linear program")
    _refuse_what_was_lost(lp, text, request)
    if len(warnings) > MOST_WARNINGS:
        warnings[MOST_WARNINGS - 1 :] = [f"and {len(warnings) - MOST_WARNINGS + 1} warnings more, the last: {warnings[-1]}"]
    return lp, tuple(warnings)


def _silent_error(text: bytes, warnings: list[str], request: ReadRequest) -> str:
    """Returns the likely reason of an error for which HiGHS gave none."""
    reason = missing_parts(text, request.format) or "; ".join(warnings[-1:])
    return f"{request.name}: HiGHS' reader could not parse it" + (f": {reason}" if reason else " and says no more")


def _said(text: str, name: str) -> tuple[list[str], list[str]]:
    """Returns what HiGHS said, errors with their place and warnings. `Parser error` alone tells nothing more."""
    errors: list[str] = []
    warnings: list[str] = []
    for line in text.splitlines():
        said, place = _SAID.match(line), _PLACE.match(line)
        if said:
            (errors if said[1] == "ERROR" else warnings).append(said[2].strip())
        elif place and errors:
            errors[-1] = f"{name}:{place[1]}:{place[2]}: {errors[-1]}"
        elif line.strip().startswith("= help:") and errors:
            errors[-1] += f" ({line.strip().removeprefix('= help:').strip()})"
    telling = [e for e in errors if not e.startswith("Parser error reading")]
    return [e if e.startswith(f"{name}:") else f"{name}: {e}" for e in telling], list(dict.fromkeys(warnings))


def _refuse_what_was_lost(lp: highspy.HighsLp, text: bytes, request: ReadRequest) -> None:
    """Raises ReadError where HiGHS read nothing from a text that has something."""
    if lp.num_row_ and lp.num_col_:
        return
    lacking = missing_parts(text, request.format)
    if lacking:
        raise ReadError(f"{request.name}: {lacking}")
    has_rows, has_columns = count_in_text(text, request.format)
    for what, found, in_text in (("rows", lp.num_row_, has_rows), ("columns", lp.num_col_, has_columns)):
        if in_text and not found:
            raise ReadError(f"{request.name}: HiGHS' reader found no {what}, but the text has some")


def _answer(lp: highspy.HighsLp, digest: str, warnings: tuple[str, ...], sent: Sent, resend: bool) -> Answer:
    matrix, names, numbers = _matrix(lp), _names(lp), _numbers(lp)
    matrix_digest, names_digest = digest_matrix(matrix), digest_names(names)
    matrix_known, names_known = sent.before(matrix_digest), sent.before(names_digest)
    return Answer(
        input_digest=digest,
        warnings=warnings,
        numbers=numbers,
        matrix_digest=matrix_digest,
        matrix=None if matrix_known and not resend else matrix,
        names_digest=names_digest,
        names=None if names_known and not resend else names,
    )


def _matrix(lp: highspy.HighsLp) -> sp.csr_array:
    stored, shape = lp.a_matrix_, (lp.num_row_, lp.num_col_)
    if not len(stored.index_):
        return sp.csr_array(shape, dtype=np.float64)
    arrays = np.asarray(stored.value_, dtype=np.float64), np.asarray(stored.index_), np.asarray(stored.start_)
    kind = sp.csc_array if stored.format_ == highspy.MatrixFormat.kColwise else sp.csr_array
    return canonical_matrix(kind(arrays, shape=shape))


def _names(lp: highspy.HighsLp) -> Names:
    kinds = list(lp.integrality_)
    integer = np.zeros(lp.num_col_, dtype=np.bool_)
    if kinds:
        integer[:] = [kind != highspy.HighsVarType.kContinuous for kind in kinds]
    return Names(integer, tuple(lp.row_names_), tuple(lp.col_names_))


def _numbers(lp: highspy.HighsLp) -> Numbers:
    maximize = lp.sense_ == highspy.ObjSense.kMaximize
    sign = -1.0 if maximize else 1.0
    vectors = (lp.col_cost_, lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_)
    c, row_lower, row_upper, col_lower, col_upper = (np.array(v, dtype=np.float64) for v in vectors)
    return Numbers(sign * c + 0.0, row_lower, row_upper, col_lower, col_upper, sign * lp.offset_ + 0.0, maximize)
