"""Scenario tables: what they say is what is solved, what cannot be meant is refused with its line, and all forms agree."""

from __future__ import annotations

import io
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.batch import VECTOR_FIELDS
from batchlp_cli.errors import UsageError
from batchlp_cli.files import scenario_table
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.files.scenario_cells import Places
from batchlp_cli.files.scenario_folder import write_table
from batchlp_cli.files.scenario_names import file_name, file_names, scenario_name
from batchlp_cli.files.scenario_table import read_cells
from batchlp_cli.files.scenarios import Scenarios, table_windows
from batchlp_cli.problem import LinearProgram
from tests.command import batchlp, rows_of

INF = np.inf
WIDE = "scenario,rhs:a,cost:y,ub:y,range:b,offset,fix:z\nup,5,,,,,\ncheap,,1.5,3,,10,\nnarrow,6,,inf,4,,2\nsame,,,,,,\n"
LONG = (
    "scenario,what,name,value\nup,rhs,a,5\ncheap,cost,y,1.5\ncheap,ub,y,3\ncheap,offset,,10\n"
    "narrow,rhs,a,6\nnarrow,ub,y,inf\nnarrow,range,b,4\nnarrow,fix,z,2\nsame,,,\n"
)


def model(maximize: bool = False) -> LinearProgram:
    """A G row a, an L row b, an equation c, a row d with two sides and a free row e."""
    A = sp.csr_array(np.array([[1.0, 1, 0], [1, 3, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]))
    sides = np.array([4, -INF, 5, 1, -INF]), np.array([INF, 20, 5, 3, INF])
    bounds = np.zeros(3), np.array([INF, 9, INF])
    names = {"row_names": tuple("abcde"), "col_names": tuple("xyz")}
    return LinearProgram("m", np.array([2.0, 3, 1]), A, *sides, *bounds, offset=1.0, maximize=maximize, **names)  # type: ignore[arg-type]


def read(
    text: str, path: Path, lp: LinearProgram | None = None, *, scale: bool = False, memory: int = 1 << 20
) -> list[Scenarios]:
    """Returns the windows of a table with this text."""
    path.write_text(text)
    return list(table_windows(path, lp or model(), scale=scale, memory_bytes=memory))


def numbers(lp: LinearProgram) -> list[object]:
    """Returns all that distinguishes the members of a batch."""
    return [lp.name, lp.offset, *(getattr(lp, code.attribute).tolist() for code in VECTOR_FIELDS)]


def members(windows: list[Scenarios]) -> list[list[object]]:
    """Returns the numbers of all scenarios, in order."""
    return [numbers(w.batch.member(k)) for w in windows for k in range(len(w.batch))]


def test_each_word_changes_what_it_names(tmp_path: Path) -> None:
    """Worked by hand: rhs of a G row, cost, bounds, the width of an L row, the constant, and a scenario that changes nothing."""
    (window,) = read(WIDE, tmp_path / "t.csv")
    up, cheap, narrow, same = (window.batch.member(k) for k in range(4))
    assert window.batch.names == ("up", "cheap", "narrow", "same")
    assert (up.row_lower[0], up.row_upper[0]) == (5, INF)
    assert (cheap.c[1], cheap.col_upper[1], cheap.offset) == (1.5, 3, 10)
    assert (narrow.row_lower[0], narrow.row_lower[1], narrow.row_upper[1]) == (6, 16, 20)
    assert (narrow.col_lower[2], narrow.col_upper[2], narrow.col_upper[1]) == (2, 2, INF)
    assert numbers(same)[1:] == numbers(model())[1:]


@pytest.mark.parametrize(
    ("cells", "lower", "upper"),
    [
        ("rhs:c\ns,7", 7, 7),
        ("rhs:d\ns,2", 2, 4),
        ("range:d\ns,5", 1, 6),
        ("range:c\ns,2", 5, 7),
        ("range:c\ns,-2", 3, 5),
        ('"rhs:c","range:c"\ns,8,2', 8, 10),
        ('"range:b","rhs:b"\ns,3,10', 7, 10),
        ("row_upper:e\ns,3", -INF, 3),
        ("row_lower:c\ns,-inf", -INF, 5),
    ],
)
def test_sides_of_a_row(tmp_path: Path, cells: str, lower: float, upper: float) -> None:
    """Right-hand side and width of every type of row, alone and together, as the docs define them."""
    (window,) = read(f"scenario,{cells}\n", tmp_path / "t.csv")
    row = "abcde".index(cells.split("\n")[0].strip('"')[-1])
    lp = window.batch.member(0)
    assert (lp.row_lower[row], lp.row_upper[row]) == (lower, upper)


def test_a_maximisation_keeps_the_signs_of_its_file(tmp_path: Path) -> None:
    """Costs and the constant of a table are those of the file: stored negated for a maximisation."""
    (window,) = read("scenario,cost:x,offset\ns,7,2\n", tmp_path / "t.csv", model(maximize=True))
    assert (window.batch.member(0).c[0], window.batch.member(0).offset) == (-7, -2)


def test_scale_multiplies_what_the_model_has(tmp_path: Path) -> None:
    """Factors scale sides, costs, finite bounds and widths; an infinite bound stays; fix and a G row's width have nothing."""
    (window,) = read("scenario,rhs:a,rhs:c,cost:y,ub:y,ub:x,range:d\ns,2,0.5,3,2,2,2\n", tmp_path / "t.csv", scale=True)
    lp = window.batch.member(0)
    assert (lp.row_lower[0], lp.row_lower[2], lp.row_upper[2], lp.c[1], lp.col_upper[1]) == (8, 2.5, 2.5, 9, 18)
    assert (lp.col_upper[0], lp.row_lower[3], lp.row_upper[3]) == (INF, 1, 5)
    for cells in ("fix:x\ns,2", "range:a\ns,2"):
        with pytest.raises(UsageError, match="factor"):
            read(f"scenario,{cells}\n", tmp_path / "t.csv", scale=True)


@pytest.mark.parametrize("memory", [1, 3000, 1 << 20])
def test_all_forms_of_a_table_say_the_same(tmp_path: Path, memory: int) -> None:
    """Wide and long CSV, both as JSON lines and as Parquet, packed, with another separator, and in windows of any size."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    expected = members(read(WIDE, tmp_path / "wide.csv"))
    rows = [line.split(",") for line in WIDE.splitlines()]
    records = [{"scenario": row[0]} | {k: float(v) for k, v in zip(rows[0][1:], row[1:], strict=True) if v} for row in rows[1:]]
    lines = [line.split(",") for line in LONG.splitlines()]
    long = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
    (tmp_path / "wide.jsonl").write_text("\n".join(json.dumps(r) for r in records))
    (tmp_path / "long.jsonl").write_text("\n\n".join(json.dumps(r) for r in long))
    columns = {title: [row.get(title) for row in records] for title in rows[0]}
    pq.write_table(pa.table(columns), tmp_path / "wide.parquet")
    values = [float(r["value"]) if r["value"] else None for r in long]
    pq.write_table(pa.Table.from_pylist([r | {"value": v} for r, v in zip(long, values, strict=True)]), tmp_path / "l.parquet")
    (tmp_path / "long.csv").write_text(LONG)
    (tmp_path / "tab.tsv").write_text("\ufeff" + LONG.replace(",", "\t").replace("\n", "\r\n"))
    for name in ("wide.csv", "wide.jsonl", "long.jsonl", "wide.parquet", "l.parquet", "long.csv", "tab.tsv"):
        found = list(table_windows(tmp_path / name, model(), scale=False, memory_bytes=memory))
        assert members(found) == expected, name


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("scenario,rhs:aa\ns,1\n", 1, "did you mean 'a'"),
        ("scenario,rhs:x\ns,1\n", 1, "a column of that name"),
        ("scenario,rsh:a\ns,1\n", 1, "did you mean 'rhs'"),
        ("scenario,rhs:a,rhs:a\ns,1,2\n", 1, "two columns"),
        ("name,rhs:a\ns,1\n", 1, "no column is called scenario"),
        ("scenario,rhs:a\ns,1\nt,nan\n", 3, "NaN"),
        ("scenario,rhs:a\ns,1\nt,1_0\n", 3, "expected a number"),
        ("scenario,rhs:a\n\ns,1\ns,2\n", 4, "was there before"),
        ("scenario,rhs:a\n,1\n", 2, "no name"),
        ("scenario,rhs:a\ns,1,2\n", 2, "expected 2"),
        ("scenario,cost:x\ns,inf\n", 2, "finite"),
        ("scenario,lb:x\ns,inf\n", 2, "beyond"),
        ("scenario,rhs:e\ns,1\n", 2, "no finite side"),
        ("scenario,fix:x,lb:x\ns,1,2\n", 2, "twice"),
        ("scenario,probability\ns,2\n", 2, "from 0 to 1"),
        ('scenario,rhs:a\n"s\nt",1\nu,x\n', 4, "expected a number"),
        ("scenario,what,name,value\ns,rhs,a,1\ns,rhs,a,1\n", 3, "twice"),
        ("scenario,what,name,value\ns,rhs,q,1\n", 2, "no row 'q'"),
        ("scenario,what,name,value\ns,rhs,a,1\ns,,,1\n", 3, "nothing that it changes"),
        ("scenario,what,name,value\ns,offset,a,1\n", 2, "whole scenario"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    """Every defect has a message with the path, the line and what is wrong."""
    with pytest.raises(UsageError, match=words) as caught:
        read(text, tmp_path / "t.csv")
    assert f"t.csv, line {line}" in str(caught.value)


CELLS = ("1", "", " 2.5 ", "-0.0", "1e3", "inf", "-Infinity", "+7", ".5", "5e-324", "1e400", "0.1")
ODD_CELLS = ("nan", " ", '"3"', "1_0", "x", "1,5", "0x1", "\u0661", "#4", "1e", "1 2", "\x00")


def outcome(path: Path) -> object:
    """Returns what a table comes to: the records and cells of its pieces, or the refusal."""
    found = []
    try:
        for c in read_cells(path, Places(model())):
            columns = (c.record.tolist(), c.what.tolist(), c.place.tolist(), c.value.tolist())
            found += [(c.scenario[r], *cell) for r, *cell in zip(*columns, strict=True)]
            found += [(c.first, *c.scenario), tuple(c.origin.tolist())]
    except UsageError as error:
        return str(error)
    return found


@pytest.mark.parametrize("seed", range(150))
def test_plain_lines_are_read_as_any_others(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of numbers are read at once, others record by record; whatever the cells and the lines' ends, both find the same."""
    rng = random.Random(seed)
    separator, end = rng.choice(",;\t"), rng.choice(["\n", "\n", "\r\n", "\r"])
    odd = ODD_CELLS if seed % 3 else ()
    lines = [separator.join(["scenario", "rhs:a", "cost:y", "ub:y"])]
    for k in range(rng.randint(1, 9)):
        cells = [rng.choice(odd if odd and rng.random() < 0.06 else CELLS) for _ in range(3)]
        name = rng.choice([f"s{k}", f" banana {k} ", f"nan{k}", f"{k}"] + ([f'"q,{k}"', "", f'"two{end}{k}"'] if odd else []))
        lines.append(separator.join([name, *cells][: rng.choice([4] * 30 + [3])]))
        lines += [""] * (rng.random() < 0.1)
    path = tmp_path / "t.csv"
    path.write_bytes((end.join(lines) + end * rng.randint(0, 2)).encode())
    monkeypatch.setattr("batchlp_cli.files.scenario_table.PIECE_CELLS", rng.choice([4, 12, 1 << 18]))
    found = outcome(path)
    monkeypatch.setattr("batchlp_cli.files.scenario_forms.Wide.plain", lambda *_: None)
    assert found == outcome(path)


@pytest.mark.parametrize(
    "odd", ['{"a": 1, "a": 2}', '{"a": [1]}', '{"a": {"b": 1}}', '[["a", 1]]', '{"a": 1} {"a": 2}', '{"a": 1', "7", "{,}", "x"]
)
def test_lines_of_json_that_are_no_plain_objects_are_looked_at_one_by_one(odd: str) -> None:
    """Objects of numbers and texts are read together; with any other line among them none is."""
    plain = ['{"a": 1, "b": "x"}\n', ' {"a": NaN, "c": null}\r\n']
    assert repr(scenario_table._plain_objects(plain)) == repr([{"a": 1, "b": "x"}, {"a": math.nan, "c": None}])
    assert scenario_table._plain_objects([*plain, odd]) is None


def test_lines_of_numbers_are_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and numbers, some of them missing, need no reading record by record."""
    path = tmp_path / "t.csv"
    path.write_text("scenario,rhs:a,cost:y,ub:y\nnanny,1,,\nb,,,\nc,,2,inf\n")
    expected = outcome(path)

    def records(*_: object) -> None:
        raise AssertionError("read record by record")

    monkeypatch.setattr("batchlp_cli.files.scenario_table._pieces", records)
    assert outcome(path) == expected


def test_scattered_scenarios_are_joined_or_refused(tmp_path: Path) -> None:
    """Within a window the records of a scenario may be anywhere; across windows nobody can wait, so that is refused."""
    head, far = "scenario,what,name,value\n", "s,rhs,a,1\nt,rhs,a,2\nu,rhs,a,3\ns,ub,y,1\n"
    (window,) = read(head + far, tmp_path / "t.csv")
    assert window.batch.names == ("s", "t", "u")
    import batchlp_cli.files.scenario_table as table

    whole, table.PIECE_CELLS = table.PIECE_CELLS, 4
    try:
        with pytest.raises(UsageError, match="sort by scenario"):
            read(head + far, tmp_path / "t.csv", memory=1)
    finally:
        table.PIECE_CELLS = whole


finite = st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: v + 0.0)


@st.composite
def variants(draw: st.DrawFn) -> list[LinearProgram]:
    """LPs with the matrix of the model and any other numbers."""
    from dataclasses import replace

    base = model(draw(st.booleans()))
    found = [base]
    for k in range(draw(st.integers(1, 4))):
        lower, upper = base.row_lower.copy(), base.row_upper.copy()
        for i in draw(st.sets(st.integers(0, 4))):
            a, b = sorted((draw(finite), draw(finite)))
            lower[i], upper[i] = draw(st.sampled_from([(a, b), (a, a), (-INF, b), (a, INF), (-INF, INF)]))
        low, high = base.col_lower.copy(), base.col_upper.copy()
        for j in draw(st.sets(st.integers(0, 2))):
            a, b = sorted((draw(finite), draw(finite)))
            low[j], high[j] = draw(st.sampled_from([(a, b), (a, a), (-INF, b), (a, INF), (-INF, INF)]))
        c = np.array(draw(st.lists(finite, min_size=3, max_size=3)))
        changed = {"row_lower": lower, "row_upper": upper, "col_lower": low, "col_upper": high}
        found.append(replace(base, name=f"v{k}", c=c, offset=draw(finite), **changed))  # type: ignore[arg-type]
    return found


@settings(max_examples=60, deadline=None)
@given(variants())
def test_a_table_of_differences_reads_back_as_the_same_numbers(lps: list[LinearProgram]) -> None:
    """LPs -> table -> LPs is exact, for every kind of side and bound and both senses."""
    import tempfile

    base, *others = lps
    text = io.StringIO()
    write_table(((lp.name, lp) for lp in others), base, text)
    with tempfile.TemporaryDirectory() as folder:
        back = read(text.getvalue(), Path(folder) / "t.csv", base)
    assert members(back) == [numbers(lp) for lp in others]


@settings(max_examples=300, deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_names_of_files_stand_for_their_scenarios(name: str) -> None:
    """A scenario's file name is legal, and its scenario is had back unless the name had to be cut."""
    file = file_name(name)
    assert "/" not in file
    assert "\0" not in file
    assert not file.startswith((".", "-"))
    assert scenario_name(file) == name or len(file) > 60 or not name.isascii() or file[-11:-10] == "-"


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["", "a", "con", "COM1", "lpt0x", "-a", "a-", "a\nb", "a b", "a.b", "x" * 300]), st.text(max_size=4)
        )
    )
)
def test_names_of_files_are_found_together(names: list[str]) -> None:
    """All names at once are those of each alone."""
    assert file_names(tuple(names)) == tuple(map(file_name, names))


