"""One small MPS file in many spellings: the optimal value of each, worked out by hand, or that it is refused."""

from __future__ import annotations

import pytest

from batchlp_cli.errors import ReadError
from batchlp_cli.files.mps import parse_mps
from tests.test_mps import outcome

HEAD = "ROWS\n N obj\n L c1\n G c2\n E c3\nCOLUMNS\n x obj 1 c1 1\n x c2 1\n y obj 2 c1 1\n y c3 1\n"
"""min x + 2 y, c1: x + y <= 4, c2: x >= 1, c3: y = 1 with the right-hand sides below, so 3 at (1, 1)."""
SIDES = "RHS\n r c1 4 c2 1\n r c3 1\n"
FIXED = """NAME          MY MODEL
ROWS
 N  MY COST
 L  ROW ONE
 G  ROW TWO
COLUMNS
    1 2 3     MY COST            1.0   ROW ONE            1.0
    1 2 3     ROW TWO            1.0
    4 5 6     MY COST            2.0   ROW TWO            1.0
RHS
    RHS 1     ROW ONE            4.0   ROW TWO            5.0
BOUNDS
 UP UP 2      1 2 3              3.0
ENDATA
"""
"""min u + 2 v, u <= 4, u + v >= 5, u <= 3: 7 at (3, 2)."""


def answer(text: str) -> float | str:
    """Returns the optimal value of a file, or what is wrong with it."""
    try:
        return outcome(parse_mps(text.encode(), "t.mps").lp)
    except ReadError as error:
        return "refused" if str(error).startswith("t.mps, line ") else str(error)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("OBJSENSE\n  MAX\n", 5.0),
        ("OBJSENSE MAXIMIZE\n", 5.0),
        ("OBJSENSE\tMAX\n", 5.0),
        ("OBJSENSE\nMAX\n", 5.0),
        ("objsense\n  maximum\n", 5.0),
        ("OBJSENSEMAX\n", 5.0),
        ("OBJSENSE\n  MAX  $ note\n", 5.0),
        ("OBJSENSE\n  MIN\n", 3.0),
        ("OBJSENSE MAX MIN\n", "refused"),
        ("OBJSENSE\n  BIGGEST\n", "refused"),
        ("OBJSENSE\n", "refused"),
    ],
)
def test_senses(words: str, value: float | str) -> None:
    """The sense in front of the rows and behind the last section is the same."""
    assert answer(f"NAME t\n{words}{HEAD}{SIDES}ENDATA\n") == value
    assert answer(f"NAME t\n{HEAD}{SIDES}{words}ENDATA\n") == value


@pytest.mark.parametrize(
    ("sides", "ranges", "value"),
    [
        (" r c1 4 c2 1\n r c3 2\n", " g c3 -2\n", 1.0),
        (" r c1 4 c2 1\n r c3 2\n", " g c3 2\n", 5.0),
        (" r c1 4 c2 1\n r c3 2\n", " g c3 0\n", 5.0),
        (" r c1 4 c2 1\n r c3 1\n", " g c1 1\n", 4.0),
        (" r c1 4 c2 1\n r c3 1\n", " g c1 -1\n", 4.0),
        (" r c1 4 c2 1\n r c3 1\n", " c1 1\n", 4.0),
        (" r c1 4 c2 1\n r c3 1\n", " g obj 7\n", 3.0),
        (" r c1 4 c2 1\n r c3 1\n", " g c1 1\n h c1 0\n", 4.0),
        (" r c1 4 c2 1\n r c3 1\n", " g c1 1\n g c1 2\n", "refused"),
        (" r c1 4 c2 1\n r c3 1\n", " g zz 1\n", "refused"),
        (" r obj -10 c1 4\n r c2 1 c3 1\n", " g c1 9\n", 13.0),
        (" c1 4 c2 1\n c3 1\n", " g c1 9\n", 3.0),
        (" r c1 4 c2 1\n r c3 1\n s c2 3\n", " g c1 9\n", 3.0),
        (" r c1 4 c2 1\n r c3 1\n r c2 2\n", " g c1 9\n", "refused"),
    ],
)
def test_sides_and_ranges_in_both_orders(sides: str, ranges: str, value: float | str) -> None:
    """Right-hand sides before ranges and behind them give the same."""
    for sections in (f"RHS\n{sides}RANGES\n{ranges}", f"RANGES\n{ranges}RHS\n{sides}"):
        assert answer(f"NAME t\n{HEAD}{sections}ENDATA\n") == value


