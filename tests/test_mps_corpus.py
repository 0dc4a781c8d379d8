"""Our reading of every published MPS file at hand against HiGHS' reading of it: what differs is explained in docs/formats.md."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
import scipy.sparse as sp

from batchlp_cli.errors import ReadError
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.problem import LinearProgram

RULES = (Path(__file__).resolve().parents[1] / "docs" / "formats.md").read_text()
NO_LP = ("bound type S", "quadratic terms", "special ordered sets", "indicator constraints", "cones")
ENDLESS = "FORPLAN.SIF"
"""HiGHS' reader never returns from this file."""


@pytest.mark.slow
def test_differences_to_highs_are_explained(data_dir: Path, tmp_path: Path) -> None:
    """Every file is read bit for bit as HiGHS reads it, or no LP, or refused by both, or named in docs/formats.md."""
    unexplained = []
    for path in sorted(
        [*data_dir.rglob("*.mps"), *data_dir.rglob("*.mps.gz"), *data_dir.rglob("*.qps"), *data_dir.rglob("*.cor*")]
    ):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if ENDLESS not in path.name and (difference := _difference(data, tmp_path / "f.mps")) and not _explained(path):
            unexplained.append(f"{path.relative_to(data_dir)}: {difference}")
    assert unexplained == []


def _explained(path: Path) -> bool:
    stem = path.name.split(".mps")[0].split(".qps")[0].split(".cor")[0]
    return path.parent.name in RULES or stem in RULES or (path.suffix in (".cor", ".gz") and "slptestset" in path.parts)


def _difference(data: bytes, copy: Path) -> str:
    """Returns in what the two readings differ, "" where they do not or the file is no LP."""
    copy.write_bytes(data)
    theirs = _highs(copy)
    try:
        ours = parse_mps(data, "f").lp
    except ReadError as error:
        return "" if theirs is None or any(word in str(error) for word in NO_LP) else str(error)
    if theirs is None:
        return "HiGHS refuses"
    if ours.A.shape != theirs["A"].shape:
        return f"HiGHS reads {theirs['A'].shape}, we {ours.A.shape}"
    return " ".join(k for k, v in theirs.items() if not _equal(ours, k, v))


def _equal(ours: LinearProgram, part: str, value: Any) -> bool:
    if part == "A":
        return int((value != ours.A).nnz) == 0
    return bool(np.array_equal(getattr(ours, part), value))


def _highs(path: Path) -> dict[str, Any] | None:
    h: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    h.silent()
    if h.readModel(str(path)) == highspy.HighsStatus.kError:
        return None
    lp = h.getLp()
    a, sign = lp.a_matrix_, -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    entries = (np.asarray(a.value_, dtype=float), np.asarray(a.index_, dtype=np.int32), np.asarray(a.start_, dtype=np.int32))
    kinds = [k != highspy.HighsVarType.kContinuous for k in lp.integrality_] or [False] * lp.num_col_
    parts: dict[str, Any] = {
        k: np.asarray(getattr(lp, f"{k}_"), dtype=float) for k in ("row_lower", "row_upper", "col_lower", "col_upper")
    }
    return parts | {
        "A": sp.csc_array(entries, shape=(lp.num_row_, lp.num_col_)).tocsr(),
        "c": sign * np.asarray(lp.col_cost_, dtype=float),
        "integer": np.asarray(kinds, dtype=bool),
        "offset": sign * lp.offset_,
        "maximize": sign < 0,
        "row_names": tuple(lp.row_names_),
        "col_names": tuple(lp.col_names_),
    }