def test_folder_and_table_are_converted_exactly_both_ways(tmp_path: Path) -> None:
    """table -> folder -> table -> folder: the files are the same, byte by byte, and the tables too."""
    (tmp_path / "m.mps").write_text(write_mps(model()))
    (tmp_path / "t.csv").write_text(WIDE)
    for source, target in (("t.csv", "one"), ("one", "a.csv"), ("a.csv", "two"), ("two", "b.csv")):
        done = batchlp("scenarios", tmp_path / "m.mps", tmp_path / source, "-o", tmp_path / target)
        assert done.returncode == 0, done.stderr
    files = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert files == ["cheap.mps", "narrow.mps", "same.mps", "up.mps"]
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


SAME = (
    "status",
    "verified",
    "sense",
    "rows",
    "columns",
    "nonzeros",
    "integer_columns",
    "group",
    "notes",
    "error",
    "reason",
    "name",
)


def test_table_and_folder_of_files_give_the_same_rows(tmp_path: Path) -> None:
    """The same members have the same verdict, value, group and shape, whichever way they come, also infeasible ones."""
    rng = random.Random(7)
    lines = [f"s{k},{rng.uniform(1, 9):.3f},{rng.uniform(0, 4):.3f},{rng.choice([-1.0, 9.0])}" for k in range(90)]
    (tmp_path / "m.mps").write_text(write_mps(model()))
    (tmp_path / "t.csv").write_text("\n".join(["scenario,rhs:a,cost:y,ub:y", *lines]))
    assert batchlp("scenarios", tmp_path / "m.mps", tmp_path / "t.csv", "-o", tmp_path / "f").returncode == 0
    table = rows_of(batchlp("solve", tmp_path / "m.mps", "--scenarios", tmp_path / "t.csv"))
    folder = {str(row["name"]).removesuffix(".mps"): row for row in rows_of(batchlp("solve", tmp_path / "f"))}
    assert len(table) == len(folder) == 90
    assert {row["status"] for row in table} == {"optimal", "infeasible"}
    for row in table:
        other = folder[str(row["name"])] | {"name": row["name"]}
        assert {key: row[key] for key in SAME} == {key: other[key] for key in SAME}
        assert (row["objective"] is None) == (other["objective"] is None)
        if row["objective"] is not None:
            assert row["objective"] == pytest.approx(other["objective"], rel=1e-9)


