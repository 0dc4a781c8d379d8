"""Writes sample_instances/: a family of related LPs, a mixed folder with one model of every kind, and a MIP.

    python scripts/make_sample_instances.py [--output DIR]

Everything comes from seeded generators of this project or is written out below, so the same bytes come out every time. The
right answers in the README are constants, which the tests compare with a solver's.
"""

from __future__ import annotations

import argparse
import gzip
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from batchlp_cli.families import (
    capacitated_facility_location,
    generalised_assignment,
    random_optimal,
    transport,
    transport_scenarios,
)
from batchlp_cli.files.mps_writer import write_mps
from batchlp_cli.problem import LinearProgram

INF = float("inf")
ROOT = Path(__file__).resolve().parents[1]
# fmt: off
FAMILY_OBJECTIVES = (
    6496, 6141, 6312, 6551, 6638, 6500, 6134, 6607, 6177, 6543, 6212, 6187,
    6320, 6097, 6319, 6501, 6401, 6675, 5898, 6541, 6423, 6549, 6385, 6388,
)
# fmt: on

Column = tuple[float, float, float]
"""Cost, lower and upper bound."""
Row = tuple[float, Mapping[str, float], float]
"""Lower side, coefficients by column, upper side."""

BLENDING_LP = """\\ Blend three ores into 100 tonnes of steel at the least cost; carbon between 2 and 3 percent.
Minimize
 cost: 45 ore_a + 38 ore_b + 61 scrap + 120
Subject To
 total: ore_a + ore_b + scrap = 100
 carbon_low: 1.5 ore_a + 4 ore_b + 2 scrap >= 200
 carbon_high: 1.5 ore_a + 4 ore_b + 2 scrap <= 300
 sulphur: 0.5 ore_a + 0.2 ore_b <= 30
Bounds
 ore_a <= 70
 10 <= ore_b <= 40
 scrap <= 50
End
"""

README_HEAD = """# Sample instances

Small models to try `batchlp solve sample_instances` on, with their right answers. `scripts/make_sample_instances.py` makes
this folder byte for byte; edit nothing here. Objectives are those of the linear relaxation, in the sense of the file, with its
offset.

- `family/`: 24 transport problems from 8 plants to 15 towns that differ in the demands only, so all are one batch
- `mixed/`: one model of every kind
- `mip/`: a facility location problem with integer variables, for studies that need a MIP

| file | what | status | objective |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A file: its path below the folder, its bytes, what it is, and its right answer."""

    path: str
    content: bytes
    what: str
    status: str = "optimal"
    objective: float | None = None


def model(name: str, columns: Mapping[str, Column], rows: Mapping[str, Row]) -> LinearProgram:
    """Returns the LP of a minimisation that is written out by names."""
    place = {col: j for j, col in enumerate(columns)}
    entries = [(i, place[col], a) for i, (_, row, _) in enumerate(rows.values()) for col, a in row.items()]
    i, j, a = zip(*entries, strict=True)
    c, lower, upper = np.array(list(columns.values()), dtype=np.float64).T.copy()
    return LinearProgram(
        name,
        c,
        sp.csr_array((np.array(a, dtype=np.float64), (i, j)), shape=(len(rows), len(columns))),
        np.array([low for low, _, _ in rows.values()], dtype=np.float64),
        np.array([high for _, _, high in rows.values()], dtype=np.float64),
        lower,
        upper,
        row_names=tuple(rows),
        col_names=tuple(columns),
    )


def as_maximum(lp: LinearProgram, offset: float) -> LinearProgram:
    """Returns the maximisation of the same costs plus an offset, stored negated."""
    return replace(lp, c=-lp.c, offset=-offset, maximize=True)


def infeasible() -> LinearProgram:
    """Plants that make 100 and towns that want 101."""
    base = transport(3, 4, seed=11)
    lower, upper = base.row_lower.copy(), base.row_upper.copy()
    upper[:3] = (50.0, 30.0, 20.0)
    lower[3:] = (40.0, 30.0, 20.0, 11.0)
    return replace(base, name="infeasible", row_lower=lower, row_upper=upper)


def unbounded() -> LinearProgram:
    """Bread is limited by flour, but nobody limits the hours of renting out the oven."""
    columns = {"bread": (2.0, 0.0, INF), "cake": (5.0, 0.0, 40.0), "rent": (1.0, 0.0, INF)}
    rows: dict[str, Row] = {
        "flour": (-INF, {"bread": 1.0, "cake": 2.0}, 120.0),
        "contract": (10.0, {"bread": 1.0, "rent": 1.0}, INF),
    }
    return as_maximum(model("unbounded", columns, rows), 0.0)


def degenerate() -> LinearProgram:
    """An assignment problem: six to six, where every basic solution is degenerate."""
    base = transport(6, 6, seed=5)
    return replace(base, name="degenerate", row_lower=np.ones(12), row_upper=np.ones(12))


def maximum_with_offset() -> LinearProgram:
    """A carpenter's week: profit less a fixed rent of 250."""
    columns = {"table": (70.0, 0.0, INF), "chair": (50.0, 0.0, INF), "shelf": (33.0, 2.0, 20.0)}
    rows: dict[str, Row] = {
        "wood": (-INF, {"table": 4.0, "chair": 3.0, "shelf": 2.5}, 240.0),
        "hours": (-INF, {"table": 2.0, "chair": 1.0, "shelf": 1.0}, 100.0),
    }
    return as_maximum(model("maximum_with_offset", columns, rows), -250.0)


