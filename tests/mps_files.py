"""Small MPS files for tests: a random model written line by line, and comparison of two readings."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import strategies as st

from batchlp_cli.files.mps_assemble import ParsedModel
from batchlp_cli.problem import LinearProgram

SEEDED = 10_000


def differences(a: LinearProgram, b: LinearProgram) -> list[str]:
    """Returns the names of the parts in which two linear programs differ, bit for bit."""
    found = [k for k in ("name", "offset", "maximize", "row_names", "col_names") if getattr(a, k) != getattr(b, k)]
    for k in ("c", "row_lower", "row_upper", "col_lower", "col_upper", "integer"):
        if getattr(a, k).tobytes() != getattr(b, k).tobytes():
            found.append(k)
    same = a.A.shape == b.A.shape and all(np.array_equal(getattr(a.A, k), getattr(b.A, k)) for k in ("indptr", "indices", "data"))
    return found if same else [*found, "A"]


def same_reading(a: ParsedModel, b: ParsedModel) -> bool:
    """Tells whether two readings give the same linear program and the same warnings."""
    return not differences(a.lp, b.lp) and a.warnings == b.warnings


numbers = st.one_of(
    st.integers(-999, 999).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(repr),
    st.sampled_from(
        ["1", "-1", "0", "-0.", ".5", "1e3", "-2.5E-3", "1.0D+02", "+7", "12345678901234567890", "0.1000000000000000055"]
    ),
)


@st.composite
def mps_files(draw: st.DrawFn, rows: int = 6, columns: int = 60) -> bytes:
    """Returns the bytes of a readable file with up to `columns` columns, in which every section and spelling may occur."""
    m, n = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    rng = np.random.default_rng(draw(st.integers(0, SEEDED)))
    number = draw(st.lists(numbers, min_size=8, max_size=8))
    names = [f"r{i}" if i % 3 else f"row_with_a_long_name_{i}" for i in range(m)]
    lines = ["NAME drawn", *(["OBJSENSE", "    MAX"] if rng.random() < 0.5 else []), "ROWS", " N cost"]
    lines += [f" {'LGE'[int(rng.integers(3))]}  {name}" for name in names]
    lines.append("COLUMNS")
    marked = False
    for j in range(n):
        if rng.random() < 0.1:
            lines.append(f"    M 'MARKER' '{'INTEND' if marked else 'INTORG'}'")
            marked = not marked
        chosen = [name for name in ["cost", *names] if rng.random() < 0.5] or ["cost"]
        pairs = [f"{name}  {number[int(rng.integers(8))]}" for name in chosen]
        lines += [f"    x{j}  {'   '.join(pairs[k : k + 2])}" for k in range(0, len(pairs), 2)]
    if marked:
        lines.append("    M 'MARKER' 'INTEND'")
    sections = [["RHS"], ["RANGES"], ["BOUNDS"]]
    for section, word in zip(sections[:2], ("rhs  ", "rng  "), strict=True):
        chosen = [name for name in ["cost", *names] if rng.random() < 0.7]
        second = draw(st.booleans())
        section += [
            f"    {word if rng.random() < 0.9 or not second else '2nd '}{name}  {number[int(rng.integers(8))]}"
            for name in chosen
            if word != "rng  " or name != "cost"
        ]
    for j in range(n):
        kind = ("UP", "LO", "FX", "FR", "MI", "PL", "BV", "LI", "UI")[int(rng.integers(9))]
        if rng.random() < 0.5:
            sections[2].append(
                f" {kind} {'2nd' if second and rng.random() < 0.1 else 'bnd'}  x{j}"
                + ("" if kind in ("FR", "MI", "PL", "BV") else f"  {number[int(rng.integers(8))]}")
            )
    for k in rng.permutation(3):
        lines += sections[k]
    return ("\n".join([*lines, "ENDATA"]) + "\n").encode()


@st.composite
def oddly_spelt_files(draw: st.DrawFn) -> bytes:
    """Returns the bytes of a readable file with comments, blank lines, lines in column 1, Windows line ends, names outside ASCII
    and sections without names of sets."""
    data, rng = draw(mps_files()), np.random.default_rng(draw(st.integers(0, SEEDED)))
    names = {
        rb"    rhs  ": b"    ",
        rb" bnd  ": b" ",
        rb"row_with": b"r\xe4w",
        rb"\bx(?=\d)": b"\xc3\xa4",
        rb"\br(?=\d)": b"s" * 100,
    }
    for old, new in names.items():
        data = re.sub(old, new, data) if rng.random() < 0.3 else data
    share, end = rng.choice((0.0, 0.02, 0.3)), b"\r\n" if rng.random() < 0.2 else b"\n"
    lines = []
    for line in data.split(b"\n"):
        if rng.random() < share:
            lines.append(rng.choice((b"* a comment", b"", b"*", b"  ")))
        plain = line.startswith(b" ") and line.split()[0].decode("utf-8", "replace") not in ("rhs", "MAX")
        lines.append(line.lstrip() if plain and rng.random() < share else line)
    return end.join(lines)
