"""MPS text reads back, with HiGHS, as the very same numbers, or is refused in words."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import highspy
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.errors import ModelError
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.problem import LinearProgram, Vector
from tests.known import KNOWN, KnownLP, make_lp

INF = float("inf")
VALUES = st.one_of(st.integers(-50, 50).map(float), st.floats(1e-6, 1e6), st.floats(-1e6, -1e-6))
ONE = [(0.0, INF)]


def read_back(text: str) -> LinearProgram:
    """Returns what HiGHS reads, stored for minimisation."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mps"
        path.write_text(text, encoding="utf-8")
        assert solver.readModel(str(path)) != highspy.HighsStatus.kError
    lp = solver.getLp()
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    matrix = sp.csc_array((lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_), shape=(lp.num_row_, lp.num_col_))
    kinds = list(lp.integrality_) or [highspy.HighsVarType.kContinuous] * lp.num_col_
    return LinearProgram(
        name=lp.model_name_,
        c=sign * np.array(lp.col_cost_, dtype=np.float64),
        A=matrix.tocsr(),
        row_lower=np.array(lp.row_lower_, dtype=np.float64),
        row_upper=np.array(lp.row_upper_, dtype=np.float64),
        col_lower=np.array(lp.col_lower_, dtype=np.float64),
        col_upper=np.array(lp.col_upper_, dtype=np.float64),
        offset=sign * lp.offset_,
        maximize=sign < 0,
        integer=np.array([kind == highspy.HighsVarType.kInteger for kind in kinds], dtype=np.bool_),
        row_names=tuple(lp.row_names_),
        col_names=tuple(lp.col_names_),
    )


def assert_same(lp: LinearProgram, back: LinearProgram) -> None:
    """Fails unless all but the sides of ranges is equal to the last bit, names included."""
    assert np.array_equal(lp.c, back.c)
    assert lp.A.shape == back.A.shape
    assert np.array_equal(lp.A.toarray(), back.A.toarray())
    for name in ("col_lower", "col_upper", "integer"):
        assert np.array_equal(getattr(lp, name), getattr(back, name)), name
    assert (lp.offset, lp.maximize) == (back.offset, back.maximize)
    assert back.row_names == tuple(map(lp.row_name, range(lp.m)))
    assert back.col_names == tuple(map(lp.col_name, range(lp.n)))
    ranges = np.isfinite(lp.row_lower) & np.isfinite(lp.row_upper)
    for ours, theirs in ((lp.row_lower, back.row_lower), (lp.row_upper, back.row_upper)):
        assert np.array_equal(ours[~ranges], theirs[~ranges])
        assert (np.abs(ours[ranges] - theirs[ranges]) <= 2 * np.spacing(np.abs(ours[ranges]))).all()


def intervals(draw: st.DrawFn, count: int) -> tuple[Vector, Vector]:
    """Draws sides of every kind: free, one-sided, two-sided, equal."""
    pairs = [sorted((draw(VALUES), draw(VALUES))) for _ in range(count)]
    kinds = [draw(st.sampled_from(("free", "lower", "upper", "both", "equal", "positive"))) for _ in range(count)]
    lower = [{"free": -INF, "upper": -INF, "positive": 0.0}.get(kind, low) for kind, (low, _) in zip(kinds, pairs, strict=True)]
    upper = [
        INF if kind in ("free", "lower", "positive") else low if kind == "equal" else high
        for kind, (low, high) in zip(kinds, pairs, strict=True)
    ]
    return np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    """Draws LPs with empty rows and columns, integer runs, both senses, and with names or without."""
    m, n = draw(st.integers(0, 4)), draw(st.integers(1, 5))
    entry = st.one_of(st.just(0.0), VALUES)
    A = np.array(draw(st.lists(entry, min_size=m * n, max_size=m * n)), dtype=np.float64).reshape(m, n)
    named = draw(st.booleans())
    return LinearProgram(
        "drawn",
        np.array(draw(st.lists(entry, min_size=n, max_size=n)), dtype=np.float64),
        sp.csr_array(A),
        *intervals(draw, m),
        *intervals(draw, n),
        offset=draw(entry),
        maximize=draw(st.booleans()),
        integer=np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=np.bool_),
        row_names=tuple(f"row({i}),ü" for i in range(m)) if named else (),
        col_names=tuple(f"obj{j}" for j in range(n)) if named else (),
    )


