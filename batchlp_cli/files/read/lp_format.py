"""LP files, read by HiGHS under guard: what it says becomes warnings or the error, and what it would lose is refused."""

from __future__ import annotations

import dataclasses
import re

import highspy
import numpy as np

from batchlp_cli.errors import ModelError, ReadError
from batchlp_cli.files.inputs import Compression
from batchlp_cli.files.lp_doubts import odd_names, place, refuse_glued_names, refuse_infinite_constant
from batchlp_cli.files.lp_mend import mend
from batchlp_cli.files.read.messages import ReadRequest, Work
from batchlp_cli.files.read.spool import remove_file, spool_file
from batchlp_cli.files.refuse import count_in_text, missing_parts, refuse_odd_names
from batchlp_cli.matrix import Csr, by_rows, sums
from batchlp_cli.problem import LinearProgram, Mask
from batchlp_cli.worker import captured_output

SMALLEST_COEFFICIENT = 1e-12  # HiGHS drops |a| at or below; its own default of 1e-9 would change models
UTF8_BOM = b"\xef\xbb\xbf"
_DROPS_CONSTANT = "constant on the left-hand side"
_SAID = re.compile(r"^(ERROR|WARNING):\s*(.*)$")
_PLACE = re.compile(r"^\s*-->\s.*?:(\d+):(\d+)\s*$")
_ROUTINE = re.compile(r"^(Running HiGHS|Copyright|Includes third|MIP |LP |QP |Coefficient ranges|\s|$)")


def read_lp(text: bytes, work: Work) -> tuple[LinearProgram, tuple[str, ...]]:
    """Returns the LP and warnings. What HiGHS refuses or misreads is mended if it is plain what was meant (`lp_mend`).

    Raises ReadError with what HiGHS said of the file as it is, or where what it read is no LP or not what the text says.
    """
    plain, encoding = _in_utf8(text)
    try:
        lp, warnings = _read_text(plain, plain is text, work)
        failure = _misreading(lp.name, warnings)
    except ReadError as error:
        failure = error
    if failure is not None:
        lp, warnings = _read_mended(plain, work, failure)
    refuse_odd_names(lp.col_names, plain, work.request.name)
    refuse_glued_names(lp, plain)
    refuse_infinite_constant(lp, plain)
    return lp, (*encoding, *warnings, *odd_names(lp, plain), *_crossings(lp))


def _misreading(name: str, warnings: tuple[str, ...]) -> ReadError | None:
    """Returns the error that a warning of HiGHS should have been."""
    found = next((warning for warning in warnings if _DROPS_CONSTANT in warning), None)
    if found is not None:
        line = re.match(r"line (\d+): ", found)
        source = f"{name}:{line[1]}" if line else name
        return ReadError(
            f"{source}: a constant on the left of a constraint, which HiGHS' reader drops; move it to the right-hand side"
        )
    return None


def _read_mended(plain: bytes, work: Work, failure: ReadError) -> tuple[LinearProgram, tuple[str, ...]]:
    """Reads the text once more with its rows mended; raises the failure where that cannot be done or does not help."""
    mended = mend(plain.decode())
    if mended is None:
        raise failure
    try:
        lp, warnings = _read_text(mended.text.encode(), False, work)
    except ReadError:
        raise failure from None
    if _misreading(lp.name, warnings) is not None:
        raise failure
    lower, upper = lp.row_lower.copy(), lp.row_upper.copy()
    for row, (low, high) in mended.sides.items():
        if row >= lp.m or lower[row] != low:
            raise failure
        upper[row] = high
    later = lp.rows.as_scipy_later()
    return dataclasses.replace(lp, A=later, row_lower=lower, row_upper=upper), (*mended.notes, *warnings)


def _crossings(lp: LinearProgram) -> tuple[str, ...]:
    """Warns of the first column whose bounds cross, which often is an upper bound below the default lower bound of 0."""
    crossed = np.flatnonzero(lp.col_lower > lp.col_upper)
    if not crossed.size:
        return ()
    j = int(crossed[0])
    default = " (the default)" if lp.col_lower[j] == 0 else ""
    return (
        f"column {lp.col_name(j)} has lower bound {lp.col_lower[j]:.9g}{default} above its upper bound {lp.col_upper[j]:.9g}",
    )


def _read_text(text: bytes, is_file: bool, work: Work) -> tuple[LinearProgram, tuple[str, ...]]:
    """Gives HiGHS the file itself where the text is that of the file and it can read it, else a copy."""
    request = work.request
    if is_file and _is_direct(request):
        assert request.path is not None
        lp, warnings = _read_path(request.path, text, request)
        return _linear_program(lp, text, request.name), warnings
    try:
        path = spool_file(work.spool, request.key, request.format, text)
    except ReadError as error:
        raise ReadError(f"{request.name}: {error}") from error
    try:
        lp, warnings = _read_path(path, text, request)
    finally:
        remove_file(path)
    return _linear_program(lp, text, request.name), warnings


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
        raise ReadError("; ".join(place(e, request.name, text) for e in errors) or _silent_error(text, warnings, request))
    if status == highspy.HighsStatus.kWarning and not warnings:
        warnings = [line for line in captured.text.splitlines() if not _ROUTINE.match(line)] or ["HiGHS read it with a warning"]
    lp = highs.getLp()
    semi = {highspy.HighsVarType.kSemiContinuous, highspy.HighsVarType.kSemiInteger}
    if highs.getModel().hessian_.dim_:
        raise ReadError(f"{request.name}: a quadratic objective; this is no linear program")
    if semi.intersection(lp.integrality_):
        raise ReadError(f"{request.name}: semicontinuous or semi-integer columns; this is no linear program")
    _refuse_what_was_lost(lp, text, request)
    return lp, tuple(warnings)


