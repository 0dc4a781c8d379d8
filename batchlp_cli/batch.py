"""A batch is one base LP and a table of changes. Where a batch came from does not belong here.

Members share the matrix; they may differ in costs, row and column bounds and offset (the table), and in what they are
called: name, sense, integer marks, row and column names (their labels).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeVar

import numpy as np

from batchlp_cli.errors import ModelError
from batchlp_cli.problem import LinearProgram, Mask, Vector

Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Codes = np.ndarray[tuple[int, ...], np.dtype[np.int8]]


class Field(IntEnum):
    """The parts of an LP that a change can touch, as the codes stored in `Changes.field`."""

    COST = 0
    ROW_LOWER = 1
    ROW_UPPER = 2
    COL_LOWER = 3
    COL_UPPER = 4
    OFFSET = 5

    @property
    def attribute(self) -> str:
        """Name of the LinearProgram attribute that holds the base values."""
        return ("c", "row_lower", "row_upper", "col_lower", "col_upper", "offset")[self]


VECTOR_FIELDS = (Field.COST, Field.ROW_LOWER, Field.ROW_UPPER, Field.COL_LOWER, Field.COL_UPPER)


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """A table of changes as parallel arrays, ordered by member.

    member: [k] int64, ascending; field: [k] int8, codes of Field; index: [k] int64, the row or column (0 for OFFSET);
    value: [k] float64, the new value (not a difference). A later entry for the same place wins.
    """

    member: Indices = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    field: Codes = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    index: Indices = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    value: Vector = dataclasses.field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        k = self.member.shape[0]
        if any(a.shape != (k,) for a in (self.field, self.index, self.value)):
            raise ModelError("the four columns of a table of changes have different lengths")
        if k and (np.diff(self.member) < 0).any():
            raise ModelError("a table of changes must be ordered by member")
        if np.isnan(self.value).any():
            raise ModelError("a table of changes holds a NaN")
        finite_only = (self.field == Field.COST) | (self.field == Field.OFFSET)
        if np.isinf(self.value[finite_only]).any():
            raise ModelError("a table of changes holds an infinite cost or offset")

    def __len__(self) -> int:
        return int(self.member.shape[0])

    def __reduce__(self) -> tuple[Callable[..., Changes], tuple[object, ...]]:
        """Returns how to send a table to another process: where all members change the same places, the places go once."""
        first = np.flatnonzero(np.diff(self.member, prepend=-1))
        members, width = first.size, len(self) // max(1, first.size)
        if members > 1 and len(self) == members * width and (first == width * np.arange(members)).all():
            field, index = self.field.reshape(members, width), self.index.reshape(members, width)
            if (field == field[0]).all() and (index == index[0]).all():
                return _same_places, (self.member[first], field[0], index[0], self.value)
        return Changes, (self.member, self.field, self.index, self.value)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the four columns."""
        return int(self.member.nbytes + self.field.nbytes + self.index.nbytes + self.value.nbytes)

    def rows_of(self, member: int) -> slice:
        """Returns the slice of the table that belongs to a member."""
        start, stop = np.searchsorted(self.member, [member, member + 1])
        return slice(int(start), int(stop))

    def of_member(self, member: int) -> Changes:
        """Returns the table of one member, numbered 0."""
        rows = self.rows_of(member)
        numbers = np.zeros(rows.stop - rows.start, dtype=np.int64)
        return Changes(numbers, self.field[rows], self.index[rows], self.value[rows])

    def take(self, members: Sequence[int] | Indices) -> Changes:
        """Returns the table of the given members, renumbered 0, 1, ... in the given order."""
        wanted = np.asarray(members, dtype=np.int64)
        # those wanted are most often neighbours: within their part of a long table they are found without leaving the cache
        ends = [wanted.min(), wanted.max() + 1] if wanted.size else [0, 0]
        low, high = np.searchsorted(self.member, ends).tolist()
        near = self.member[low:high]
        starts = low + np.searchsorted(near, wanted, side="left")
        counts = low + np.searchsorted(near, wanted, side="right") - starts
        member = np.repeat(np.arange(wanted.size, dtype=np.int64), counts)
        first = np.cumsum(counts) - counts
        rows = np.arange(member.size, dtype=np.int64) - first[member] + starts[member]
        return Changes(member, self.field[rows], self.index[rows], self.value[rows])

    @staticmethod
    def concatenate(tables: Iterable[Changes]) -> Changes:
        """Returns one table in which the k-th table given belongs to member k (each must hold one member's changes)."""
        parts = list(tables)
        if not parts:
            return Changes()
        member = np.repeat(np.arange(len(parts), dtype=np.int64), [len(p) for p in parts])
        columns = [np.concatenate([getattr(p, name) for p in parts]) for name in ("field", "index", "value")]
        return Changes(member, *columns)


