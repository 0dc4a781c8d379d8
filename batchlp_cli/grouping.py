"""Collects LPs into groups with one matrix, each ready to become a batch; tells why two LPs are apart."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from batchlp_cli.batch import VECTOR_FIELDS, Changes, Indices, Labels, LPBatch, difference, same_matrix
from batchlp_cli.problem import LinearProgram

MEMBER_BYTES = 800  # of a pending member beside its numbers: its objects and its name
ID_LENGTH = 8


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A batch on its way: a short id that is the same in every window and run, and the key of each member's input."""

    id: str
    batch: LPBatch
    keys: tuple[int, ...]


@dataclass(slots=True, eq=False)
class _Family:
    """A base and the members that wait to be taken."""

    id: str
    base: LinearProgram
    base_label: Labels
    keys: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    changes: list[Changes] = field(default_factory=list)

    def add(self, key: int, lp: LinearProgram) -> int:
        """Takes a member in; returns the bytes that it needs."""
        changes = difference(self.base, lp)
        self.keys.append(key)
        self.names.append(lp.name)
        self.changes.append(changes)
        self.labels.append(self._shared(Labels.of(lp)))
        return changes.memory_bytes + MEMBER_BYTES

    def _shared(self, label: Labels) -> Labels:
        """Returns an equal label that is here already: the base's or the last one's."""
        known = (self.base_label, *self.labels[-1:])
        return next((k for k in known if _same_label(k, label)), label)

    def take(self) -> Group:
        """Returns the members as a batch and forgets them."""
        labels = () if all(label is self.base_label for label in self.labels) else tuple(self.labels)
        batch = LPBatch(self.base, Changes.concatenate(self.changes), tuple(self.names), labels)
        group = Group(self.id, batch, tuple(self.keys))
        for pending in (self.keys, self.names, self.labels, self.changes):
            pending.clear()
        return group


class Grouper:
    """Collects LPs by matrix. Bases are remembered, within base_limit_bytes, so that later windows of a family have the
    same base; of the LPs themselves only the changes are kept."""

    def __init__(self, base_limit_bytes: int) -> None:
        self._limit = base_limit_bytes
        self._families: OrderedDict[str, list[_Family]] = OrderedDict()  # by digest, the least recently used first
        self._ids: dict[str, tuple[str, int]] = {}  # id -> (digest, number among those with this digest)
        self._pending_bytes = 0

    @property
    def memory_bytes(self) -> int:
        """Bytes of what came in since the last take_batches(): new bases, changes, names."""
        return self._pending_bytes

    def add(self, key: int, lp: LinearProgram, matrix_digest: str) -> None:
        """Puts an LP into the group with its matrix; equal digests are confirmed by comparing the matrices."""
        families = self._families.setdefault(matrix_digest, [])
        self._families.move_to_end(matrix_digest)
        for family in families:
            if same_matrix(family.base, lp):
                break
        else:
            family = _Family(self._new_id(matrix_digest, len(families)), lp, Labels.of(lp))
            families.append(family)
            self._pending_bytes += lp.memory_bytes
        self._pending_bytes += family.add(key, lp)

    def take_batches(self) -> list[Group]:
        """Returns what is pending, in the order in which groups first had a member, and forgets all but the bases."""
        pending = [family for families in self._families.values() for family in families if family.keys]
        groups = [family.take() for family in sorted(pending, key=lambda family: family.keys[0])]
        self._pending_bytes = 0
        self._forget()
        return groups

    def _forget(self) -> None:
        """Drops the bases that were not used for longest until the rest keeps the limit; the last one stays."""
        sizes = {digest: sum(f.base.memory_bytes for f in families) for digest, families in self._families.items()}
        total = sum(sizes.values())
        while total > self._limit and len(self._families) > 1:
            digest, _ = self._families.popitem(last=False)
            total -= sizes[digest]

    def _new_id(self, digest: str, number: int) -> str:
        """Returns the beginning of the digest, as long as it must be to differ from the ids of other matrices."""
        for length in range(ID_LENGTH, len(digest) + 1, 4):
            name = digest[:length] + (f"-{number + 1}" if number else "")
            if self._ids.setdefault(name, (digest, number)) == (digest, number):
                return name
        name = digest + (f"-{number + 1}" if number else "")
        self._ids[name] = digest, number
        return name


def _same_label(a: Labels, b: Labels) -> bool:
    if a.maximize != b.maximize:
        return False
    if a.integer is not b.integer and not np.array_equal(a.integer, b.integer):
        return False
    return a.row_names == b.row_names and a.col_names == b.col_names


