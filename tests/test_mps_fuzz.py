"""The MPS reader's speed-ups against its careful self, files read as changes of others, mutated and hostile files."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.errors import ReadError
from batchlp_cli.files import mps, mps_columns
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.files.mps_assemble import ParsedModel
from batchlp_cli.files.mps_family import FamilyReader, parse_base, parse_related
from batchlp_cli.files.mps_keys import KeyTable, as_words
from batchlp_cli.files.mps_numbers import parse_numbers
from tests.mps_files import SEEDED, mps_files, oddly_spelt_files, same_reading


@given(st.one_of(mps_files(), oddly_spelt_files()))
def test_block_reader_equals_careful_reader(data: bytes) -> None:
    """Reading whole blocks gives bit for bit what reading line by line gives, warnings included."""
    assert same_reading(_read_with(data, 0), _read_with(data, 1 << 40))


def _read_with(data: bytes, small_bytes: int) -> ParsedModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mps, "SMALL_BYTES", small_bytes)
        return parse_mps(data, "t.mps")


@given(st.one_of(mps_files(), oddly_spelt_files()), st.integers(1, 400))
def test_block_size_changes_nothing(data: bytes, block_bytes: int) -> None:
    """Where a file is cut into blocks has no effect."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mps, "BLOCK_BYTES", block_bytes)
        parsed = parse_mps(data, "t.mps")
    assert same_reading(parsed, parse_mps(data, "t.mps"))


WRITTEN = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
    st.from_regex(r"[-+]?[0-9]{0,12}\.?[0-9]{1,4}", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{1,3}\.?[0-9]{0,17}[eE][-+]?[0-9]{1,3}", fullmatch=True).filter(lambda s: abs(float(s)) < math.inf),
    st.floats(1e-30, 1e30).map("{:.16e}".format),
    st.floats(-1e9, 1e9).map("{:.5E}".format),
)


@given(st.lists(WRITTEN, min_size=1, max_size=50))
def test_numbers_are_rounded_as_float_rounds(tokens: list[str]) -> None:
    """Numbers read many at once are bit for bit what Python's float gives, and a Fortran exponent is an exponent."""
    found = parse_numbers(as_words([t.encode() for t in tokens]))
    assert found.tobytes() == np.array([float(t) for t in tokens]).tobytes()
    fortran = parse_numbers(as_words([t.lower().replace("e", "d").encode() for t in tokens]))
    assert fortran.tobytes() == found.tobytes()


NAMES = st.text("ab\u00e9", min_size=1, max_size=20)


@given(st.lists(NAMES, unique=True, min_size=1), NAMES)
def test_key_table_finds_what_was_added(names: list[str], other: str) -> None:
    """The table numbers names in their order and finds no other one."""
    table = KeyTable()
    for name in names:
        table.add(as_words([name.encode()]))
    assert table.find(as_words([n.encode() for n in names])).tolist() == list(range(len(names)))
    assert table.find(as_words([other.encode()]))[0] == (names.index(other) if other in names else -1)


@pytest.mark.parametrize("data", [b"NAME\nROWS\n N " + b"c" * (3 << 20), b"NAME\n" + b"ROWS\n" * 5000, b" " * (4 << 20)])
def test_hostile_files_end_in_an_error(data: bytes) -> None:
    """A line of megabytes, thousands of headers and nothing but blanks are refused, with a short message."""
    with pytest.raises(ReadError) as caught:
        parse_mps(data, "t.mps")
    assert len(str(caught.value)) < 500


def test_many_empty_columns_take_linear_memory() -> None:
    """A hundred thousand columns that hold next to nothing are read, in the order of the file."""
    n = 100_000
    data = b"NAME\nROWS\n N c\nCOLUMNS\n" + b"".join(b" x%d c 1\n" % i for i in range(n)) + b"ENDATA\n"
    lp = parse_mps(data, "t.mps").lp
    assert (lp.n, lp.m, lp.col_names[-1], float(lp.c.sum())) == (n, 0, f"x{n - 1}", n)


def _reading(data: bytes) -> ParsedModel | str:
    """Returns what a file is read as, or the message with which it is refused."""
    try:
        return parse_mps(data, "t.mps")
    except ReadError as error:
        return str(error)


def _by_blocks_and_lines(data: bytes) -> list[ParsedModel | str]:
    """Returns what the block reader and the careful one make of a file."""
    readings = []
    for small_bytes in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mps, "SMALL_BYTES", small_bytes)
            readings.append(_reading(data))
    return readings


def _agree(a: ParsedModel | str, b: ParsedModel | str) -> bool:
    return a == b if isinstance(a, str) or isinstance(b, str) else same_reading(a, b)