def _same_places(members: Indices, field: Codes, index: Indices, value: Vector) -> Changes:
    """Returns the table of members [B] that change the same places [w] each; value: [B w]."""
    count, width = members.size, field.size
    return Changes(np.repeat(members, width), np.tile(field, count), np.tile(index, count), value)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What a member calls its rows and columns, and the sense of its file: nothing that a solver needs."""

    maximize: bool
    integer: Mask
    row_names: tuple[str, ...]
    col_names: tuple[str, ...]

    @staticmethod
    def of(lp: LinearProgram) -> Labels:
        """Returns the labels of an LP, sharing its arrays."""
        return Labels(lp.maximize, lp.integer, lp.row_names, lp.col_names)


@dataclass(frozen=True, slots=True, eq=False)
class LPBatch:
    """B LPs with one matrix: the base, each member's changes, names and labels (empty: all as the base)."""

    base: LinearProgram
    changes: Changes
    names: tuple[str, ...]
    labels: tuple[Labels, ...] = ()

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != len(self.names):
            raise ModelError(f"{len(self.labels)} labels for {len(self.names)} members")
        if len(self.changes) and (self.changes.member[0] < 0 or self.changes.member[-1] >= len(self.names)):
            raise ModelError(f"a change names a member outside 0..{len(self.names) - 1}")
        m, n = self.base.m, self.base.n
        size = np.array([n, m, m, n, n, 1])[self.changes.field]  # by the codes of Field
        outside = np.flatnonzero((self.changes.index < 0) | (self.changes.index >= size))
        if outside.size:
            k = int(outside[0])
            name, index = Field(self.changes.field[k]).name.lower(), self.changes.index[k]
            raise ModelError(f"a change of {name} names index {index}, expected 0..{size[k] - 1}")

    def __len__(self) -> int:
        return len(self.names)

    @staticmethod
    def of(lps: Sequence[LinearProgram]) -> LPBatch:
        """Returns the batch of LPs that share the first one's matrix; raises ModelError where one does not."""
        base = lps[0]
        for lp in lps[1:]:
            if not same_matrix(lp, base):
                raise ModelError(f"{lp.name} and {base.name} have different matrices")
        changes = Changes.concatenate(difference(base, lp) for lp in lps)
        return LPBatch(base, changes, tuple(lp.name for lp in lps), tuple(Labels.of(lp) for lp in lps))

    def label(self, i: int) -> Labels:
        """Returns what member i is called."""
        return self.labels[i] if self.labels else Labels.of(self.base)

    def member(self, i: int) -> LinearProgram:
        """Returns member i as a LinearProgram that shares the base's matrix."""
        rows = self.changes.rows_of(i)
        values: dict[str, Vector | float] = {}
        codes, index, value = self.changes.field[rows], self.changes.index[rows], self.changes.value[rows]
        for code in VECTOR_FIELDS:
            touched = codes == code
            if touched.any():
                array = getattr(self.base, code.attribute).copy()
                array[index[touched]] = value[touched]
                values[code.attribute] = array
        offsets = value[codes == Field.OFFSET]
        if offsets.size:
            values["offset"] = float(offsets[-1])
        label = self.label(i)
        return replace(
            self.base,
            A=self.base.rows.as_scipy_later(),
            name=self.names[i],
            maximize=label.maximize,
            integer=label.integer,
            row_names=label.row_names,
            col_names=label.col_names,
            **values,  # type: ignore[arg-type]
        )

    def take(self, members: Sequence[int] | Indices) -> LPBatch:
        """Returns the batch of the given members, in the given order; a member may be taken twice."""
        chosen = np.asarray(members, dtype=np.int64)
        labels = picked(self.labels, chosen) if self.labels else ()
        return LPBatch(self.base, self.changes.take(chosen), picked(self.names, chosen), labels)

    def dense(self, code: Field) -> Vector:
        """Returns one field of all members: [B, size] float64 (size n, m, or 1 for OFFSET). Meant for small batches."""
        base = np.atleast_1d(np.asarray(getattr(self.base, code.attribute), dtype=np.float64))
        values = np.repeat(base[None, :], len(self), axis=0)
        touched = self.changes.field == code
        values[self.changes.member[touched], self.changes.index[touched]] = self.changes.value[touched]
        return values

    @property
    def memory_bytes(self) -> int:
        """Bytes of the base and its changes."""
        return self.base.memory_bytes + self.changes.memory_bytes + 100 * len(self)


T = TypeVar("T")


def picked(values: Sequence[T], which: Indices) -> tuple[T, ...]:
    """Returns some of the values, in the given order."""
    return tuple(map(values.__getitem__, which.tolist()))


def difference(base: LinearProgram, lp: LinearProgram) -> Changes:
    """Returns the changes (as member 0) that turn the base's numbers into those of an LP with the same matrix."""
    parts: list[tuple[Field, Indices, Vector]] = []
    for code in VECTOR_FIELDS:
        new, old = getattr(lp, code.attribute), getattr(base, code.attribute)
        if new is not old:
            index = np.flatnonzero(new != old)
            parts.append((code, index, new[index]))
    if lp.offset != base.offset:
        parts.append((Field.OFFSET, np.zeros(1, dtype=np.int64), np.array([lp.offset])))
    codes = np.concatenate([np.full(i.size, code, dtype=np.int8) for code, i, _ in parts] or [np.zeros(0, dtype=np.int8)])
    index = np.concatenate([i for _, i, _ in parts] or [np.zeros(0, dtype=np.int64)])
    value = np.concatenate([v for _, _, v in parts] or [np.zeros(0)])
    return Changes(np.zeros(codes.size, dtype=np.int64), codes, index, value)


def same_matrix(a: LinearProgram, b: LinearProgram) -> bool:
    """Tells whether two LPs have the same shape, pattern and values."""
    return a.rows.equals(b.rows)