def ranges() -> LinearProgram:
    """A diet with least and most amounts of every nutrient, all rows being ranges."""
    columns = {"oats": (0.3, 0.0, 6.0), "milk": (0.9, 0.0, 4.0), "eggs": (1.6, 0.0, 3.0), "kale": (1.1, 0.5, 5.0)}
    rows: dict[str, Row] = {
        "energy": (2000.0, {"oats": 390.0, "milk": 320.0, "eggs": 310.0, "kale": 70.0}, 2400.0),
        "protein": (55.0, {"oats": 13.0, "milk": 16.0, "eggs": 25.0, "kale": 6.0}, 120.0),
        "fat": (40.0, {"oats": 7.0, "milk": 18.0, "eggs": 22.0, "kale": 1.0}, 80.0),
        "calcium": (1000.0, {"oats": 54.0, "milk": 560.0, "eggs": 110.0, "kale": 250.0}, 2500.0),
    }
    return model("ranges", columns, rows)


def free_columns() -> LinearProgram:
    """The line through 12 points with the least sum of absolute deviations; slope and intercept are free."""
    rng = np.random.default_rng(7)
    places = np.arange(12)
    values = 3 * places - 20 + rng.integers(-6, 7, 12)
    columns: dict[str, Column] = {"slope": (0.0, -INF, INF), "intercept": (0.0, -INF, INF)}
    rows: dict[str, Row] = {}
    for k, (place, value) in enumerate(zip(places.tolist(), values.tolist(), strict=True), start=1):
        columns |= {f"over_{k}": (1.0, 0.0, INF), f"under_{k}": (1.0, 0.0, INF)}
        rows[f"point_{k}"] = (value, {"slope": place, "intercept": 1.0, f"over_{k}": -1.0, f"under_{k}": 1.0}, value)
    return model("free_columns", columns, rows)


def zipped(text: str) -> bytes:
    """Returns the gzip file of a text, without name and time, so that it is the same every time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(text.encode())
    return buffer.getvalue()


def family() -> Iterator[Sample]:
    """Yields the transport problems."""
    batch = transport_scenarios(transport(8, 15, seed=1), len(FAMILY_OBJECTIVES), seed=2)
    for k, objective in enumerate(FAMILY_OBJECTIVES):
        name = f"transport_{k + 1:02d}"
        text = write_mps(replace(batch.member(k), name=name))
        yield Sample(f"family/{name}.mps", text.encode(), f"demands of scenario {k + 1}", objective=objective)


def mixed() -> Iterator[Sample]:
    """Yields one model of every kind."""

    def mps(lp: LinearProgram, what: str, status: str = "optimal", objective: float | None = None) -> Sample:
        return Sample(f"mixed/{lp.name}.mps", write_mps(lp).encode(), what, status, objective)

    yield Sample("mixed/blending.lp", BLENDING_LP.encode(), "CPLEX LP format, bounds, a constant", objective=4596)
    yield mps(degenerate(), "an assignment problem, degenerate everywhere", objective=87)
    yield mps(free_columns(), "a line fit with two free variables", objective=31.6666666667)
    yield mps(infeasible(), "demand exceeds supply by 1", status="infeasible")
    integer = replace(generalised_assignment(4, 10, seed=3), name="integer")
    text = "a generalised assignment problem, compressed; its 40 variables are integer, which is relaxed"
    yield Sample("mixed/integer.mps.gz", zipped(write_mps(integer)), text, objective=190.447002012)
    yield mps(maximum_with_offset(), "a maximisation with an offset of -250", objective=3831)
    yield mps(
        replace(random_optimal(15, 20, seed=4)[0], name="optimal"), "random, with rows and bounds of all kinds", objective=-274
    )
    yield mps(ranges(), "a diet in which every row has two sides", objective=2.82598448687)
    yield mps(unbounded(), "a maximisation that nothing limits", status="unbounded")


def mip() -> Iterator[Sample]:
    """Yields the model for studies."""
    lp = replace(capacitated_facility_location(10, 12, seed=1), name="facility_location")
    text = "capacitated, 10 binary variables, of which 3 are fractional at the root"
    yield Sample("mip/facility_location.mps", write_mps(lp).encode(), text, objective=3200.23361732)


def readme(samples: list[Sample]) -> bytes:
    """Returns the README with a line a file."""
    lines = [
        f"| `{s.path}` | {s.what} | {s.status} | {'' if s.objective is None else repr(s.objective).removesuffix('.0')} |\n"
        for s in samples
    ]
    return (README_HEAD + "".join(lines)).encode()


def sample_files() -> dict[str, bytes]:
    """Returns the bytes of every file by its path below the folder."""
    samples = [*family(), *mixed(), *mip()]
    return {"README.md": readme(samples)} | {s.path: s.content for s in samples}


def main() -> None:
    """Writes the folder; files that are there already are overwritten, others are left alone."""
    parser = argparse.ArgumentParser(description="Writes the sample instances.")
    parser.add_argument("--output", type=Path, default=ROOT / "sample_instances", help="folder (default: sample_instances)")
    output: Path = parser.parse_args().output
    files = sample_files()
    for path, content in files.items():
        target = output / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes in {output}")


if __name__ == "__main__":
    main()