def mutated(data: bytes, seed: int) -> bytes:
    """Returns a file with a few lines changed: another number, another field, a line gone, doubled, or moved, a damaged byte."""
    rng = random.Random(seed)
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 5))):
        i = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind < 4:
            numbers = list(re.finditer(rb"(?<=\s)[-+.0-9][-+.0-9eED]*", lines[i]))
            if numbers:
                found = rng.choice(numbers)
                new = rng.choice((b"7", b"-7", b"1.25", b"-3e2", b"1D1", b"1e400", b"nan", b"inf", b"-1e30", b"5 6", b"0"))
                lines[i] = lines[i][: found.start()] + new + lines[i][found.end() :]
        elif kind == 4:
            lines.insert(rng.randrange(len(lines)), lines[i])
        elif kind == 5:
            lines.insert(rng.randrange(len(lines)), lines.pop(i))
        elif kind == 6:
            fields = lines[i].split(b" ")
            rng.shuffle(fields)
            lines[i] = b" ".join(fields)
        elif lines[i]:
            at = rng.randrange(len(lines[i]))
            lines[i] = lines[i][:at] + bytes([rng.randrange(256)]) + lines[i][at + 1 :]
    return b"\n".join(lines)


@given(mps_files(columns=30), st.integers(0, SEEDED))
def test_mutated_file_is_read_alike_by_blocks_and_lines(data: bytes, seed: int) -> None:
    """A damaged file gets the same model, warnings and refusals from the block reader and from the careful one."""
    data = mutated(data, seed)
    assert _agree(*_by_blocks_and_lines(data))


HEAD = b"NAME t\nROWS\n N c\n L r\nCOLUMNS\n x c 1 r 1\n y c 2\n"
FOUND = (
    HEAD + b"RHS\n s\xffs r 4\nENDATA\n",
    HEAD + b"RANGES\n \xe4 r 4\nENDATA\n",
    HEAD + b"BOUNDS\n UP \xff x 4\n UP \\xff y 4\nENDATA\n",
    HEAD + b" m 'MARKER' 'INTORG'\n y r 3\n z c 1\n m 'MARKER' 'INTEND'\n z r 2\nENDATA\n",
    HEAD + b" m 'MARKER' 'INTORG'\n m 'MARKER' 'INTEND'\n x r 2\nENDATA\n",
)
"""Files that scripts/fuzz_read.py found to be read in two ways."""


@pytest.mark.parametrize("data", FOUND)
def test_found_files_are_read_alike(data: bytes) -> None:
    """Names of sets that are no UTF-8 and markers amid a column mean the same to the block reader and to the careful one."""
    assert _agree(*_by_blocks_and_lines(data))


def test_second_cost_behind_a_marker_is_refused_as_in_full() -> None:
    """A column with a marker amid its entries warns and is no base, so a second cost in another file does not pass."""
    text = HEAD + b" m 'MARKER' 'INTORG'\n y r 3\nENDATA\n"
    parsed, base = parse_base(text, "t.mps")
    assert (base, parsed.lp.integer.tolist(), len(parsed.warnings)) == (None, [False, False], 1)
    with pytest.raises(ReadError, match="line 9: column 'y' has two entries in row 'c'"):
        parse_mps(text.replace(b" y r 3", b" y c 5 r 3"), "t.mps")


@given(mps_files(columns=30), st.integers(0, SEEDED))
def test_related_file_is_read_as_in_full(data: bytes, seed: int) -> None:
    """What is read as a change of another file equals the full reading, warnings included; a refused file is never read so."""
    _, base = parse_base(data, "t.mps")
    other = mutated(data, seed)
    full = _reading(other)
    related = None if base is None else parse_related(base, other, "t.mps")
    if related is not None:
        assert _agree(related, full)


def columns_of(data: bytes) -> tuple[int, int]:
    """Returns where the section COLUMNS begins and ends."""
    begin = data.index(b"COLUMNS")
    return begin, min(data.index(word, begin) for word in (b"\nRHS", b"\nRANGES", b"\nBOUNDS"))


def with_costs(data: bytes, seed: int) -> bytes:
    """Returns a file with another number in every cost, of any length and spelling."""
    rng = random.Random(seed)
    spelt = (
        lambda: repr(rng.uniform(-1e3, 1e3)),
        lambda: str(rng.randrange(-9, 9)),
        lambda: f"{rng.random():.3E}",
        lambda: "1D2",
    )
    begin, end = columns_of(data)
    columns = re.sub(rb"(?<=cost  )\S+", lambda _: rng.choice(spelt)().encode(), data[begin:end])
    return data[:begin] + columns + data[end:]


