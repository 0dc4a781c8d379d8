"""SMPS: a core model, its periods and what is random become batches of scenario LPs, with their probabilities.

Scenarios that change only right-hand sides, costs and bounds share the core's matrix; those that change coefficients
are put together by their matrices. Independent sources are combined, or sampled where that would be too many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from batchlp_cli.batch import Indices
from batchlp_cli.errors import UsageError
from batchlp_cli.files.scenario_cells import Cells, What
from batchlp_cli.files.scenarios import CELL_BYTES, MOST_SCENARIOS, SCENARIO_BYTES, Scenarios, apply_cells
from batchlp_cli.files.smps_core import CoreNames, first_stage, read_core_names
from batchlp_cli.files.smps_stoch import COEFFICIENT, Source, Stoch, Target, core_value, read_stoch
from batchlp_cli.problem import LinearProgram, Mask, Vector, canonical_matrix

if TYPE_CHECKING:
    import scipy.sparse as sp

MOST_COMBINATIONS = 1_000_000
"""Scenarios that are enumerated; more must be sampled."""

SAMPLE_BLOCK = 4096
"""Scenarios drawn from one stream of random numbers, so that windows of any size give the same samples."""

ENDINGS = {"core": (".cor", ".core"), "time": (".tim", ".time"), "stoch": (".sto", ".stoch", ".stoc")}


@dataclass(frozen=True, slots=True)
class SmpsFiles:
    """The three files of a stochastic program."""

    core: Path
    time: Path
    stoch: Path


def find_smps(paths: Sequence[str]) -> SmpsFiles:
    """Returns the three files that are named, in the order core, time, stoch, or by one stem or one of them."""
    if len(paths) == 3:
        return SmpsFiles(*map(Path, paths))
    if len(paths) != 1:
        raise UsageError(f"--smps got {len(paths)} paths; expected CORE TIME STOCH, or the stem that the three share")
    stem = paths[0].removesuffix(".gz")
    stem = next((stem.removesuffix(e) for ends in ENDINGS.values() for e in ends if stem.lower().endswith(e)), stem)
    found = []
    for kind, endings in ENDINGS.items():
        names = [f"{stem}{ending}{packed}" for ending in endings for packed in ("", ".gz", ".bz2", ".zst")]
        path = next((Path(name) for name in names if Path(name).is_file()), None)
        if path is None:
            raise UsageError(f"no {kind} file at {stem}; expected one of {', '.join(endings)}, or give CORE TIME STOCH")
        found.append(path)
    return SmpsFiles(*found)


@dataclass(slots=True, eq=False)
class Program:
    """A stochastic program that is read: the core, what is random, the columns of the first period [n]."""

    lp: LinearProgram
    core: CoreNames
    stoch: Stoch
    first: Mask
    periods: tuple[str, ...]
    samples: int | None
    seed: int

    @property
    def combinations(self) -> float:
        """Number of scenarios that there are; infinite with a continuous distribution."""
        if any(source.draw for source in self.stoch.sources):
            return math.inf
        return math.prod(float(len(source.outcomes)) for source in self.stoch.sources)

    def __len__(self) -> int:
        return self.samples if self.samples is not None else int(self.combinations)

    def windows(self, memory_bytes: int, fixed: Vector | None = None) -> Iterator[list[Scenarios]]:
        """Yields the scenarios in order, window by window; those of a window are in a list by their matrices.

        fixed: [n], values at which the columns of the first period are held.
        """
        entries = sum(max(len(values) for values in source.outcomes) for source in self.stoch.sources)
        each = SCENARIO_BYTES + CELL_BYTES * (entries + (int(self.first.sum()) if fixed is not None else 0))
        size = max(1, min(memory_bytes // each, MOST_SCENARIOS))
        for start in range(0, len(self), size):
            number = np.arange(start, min(start + size, len(self)), dtype=np.int64)
            yield self._window(number, fixed)

    def mean(self) -> Scenarios:
        """Returns the one LP in which everything random has its mean."""
        cells: dict[Target, float] = {}
        for source in self.stoch.sources:
            total = sum(source.probability)
            for target in dict.fromkeys(t for values in source.outcomes for t in values):
                own = core_value(self.lp, self.core, target)
                weighted = zip(source.outcomes, source.probability, strict=True)
                cells[target] = math.fsum(p / total * values.get(target, own) for values, p in weighted)
        targets = list(cells)
        arrays = (np.array(column) for column in ([t.what for t in targets], [t.place for t in targets], list(cells.values())))
        return self._scenarios(["mean"], np.zeros(len(targets), dtype=np.int64), *arrays)[0]

    def _window(self, number: Indices, fixed: Vector | None) -> list[Scenarios]:
        """Returns scenarios by their numbers."""
        probability = np.full(number.size, 1.0 / len(self)) if self.samples is not None else np.ones(number.size)
        parts = []
        for k, (source, chosen) in enumerate(zip(self.stoch.sources, self._choices(number), strict=True)):
            if self.samples is None:
                probability = probability * np.array(source.probability)[chosen]
            parts.append(self._drawn(source, number, k) if source.draw else _entries(source, chosen))
        if fixed is not None:
            held = np.flatnonzero(self.first)
            member = np.repeat(np.arange(number.size), held.size)
            parts = [self._without_bounds(part) for part in parts]
            where, what = np.tile(held, number.size), np.full(member.size, int(What.FIX))
            parts.append((member, what, where, fixed[where]))
        member, what, place, value = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        names = [self._name(int(n)) for n in number]
        found = self._scenarios(names, member, what, place, value)
        by_name = dict(zip(names, probability.tolist(), strict=True))
        return [replace(s, probability=np.array([by_name[name] for name in s.batch.names])) for s in found]

    def _name(self, number: int) -> str:
        if self.samples is not None:
            return f"sample{number + 1}"
        return self.stoch.sources[0].names[number] if self.stoch.sources[0].names else f"S{number + 1}"

    def _choices(self, number: Indices) -> list[Indices]:
        """Returns for each source which of its outcomes each scenario takes."""
        if self.samples is not None:
            return self._sampled(number)
        chosen, left = [], number
        for source in reversed(self.stoch.sources):  # the last source changes fastest
            chosen.append(left % len(source.outcomes))
            left = left // len(source.outcomes)
        return chosen[::-1]

    def _sampled(self, number: Indices) -> list[Indices]:
        found: list[Indices] = [np.zeros(number.size, dtype=np.int64) for _ in self.stoch.sources]
        for block in np.unique(number // SAMPLE_BLOCK).tolist():
            mine = number // SAMPLE_BLOCK == block
            for k, source in enumerate(self.stoch.sources):
                stairs = np.cumsum(source.probability) / sum(source.probability)
                uniform = np.random.default_rng([self.seed, block, k]).random(SAMPLE_BLOCK)
                steps = np.minimum(np.searchsorted(stairs, uniform, side="right"), len(stairs) - 1)
                found[k][mine] = steps[number[mine] % SAMPLE_BLOCK]
        return found

    def _drawn(self, source: Source, number: Indices, k: int) -> Entries:
        assert source.draw is not None
        (target,) = source.outcomes[0]
        value = np.zeros(number.size)
        for block in np.unique(number // SAMPLE_BLOCK).tolist():
            mine = number // SAMPLE_BLOCK == block
            drawn = source.draw(np.random.default_rng([self.seed, block, k]), SAMPLE_BLOCK)
            value[mine] = drawn[number[mine] % SAMPLE_BLOCK]
        same = np.full(number.size, target.what), np.full(number.size, target.place)
        return np.arange(number.size), *same, value

    def _without_bounds(self, part: Entries) -> Entries:
        """Returns entries without the bounds of columns that are held at a value anyway."""
        _, what, place, _ = part
        bound = np.isin(what, [What.LB, What.UB, What.FIX])
        kept = ~bound
        kept[bound] = ~self.first[place[bound]]
        return tuple(column[kept] for column in part)  # type: ignore[return-value]

    def _scenarios(self, names: list[str], member: Indices, what: Indices, place: Indices, value: Vector) -> list[Scenarios]:
        """Returns LPs with these entries, put together by their matrices."""
        is_entry = what == COEFFICIENT
        plain = self._cells(names, member[~is_entry], what[~is_entry], place[~is_entry], value[~is_entry])
        whole = apply_cells(self.lp, plain)
        if not is_entry.any():
            return [whole]
        by_matrix: dict[bytes, tuple[list[int], Indices, Vector]] = {}
        rows, spots, numbers = member[is_entry], place[is_entry], value[is_entry]
        order = np.lexsort((spots, rows))
        rows, spots, numbers = rows[order], spots[order], numbers[order]
        edges = np.searchsorted(rows, np.arange(len(names) + 1))
        for k in range(len(names)):
            own = slice(int(edges[k]), int(edges[k + 1]))
            key = spots[own].tobytes() + numbers[own].tobytes()
            by_matrix.setdefault(key, ([], spots[own], numbers[own]))[0].append(k)
        found = []
        for members, where, coefficients in by_matrix.values():
            batch = whole.batch.take(members)
            base = self.lp if not where.size else replace(self.lp, A=with_entries(self.lp.A, where, coefficients))
            found.append(Scenarios(replace(batch, base=base), whole.probability[members]))
        return found

    def _cells(self, names: list[str], member: Indices, what: Indices, place: Indices, value: Vector) -> Cells:
        """Returns entries as cells: the right-hand side of the objective is minus its constant, and an L row with two sides
        has its upper one for a right-hand side."""
        offset = what == What.OFFSET
        value = np.where(offset, -value, value)
        lp = self.lp
        ranged = np.flatnonzero(np.isfinite(lp.row_lower) & np.isfinite(lp.row_upper) & (lp.row_lower != lp.row_upper))
        down = [i for i in ranged.tolist() if self.core.kinds.get(lp.row_name(i)) == "L"]
        moved = (what == What.RHS) & np.isin(place, down)
        if moved.any():
            width = (lp.row_upper - lp.row_lower)[place[moved]]
            member = np.concatenate([member, member[moved]])
            what = np.concatenate([np.where(moved, int(What.ROW_UPPER), what), np.full(width.size, int(What.ROW_LOWER))])
            place = np.concatenate([place, place[moved]])
            value = np.concatenate([value, value[moved] - width])
        origin = np.asarray(member, dtype=np.int64)
        return Cells(0, names, origin, what.astype(np.int8), place.astype(np.int64), value.astype(np.float64), origin)


Entries = tuple[Indices, Indices, Indices, Vector]
"""(scenario, code, place, value), one an entry."""


def _entries(source: Source, chosen: Indices) -> Entries:
    """Returns what the chosen outcomes change."""
    sizes = np.array([len(values) for values in source.outcomes])
    starts = np.cumsum(sizes) - sizes
    targets = [target for values in source.outcomes for target in values]
    what = np.array([t.what for t in targets], dtype=np.int64)
    place = np.array([t.place for t in targets], dtype=np.int64)
    value = np.array([v for values in source.outcomes for v in values.values()], dtype=np.float64)
    member = np.repeat(np.arange(chosen.size), sizes[chosen])
    begun = np.cumsum(sizes[chosen]) - sizes[chosen]
    at = starts[chosen][member] + np.arange(member.size) - begun[member]
    return member, what[at], place[at], value[at]


def with_entries(A: sp.csr_array, places: Indices, values: Vector) -> sp.csr_array:
    """Returns a matrix with the entries at places (row * n + column) replaced; an entry may be new, or 0."""
    import scipy.sparse as sp  # late: most runs have no stochastic program

    m, n = A.shape
    own = np.repeat(np.arange(m, dtype=np.int64), np.diff(A.indptr)) * n + A.indices
    at = np.searchsorted(own, places)
    there = (at < own.size) & (own[np.minimum(at, own.size - 1)] == places) if own.size else np.zeros(places.size, dtype=np.bool_)
    data = A.data.copy()
    data[at[there]] = values[there]
    every = np.concatenate([own, places[~there]])
    return canonical_matrix(sp.csr_array((np.concatenate([data, values[~there]]), (every // n, every % n)), shape=(m, n)))


def read_program(files: SmpsFiles, lp: LinearProgram, *, samples: int | None, seed: int, limit_bytes: int) -> Program:
    """Returns a stochastic program whose core is read already. Raises UsageError for what cannot be used, also where the
    scenarios are more than MOST_COMBINATIONS, or continuous, and no number of samples is given."""
    core = read_core_names(files.core, limit_bytes)
    stoch = read_stoch(files.stoch, lp, core, limit_bytes)
    first, periods = first_stage(files.time, lp, limit_bytes)
    program = Program(lp, core, stoch, first, periods, samples, seed)
    if samples is None and program.combinations > MOST_COMBINATIONS:
        count = "infinitely many" if math.isinf(program.combinations) else f"{program.combinations:.3g}"
        raise UsageError(f"{files.stoch}: there are {count} scenarios; add --samples N (and --seed) to draw some of them")
    return program
