"""The import rules of docs/architecture.md hold in the source text and in running processes."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture import ORDER, PACKAGE, third_party, violations
from tests.command import environment, rows_of

ROOT = Path(__file__).parents[1]
KNOWN = ("", "run", "kkt", "files", "backends.highs", "backends.highs.pool", "backends.highs.session", "backends.highs.rays")
HEAVY = ("torch", "triton", "numba", "highspy", "matplotlib", "scipy", "numpy")


def module_name(path: Path) -> str:
    """Returns a file's module name below the package, the package's own name for an __init__.py."""
    parts = path.relative_to(ROOT / PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path.read_text(encoding="utf-8") for path in sorted((ROOT / PACKAGE).rglob("*.py"))}


@pytest.mark.parametrize("module", SOURCES, ids=lambda m: m or PACKAGE)
def test_module_keeps_the_rules(module: str) -> None:
    """Every module has a place, imports only from places after it and from the homes of third-party packages, and is short."""
    found = violations(module, SOURCES[module], SOURCES)
    assert not found, "\n".join(map(str, found))


def test_every_place_is_taken() -> None:
    """The order names no module that is gone, so that it can be read as a map of the source."""
    placed = {f"{package}.{part}".strip(".") for package, order in ORDER.items() for place in order for part in place}
    gone = {name for name in placed if not name.endswith("__init__")} - set(SOURCES)
    assert not gone, f"tests/architecture.py gives a place to {sorted(gone)}: there is no such module"


def test_dependencies_are_those_imported() -> None:
    """pyproject.toml declares what the package imports, no less and no more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in ("test", "dev")}
    declared = {re.split(r"[<>=~!\[; ]", line)[0] for lines in (project["dependencies"], *extras.values()) for line in lines}
    assert declared == set().union(*map(third_party, SOURCES.values()))


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("problem", "from batchlp_cli.batch import LPBatch", "imports batchlp_cli.batch, but batch is above"),
        ("batch", "import batchlp_cli.solution", "imports batchlp_cli.solution, but solution shares its place"),
        ("kkt", "from batchlp_cli.backends.base import Backend", "imports batchlp_cli.backends.base, but backends shares"),
        ("backends.highs.pool", "from batchlp_cli.kkt import verify", "imports batchlp_cli.kkt, but kkt shares its place"),
        ("backends.highs.pool", "from batchlp_cli import kkt", "imports batchlp_cli.kkt, but kkt shares its place"),
        ("backends.highs.rays", "from batchlp_cli.certificates import check_farkas", "which backends may never import"),
        ("kkt", "def f():\n    from batchlp_cli import run", "imports batchlp_cli.run, but run is above it"),
        ("backends.highs.rays", "from batchlp_cli.backends.highs.pool import HighsBackend", "pool is above it"),
        ("backends.highs.rays", "from batchlp_cli.backends.highs import session", "session is above it"),
        ("files.inputs", "from batchlp_cli.files.read import ModelReader", "read is above it in the order of batchlp_cli.files"),
        ("files.inputs", "from batchlp_cli import files", "__init__ is above it in the order of batchlp_cli.files"),
        ("errors", "from batchlp_cli import __version__", "__init__ shares its place"),
        ("dispatch", "from .batch import LPBatch", "imports relatively"),
        ("kkt", "import torch", "imports torch, which belongs only in backends.pdhg"),
        ("kkt", "import importlib\nimportlib.import_module('torch.linalg')", "imports torch, which belongs only in"),
        ("backends.pdhg_like", "import torch", "pdhg_like has no place in the order of batchlp_cli.backends"),
        ("run", "from rich.console import Console", "imports rich, which belongs only in console"),
        ("run", "import click", "imports click, which belongs only in commands"),
        ("files.write", "import highspy", "imports highspy, which belongs only in backends.highs, files.read"),
        ("kkt", "import pandas", "imports pandas, which has no home"),
        ("helpers", "", "helpers has no place in the order of batchlp_cli;"),
        ("files.helpers", "", "helpers has no place in the order of batchlp_cli.files"),
        ("kkt", "\n" * 350, "has 350 lines"),
        ("kkt", "def long():\n" + "    pass\n" * 60, "long has 61 lines"),
    ],
)
def test_checker_refuses(module: str, source: str, complaint: str) -> None:
    """Each rule, broken once, is reported once."""
    found = violations(module, source, KNOWN)
    assert len(found) == 1
    assert complaint in str(found[0])


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("kkt", "from batchlp_cli.batch import LPBatch\nimport numpy as np\nimport scipy.sparse as sp"),
        ("report.rows", "from batchlp_cli import __version__"),
        ("backends.highs.session", "import highspy\nfrom batchlp_cli.backends.highs import rays"),
        ("backends.base", "from importlib import import_module\nimport_module('batchlp_cli.backends.highs.pool')"),
        ("__main__", "from batchlp_cli.commands import main"),
        ("", "__version__ = '1'"),
        ("kkt", "def long():\n" + "    pass\n" * 59 + "\n" * 289),
    ],
)
def test_checker_allows(module: str, source: str) -> None:
    """What the rules allow is not reported."""
    assert violations(module, source, KNOWN) == []