@given(mps_files(columns=30), st.integers(0, SEEDED))
def test_file_of_a_known_family_is_read_as_in_full(data: bytes, seed: int) -> None:
    """Where earlier files have shown which costs change, further ones, mutated or not, are read as the full reading does."""
    _, base = parse_base(data, "t.mps")
    if base is None:
        return
    for number in range(3):
        other = with_costs(data, seed + number)
        related = parse_related(base, other, "t.mps")
        assert related is not None
        assert _agree(related, parse_mps(other, "t.mps"))
        damaged = mutated(other, seed + number)
        related = parse_related(base, damaged, "t.mps")
        if related is not None:
            assert _agree(related, _reading(damaged))


def test_costs_of_a_known_family_are_read_where_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third file of a family is read without looking for changed lines, also where the second changed fewer costs."""
    columns = "".join(f" x{j} c {j}.5 r 1\n" for j in range(40))
    text = f"NAME t\nROWS\n N c\n L r\nCOLUMNS\n{columns}RHS\n b r 4\nENDATA\n"
    _, base = parse_base(text.encode(), "0.mps")
    assert base is not None
    for changed in (range(0, 20), range(10, 30)):
        other = text
        for j in changed:
            other = other.replace(f"c {j}.5 ", f"c {j / 7!r} ")
        assert parse_related(base, other.encode(), "1.mps") is not None
    monkeypatch.setattr(mps_columns, "changed_lines", None)  # whoever looks for changed lines now fails
    other = text.replace("NAME t", "NAME u").replace("c 0.5", "c -12345.678901234567").replace("c 29.5", "c 1e-5")
    related = parse_related(base, other.encode(), "2.mps")
    assert related is not None
    assert (related.lp.name, related.lp.c[0], related.lp.c[29], related.lp.c[39]) == ("u", -12345.678901234567, 1e-5, 39.5)
    assert same_reading(related, parse_mps(other.encode(), "2.mps"))


def with_entries(data: bytes, seed: int, share: float = 0.1) -> bytes:
    """Returns a file in which costs come and go, entries get other values, and lines hold one entry or two; a `share` of the
    columns change. Now and then an entry comes twice, a column moves, or one has no entry any more."""
    rng = random.Random(seed)
    begin, end = columns_of(data)
    head, lines = data[: begin + 8], data[begin + 8 : end].split(b"\n")
    blocks: list[tuple[bytes, list[bytes]]] = []  # a column, and its entries
    for line in lines:
        name, *fields = line.split()
        if not blocks or blocks[-1][0] != name:
            blocks.append((name, []))
        blocks[-1][1].extend(b" ".join(fields[k : k + 2]) for k in range(0, len(fields), 2))
    packed = 2 if rng.random() < 0.9 else 1
    text = []
    for name, pairs in blocks:
        if name != b"M" and rng.random() < share:
            if rng.random() < 0.7:
                pairs = [p for p in pairs if not p.startswith(b"cost ")] or pairs
            if rng.random() < 0.7:
                pairs.insert(rng.randrange(2) * len(pairs), b"cost %d" % rng.randrange(-5, 5))
            if rng.random() < 0.5:
                at = rng.randrange(len(pairs))
                pairs[at] = pairs[at].split()[0] + b" %d.5" % rng.randrange(-5, 5)
            if rng.random() < 0.1:
                pairs.append(rng.choice(pairs))
            if rng.random() < 0.05:
                pairs = []
        step = packed if rng.random() < 0.9 else 3 - packed
        text.append([b"    %s  %s" % (name, b"   ".join(pairs[k : k + step])) for k in range(0, len(pairs), step)])
    if rng.random() < 0.1:
        text.insert(rng.randrange(len(text)), text.pop(rng.randrange(len(text))))
    return head + b"\n".join(line for block in text for line in block) + data[end:]


@given(mps_files(columns=60), st.integers(0, SEEDED))
def test_file_whose_costs_come_and_go_is_read_as_in_full(data: bytes, seed: int) -> None:
    """Costs that appear or vanish, values that change and lines cut elsewhere give what the full reading gives."""
    data = with_entries(data, seed, share=0.0)
    _, base = parse_base(data, "t.mps")
    if base is None:
        return
    for number in range(4):
        other = with_entries(data, seed + number)
        related = parse_related(base, other, "t.mps")
        if related is not None:
            assert _agree(related, _reading(other))
        damaged = mutated(other, seed + number)
        related = parse_related(base, damaged, "t.mps")
        if related is not None:
            assert _agree(related, _reading(damaged))


def test_one_cost_a_file_is_read_as_a_change() -> None:
    """Files that each have the cost of another column, two entries a line, share matrix and names."""
    reader = FamilyReader()
    texts = []
    for chosen in range(30):
        lines = ["NAME t", "ROWS", " N c", *(f" L r{i}" for i in range(5)), "COLUMNS", " M 'MARKER' 'INTORG'"]
        for j in range(60):
            pairs = [*(["c 1"] if j == 2 * chosen else []), *(f"r{i} {i + j + 1}.25" for i in range(5) if (i + j) % 3)]
            lines += [f" x{j} {' '.join(pairs[k : k + 2])}" for k in range(0, len(pairs), 2)]
        texts.append("\n".join([*lines, " M 'MARKER' 'INTEND'", "RHS", " RHS r0 4", "ENDATA", ""]).encode())
    first, *others = [reader.read(text, "t.mps") for text in texts]
    for parsed, text in zip(others, texts[1:], strict=True):
        assert parsed.related
        assert parsed.lp.A is first.lp.A
        assert same_reading(parsed, parse_mps(text, "t.mps"))


def test_values_of_coefficients_are_read_as_changes() -> None:
    """Files that differ in values of the matrix share names and pattern; one that vanishes, or comes, is read in full."""
    text = "NAME t\nROWS\n N c\n N d\n L r\n G s\nCOLUMNS\n x c 1 r 1\n x d 5\n y c 2 s 1\n z r 0 s 3\nRHS\n b r 4\nENDATA\n"
    parsed, base = parse_base(text.encode(), "0.mps")
    assert base is not None
    for old, new, kept in (
        ("r 1\n", "r 2\n", True),
        ("s 1\n", "s -1.5e3\n", True),
        ("x c 1 r 1\n x d 5\n", "x r 1\n x c 7 d 6\n", True),
        ("s 1\n", "s 0\n", False),
        ("r 0 ", "r 1 ", False),
        ("s 1\n", "s 1e20\n", False),
    ):
        data = text.replace(old, new).encode()
        related = parse_related(base, data, "0.mps")
        assert (related is not None) is kept
        if related is not None:
            assert same_reading(related, parse_mps(data, "0.mps"))
            assert related.lp.col_names is parsed.lp.col_names


def test_numbers_of_sides_bounds_and_costs_are_read_as_changes() -> None:
    """Files that differ in the name, right-hand sides, ranges, bounds (even in their number) and costs share matrix and names."""
    head = "* made by hand\nNAME first\nROWS\n N c\n L r\n G s\nCOLUMNS\n    x c 1 r 1\n    y c 2 s 1\nRHS\n    b r 4\n"
    base = head + "BOUNDS\n UP b x 4\nENDATA\n"
    reader = FamilyReader()
    first = reader.read(base.encode(), "0.mps")
    for old, new in (
        ("NAME first", "NAME second"),
        ("b r 4", "b r -12.5"),
        ("b r 4", "b r 4 c 3"),
        ("x c 1 r", "x c 1.75 r"),
        (" UP b x 4\n", " FX b x 4\n UP b y 9\n"),
        ("BOUNDS\n UP b x 4\n", ""),
        ("BOUNDS", "RANGES\n    b r 2\nBOUNDS"),
        ("* made by hand\n", "* made\n* by hand\n"),
    ):
        data = base.replace(old, new).encode()
        parsed = reader.read(data, "1.mps")
        assert parsed.related
        assert parsed.lp.A is first.lp.A
        assert parsed.lp.col_names is first.lp.col_names
        assert same_reading(parsed, parse_mps(data, "1.mps"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("L r", "G r"),
        ("x c 1", "z c 1"),
        ("y c 2 s 1", "y c 2 r 1"),
        ("y c 2 s 1", "y c 2 s 1 c 2"),
        ("    x c 1 r 1\n", "*   x c 1 r 1\n"),
        ("    x c 1 r 1\n    y c 2 s 1\n", "    y c 2 s 1\n    x c 1 r 1\n"),
        ("ENDATA", ""),
        ("RHS", "\x0eS"),
        ("RHS", "ENDATA\nRHS"),
    ],
)
def test_other_differences_are_read_in_full(old: str, new: str) -> None:
    """A place in the matrix, a type or a name that differs, or a file cut short, is never read as a change."""
    text = "NAME t\nROWS\n N c\n L r\n G s\nCOLUMNS\n    x c 1 r 1\n    y c 2 s 1\nRHS\n    b r 4\nENDATA\n"
    _, base = parse_base(text.encode(), "0.mps")
    assert base is not None
    assert parse_related(base, text.encode(), "1.mps") is not None
    assert parse_related(base, text.replace(old, new).encode(), "1.mps") is None