def unlike(a: LinearProgram, b: LinearProgram) -> str:
    """Returns in words why two LPs are not in one batch: their shapes, the pattern or the values of their matrices."""
    if a.rows.shape != b.rows.shape:
        return f"{a.name} has {a.m} rows and {a.n} columns, {b.name} has {b.m} rows and {b.n} columns"
    in_a, in_b = _places(a), _places(b)
    if not np.array_equal(in_a, in_b):
        return _unlike_pattern(a, b, in_a, in_b)
    differs = np.flatnonzero(a.rows.data != b.rows.data)
    if not differs.size:
        return f"{a.name} and {b.name} have the same matrix"
    first = int(differs[0])
    row, col = divmod(int(in_a[first]), a.n)
    return (
        f"{differs.size} of {a.nnz} coefficients differ, the first in row {a.row_name(row)}, column {a.col_name(col)}: "
        f"{float(a.rows.data[first])!r} in {a.name}, {float(b.rows.data[first])!r} in {b.name}"
    )


def _places(lp: LinearProgram) -> Indices:
    """Returns row * n + column of each stored coefficient, ascending."""
    return lp.rows.row_of.astype(np.int64) * lp.n + lp.rows.indices


def _unlike_pattern(a: LinearProgram, b: LinearProgram, in_a: Indices, in_b: Indices) -> str:
    only_a, only_b = np.setdiff1d(in_a, in_b, assume_unique=True), np.setdiff1d(in_b, in_a, assume_unique=True)
    has_it = a if not only_b.size or (only_a.size and only_a[0] < only_b[0]) else b
    lacks_it = b if has_it is a else a
    row, col = divmod(int((only_a if has_it is a else only_b)[0]), a.n)
    return (
        f"{only_a.size + only_b.size} coefficients are in one and not in the other, the first in row {has_it.row_name(row)}, "
        f"column {has_it.col_name(col)}: {float(has_it.A[row, col])!r} in {has_it.name}, none in {lacks_it.name}"
    )


SLICE = 1 << 16
"""Changes that are looked at together for duplicates: about what stays in cache."""

_MIXERS = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93))


def duplicate_members(batch: LPBatch) -> Indices:
    """Returns for each member the first member with identical numbers (itself where there is none earlier): [B] int64."""
    first = np.arange(len(batch), dtype=np.int64)
    hashes = np.zeros(len(batch), dtype=np.uint64)
    width = max(1, SLICE * len(batch) // max(1, len(batch.changes)))
    for start in range(0, len(batch), width):
        part = first[start : start + width]
        hashes[part] = _hashes(batch.take(part))
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero(np.diff(hashes[order]) == 0)
    if not again.size:
        return first
    # members with equal hashes are compared number for number
    doubtful = np.unique(np.concatenate([order[again], order[again + 1]]))
    seen: dict[bytes, int] = {}
    numbers = _effective(batch.take(doubtful))
    edges = np.searchsorted(numbers.member, np.arange(doubtful.size + 1)).tolist()
    columns = numbers.field, numbers.index, numbers.value
    for k, (a, b) in enumerate(pairwise(edges)):
        content = b"".join(column[a:b].tobytes() for column in columns)
        first[doubtful[k]] = seen.setdefault(content, int(doubtful[k]))
    return first


def _hashes(batch: LPBatch) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Returns a number for each member that is the same for the same numbers, and most often another one for others: [B]."""
    table = _effective(batch)
    a, b, c, d = _MIXERS
    mixed = table.value.view(np.uint64) * a + table.index.astype(np.uint64) * b + table.field.astype(np.uint64) * c
    mixed ^= mixed >> np.uint64(32)
    mixed *= d
    mixed ^= mixed >> np.uint64(29)
    sums = np.append(np.uint64(0), np.cumsum(mixed, dtype=np.uint64))  # sums wrap around, and so do their differences
    edges = np.searchsorted(table.member, np.arange(len(batch) + 1))
    return sums[edges[1:]] - sums[edges[:-1]]


def _ascends(table: Changes) -> bool:
    """Tells whether changes are ordered by member, field and index already, as those of files are."""
    member, code, index = np.diff(table.member), np.diff(table.field), np.diff(table.index)
    return bool(((member > 0) | ((member == 0) & ((code > 0) | ((code == 0) & (index >= 0))))).all())


def _effective(batch: LPBatch) -> Changes:
    """Returns the changes that change something, ordered by member, field and index, the last entry for each place."""
    table = batch.changes
    member, code, index, value = table.member, table.field, table.index, table.value
    if not _ascends(table):
        order = np.lexsort((index, code, member))  # stable: later entries for a place stay behind
        member, code, index, value = member[order], code[order], index[order], value[order]
    value = value + 0.0  # -0.0 and 0.0 are one number
    last = np.ones(len(table), dtype=np.bool_)
    last[:-1] = (np.diff(member) != 0) | (np.diff(code) != 0) | (np.diff(index) != 0)
    base = np.full(len(table), batch.base.offset)
    for vector in VECTOR_FIELDS:
        touched = code == vector
        base[touched] = getattr(batch.base, vector.attribute)[index[touched]]
    kept = last & (value != base)
    return Changes(member[kept], code[kept], index[kept], value[kept])
