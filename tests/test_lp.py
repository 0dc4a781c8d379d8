"""LP files: every small nasty file has its right answer, and what HiGHS' reader refuses or misreads is mended or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.batch import Changes
from batchlp_cli.files.inputs import Compression, ModelFormat
from batchlp_cli.files.lp_mend import mend
from batchlp_cli.files.read import ModelReader, ReadOutcome, ReadRequest
from batchlp_cli.settings import SolveSettings
from batchlp_cli.status import Status

FILES = Path(__file__).parent / "data" / "lp"
ERROR, INFEASIBLE = "error", "infeasible"
ANSWERS: dict[str, float | str] = {
    "l01_objective_constant": 19.0,
    "l03_constant_on_lhs": 3.0,
    "l04_var_on_rhs": ERROR,
    "l06_range_rows": 13.0,
    "l07_range_label_R": 3.0,
    "l09_multiline": 9.0,
    "l10_long_line": 12.0,
    "l12_section_synonyms": 7.0,
    "l13_such_that": 7.0,
    "l15_quadratic_objective": ERROR,
    "l16_semicontinuous": ERROR,
    "l18_neg_upper_bound": INFEASIBLE,
    "l19_bound_forms": 2.0,
    "l21_missing_end": ERROR,
    "l22_operator_variants": 1.0,
    "l24_lpsolve_dialect": ERROR,
    "l25_implication": ERROR,
    "l27_special_chars": 6.0,
    "l28_coef_forms": 31.0,
    "l30_generals_relax": 7.5,
    "l31_binary_bounds_order": 5.0,
    "l33_crlf": 19.0,
    "l34_garbage": ERROR,
    "l36_lazy_section": ERROR,
    "l37_utf8_names": 3.0,
    "l39_three_bounds_conflict": 1.0,
    "l40_section_word_same_line": ERROR,
    "l42_rhs_first": 3.0,
    "l43_dot_after_number": 6.0,
    "n01_transport8": 424.0,
    "n02_badly_scaled": 7.000003,
    "n04_degenerate_face": 3.0,
    "n05_big_offset": 1000005.0,
}


@pytest.fixture(scope="module")
def reader() -> Iterator[ModelReader]:
    """One reader for all tests of this file."""
    with ModelReader(SolveSettings(jobs=1)) as reader:
        yield reader


def read(reader: ModelReader, text: bytes) -> ReadOutcome:
    """Reads an LP file from its bytes."""
    (outcome,) = reader.read([ReadRequest(0, None, text, ModelFormat.LP, Compression.NONE, "model.lp")])
    return outcome


def test_every_file_has_an_answer() -> None:
    """No file of the folder is left out."""
    assert {f.stem for f in FILES.glob("*.lp")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_small_nasty_files(reader: ModelReader, name: str) -> None:
    """Each file gives its right value, or an error that names the line; never a wrong value in silence."""
    outcome, wanted = read(reader, (FILES / f"{name}.lp").read_bytes()), ANSWERS[name]
    if wanted == ERROR:
        assert outcome.lp is None
        assert outcome.error.startswith("model.lp:")
        assert outcome.error.removeprefix("model.lp:")[0].isdigit()
        return
    assert outcome.lp is not None, outcome.error
    found = Session(outcome.lp).solve(Changes(), Mode.COLD, SolveSettings())
    if wanted == INFEASIBLE:
        assert found.status is Status.INFEASIBLE
        assert outcome.warnings
        return
    assert found.x is not None
    assert outcome.lp.sign * (outcome.lp.c @ found.x + outcome.lp.offset) == pytest.approx(wanted)


def test_what_is_mended_is_said(reader: ModelReader) -> None:
    """A constant that was moved is a warning with its line; comments and the other rows stay as they are."""
    text = b"min\n obj: x\nst\n \\ 1 <= y <= 2 is a comment\n c1: x + 2 y >= 1\n c2: 2 x - 3 + y - 1 <= 6\n c3: 1 <= y\nend\n"
    outcome = read(reader, text)
    assert outcome.lp is not None, outcome.error
    assert outcome.warnings == ("line 6: the constant -4 on the left is moved to the right-hand side",)
    assert outcome.lp.row_names == ("c1", "c2", "c3")
    assert outcome.lp.row_upper.tolist() == [np.inf, 10.0, np.inf]
    assert outcome.lp.row_lower.tolist() == [1.0, -np.inf, 1.0]


@pytest.mark.parametrize(
    "row",
    [
        "c: 1 <= x >= 2",
        "c: 1 <= x + 2 <= y",
        "c: 1 = x = 2",
        "c: x <= y",
        "c: 3 <= 4",
        "c: 1 <= x y <= 3 3",
        "c: 2 <= 3 4 x <= 5",
    ],
)
def test_what_is_in_doubt_is_refused(reader: ModelReader, row: str) -> None:
    """A row that could be meant in two ways is an error in HiGHS' words, never a guess."""
    outcome = read(reader, f"min\n obj: x + y\nst\n {row}\nend\n".encode())
    assert outcome.lp is None
    assert outcome.error.startswith("model.lp")


@pytest.mark.parametrize("terms", ["2 (x + y)", "(x) + y", "x + inf", "x - infinity", "x + NaN", "x;", "x\u00a0+ y"])
def test_what_is_no_name_is_refused(reader: ModelReader, terms: str) -> None:
    """What HiGHS would take for columns of odd names is an error with its line, never a model with other columns."""
    outcome = read(reader, f"min\n obj: {terms}\nst\n c1: x >= 1\nend\n".encode())
    assert outcome.lp is None
    assert outcome.error.startswith("model.lp:2: ")


