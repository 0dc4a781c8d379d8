"""Batches with known values: many files, one group, the right objective for each member."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import batchlp, rows_of

DATA = Path(__file__).parent / "data"


def test_64_scaled_copies_of_a_transport_problem_are_one_group(tmp_path: Path) -> None:
    """Copy k with all demands times 1 + k/1000 has the value 424 (1 + k/1000) rounded as the recipe says: 424 ... 462.131."""
    text = (DATA / "n01_transport8.lp").read_text()
    for k in range(64):
        scaled = re.sub(r">= (\d+)", lambda found, k=k: f">= {int(found[1]) * (1 + k / 1000)!r}", text)  # type: ignore[misc]
        (tmp_path / f"copy{k:02d}.lp").write_text(scaled)
    done = batchlp("solve", tmp_path)
    rows = sorted(rows_of(done), key=lambda r: str(r["input"]))
    assert done.returncode == 0
    assert len({r["group"] for r in rows}) == 1
    values = [float(str(r["objective"])) for r in rows]
    assert values[0] == pytest.approx(424, rel=1e-6)
    assert values[1] == pytest.approx(424.525, rel=1e-6)
    assert values[63] == pytest.approx(462.131, rel=1e-6)
    assert values == sorted(set(values))


def test_four_variants_of_a_maximisation_share_its_group(tmp_path: Path) -> None:
    """A changed right-hand side, bound or cost leaves the matrix alone: one group, with 10.5, 8.5, 10.5 and 9 against 8."""
    text = (DATA / "m40_max_dual_signs.mps").read_text()
    variants = {
        "base": (text, 8.0),
        "rhs1": (text.replace("c1  4", "c1  5"), 10.5),
        "bound": (text.replace("UP b  x  2", "UP b  x  3"), 8.5),
        "cost": (text.replace("cost  1.5", "cost  2.5"), 10.5),
        "rhs2": (text.replace("c2  3", "c2  1"), 9.0),
    }
    for name, (body, _) in variants.items():
        (tmp_path / f"{name}.mps").write_text(body)
    rows = rows_of(batchlp("solve", tmp_path))
    assert len({r["group"] for r in rows}) == 1
    found = {Path(str(r["input"])).stem: float(str(r["objective"])) for r in rows}
    assert found == pytest.approx({name: value for name, (_, value) in variants.items()})
