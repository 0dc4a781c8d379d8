"""Names in the run folder: safe everywhere, unique everywhere, and steady when other files come and go."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batchlp_cli.files.names import MOST_BYTES, MOST_PATH_BYTES, safe_names

# Pieces that collide by case, normalisation, cleaning or cutting, beside any text at all (lone surrogates included).
PIECES = [
    "a",
    "A",
    "é",
    "e\u0301",
    "É",
    "ß",
    "ss",
    "ẞ",
    "ﬁ",
    "fi",
    "İ",
    "i\u0307",
    "\u212b",
    "å",
    "\u017f",
    "K",
    "\u212a",
    "..",
    ".",
    "-x",
    "~",
]
PIECES += [
    "con",
    "NUL.mps",
    "a.mps",
    "A.MPS",
    "a.mps.sol",
    "a.mps.gz",
    "\udcff",
    "\x1b[2J",
    "a b",
    "a ",
    "x" * 200,
    "ü" * 90,
    "a.",
    "*",
    "\u202e",
]
paths = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), min_size=1, max_size=4).map("/".join)
many_paths = st.lists(paths, max_size=12)


@given(many_paths)
def test_names_stay_inside_and_are_legal_everywhere(shown: list[str]) -> None:
    """No name is absolute, climbs, hides, looks like a flag, is too long, or holds what a file system or terminal dislikes."""
    for name in safe_names(shown):
        assert 0 < len(name.encode()) <= MOST_PATH_BYTES + MOST_BYTES
        for part in name.split("/"):
            assert part
            assert part not in (".", "..")
            assert part[0] not in ".-~ "
            assert part[-1] not in ". "
            assert len(part.encode()) <= MOST_BYTES
            assert part.isprintable()
            assert not set(part) & set('<>:"|?*\\')
            assert part.split(".")[0].rstrip(" ").lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(many_paths)
@example(["é.mps", "e\u0301.mps", "É.mps", "E\u0301.MPS"])
@example(["a/b.mps", "a/b.mps", "A/B.mps", "a//b.mps"])
def test_names_never_meet(shown: list[str]) -> None:
    """No two names are equal on a file system that ignores case or normalises Unicode, in either form."""
    names = safe_names(shown)
    for form in ("NFC", "NFD", "NFKC"):
        for change in (str.lower, str.upper, str.casefold):
            assert len({change(unicodedata.normalize(form, name)) for name in names}) == len(shown)


@given(many_paths)
@example(["a", "a/b", "A/c"])
@example(["a.mps", "a.mps.sol/b"])
def test_no_name_is_a_folder_of_another(shown: list[str]) -> None:
    """With .sol added or not, a file is never where another name needs a folder."""
    names = [name.lower() for name in safe_names(shown)]
    folders = {name[:k] for name in names for k, c in enumerate(name) if c == "/"}
    assert folders.isdisjoint(names)
    assert folders.isdisjoint(f"{name}.sol" for name in names)


@given(st.lists(paths, max_size=10, unique=True), st.randoms(use_true_random=False))
def test_names_do_not_depend_on_the_order(shown: list[str], random: object) -> None:
    """The same paths in another order get the same names."""
    names = dict(zip(shown, safe_names(shown), strict=True))
    shuffled = list(shown)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert dict(zip(shuffled, safe_names(shuffled), strict=True)) == names


def test_five_names_that_look_alike() -> None:
    """What differs only in a number, a folder or a compression keeps its own path as its name."""
    tree = ["case.1.mps", "case.2.mps", "sub/case.1.mps", "case.mps", "case.mps.gz", "case.lp"]
    assert safe_names(tree) == tree


@pytest.mark.parametrize("path", ["plain.mps", "sub/case 1.lp.gz", "modèle.mps", "模型/一.mps", "a+b,c=d@e.mps", "_x.mps"])
def test_a_legal_path_is_its_own_name(path: str) -> None:
    """A relative path that every file system accepts is kept as it is."""
    assert safe_names([path]) == [path]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "..", "", "a/../../b.mps", "C:\\x.mps", "\udc80\udcff.mps"])
def test_an_illegal_path_carries_a_hash_and_its_ending(path: str) -> None:
    """A path that had to be cleaned differs from every path that needed no cleaning."""
    (name,) = safe_names([path])
    assert name != path
    assert len(name.rpartition("-")[2].split(".")[0]) == 10
    assert name.endswith(".mps") == path.endswith(".mps")


@given(many_paths, paths)
def test_cleaned_names_do_not_depend_on_other_files(others: list[str], path: str) -> None:
    """A name changes only when it meets another one: a path that no other path resembles keeps its name."""
    mine = "only-here/" + path
    assert safe_names([mine, *others])[0] == safe_names([mine])[0]


def test_a_million_mentions_of_one_path_are_no_quadratic_work() -> None:
    """Many mentions of one path are numbered without trying all earlier numbers again."""
    names = safe_names(["x.mps"] * 50_000)
    assert len(set(names)) == len(names)
    assert names[0] == "x.mps"
    assert names[-1].endswith("-49999.mps")


def test_identities_tell_equal_paths_apart_steadily() -> None:
    """Equal relative paths from different places get hashes of those places, whatever else is there."""
    one = safe_names(["x.mps", "x.mps"], ["a/x.mps", "b/x.mps"])
    more = safe_names(["x.mps", "y.mps", "x.mps", "x.mps"], ["b/x.mps", "a/y.mps", "c/x.mps", "a/x.mps"])
    assert one[0] == more[3] == "x.mps"
    assert one[1] == more[0]
    assert len(set(more)) == 4