def test_resume_and_shards_work_by_scenario(tmp_path: Path) -> None:
    """Two shards have every scenario once; a resumed run adds what a longer table has, and solves again what has changed."""
    (tmp_path / "m.mps").write_text(write_mps(model()))
    table, run = tmp_path / "t.csv", tmp_path / "run"
    table.write_text("scenario,rhs:a\n" + "".join(f"s{k},{1 + k / 10}\n" for k in range(7)))
    solve = ("solve", tmp_path / "m.mps", "--scenarios", table)
    parts = [rows_of(batchlp(*solve, "--shard", f"{i}/2")) for i in (1, 2)]
    assert sorted(str(row["name"]) for part in parts for row in part) == [f"s{k}" for k in range(7)]
    rows_of(batchlp(*solve, "-o", run))
    table.write_text(table.read_text().replace("s2,1.2", "s2,2.5") + "s7,3\n")
    again = {str(row["name"]): row for row in rows_of(batchlp(*solve, "-o", run, "--resume", "-v"))}
    kept = [json.loads(line)["name"] for line in (run / "results.jsonl").read_text().splitlines()]
    assert len(again) == 8
    assert sorted(kept) == [f"s{k}" for k in range(8)]
    report = json.loads((run / "report.json").read_text())
    assert sum(group["members"] for group in report["groups"]) == 2