@pytest.mark.parametrize("term", ["2D+3", "2.5d0", "1d3", "0x10", ".5Q", "1e+"])
def test_exponents_of_other_languages_are_refused(reader: ModelReader, term: str) -> None:
    """A name that stands nowhere but glued to a number is an error with its line, never a new column."""
    text = f"min\n obj: x + y\nst\n d1: x + y >= 1 \\ D d0 d3 x10 Q\n D: {term} + y >= 1\nend\n"
    outcome = read(reader, text.encode())
    assert outcome.lp is None
    assert outcome.error.startswith("model.lp:5: ")
    assert "behind a number" in outcome.error


def test_names_like_exponents_are_names(reader: ModelReader) -> None:
    """A name of the same shape that stands alone somewhere is a column, and so is any other name behind a number."""
    outcome = read(reader, b"min\n obj: 2d3 + 3y + 0x1\nst\n c1: d3 + 2y >= 1\n c2: x1 + 4d3 >= 1\nend\n")
    assert outcome.lp is not None, outcome.error
    assert (outcome.lp.col_names, outcome.lp.c.tolist()) == (("d3", "y", "x1"), [2.0, 3.0, 0.0])
    assert not outcome.warnings


@pytest.mark.parametrize("section", ["bounds\n z <= 4", "general\n z", "binaries\n z", "bounds\n -1 <= z <= 4"])
def test_column_that_no_row_names_is_said(reader: ModelReader, section: str) -> None:
    """A name that only bounds or integer sections have is a new column for HiGHS; a warning says so with the line."""
    outcome = read(reader, f"min\n obj: x\nst\n c1: x + 0 w + 0y >= 1 \\ z\n{section}\nend\n".encode())
    assert outcome.lp is not None, outcome.error
    assert outcome.lp.col_names == ("x", "w", "y", "z")
    assert outcome.warnings == ("line 6: column z stands in no row and not in the objective",)


def test_rows_of_one_name_are_said(reader: ModelReader) -> None:
    """Both rows are there, and a warning names them."""
    outcome = read(reader, b"min\n obj: x\nst\n c1: x >= 1\n c1: x >= 2\n x >= 0\n 2 x >= 0\nend\n")
    assert outcome.lp is not None, outcome.error
    assert (outcome.lp.m, outcome.warnings) == (4, ("two rows are called c1; both are kept",))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (2, "min\n obj: x + 1e20\nst\n c1: x >= 1\nend\n"),
        (2, "max\n obj: x - 1e30\nst\n c1: x >= 1\nend\n"),
        (3, "min\n obj: x\n + 1e20 y\nst\n c1: x >= 1\nend\n"),
        (5, "min\n obj: x\nst\n c1: x >= 1\n c2: x + 1e15 y >= 1\nend\n"),
        (6, "min\n obj: x\nst\n c1: x >= 1\nbounds\n x >= inf\nend\n"),
        (7, "min\n obj: x\nst\n c1: x >= 1\nbounds\n y <= 3\n x <= -inf\nend\n"),
        (5, "min\n obj: x\nst\n c1: x >= 1\n c2: x >= inf\nend\n"),
        (5, "min\n obj: x\nst\n c1: x >= 1\n 5 >= 3\nend\n"),
    ],
)
def test_numbers_without_a_meaning_are_refused(reader: ModelReader, line: int, text: str) -> None:
    """An infinite cost, coefficient, constant, bound on the wrong side, or a row without a column is an error with its line."""
    outcome = read(reader, text.encode())
    assert outcome.lp is None
    assert outcome.error.startswith(f"model.lp:{line}: ")


def test_constraints_may_be_empty(reader: ModelReader) -> None:
    """A file with bounds and no constraints is a model without rows."""
    outcome = read(reader, b"min\n obj: x\nsubject to\nbounds\n x >= 3\nend\n")
    assert outcome.lp is not None, outcome.error
    assert (outcome.lp.m, outcome.lp.col_lower.tolist()) == (0, [3.0])


numbers = st.integers(-9, 9)


@given(
    st.lists(st.tuples(numbers, numbers, numbers, numbers, st.sampled_from(["plain", "flipped", "both", "constant"])), min_size=1)
)
def test_mended_text_says_what_was_written(rows: list[tuple[int, int, int, int, str]]) -> None:
    """For any mix of rows, the mended text and its sides give each row the bounds that its writing means."""
    lines: list[str] = []
    sides: list[tuple[int, int | None]] = []
    for a, b, low, constant, kind in rows:
        terms = f"{'-' if a < 0 else '+'} {abs(a)} x {'-' if b < 0 else '+'} {abs(b)} y"
        if kind == "plain":
            lines.append(f"{terms} >= {low}")
            sides.append((low, None))
        elif kind == "flipped":
            lines.append(f"{low} <= {terms}")
            sides.append((low, None))
        elif kind == "both":
            lines.append(f"{low} <= {terms} <= {low + 3}")
            sides.append((low, low + 3))
        else:
            lines.append(f"{terms} {'-' if constant < 0 else '+'} {abs(constant)} >= {low}" if constant else f"{terms} >= {low}")
            sides.append((low - constant, None))
    body = "".join(f" r{k}: {line}\n" for k, line in enumerate(lines))
    mended = mend(f"min\n obj: x + y\nst\n{body}bounds\n x <= 4\nend\n")
    assert (mended is None) == all(kind == "plain" or (kind == "constant" and not c) for _, _, _, c, kind in rows)
    text = mended.text if mended else f"min\n obj: x + y\nst\n{body}"
    written = [line.split(":")[1] for line in text.splitlines() if line.strip().startswith("r")]
    assert len(written) == len(rows)
    for k, (line, (low, high)) in enumerate(zip(written, sides, strict=True)):
        operator, side = line.split()[-2:]
        assert (operator, float(side)) == (">=", low)
        if high is not None:
            assert mended is not None
            assert mended.sides[k] == (low, high)