@given(programs())
def test_text_reads_back_as_the_same_lp(lp: LinearProgram) -> None:
    """Costs, matrix, sides, bounds, offset, sense, integer marks and names survive; ranges within their last places."""
    assert_same(lp, read_back(write_mps(lp)))


@pytest.mark.parametrize("known", [k for k in KNOWN if "crossing_rows" not in k.lp.name], ids=lambda k: k.lp.name)
def test_known_lps_read_back(known: KnownLP) -> None:
    """All known LPs survive, crossing bounds, empty rows and models without rows or columns among them, ranges exactly."""
    back = read_back(write_mps(known.lp))
    assert_same(known.lp, back)
    assert np.array_equal(known.lp.row_lower, back.row_lower)
    assert np.array_equal(known.lp.row_upper, back.row_upper)


@given(programs())
def test_our_own_reader_agrees(lp: LinearProgram) -> None:
    """What is written reads back through our own reader as the same LP."""
    assert_same(lp, parse_mps(write_mps(lp).encode(), lp.name).lp)


@given(VALUES, VALUES)
def test_range_keeps_its_smaller_side_exactly(one: float, other: float) -> None:
    """Of two finite sides, the one that is smaller in magnitude reads back exactly, and the other too if the signs agree."""
    lower, upper = min(one, other), max(one, other)
    back = read_back(write_mps(make_lp("range", [1.0], [((lower, upper), [1.0])], ONE)))
    low_exact, up_exact = back.row_lower[0] == lower, back.row_upper[0] == upper
    assert low_exact if abs(lower) <= abs(upper) else up_exact
    if lower * upper >= 0:
        assert low_exact
        assert up_exact


def test_maximum_is_written_as_the_user_wrote_it() -> None:
    """max 2 x + 10, stored as min -2 x - 10, is written with cost 2 and the constant as right-hand side -10."""
    text = write_mps(replace(make_lp("most", [-2.0], [((-INF, 4.0), [1.0])], ONE), maximize=True, offset=-10.0))
    assert "OBJSENSE\n MAX\n" in text
    assert " C1 obj 2 R1 1\n" in text
    assert " RHS obj -10\n" in text


def test_objective_has_a_name_of_its_own() -> None:
    """A row called obj keeps its name, since the objective takes another."""
    lp = replace(make_lp("two", [3.0], [((1.0, INF), [2.0])], ONE), row_names=("obj",))
    assert_same(lp, read_back(write_mps(lp)))


def test_model_name_is_one_word() -> None:
    """A blank or a line break in the model's name cannot begin a section."""
    lp = replace(make_lp("two", [3.0], [((1.0, INF), [2.0])], ONE), name="my model\nROWS")
    assert write_mps(lp).splitlines()[0] == "NAME my_model_ROWS"
    assert_same(lp, read_back(write_mps(lp)))


@pytest.mark.parametrize("name", ["two words", "", "$x", "*x", "tab\tbed", "'MARKER'"])
def test_names_that_mps_cannot_hold_are_refused(name: str) -> None:
    """The message shows the name and what to do; nothing is renamed in silence."""
    lp = make_lp("names", [1.0], [((1.0, INF), [1.0])], ONE)
    with pytest.raises(ModelError, match=r"column name.*rename"):
        write_mps(replace(lp, col_names=(name,)))
    with pytest.raises(ModelError, match=r"row name.*rename"):
        write_mps(replace(lp, row_names=(name,)))


def test_two_columns_of_one_name_are_refused() -> None:
    """A reader would make one column of them."""
    lp = make_lp("twins", [1.0, 1.0], [((1.0, INF), [1.0, 1.0])], ONE * 2)
    with pytest.raises(ModelError, match="two columns are called 'x'"):
        write_mps(replace(lp, col_names=("x", "x")))


@pytest.mark.parametrize("sides", [(2.0, 1.0), (INF, INF), (-INF, -INF)])
def test_rows_that_mps_cannot_say_are_refused(sides: tuple[float, float]) -> None:
    """Crossing sides and infinities on the wrong side have no spelling in MPS; the message names the row."""
    with pytest.raises(ModelError, match="row R1"):
        write_mps(make_lp("rows", [1.0], [(sides, [1.0])], ONE))


@pytest.mark.parametrize("bounds", [(INF, INF), (-INF, -INF)])
def test_infinite_bounds_on_the_wrong_side_are_refused(bounds: tuple[float, float]) -> None:
    """The message names the column."""
    with pytest.raises(ModelError, match="column C1"):
        write_mps(make_lp("bounds", [1.0], [((1.0, 2.0), [1.0])], [bounds]))
