"""Grouping: LPs come together exactly when their matrices are equal, and come out of a batch as they went in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlp_cli.batch import Changes, Field, LPBatch, difference
from batchlp_cli.grouping import Group, Grouper, duplicate_members, unlike
from batchlp_cli.problem import LinearProgram

ROOMY = 1 << 30


def make_lp(name: str = "base", entry: float = 3.0, **values: object) -> LinearProgram:
    """Returns a small LP of two rows and three columns; entry is the coefficient in row c2, column z."""
    lp = LinearProgram(
        name=name,
        c=np.array([1.0, 2.0, 0.0]),
        A=sp.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, entry]])),
        row_lower=np.array([1.0, -np.inf]),
        row_upper=np.array([np.inf, 4.0]),
        col_lower=np.zeros(3),
        col_upper=np.array([np.inf, 2.0, 5.0]),
        row_names=("c1", "c2"),
        col_names=("x", "y", "z"),
    )
    return replace(lp, **values)  # type: ignore[arg-type]


def collect(lps: list[LinearProgram], digests: list[str] | None = None, limit: int = ROOMY) -> list[Group]:
    """Groups LPs in one window; without digests each gets that of its coefficients."""
    grouper = Grouper(limit)
    for key, lp in enumerate(lps):
        grouper.add(key, lp, digests[key] if digests else digest_of(lp))
    return grouper.take_batches()


def digest_of(lp: LinearProgram) -> str:
    """Returns a stand-in for the reader's digest."""
    return f"{hash((lp.A.shape, lp.A.data.tobytes(), lp.A.indices.tobytes())) & (2**128 - 1):064x}"[::-1]


def same_numbers(a: LinearProgram, b: LinearProgram) -> bool:
    """Tells whether two LPs agree in all that a batch can change."""
    vectors = [np.array_equal(getattr(a, f), getattr(b, f)) for f in ("c", "row_lower", "row_upper", "col_lower", "col_upper")]
    return all(vectors) and a.offset == b.offset


@given(
    st.lists(
        st.tuples(st.sampled_from([3.0, 4.0, 5.0]), st.integers(-3, 3), st.integers(0, 4), st.booleans()), min_size=1, max_size=12
    )
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_members_come_out_as_they_went_in(recipes: list[tuple[float, int, int, bool]]) -> None:
    """Every LP is a member of exactly one group, that of its matrix, with its numbers, name and sense."""
    lps = [
        make_lp(
            f"m{i}", entry, c=np.array([1.0, cost, 0.0]), row_lower=np.array([float(low), -np.inf]), offset=cost, maximize=sense
        )
        for i, (entry, cost, low, sense) in enumerate(recipes)
    ]
    groups = collect(lps)
    assert sorted(key for group in groups for key in group.keys) == list(range(len(lps)))
    assert len(groups) == len({recipe[0] for recipe in recipes})
    for group in groups:
        for member, key in enumerate(group.keys):
            out = group.batch.member(member)
            assert same_numbers(out, lps[key])
            assert (out.name, out.maximize, out.A[1, 2]) == (lps[key].name, lps[key].maximize, recipes[key][0])


def test_equal_digests_of_unequal_matrices_stay_apart() -> None:
    """A collision of digests makes two groups with two ids, and later members find their own."""
    groups = collect([make_lp("a"), make_lp("b", 4.0), make_lp("c"), make_lp("d", 4.0)], ["ab" * 32] * 4)
    assert [group.keys for group in groups] == [(0, 2), (1, 3)]
    assert len({group.id for group in groups}) == 2


def test_ids_are_short_stable_and_unique() -> None:
    """An id is the beginning of the digest, longer only where another group has that already."""
    digests = ["abcdef01" + "0" * 56, "abcdef01" + "1" * 56, "0" * 64]
    groups = collect([make_lp(entry=entry) for entry in (1.0, 2.0, 3.0)], digests)
    assert [group.id for group in groups] == ["abcdef01", "abcdef011111", "00000000"]


def test_later_windows_have_the_same_base_and_id() -> None:
    """After take_batches nothing is pending, and the next members of a family are changes of the same base."""
    grouper = Grouper(ROOMY)
    grouper.add(0, make_lp("a"), "ab" * 32)
    (first,) = grouper.take_batches()
    assert (grouper.memory_bytes, grouper.take_batches()) == (0, [])
    grouper.add(1, make_lp("b", offset=2.0), "ab" * 32)
    assert 0 < grouper.memory_bytes < first.batch.base.memory_bytes + 2000
    (second,) = grouper.take_batches()
    assert second.batch.base is first.batch.base
    assert (second.id, second.keys, second.batch.names) == (first.id, (1,), ("b",))
    assert second.batch.member(0).offset == 2.0


def test_memory_is_that_of_a_base_and_its_changes() -> None:
    """A thousand members that differ in one number need far less than a thousand LPs, and old bases are dropped."""
    n = 2000
    wide = LinearProgram("w", np.ones(n), sp.csr_array(np.ones((1, n))), np.zeros(1), np.ones(1), np.zeros(n), np.ones(n))
    grouper = Grouper(1)
    for key in range(1000):
        grouper.add(key, replace(wide, name=f"w{key}", offset=float(key)), "ab" * 32)
    assert wide.memory_bytes < grouper.memory_bytes < 15 * wide.memory_bytes
    grouper.take_batches()
    for key in range(3):
        grouper.add(key, replace(make_lp(entry=1.0 + key)), f"{key}" * 64)
        grouper.take_batches()
    assert list(grouper._families) == ["2" * 64]


def test_a_dropped_family_comes_back_under_its_id() -> None:
    """The id of a group is the same although its base was forgotten in between."""
    grouper = Grouper(1)
    ids = []
    for entry, digest in ((1.0, "aa" * 32), (2.0, "bb" * 32), (1.0, "aa" * 32)):
        grouper.add(0, make_lp(entry=entry), digest)
        ids += [group.id for group in grouper.take_batches()]
    assert ids == ["a" * 8, "b" * 8, "a" * 8]


def test_equal_labels_are_shared() -> None:
    """Members named alike share one label, or none is kept where all are named like the base."""
    plain = collect([make_lp(f"m{i}") for i in range(3)])[0].batch
    mixed = collect([make_lp("a"), make_lp("b", maximize=True), make_lp("c", maximize=True)])[0].batch
    assert plain.labels == ()
    assert mixed.labels[1] is mixed.labels[2]
    assert [mixed.member(i).maximize for i in range(3)] == [False, True, True]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            make_lp("b", A=sp.csr_array(np.ones((2, 3)))),
            "3 coefficients are in one and not in the other, the first in row c1, column z",
        ),
        (make_lp("b", A=sp.csr_array(np.array([[1.0, 0, 0], [0, 0, 3.0]]))), "row c1, column y: 1.0 in a, none in b"),
        (make_lp("b", 4.0), "1 of 3 coefficients differ, the first in row c2, column z: 3.0 in a, 4.0 in b"),
        (make_lp("b", c=np.ones(3)), "same matrix"),
        (
            LinearProgram("b", np.ones(1), sp.csr_array((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1)),
            "a has 2 rows and 3 columns, b has 1 rows and 1 columns",
        ),
    ],
)
def test_unlike_says_what_keeps_two_apart(other: LinearProgram, words: str) -> None:
    """Shape, pattern and values are told with names of row and column, in the order of the matrix."""
    assert words in unlike(make_lp("a"), other)


