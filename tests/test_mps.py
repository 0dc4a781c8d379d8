"""The MPS reader: the rules of docs/formats.md one by one, and what it refuses."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from batchlp_cli.errors import ReadError
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import NegativeUpper
from tests.mps_files import differences, same_reading

FOLDER = Path(__file__).parent / "data" / "mps"
INF = float("inf")
VALUES = {
    "m02_range_E_pos_max": 42, "m03_range_LG_negsign": -3, "m04_ranges_before_rhs": 6, "m05_rhs_on_objective": 13.5,
    "m06_rhs_on_objective_max": 13.5, "m07_neg_UP_no_LO": -20, "m08_zero_UP_no_LO": 0, "m09_neg_UP_then_LO": -10,
    "m11_BV_LI_UI": 5, "m12_INT_marker_no_bounds": 1, "m14_OBJSENSE_one_line": 13.5, "m15_OBJSENSE_MAXIMIZE_word": 13.5,
    "m20_section_words_as_names": 12, "m21_no_set_names": 11, "m23_two_N_rows": 8, "m26_fortran_D_exponent": 40,
    "m27_dollar_star_names_and_comments": 7, "m29_crossing_bounds": "infeasible", "m30_empty_row_infeasible": "infeasible",
    "m32_empty_col_unbounded": "unbounded", "m33_no_constraints": 7, "m35_no_N_row": 0, "m36_unbounded": "unbounded",
    "m38_primal_and_dual_infeasible": "infeasible", "m40_max_dual_signs": 8, "m41_tabs_indent": 6,
    "m42_lowercase_sections": 6, "m45_name_missing_and_blank": 6, "m48_column_split": 3,
}  # fmt: skip
WARNED = {"m07_neg_UP_no_LO", "m23_two_N_rows", "m35_no_N_row", "m42_lowercase_sections", "m48_column_split"}
REFUSED = {
    "m17_missing_ENDATA": 11, "m18_truncated_in_columns": 8, "m24_duplicate_entry": 7, "m43_unknown_row_in_columns": 7,
    "m44_bound_on_unknown_column": 10, "m47_QUADOBJ": 9,
}  # fmt: skip


def read(text: str, **options: NegativeUpper) -> LinearProgram:
    """Returns the linear program of a file written here; it must come without a warning."""
    parsed = parse_mps(text.encode(), "t.mps", **options)
    assert parsed.warnings == ()
    return parsed.lp


def model(rows: str = " L r", columns: str = "    x c 1 r 1", rest: str = "", start: str = "NAME t") -> str:
    """Returns a file with one objective c around the given lines."""
    return f"{start}\nROWS\n N c\n{rows}\nCOLUMNS\n{columns}\n{rest}\nENDATA\n"


def refusal(text: str | bytes) -> str:
    """Returns the message with which a file is refused."""
    with pytest.raises(ReadError) as caught:
        parse_mps(text if isinstance(text, bytes) else text.encode(), "t.mps")
    return str(caught.value)


def outcome(lp: LinearProgram) -> float | str:
    """Returns the optimal value as a person is shown it, or infeasible or unbounded (told apart without the objective)."""
    A, below, above = lp.A.toarray(), np.isfinite(lp.row_upper), np.isfinite(lp.row_lower)
    left = np.vstack((A[below], -A[above]))
    right = np.concatenate((lp.row_upper[below], -lp.row_lower[above]))
    bounds = list(zip(lp.col_lower.tolist(), lp.col_upper.tolist(), strict=True))
    if (lp.col_lower > lp.col_upper).any() or linprog(0 * lp.c, A_ub=left, b_ub=right, bounds=bounds).status == 2:
        return "infeasible"
    result = linprog(lp.c, A_ub=left, b_ub=right, bounds=bounds)
    return "unbounded" if result.status == 3 else lp.sign * (float(result.fun or 0.0) + lp.offset)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_small_file_has_its_right_answer(name: str) -> None:
    """Files that trip readers, one trap each: the optimum is right, and a warning is given exactly where one is due."""
    parsed = parse_mps((FOLDER / f"{name}.mps").read_bytes(), f"{name}.mps")
    expected = VALUES[name]
    assert outcome(parsed.lp) == (expected if isinstance(expected, str) else pytest.approx(expected, abs=1e-9))
    assert bool(parsed.warnings) == (name in WARNED)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_small_file_is_refused_with_its_line(name: str) -> None:
    """A file that must not be read is refused; the message holds the file's name, the line's number and the line."""
    data = (FOLDER / f"{name}.mps").read_bytes()
    message = refusal(data)
    line = REFUSED[name]
    assert message.startswith(f"t.mps, line {line}: ")
    assert repr(data.decode().splitlines()[line - 1]) in message
    assert "expected" in message


@pytest.mark.parametrize(
    ("kind", "size", "sides"),
    [
        ("L", "3", (7, 10)), ("L", "-3", (7, 10)), ("G", "3", (10, 13)), ("G", "-3", (10, 13)),
        ("E", "3", (10, 13)), ("E", "-3", (7, 10)), ("E", "0", (10, 10)), ("L", "0", (10, 10)), ("L", "1e30", (-INF, 10)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["RHS first", "RANGES first"])
def test_ranges(kind: str, size: str, sides: tuple[float, float], order: str) -> None:
    """A range gives the other side by its type and, for E, its sign, in either order of the sections."""
    parts = ["RHS\n    s r 10", f"RANGES\n    s r {size}"]
    lp = read(model(rows=f" {kind} r", rest="\n".join(parts if order == "RHS first" else parts[::-1])))
    assert (lp.row_lower[0], lp.row_upper[0]) == sides


@pytest.mark.parametrize(
    ("lines", "bounds"),
    [
        ("UP b x 4", (0, 4)), ("LO b x 2", (2, INF)), ("FX b x 3", (3, 3)), ("FR b x", (-INF, INF)), ("MI b x", (-INF, INF)),
        ("PL b x", (0, INF)), ("BV b x", (0, 1)), ("LI b x 2", (2, INF)), ("UI b x 5", (0, 5)), ("UP x 4", (0, 4)),
        ("FR x", (-INF, INF)),
        ("FR b x 0", (-INF, INF)), ("BV b x 1.0", (0, 1)), ("UP b x inf", (0, INF)), ("UP b x 1e20", (0, INF)),
        ("LO b x -Infinity", (-INF, INF)), ("LO b x -1e30", (-INF, INF)), ("MI b x\n UP b x 4", (-INF, 4)),
        ("UP b x 4\n MI b x", (-INF, 4)),
        ("UP b x -4\n LO b x -9", (-9, -4)), ("LO b x -9\n UP b x -4", (-9, -4)), ("UP b x 1.5D+01", (0, 15)),
    ],
)  # fmt: skip
def test_bounds(lines: str, bounds: tuple[float, float]) -> None:
    """Each type of bound, with and without the name of a set, alone and with another one."""
    lp = read(model(rest=f"BOUNDS\n {lines}"))
    assert (lp.col_lower[0], lp.col_upper[0]) == bounds


@pytest.mark.parametrize(("kind", "integer"), [("BV b x", True), ("LI b x 1", True), ("UI b x 2", True), ("UP b x 2", False)])
def test_integer_bounds_mark_their_column(kind: str, integer: bool) -> None:
    """BV, LI and UI make a column integer, and nothing else does."""
    assert read(model(rest=f"BOUNDS\n {kind}")).integer.tolist() == [integer]


@pytest.mark.parametrize(
    ("bound", "bounds"),
    [
        ("", (0, 1)),
        ("BOUNDS\n LO b x 0", (0, INF)),
        ("BOUNDS\n UP b x 7", (0, 7)),
        ("BOUNDS\n PL b x", (0, INF)),
        ("BOUNDS\n MI b x", (-INF, INF)),
    ],
)
def test_integer_column_between_markers(bound: str, bounds: tuple[float, float]) -> None:
    """A column between markers is binary if it has no bound at all, and has the usual defaults if it has one."""
    columns = "    m 'MARKER' 'INTORG'\n    x c 1 r 1\n    m 'MARKER' 'INTEND'\n    y c 1"
    lp = read(model(columns=columns, rest=bound))
    assert lp.integer.tolist() == [True, False]
    assert (lp.col_lower[0], lp.col_upper[0]) == bounds


def test_negative_upper_bound_follows_its_flag() -> None:
    """A negative upper bound without a lower one frees the lower bound, keeps it at 0, or is refused; the first two warn."""
    data = model(rest="BOUNDS\n UP b x -3").encode()
    free = parse_mps(data, "t.mps")
    keep = parse_mps(data, "t.mps", negative_upper=NegativeUpper.KEEP)
    assert (free.lp.col_lower[0], keep.lp.col_lower[0]) == (-INF, 0)
    assert len(free.warnings) == len(keep.warnings) == 1
    with pytest.raises(ReadError, match="line 8: column 'x' has a negative upper bound"):
        parse_mps(data, "t.mps", negative_upper=NegativeUpper.ERROR)


def test_the_last_of_several_bounds_counts_and_is_told() -> None:
    """BV then FX on one column, as MIP 2023 instances have it: FX counts (SCIP), HiGHS would keep BV."""
    parsed = parse_mps(model(rest="BOUNDS\n BV b x\n FX b x 0").encode(), "t.mps")
    assert (parsed.lp.col_lower[0], parsed.lp.col_upper[0], bool(parsed.lp.integer[0])) == (0, 0, True)
    assert any("line 9" in w and "several upper bounds" in w for w in parsed.warnings)


@pytest.mark.parametrize("word", ["MAX", "max", "MAXIMIZE", "Maximise", "MAXIMUM"])
@pytest.mark.parametrize("form", ["OBJSENSE\n    {}", "OBJSENSE {}", "OBJSENSE\n{}"])
def test_objective_sense(word: str, form: str) -> None:
    """Every spelling of a maximum negates costs and offset, which is minus the right-hand side of the objective."""
    parsed = parse_mps(model(start=form.format(word), rest="RHS\n    s c -7.5").encode(), "t.mps")
    assert (parsed.lp.maximize, parsed.lp.c[0], parsed.lp.offset) == (True, -1, -7.5)


def test_objective_name_chooses_a_free_row() -> None:
    """OBJNAME names the objective; other free rows, their entries and their right-hand sides are left out, with a warning."""
    text = model(rows=" N d\n L r", columns="    x c 1 d 5\n    x r 1", start="OBJNAME\n    d", rest="RHS\n    s c 3 d -2")
    parsed = parse_mps(text.encode(), "t.mps")
    assert (parsed.lp.c.tolist(), parsed.lp.offset, parsed.lp.row_names) == ([5], 2, ("r",))
    assert ["2 rows of type N" in w for w in parsed.warnings] == [True]


@pytest.mark.parametrize("section", ["RHS", "RANGES", "BOUNDS"])
def test_only_the_first_set_is_used(section: str) -> None:
    """Of several sets in a section the first one counts; the warning names line and set."""
    lines = {"RHS": "    a r 4\n    b r 9", "RANGES": "    a r 4\n    b r 9", "BOUNDS": " UP a x 4\n UP b x 9"}[section]
    parsed = parse_mps(model(rest=f"{section}\n{lines}").encode(), "t.mps")
    one = parse_mps(model(rest=f"{section}\n{lines.splitlines()[0]}").encode(), "t.mps")
    assert not differences(parsed.lp, one.lp)
    assert [w for w in parsed.warnings if "line 9" in w and "'b'" in w] == list(parsed.warnings)


def test_fixed_format_names_may_hold_blanks() -> None:
    """A file that only fixed format explains is read in it: names with blanks, blank set names, a comment behind $."""
    text = (
        "NAME\nROWS\n N  MY COST\n G  ROW 1\nCOLUMNS\n    COL A     MY COST            1.0   ROW 1              2.0\n"
        "    COL B     ROW 1              1.0   $ a comment\nRHS\n              ROW 1              4.0\n"
        "BOUNDS\n UP BND       COL A              3.0\nENDATA\n"
    )
    parsed = parse_mps(text.encode(), "t.mps")
    assert parsed.lp.col_names == ("COL A", "COL B")
    assert (parsed.lp.A.toarray().tolist(), parsed.lp.row_lower.tolist(), parsed.lp.col_upper.tolist()) == (
        [[2, 1]],
        [4],
        [3, INF],
    )
    assert len(parsed.warnings) == 1


def test_blank_column_name_continues_the_column_before() -> None:
    """GLPK's examples leave the name of the column blank after its first line."""
    parsed = parse_mps(model(columns="    x         c              1.0\n              r              2.0").encode(), "t.mps")
    assert parsed.lp.A.toarray().tolist() == [[2]]
    assert len(parsed.warnings) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"\n", b"\r\n"), (b"\n", b"\r"), (b"    ", b"\t"), (b"NAME", b"\xef\xbb\xbfNAME"), (b"NAME", b"* a\n\nNAME")],
)
def test_line_ends_marks_and_blanks_change_nothing(old: bytes, new: bytes) -> None:
    """Windows and old Mac line ends, a byte order mark, a missing last line end, tabs and comments leave the model as it is."""
    data = (FOLDER / "m40_max_dual_signs.mps").read_bytes()
    for changed in (data.replace(old, new), data.replace(old, new).rstrip()):
        assert same_reading(parse_mps(changed, "t.mps"), parse_mps(data, "t.mps"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "line 1: the file ends without ENDATA"),
        ("\xff\xfe", "ends without|unknown section"),
        (b"\xff\xfeN\x00A\x00", "UTF-16"),
        ("NAME t\nENDATA\n", "no ROWS section"),
        ("NAME t\n N c\n", "line 2: a line of data outside any section"),
        ("NAME\nSECTION\n", "line 2: an unknown section"),
        (model(rows=" X r"), "line 4: row type 'X'"),
        (model(rows=" L"), "line 4: 1 fields"),
        (model(rows=" L r\n L r"), "line 5: row 'r' is declared twice"),
        (model(columns="    x c"), "line 6: 2 fields"),
        (model(columns="    x c 1_0"), "line 6: '1_0' is not a number"),
        (model(columns="    x c nan"), "line 6: 'nan' is not a value"),
        (model(columns="    x c inf"), "line 6: 'inf' counts as infinite"),
        (model(columns="    x c 1e20"), "line 6: '1e20' counts as infinite"),
        (model(rest="RHS\n    s c 1e30"), "line 8: an infinite objective constant"),
        (model(columns="    x c 1e999"), "line 6: '1e999' does not fit"),
        (model(columns="    x c 9/10"), "line 6: '9/10' is not a number"),
        (model(columns="    x c 1\x00"), "line 6: the line holds a control character"),
        (model(columns="    x c 1 r 2\n    x r 3"), "line 7: column 'x' has two entries in row 'r'"),
        (model(columns="    s 'MARKER' 'SOSORG'"), "line 6: a special ordered set"),
        (model(rest="RHS\n    s ghost 1"), "line 8: row 'ghost' is not in the ROWS"),
        (model(rest="RHS\n    s r 1\n    s r 2"), "line 9: row 'r' has two different values"),
        (model(rest="RHS\n    s r -1e30"), "line 8: the right-hand side of row 'r' is infinite"),
        (model(rest="RHS s r 1"), "line 7: section RHS with 's r 1' behind it"),
        (model(rest="RANGES\n    s r 1\n    s r 2"), "line 9: row 'r' has two different values in section RANGES"),
        (model(rest="BOUNDS\n SC b x 1"), "line 8: bound type SC: a semicontinuous column"),
        (model(rest="BOUNDS\n XX b x 1"), "line 8: bound type 'XX'"),
        (model(rest="BOUNDS\n UP b x"), "line 8: column 'b' is not in the COLUMNS"),
        (model(rest="BOUNDS\n LO b x inf"), "line 8: a bound of column 'x' is infinite on the wrong side"),
        (model(start="OBJSENSE\n    MINIMAX"), "line 2: objective sense 'MINIMAX'"),
        (model(start="OBJSENSE"), "line 2: a new section, and section OBJSENSE of line 1 is empty"),
        (model(start="OBJNAME r"), "line 1: objective 'r' is no row of type N"),
        (model(rest="SOS\n S1 s"), "line 7: section SOS: special ordered sets"),
        (model(rest="INDICATORS\n IF r x 1"), "line 7: section INDICATORS: indicator constraints"),
    ],
)  # fmt: skip
def test_refusals_name_line_and_reason(text: str | bytes, part: str) -> None:
    """What is no linear program, or could be read in two ways, is refused in words that name the line."""
    assert re.search(part, refusal(text))


