"""The committed sample instances are what their script makes, and their README tells the right answers."""

from __future__ import annotations

import gzip
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import highspy
import numpy as np
import pytest

from batchlp_cli import branch
from tests.command import environment

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "sample_instances"
SCRIPT = ROOT / "scripts" / "make_sample_instances.py"
LINE = re.compile(r"^\| `(?P<path>[^`]+)` \| (?P<what>.+) \| (?P<status>\w+) \| (?P<objective>\S*) ?\|$", re.MULTILINE)
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ANSWERS = {match["path"]: (match["status"], match["objective"]) for match in LINE.finditer(README)}


def load_script() -> ModuleType:
    """Returns the script as a module."""
    spec = importlib.util.spec_from_file_location("make_sample_instances", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def committed() -> dict[str, bytes]:
    """Returns the bytes of every file in the folder."""
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    """Returns the files with compressed ones decompressed: zlib's output may differ from one build of it to another."""
    return {path: gzip.decompress(data) if path.endswith(".gz") else data for path, data in files.items()}


def read(path: str) -> highspy.Highs:
    """Returns HiGHS with a sample read into it, integers relaxed."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solve_relaxation", True)
    assert solver.readModel(str(FOLDER / path)) == highspy.HighsStatus.kOk
    return solver


def test_folder_is_what_the_script_makes() -> None:
    """No file is missing, edited by hand or left over."""
    assert unpacked(committed()) == unpacked(load_script().sample_files())


def test_running_the_script_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two processes write the same bytes, compressed ones too, and gzip holds no time."""
    made = []
    for name in ("one", "two"):
        command = [sys.executable, str(SCRIPT), "--output", str(tmp_path / name)]
        subprocess.run(command, check=True, capture_output=True, env=environment() | {"PYTHONPATH": str(ROOT)})
        made.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()})
    assert made[0] == made[1]
    assert {data[4:8] for path, data in made[0].items() if path.suffix == ".gz"} == {bytes(4)}


def test_readme_has_a_line_for_every_file() -> None:
    """Every model is in the table, and nothing else."""
    assert set(ANSWERS) == set(committed()) - {"README.md"}


@pytest.mark.parametrize("path", ANSWERS)
def test_readme_tells_the_right_answer(path: str) -> None:
    """HiGHS finds the status and, where it is optimal, the objective to 10 digits."""
    status, objective = ANSWERS[path]
    solver = read(path)
    solver.run()
    assert solver.modelStatusToString(solver.getModelStatus()).lower() == status
    if status == "optimal":
        assert float(objective) == pytest.approx(solver.getInfo().objective_function_value, rel=1e-10)
    else:
        assert objective == ""


def test_random_sample_has_the_value_it_was_built_with() -> None:
    """The objective of optimal.mps is c @ x + offset of the solution that it was made from, a whole number."""
    lp, known = load_script().random_optimal(15, 20, seed=4)
    assert float(ANSWERS["mixed/optimal.mps"][1]) == float(lp.c @ known.x) + lp.offset


def test_family_has_one_matrix_and_distinct_members() -> None:
    """The 24 files differ in their right-hand sides alone, and no two are equal."""
    models = [read(path).getLp() for path in ANSWERS if path.startswith("family/")]
    assert len(models) == 24
    for part in ("start_", "index_", "value_"):
        assert len({np.array(getattr(lp.a_matrix_, part)).tobytes() for lp in models}) == 1
    assert len({np.array(lp.col_cost_).tobytes() for lp in models}) == 1
    assert len({np.array(lp.row_lower_).tobytes() for lp in models}) == 24


def test_mixed_folder_shows_every_kind() -> None:
    """Each file has the feature that it is named after."""
    inf = float("inf")
    lps = {path: read(path).getLp() for path in ANSWERS if path.startswith("mixed/")}
    assert highspy.HighsVarType.kInteger in lps["mixed/integer.mps.gz"].integrality_
    assert lps["mixed/maximum_with_offset.mps"].sense_ == highspy.ObjSense.kMaximize
    assert lps["mixed/maximum_with_offset.mps"].offset_ == -250
    ranges = lps["mixed/ranges.mps"]
    assert all(-inf < low < high < inf for low, high in zip(ranges.row_lower_, ranges.row_upper_, strict=True))
    free = lps["mixed/free_columns.mps"]
    assert [-inf, -inf] == [
        low for low, high in zip(free.col_lower_, free.col_upper_, strict=True) if low == -inf and high == inf
    ]
    assert {status for status, _ in map(ANSWERS.__getitem__, lps)} == {"optimal", "infeasible", "unbounded"}


def test_branching_on_the_mip_has_something_to_choose_from() -> None:
    """The root of the sample for studies is fractional in 3 columns, as its line says, and one of them is the best."""
    study = branch(str(FOLDER / "mip" / "facility_location.mps"), backend="highs", jobs=1)
    assert (study.model["candidates"], len(study.rows)) == (3, 3)
    assert study.model["best"] in {row["column"] for row in study.rows}


def test_samples_are_small() -> None:
    """The folder stays below 300 kB, so that a clone stays small."""
    assert sum(map(len, committed().values())) < 300_000