def loaded_by(*command: str) -> set[str]:
    """Returns the top-level packages that a Python process has imported when it ends well."""
    line = [sys.executable, "-X", "importtime", *command]
    done = subprocess.run(line, capture_output=True, text=True, env=environment(), timeout=60, check=True)
    return {found[1] for found in re.finditer(r"^import time:.*\|\s+([A-Za-z0-9_]+)\S*$", done.stderr, re.MULTILINE)}


def test_help_loads_nothing_heavy() -> None:
    """`batchlp --help` answers without loading a solver or an array library."""
    loaded = loaded_by("-m", "batchlp_cli", "--help")
    assert "click" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_loaded_packages_are_seen() -> None:
    """The instrument of the test before this one sees a package that is loaded."""
    assert {"numpy", "scipy"} <= loaded_by("-c", "import scipy.sparse")


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """A folder of packages named as the heavy ones, each of which leaves a file FELL-NAME behind when it is imported."""
    for name in ("torch", "triton", "numba", "matplotlib"):
        (tmp_path / "traps" / name).mkdir(parents=True)
        trap = f"from pathlib import Path\nPath({str(tmp_path)!r}, 'FELL-{name}').touch()\n"
        (tmp_path / "traps" / name / "__init__.py").write_text(trap, encoding="utf-8")
    return tmp_path / "traps"


def run_with_traps(traps: Path, *command: str | Path) -> tuple[subprocess.CompletedProcess[bytes], set[str]]:
    """Runs Python with the traps before all other packages; returns the process and the traps that it fell into."""
    line = [sys.executable, *map(str, command)]
    done = subprocess.run(line, capture_output=True, env=environment(PYTHONPATH=str(traps)), timeout=60, check=True)
    return done, {path.name.removeprefix("FELL-") for path in traps.parent.glob("FELL-*")}


def test_solving_with_highs_never_loads_torch(traps: Path, tmp_path: Path) -> None:
    """A run that needs only HiGHS loads none of the other backends' packages, in its own process or in its workers."""
    model = tmp_path / "tiny.lp"
    model.write_text("min\n obj: x + 2 y\nst\n c1: x + y >= 2\nbounds\n x <= 1\nend\n", encoding="utf-8")
    done, fell = run_with_traps(traps, "-m", "batchlp_cli", "solve", model, "--format", "jsonl", "--jobs", "1")
    assert [row["objective"] for row in rows_of(done)] == [pytest.approx(3.0)]
    assert fell == set()


def test_traps_catch(traps: Path) -> None:
    """The instrument of the test before this one sees an import in a child process."""
    child = (
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        pool.apply_async(__import__, ('torch',)).wait()\n"
    )
    script = traps.parent / "child.py"
    script.write_text(child, encoding="utf-8")
    assert run_with_traps(traps, script)[1] == {"torch"}