@pytest.mark.parametrize(
    ("bounds", "value"),
    [
        ("", 2.0),
        (" FR b x", -7.0),
        (" FR x", -7.0),
        (" MI b x", -7.0),
        (" LO b x -5", -3.0),
        (" UP b x -3", -7.0),
        (" UP b x 0", 2.0),
        (" UP b x -3\n LO b x -5", -3.0),
        (" UP b x -3\n MI b x", -7.0),
        (" FX b x 1.5", 3.5),
        (" BV b x", 2.0),
        (" LI b x 2", 4.0),
        (" PL b x", 2.0),
        (" MI b x 0", -7.0),
        (" LO x 2", 4.0),
        (" LO b x 2", 4.0),
        ("LO b x 2", 4.0),
        ("\tLO\tb\tx\t2", 4.0),
        (" LO b x 1\n LO c x 2", 3.0),
        (" LO b x -1e30", -7.0),
        (" LO b x -Inf", -7.0),
        (" LO b x 3\n UP b x 2", "infeasible"),
        (" LO b x inf", "refused"),
        (" UP b x -1e30", "refused"),
        (" LO b z 1", "refused"),
        (" LO b x", "refused"),
        (" XX b x 1", "refused"),
        (" SC b x 3", "refused"),
        (" UP b x nan", "refused"),
    ],
)
def test_bounds(bounds: str, value: float | str) -> None:
    """With x >= -9 in its row, x costs 1, and y = 1 costs 2; x + y <= 4."""
    sides = "RHS\n r c1 4 c2 -9\n r c3 1\n"
    assert answer(f"NAME t\n{HEAD}{sides}BOUNDS\n{bounds}\nENDATA\n") == value


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("\n", "\r\n", 3.0),
        ("\n", "\r", 3.0),
        (" ", "\t", 3.0),
        ("NAME t\n", "", 3.0),
        ("NAME t", "NAME", 3.0),
        ("NAME t", "* c\n\nNAME t", 3.0),
        ("x c2 1", "x c2 1.0D0", 3.0),
        ("x c2 1", "x c2 +1.", 3.0),
        ("x c2 1", "x c2 1 $ note", 3.0),
        ("x c2 1", "x c2 1 note", "refused"),
        ("x c2 1", "x c2 1,0", "refused"),
        ("x c2 1", "x c2 0x1", "refused"),
        ("x c2 1", "x c2 1_0", "refused"),
        ("x c2 1", "x c2 1e400", "refused"),
        ("x c2 1", "x c2", "refused"),
        ("x c2 1", "x c9 1", "refused"),
        ("x c2 1\n", "x c2 1\n x c2 1\n", "refused"),
        (" E c3", " Q c3", "refused"),
        (" E c3", " E", "refused"),
        (" E c3", " E c3\n L c3", "refused"),
        ("ENDATA\n", "", "refused"),
        ("ENDATA", "SOS\n S1 s 1\nENDATA", "refused"),
        ("ENDATA", "QUADOBJ\n x x 2\nENDATA", "refused"),
        ("ENDATA", "GARBAGE\nENDATA", "refused"),
        ("ENDATA", "SOS\nENDATA", 3.0),
        (" y c3", "NAME c3", "refused"),
        (" y c3", "SOS c3", "refused"),
        (" y c3", "BRANCH c3", "refused"),
        (" y c3", "REFROW c3", "refused"),
        (" y c3", "OBJSENSEMAX c3", "refused"),
        (" y c3", "ENDATA c3", "refused"),
        ("ENDATA", "ENDATA\nmore", 3.0),
        ("ROWS", "REFROW\n c1\nROWS", 3.0),
        ("c1", "RHS", 3.0),
        ("x ", "COLUMNS ", 3.0),
        (" y", " ENDATA", 3.0),
        (" r ", " RHS ", 3.0),
        (" N obj\n", " N obj\n N other\n", 3.0),
        ("x c2 1", "x c2 1\x00", "refused"),
    ],
)
def test_spellings(old: str, new: str, value: float | str) -> None:
    """Line ends, blanks, comments, numbers, section words as names and sections of no LP."""
    assert answer(f"NAME t\n{HEAD}{SIDES}ENDATA\n".replace(old, new)) == value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("\n", "\r\n"),
        ("1 2 3", "A A 1"),
        ("MY COST", "1.0 2.0"),
        ("RHS 1", "     "),
        ("UP 2", "    "),
        ("MY MODEL", ""),
    ],
)
def test_fixed_names_with_blanks(old: str, new: str) -> None:
    """Fields in the columns of fixed format may hold blanks, look like numbers, or be missing where they name a set."""
    assert answer(FIXED.replace(old, new) if old else FIXED) == 7.0


def test_words_behind_column_61_are_left_out_with_a_warning() -> None:
    """Old files number their cards there; a field that crosses the end is refused."""
    parsed = parse_mps(FIXED.replace("ROW TWO            5.0", "ROW TWO            5.0           CARD 12").encode(), "t.mps")
    assert outcome(parsed.lp) == 7.0
    assert any("line 11: fixed format ends with column 61" in w for w in parsed.warnings)
    assert answer(FIXED.replace("ROW TWO            5.0", "ROW TWO            5.00000000000")) == "refused"
