"""Sources told by columns are those that each member would have alone."""

from __future__ import annotations

import numpy as np
import pytest

from batchlp_cli.report.rows import Source
from batchlp_cli.report.sources import Sources, SourcesByKey, columns_of, names_of

ALL = [Source(f"n{k}", f"t:n{k}", f"d{k}", k / 8, ("odd",), None if k % 2 else k / 4) for k in range(6)]


def test_columns_give_each_source_back() -> None:
    """Taken in any order, joined in parts or by key: a member has its own name, path, digest, times, warnings and probability."""
    whole = Sources.of(ALL)
    assert [whole[k] for k in range(6)] == ALL
    some = whole.take(np.array([4, 1, 4]))
    assert [some[k] for k in range(len(some))] == [ALL[4], ALL[1], ALL[4]]
    parts = [(np.array([0, 3]), whole.take(np.array([0, 1]))), (np.array([5, 6, 9]), whole.take(np.array([2, 3, 4])))]
    by_key = SourcesByKey.joined(parts)
    assert list(by_key) == [0, 3, 5, 6, 9]
    assert [by_key[key] for key in by_key] == ALL[:5]
    assert names_of(by_key, (9, 0)) == ("n4", "n0")
    assert len(SourcesByKey.joined([])) == 0
    for missing in (1, 10):
        with pytest.raises(KeyError):
            by_key[missing]


def test_what_is_shown_has_a_common_beginning() -> None:
    """Scenarios are shown by their table and their own name, which is told once where it is that of the row."""
    names = ("a", "b")
    sources = Sources(names, "t.csv:", names, ("", ""), np.zeros(2), np.full(2, np.nan))
    assert sources[1] == Source("b", "t.csv:b")
    assert sources.take(np.array([1]))[0] == Source("b", "t.csv:b")


def test_sources_with_other_warnings_are_apart() -> None:
    """Members of files are grouped by their warnings, each by its place among the keys."""
    files = {k: Source(f"f{k}", f"f{k}.mps", warnings=("odd",) if k % 3 == 0 else ()) for k in range(7)}
    keys = np.array([6, 2, 3, 5])
    found = columns_of(files, keys)
    assert [(which.tolist(), sources.names) for which, sources in found] == [([0, 2], ("f6", "f3")), ([1, 3], ("f2", "f5"))]
    assert [sources[0].warnings for _, sources in found] == [("odd",), ()]
    ((which, columns),) = columns_of(SourcesByKey(np.arange(6), Sources.of(ALL)), np.array([3, 0]))
    assert which.tolist() == [0, 1]
    assert columns.names == ("n3", "n0")
    assert names_of(files, (4, 1)) == ("f4", "f1")