def test_unlike_finds_entries_that_only_the_second_has() -> None:
    """The first entry in one and not the other is named with the LP that has it, whichever that is."""
    sparse = make_lp("a", A=sp.csr_array(np.array([[1.0, 0, 0], [0, 0, 3.0]])))
    assert "column y: 1.0 in b, none in a" in unlike(sparse, make_lp("b"))


def test_duplicates_are_found_whatever_the_table_looks_like() -> None:
    """Members are equal when their numbers are: order, repetitions, no-op changes and the sign of zero do not count."""
    rows = [
        (0, Field.COST, 0, 5.0),
        (0, Field.ROW_UPPER, 1, 7.0),
        (1, Field.ROW_UPPER, 1, 7.0),
        (1, Field.COST, 0, 4.0),
        (1, Field.COST, 0, 5.0),
        (1, Field.COST, 1, 2.0),
        (3, Field.COL_LOWER, 2, -0.0),
        (4, Field.OFFSET, 0, 1.0),
        (5, Field.COL_UPPER, 0, 1.0),
        (6, Field.COL_UPPER, 1, 1.0),
    ]
    member, code, index, value = (np.array(column) for column in zip(*rows, strict=True))
    table = Changes(member.astype(np.int64), code.astype(np.int8), index.astype(np.int64), value.astype(np.float64))
    batch = LPBatch(make_lp(), table, tuple(f"m{i}" for i in range(7)))
    assert duplicate_members(batch).tolist() == [0, 0, 2, 2, 4, 5, 6]


@pytest.mark.parametrize("seed", range(20))
def test_duplicates_are_those_of_a_comparison_of_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether hashes tell members apart or not, and however many are looked at together, equal ones are found and only they."""
    rng = np.random.default_rng(seed)
    base = make_lp()
    lps = [replace(base, name=f"m{k}", c=rng.integers(0, 2, base.n).astype(np.float64), offset=float(k % 2)) for k in range(30)]
    batch = LPBatch.of([base, *lps])
    if seed % 2:
        monkeypatch.setattr("batchlp_cli.grouping.SLICE", 7)
    if seed % 3 == 0:
        monkeypatch.setattr("batchlp_cli.grouping._hashes", lambda part: np.zeros(len(part), dtype=np.uint64))
    members = [batch.member(k) for k in range(len(batch))]
    same = [[difference(a, b).value.size == 0 for b in members] for a in members]
    assert duplicate_members(batch).tolist() == [row.index(True) for row in same]


def test_no_changes_and_no_members() -> None:
    """Members without changes all equal the first; an empty batch has no duplicates."""
    assert duplicate_members(LPBatch(make_lp(), Changes(), ("a", "b", "c"))).tolist() == [0, 0, 0]
    assert duplicate_members(LPBatch(make_lp(), Changes(), ())).tolist() == []