def test_inspect_shows_scenarios_as_a_group(tmp_path: Path) -> None:
    """inspect and --dry-run count the scenarios and what they change, and solve nothing."""
    (tmp_path / "m.mps").write_text(write_mps(model()))
    (tmp_path / "t.csv").write_text(WIDE)
    for command in (("inspect",), ("solve", "--dry-run")):
        (group,) = rows_of(batchlp(*command, tmp_path / "m.mps", "--scenarios", tmp_path / "t.csv"))
        assert group["members"] == 4
        assert group["changes"] == {"cost": 1, "row_lower": 3, "row_upper": 1, "col_lower": 1, "col_upper": 3, "offset": 1}


def test_probabilities_give_an_expected_value(tmp_path: Path) -> None:
    """Rows carry their probability, and the report the mean of the values weighted with it."""
    (tmp_path / "m.mps").write_text(write_mps(model()))
    (tmp_path / "t.csv").write_text("scenario,probability,rhs:a\ns,0.25,4\nt,0.75,5\n")
    rows = rows_of(batchlp("solve", tmp_path / "m.mps", "--scenarios", tmp_path / "t.csv", "-o", tmp_path / "run"))
    value = sum(float(str(row["probability"])) * float(str(row["objective"])) for row in rows)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["stochastic"]["wait_and_see"] == pytest.approx(value)