def _silent_error(text: bytes, warnings: list[str], request: ReadRequest) -> str:
    """Returns the likely reason of an error for which HiGHS gave none."""
    reason = missing_parts(text) or "; ".join(warnings[-1:])
    return f"{request.name}: HiGHS' reader could not parse it" + (f": {reason}" if reason else " and says no more")


def _said(text: str, name: str) -> tuple[list[str], list[str]]:
    """Returns what HiGHS said, errors with their place and warnings. `Parser error` alone tells nothing more."""
    errors: list[str] = []
    warnings: list[str] = []
    last = ""
    for line in text.splitlines():
        said, where = _SAID.match(line), _PLACE.match(line)
        if said:
            last = said[1]
            (errors if last == "ERROR" else warnings).append(said[2].strip())
        elif where and last == "WARNING":
            warnings[-1] = f"line {where[1]}: {warnings[-1]}"
        elif where and errors:
            errors[-1] = f"{name}:{where[1]}:{where[2]}: {errors[-1]}"
        elif line.strip().startswith("= help:") and errors:
            errors[-1] += f" ({line.strip().removeprefix('= help:').strip()})"
    telling = [e for e in errors if not e.startswith("Parser error reading")]
    return [e if e.startswith(f"{name}:") else f"{name}: {e}" for e in telling], list(dict.fromkeys(warnings))


def _refuse_what_was_lost(lp: highspy.HighsLp, text: bytes, request: ReadRequest) -> None:
    """Raises ReadError where HiGHS read nothing from a text that has something."""
    if lp.num_row_ and lp.num_col_:
        return
    lacking = missing_parts(text)
    if lacking:
        raise ReadError(f"{request.name}: {lacking}")
    has_rows, has_columns = count_in_text(text)
    for what, found, in_text in (("rows", lp.num_row_, has_rows), ("columns", lp.num_col_, has_columns)):
        if in_text and not found:
            raise ReadError(f"{request.name}: HiGHS' reader found no {what}, but the text has some")


def _matrix(lp: highspy.HighsLp) -> Csr:
    stored, (m, n) = lp.a_matrix_, (lp.num_row_, lp.num_col_)
    index, data = np.asarray(stored.index_, dtype=np.int32), np.asarray(stored.value_, dtype=np.float64)
    line = np.repeat(np.arange(len(stored.start_) - 1, dtype=np.int32), np.diff(stored.start_))[: len(index)]
    rows, cols = (index, line) if stored.format_ == highspy.MatrixFormat.kColwise else (line, index)
    order = np.argsort(cols, kind="stable")
    matrix = by_rows((m, n), rows[order], cols[order], data[order])
    # entries in one place are side by side; their sum is what the row says
    first = np.diff(matrix.row_of.astype(np.int64) * n + matrix.indices, prepend=-1) != 0
    total = sums((np.cumsum(first) - 1).astype(np.int32), matrix.data, int(first.sum()))
    return by_rows((m, n), matrix.row_of[first], matrix.indices[first], total).take(np.ones(m, dtype=np.bool_))


def _integer(lp: highspy.HighsLp) -> Mask:
    kinds = list(lp.integrality_)
    integer = np.zeros(lp.num_col_, dtype=np.bool_)
    if kinds:
        integer[:] = [kind != highspy.HighsVarType.kContinuous for kind in kinds]
    return integer


def _linear_program(lp: highspy.HighsLp, text: bytes, name: str) -> LinearProgram:
    try:
        return _as_linear_program(lp, name)
    except ModelError as error:
        raise ReadError(place(str(error), name, text)) from error


def _as_linear_program(lp: highspy.HighsLp, name: str) -> LinearProgram:
    maximize = lp.sense_ == highspy.ObjSense.kMaximize
    sign = -1.0 if maximize else 1.0
    vectors = (lp.col_cost_, lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_)
    c, row_lower, row_upper, col_lower, col_upper = (np.array(v, dtype=np.float64) for v in vectors)
    return LinearProgram(
        name=name,
        c=sign * c + 0.0,
        A=_matrix(lp).as_scipy_later(),
        row_lower=row_lower,
        row_upper=row_upper,
        col_lower=col_lower,
        col_upper=col_upper,
        offset=sign * lp.offset_ + 0.0,
        maximize=maximize,
        integer=_integer(lp),
        row_names=tuple(lp.row_names_),
        col_names=tuple(lp.col_names_),
    )
