"""The page: harmless whatever names hold, self-contained, whole without figures, small for many members."""

from __future__ import annotations

import html.parser
import json
import random
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from batchlp_cli.report.comparison import compare
from batchlp_cli.report.figures import traces
from batchlp_cli.report.figures.crossover import draw_crossover
from batchlp_cli.report.markup import Markup, plain, tag
from batchlp_cli.report.page import NO_FIGURES, make_page
from batchlp_cli.report.trace import Trace
from batchlp_cli.reporting import common, load_runs
from tests.command import batchlp
from tests.report_rows import Row, failed, report, row, run_folder

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table></svg><iframe src='http://example.org'>",
    "$\\frac{1}{0}$ & $x_1",
    "&lt;b&gt; &amp;",
    "-->]]><style>*{display:none}</style>",
    "name with \x00 and \x1b[31m and \ud83d",
    "测试 é \u202egnp.exe",
)
ELEMENTS = """html head meta title style body main h1 h2 h3 p span ul li b nav a section figure figcaption div table caption thead
    tbody tr th td dl dt dd footer svg desc defs g path use text tspan clippath rect image"""
TAGS = set(ELEMENTS.split())
VOID = {"meta"}


class Page(html.parser.HTMLParser):
    """Reads a page as a browser would: elements, attributes, ids, links and the text of table cells."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.cells: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.cells and {"td", "th"} & set(self._open):
            self.cells[-1] += data

    def values(self, name: str) -> list[str]:
        """Returns the values of all attributes of a name."""
        return [value for key, value in self.attributes if key == name]


def page_of(*folders: Path) -> str:
    """Returns the page of run folders."""
    runs = load_runs(folders)
    pairs = list(common(runs)) if len(runs) > 1 else []
    comparison = compare([run.facts for run in runs], pairs) if len(runs) > 1 else None
    return make_page(runs, comparison, [[o.solve_time for o in own] for own in zip(*pairs, strict=True)])[0]


def traced(folder: Path, names: tuple[str, ...]) -> None:
    """Adds traces of members to a run folder."""
    (folder / "traces").mkdir()
    for k, name in enumerate(names):
        series: Row = {key: [1.0, 0.1, None, 1e-7] for key in ("primal", "dual", "gap", "omega")}
        series |= {"name": name, "backend": "pdhg", "iteration": [0, 50, 100, 150], "restarts": [0, 0, 1, 2]}
        (folder / "traces" / f"{k}.json").write_text(json.dumps(series))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder in which everything that may hold a name holds one that is meant to do harm."""
    rows = [row(name, solve_time=0.1 * (k + 1), group=f"g{k}", method=name, backend=name) for k, name in enumerate(HOSTILE)]
    rows += [failed(f"f{k}{name}", name, status=name) for k, name in enumerate(HOSTILE)]
    groups = [{"group": f"g{k}", "choice": name} for k, name in enumerate(HOSTILE)]
    told = report(len(rows), groups=groups, machine={"system": HOSTILE[0]}, versions={HOSTILE[1]: HOSTILE[2]})
    told |= {"stage_times": {"solve": 1.0, HOSTILE[0]: 2.0}, "lanes": {"span": 0.1, "busy": [1, 2], "width": [2, 2]}}
    folder = run_folder(tmp_path_factory.mktemp("runs") / "<b onclick=x>", rows, told)
    traced(folder, HOSTILE)
    return folder


@pytest.fixture(scope="module")
def double(hostile: Path) -> str:
    """The page of the hostile run beside itself: every kind of figure, twice."""
    return page_of(hostile, hostile)


def test_names_are_harmless_and_shown(double: str) -> None:
    """No name becomes an element, attribute or address, and each stands in the page as it is."""
    page = Page(double)
    assert set(page.tags) <= TAGS
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [value for value in page.values("src") if value]
    cells = set(page.cells)
    for name in HOSTILE[:6]:
        assert " ".join(name.split()) in cells
    assert "\x00" not in double
    double.encode("utf-8")


def test_the_page_asks_nobody_for_anything(double: str) -> None:
    """Addresses lead to places in the page or are images in it; a policy forbids scripts and requests to the browser, too."""
    page = Page(double)
    links = page.values("href") + page.values("xlink:href") + page.values("src")
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    assert "default-src 'none'" in " ".join(page.values("content"))
    assert not re.search(r"@import|url\((?!#)", double)