def test_parquet_holds_the_rows_and_the_chosen_vectors(tmp_path: Path) -> None:
    """results.parquet has a record a row; solutions in the long form hold only the vectors and columns asked for."""
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    (tmp_path / "m.mps").write_text(write_mps(model()))
    (tmp_path / "t.csv").write_text(WIDE)
    solve = ("solve", tmp_path / "m.mps", "--scenarios", tmp_path / "t.csv", "--columns", "[xy]", "--keep", "x,y")
    done = batchlp(*solve, "-o", tmp_path / "run", "--parquet", "--solutions", "parquet")
    rows = {str(row["name"]): row for row in rows_of(done)}
    frame = pq.read_table(tmp_path / "run" / "results.parquet").to_pylist()
    assert {row["name"]: row["objective"] for row in frame} == {name: row["objective"] for name, row in rows.items()}
    (file,) = (tmp_path / "run" / "solutions").iterdir()
    values = pq.read_table(file).to_pylist()
    assert rows["narrow"]["status"] == "infeasible"  # by hand: x + z = 5 with z = 2 leaves x = 3, and y <= 1 from row d
    assert {v["vector"] for v in values} == {"x", "dual", "dual_ray"}
    assert {v["label"] for v in values if v["vector"] == "x"} == {"x", "y"}
    assert {v["label"] for v in values if v["vector"] == "dual"} == set("abcde")
    npz = batchlp(*solve, "-o", tmp_path / "npz", "--solutions", "npz")
    assert npz.returncode == 0
    (archive,) = (tmp_path / "npz" / "solutions").iterdir()
    with np.load(archive) as arrays:
        assert set(arrays) == {"name", "status", "row_names", "col_names", "maximize", "x", "dual", "dual_ray"}
        assert arrays["x"].shape == (4, 2)