def test_warnings_tell_what_was_left_out() -> None:
    """Spellings that the reader mends, and text that it leaves out, are told, each kind once."""
    text = "name t\nROWS\n n c\nN d\nCOLUMNS\n    x c 1\nRANGES\n    s c 4\nENDATA\nmore\n"
    text = " \n".join(parse_mps(text.encode(), "t.mps").warnings)
    for part in ("'name' is read as NAME", "begins in column 1", "2 rows of type N", "ranges on rows of type N", "after ENDATA"):
        assert part in text


@pytest.mark.parametrize(
    "name", ["odd/glpk/alloy.mps", "odd/glpk/plan.mps", "odd/netlib_sif/FORPLAN.SIF.mps.gz", "odd/sokolinsky/lp_simple1.1.mps"]
)
def test_published_files_that_defeat_other_readers(data_dir: Path, name: str) -> None:
    """Files that HiGHS refuses, hangs on or misreads have the optimum that their authors state."""
    expected = {"alloy": 2149.247891, "plan": 296.2166065, "FORPLAN": -664.218961272, "lp_simple1": -40000.0}
    data = (data_dir / name).read_bytes()
    value = outcome(parse_mps(gzip.decompress(data) if name.endswith(".gz") else data, name).lp)
    assert value == pytest.approx(next(v for k, v in expected.items() if k in name), rel=1e-7)