def test_places_in_the_page_are_unique_and_there(double: str) -> None:
    """Every id is there once, also with the figures of two runs, and every reference leads to one."""
    ids = Page(double).values("id")
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:url\(#|href="#)([^")]+)', double) + " ".join(re.findall(r'aria-labelledby="([^"]+)"', double)).split()
    assert set(used) <= set(ids)


def test_figures_are_whole_titled_and_the_same_again(hostile: Path, double: str) -> None:
    """Each figure is well-formed with title and description, and the same run gives the same page."""
    figures = re.findall(r"<svg.*?</svg>", double, re.DOTALL)
    assert len(figures) == 2 + 2 * 4  # profile and pairs; stages, members, traces and lanes of both runs
    for figure in figures:
        root = ElementTree.fromstring(figure)
        assert root.get("role") == "img"
        named = {child.tag.rpartition("}")[2]: child.text for child in root}
        assert named["title"]
        assert named["desc"]
    assert page_of(hostile, hostile) == double


def test_the_page_comes_without_matplotlib(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where matplotlib is missing the page has all tables, no figure, and says how to get figures."""
    rows_with = Page(page_of(hostile)).cells
    for name in [name for name in sys.modules if name.startswith("batchlp_cli.report.figures")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text, note = make_page(load_runs([hostile]), None)
    assert note == NO_FIGURES
    assert "pip install" in text
    assert "<svg" not in text
    assert Page(text).cells == rows_with


def test_a_page_of_many_members_stays_small(tmp_path: Path) -> None:
    """Twenty thousand members give a page below half a megabyte that says how many rows it shows, failures first."""
    rng = random.Random(7)
    rows = [row(f"m{i}", solve_time=rng.lognormvariate(-4, 1), iterations=rng.randrange(5000)) for i in range(20_000)]
    rows.append(failed("the one that failed", "why"))
    folder = run_folder(tmp_path / "run", rows, report(len(rows)))
    text = page_of(folder)
    assert len(text) < 500_000
    assert "200 of 20,001 rows" in text
    cells = Page(text).cells
    assert cells[cells.index("remark") + 5] == "the one that failed"
    assert "data:image/png;base64," in text


@pytest.mark.parametrize("rows", [[], [row("only")], [failed("only", "", "unreadable", attempts=[], group=None, backend=None)]])
@pytest.mark.parametrize("told", [None, {}, {"groups": 3, "stage_times": [], "inputs": "x", "lanes": {"span": 0}}])
def test_a_page_comes_of_any_folder(tmp_path: Path, rows: list[Row], told: Row | None) -> None:
    """Runs without rows, without report, or with one that holds nonsense have a page, too."""
    folder = run_folder(tmp_path / "run", rows, told)
    assert "<h2" in page_of(folder)
    assert "<h2" in page_of(folder, folder)


def test_summaries_load_no_matplotlib(tmp_path: Path) -> None:
    """Only a page needs matplotlib: with one that breaks when it is imported, text still comes and --html says so."""
    folder = run_folder(tmp_path / "run", [row("a")], report(1))
    trap = tmp_path / "trap" / "matplotlib"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise ModuleNotFoundError('trapped', name='matplotlib')")
    path = f"{trap.parent}:{Path(__file__).parents[1]}"
    text = batchlp("report", folder, "--format", "table", PYTHONPATH=path)
    assert (text.returncode, b"matplotlib" in text.stderr) == (0, False)
    page = batchlp("report", folder, "--html", PYTHONPATH=path)
    assert (page.returncode, b"batchlp[report]" in page.stderr) == (0, True)
    assert (folder / "report.html").exists()


@given(st.text(), st.text())
@settings(max_examples=200)
def test_text_comes_back_from_markup(text: str, attribute: str) -> None:
    """What a parser reads from an element is the text and attribute given, but for what no page can show."""

    class Reader(html.parser.HTMLParser):
        read: str = ""
        given: str = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.given = attrs[0][1] or ""

        def handle_data(self, data: str) -> None:
            self.read += data

    reader = Reader()
    reader.feed(tag("p", text, title=attribute))
    reader.close()
    assert (reader.read, reader.given) == (plain(text), plain(attribute))


def test_only_markup_passes_unescaped() -> None:
    """A plain string is escaped, Markup is not escaped twice."""
    assert tag("p", "<b>", tag("i", "<"), Markup("&amp;")) == "<p>&lt;b&gt;<i>&lt;</i>&amp;</p>"


MODEL_NAME = '<b>&"x'


@pytest.mark.parametrize("study", ["branch", "tighten"])
@pytest.mark.parametrize("killed", [False, True])
def test_page_of_a_study_shows_models_and_columns(study: str, killed: bool, tmp_path: Path) -> None:
    """The report of a study tells of its models and columns and not of members; its table has the study's own columns."""
    made = batchlp(
        "generate", "generalised-assignment", "--size", "3x8", "--as", "mip", "--members", "1", "-o", tmp_path / "made"
    )
    assert made.returncode == 0, made.stderr
    (model,) = (tmp_path / "made").glob("*.mps")
    model.rename(tmp_path / f"{MODEL_NAME}.mps")
    done = batchlp(study, tmp_path / f"{MODEL_NAME}.mps", "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stderr
    if killed:
        (tmp_path / "run" / "report.json").unlink()
    page = page_of(tmp_path / "run")
    assert MODEL_NAME[:4] not in page
    assert "_b_&amp;_x" in page
    for words in ("Models", "Columns", "root value" if study == "branch" else "minimum before"):
        assert words in page
    for words in ("No member was solved", "no input was readable", "no verified optimum", "instances have"):
        assert words not in page
    assert ("data:image/svg+xml" in page) == (study == "branch")
    table = batchlp("report", tmp_path / "run", "--csv").stdout.decode().splitlines()
    rows = (tmp_path / "run" / "results.jsonl").read_text().splitlines()
    assert len(table) == 1 + len(rows)
    assert table[0].split(",") == list(json.loads(rows[0]))


def test_curve_of_a_narrow_range_has_a_tick_on_either_side() -> None:
    """Where ratios lie between a half and 2 these are named beside 1; the words about the crossover stay within the figure."""
    for at in (120.0, 9000.0):
        picture = draw_crossover(("a", "b"), [100, 10_000], [1.1, 0.9], [[1.1, 1.2], [0.9, 0.8]], at, (110.0, 9500.0), "curve")
        assert {"0.5x", "1x", "2x"} <= set(re.findall(r">([\d.]+x)<", picture))
        assert f"crossover at {at:,.0f}; the band holds 90 % of the draws" in picture


def test_errors_of_zero_are_drawn_within_the_panel() -> None:
    """A residual of 0 has a line at the foot of the panel, above its end."""
    trace = Trace("m", "pdhg", (0.0, 50.0), (1e-2, 1e-3), (0.0, 0.0), (1e-1, 1e-2), (0.0, 0.0), (1.0, 1.0))
    axes = Figure().subplots()
    traces._panel(axes, trace, 1e-6)
    line = axes.get_lines()[1]
    assert (np.asarray(line.get_ydata()) > axes.get_ylim()[0]).all()
    assert (np.asarray(line.get_ydata()) <= 1e-6 / traces.BELOW).all()


def compared(disagreements: list[str], label: str = "location 10x10") -> dict[str, object]:
    """Returns a record as `batchlp compare` keeps one."""
    size: dict[str, object] = {"label": label, "members": 8, "rows": 110, "columns": 110, "nonzeros": 300, "speedup": 0.5}
    for side in ("first", "second"):
        size |= {f"{side}_time": 0.01, f"{side}_cold": 1.0, f"{side}_failed": 1, f"{side}_worst": None}
    size["disagreements"] = len(disagreements)
    told = {"first": "pdhg", "second": "simplex", "words": "no crossover", "disagreements": disagreements, "sizes": [size]}
    return told | {"settings": {"tol": 1e-6}, "versions": {"batchlp": "1"}, "machine": {"cores": 2}}


@pytest.mark.parametrize("name", HOSTILE[:-2])
def test_page_of_a_comparison_is_self_contained_and_harmless(name: str, tmp_path: Path) -> None:
    """Disagreements come first, the curve is embedded, names are escaped, and nothing is asked of a network."""
    (tmp_path / "compare.json").write_text(json.dumps(compared([f"{name}: 1 against 2"], name)))
    (tmp_path / "crossover.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    done = batchlp("report", tmp_path, "--html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert name not in text or "<" not in name
    assert set(re.findall(r'src="([^"]{5})', text)) == {"data:"}
    assert text.index("disagree on 1") < text.index("No crossover") < text.index("data:image/svg+xml") < text.index("<table")


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"first": "a", "second": "b", "words": "", "disagreements": 3}'])
def test_damaged_comparison_is_refused_in_a_sentence(damage: str, tmp_path: Path) -> None:
    """What is no record of a comparison ends with exit code 2 and names the file."""
    (tmp_path / "compare.json").write_text(damage)
    done = batchlp("report", tmp_path, "--html")
    assert done.returncode == 2
    assert b"compare.json" in done.stderr
    assert not (tmp_path / "report.html").exists()
