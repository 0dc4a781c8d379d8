"""Finding inputs: every mention gives one input, in the same order everywhere, and nothing is ever waited for."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchlp_cli.errors import UsageError
from batchlp_cli.files.discover import Discovery, discover, read_file_list, shard_inputs
from batchlp_cli.files.inputs import Compression, Input, ModelFormat, printable


def plant(root: Path, *names: str) -> Path:
    """Makes empty files, and folders for names that end in a slash."""
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return root


def shown(discovery: Discovery) -> list[str]:
    """Returns what a user sees of the inputs."""
    return [found.shown for found in discovery.inputs]


def the_one(paths: Sequence[str | Path], **options: ModelFormat) -> Input:
    """Returns the only input that the paths give."""
    (found,) = discover([str(p) for p in paths], **options).inputs
    return found


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test in its own folder, so that paths are relative."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".zst", ".GZ"])
@pytest.mark.parametrize("kind", ["mps", "lp", "MPS", "Lp"])
def test_endings_tell_format_and_compression(kind: str, ending: str, tmp_path: Path) -> None:
    """A model is known by its ending in any letter case, as a file and in a folder."""
    name = f"a.b.{kind}{ending}"
    plant(tmp_path, f"m/{name}")
    for found in (the_one(["m"]), the_one([f"m/{name}"])):
        assert (found.format, found.compression) == (kind.lower(), ending[1:].lower() or "none")
        assert (found.path, found.shown, found.problem) == (f"m/{name}", f"m/{name}", "")


def test_a_folder_is_walked_in_the_order_of_bytes(tmp_path: Path) -> None:
    """Models of a folder come sorted by the bytes of their paths, whatever the locale; names are relative to the folder."""
    plant(tmp_path, "m/b.mps", "m/B.mps", "m/a/z.lp", "m/a.mps", "m/a-1.mps", "m/é.mps", "m/z.mps")
    found = discover(["m"])
    assert shown(found) == ["m/B.mps", "m/a-1.mps", "m/a.mps", "m/a/z.lp", "m/b.mps", "m/z.mps", "m/é.mps"]
    assert [i.name for i in found.inputs if i.shown not in ("m/b.mps", "m/B.mps")] == [
        "a-1.mps",
        "a.mps",
        "a/z.lp",
        "z.mps",
        "é.mps",
    ]
    assert [i.index for i in found.inputs] == list(range(7))
    assert found.notes == ()


def test_the_current_folder_shows_no_dot(tmp_path: Path) -> None:
    """Paths found in . are shown without it."""
    plant(tmp_path, "a.mps", "s/b.mps")
    assert shown(discover(["."])) == ["a.mps", "s/b.mps"]


def test_what_is_passed_over_is_noted_with_a_count(tmp_path: Path) -> None:
    """Hidden, foreign and empty things give no input and one note a kind, with count and first example."""
    plant(tmp_path, "m/.git/x.mps", "m/.a.mps", "m/a.mps", "m/readme.txt", "m/b.mps.xz", "m/c.mps.sol", "e/")
    found = discover(["m", "e"])
    assert shown(found) == ["m/a.mps"]
    hidden, other, empty = found.notes
    assert ": 2 " in hidden
    assert "m/.a.mps" in hidden
    assert ": 3 " in other
    assert "m/b.mps.xz" in other
    assert "without any model: 1" in empty


def test_links_in_a_folder(tmp_path: Path) -> None:
    """Links to files of the folder are inputs; links out of it and links to folders are noted; dangling ones are problems."""
    plant(tmp_path, "m/real.mps", "m/s/t.mps", "out/far.mps", "m/data.raw")
    (tmp_path / "m/again.mps").symlink_to("real.mps")
    (tmp_path / "m/far.mps").symlink_to(tmp_path / "out/far.mps")
    (tmp_path / "m/outside").symlink_to(tmp_path / "out")
    (tmp_path / "m/up").symlink_to("..")
    (tmp_path / "m/s/here").symlink_to("..")
    (tmp_path / "m/gone.mps").symlink_to("nowhere.mps")
    (tmp_path / "m/self.mps").symlink_to("self.mps")
    (tmp_path / "m/raw.lp").symlink_to("data.raw")
    (tmp_path / "m/lost.txt").symlink_to("nowhere")
    found = discover(["m"])
    by_name = {i.shown: i for i in found.inputs}
    assert list(by_name) == [f"m/{n}" for n in ("again.mps", "gone.mps", "raw.lp", "real.mps", "s/t.mps", "self.mps")]
    assert "nowhere.mps" in by_name["m/gone.mps"].problem
    assert "itself" in by_name["m/self.mps"].problem
    assert by_name["m/real.mps"].duplicate_of == by_name["m/again.mps"].index
    assert [i.shown for i in found.inputs if i.problem] == ["m/gone.mps", "m/self.mps"]
    notes = "\n".join(found.notes)
    assert "out of their folder skipped: 3 (the first is m/far.mps)" in notes
    assert "links to folders skipped, as what they lead to is in the same folder: 1 (the first is m/s/here)" in notes


def test_folders_named_like_models(tmp_path: Path) -> None:
    """Such a folder is walked with a note where it holds models and is one input with a problem where it does not."""
    plant(tmp_path, "m/full.mps/a.lp", "m/empty.mps/notes.txt", "m/full.mps-not/b.lp", "alone.lp/", "tree.lp/c.mps")
    found = discover(["m", "alone.lp", "tree.lp/"])
    assert shown(found) == ["m/empty.mps", "m/full.mps-not/b.lp", "m/full.mps/a.lp", "alone.lp", "tree.lp/c.mps"]
    assert [i.shown for i in found.inputs if "is a folder" in i.problem] == ["m/empty.mps", "alone.lp"]
    assert any("named like a model: 2 (the first is m/full.mps)" in note for note in found.notes)


def test_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    """A named pipe, in a folder or named by the user, and a device are problems; nothing opens them."""
    plant(tmp_path, "m/")
    os.mkfifo(tmp_path / "m/p.mps")
    (tmp_path / "m/q.mps").symlink_to("p.mps")
    found = discover(["m", "m/p.mps", "/dev/null"])
    assert [i.problem.split(",")[0] for i in found.inputs] == ["is a pipe"] * 3 + ["is a device"]


def test_missing_files_are_problems_with_a_suggestion(tmp_path: Path) -> None:
    """A missing path is one input each time it is mentioned, never a duplicate, and names that are close are told."""
    plant(tmp_path, "m/scenario_01.mps", "m/other.mps")
    found = discover(["m/scenario_1.mps", "m/scenario_1.mps", "no/where.mps", "m/other.mps/x.mps"])
    assert [i.duplicate_of for i in found.inputs] == [None] * 4
    assert "did you mean m/scenario_01.mps?" in found.inputs[0].problem
    assert found.inputs[2].problem == "no such file or directory"
    assert found.inputs[3].problem == "not a directory"


def test_suggestions_are_few(tmp_path: Path) -> None:
    """A long list of wrong paths is not compared with the folder again and again."""
    plant(tmp_path, "aaaa.mps")
    found = discover(["aaab.mps"] * 100)
    assert sum("did you mean" in i.problem for i in found.inputs) == 10


@pytest.mark.parametrize("path", ["", "a\0b.mps", "x" * 300 + ".mps"])
def test_impossible_paths_are_problems(path: str) -> None:
    """A path that no file can have gives an input with a problem."""
    assert the_one([path]).problem


def test_an_unknown_ending_needs_a_format(tmp_path: Path) -> None:
    """A file whose ending does not tell is refused, or read in the format given; its compression is still known."""
    plant(tmp_path, "model.txt", "model.gz")
    assert "--input-format" in the_one(["model.txt"]).problem
    assert the_one(["model.txt"], input_format=ModelFormat.LP).format is ModelFormat.LP
    packed = the_one(["model.gz"], input_format=ModelFormat.MPS)
    assert (packed.format, packed.compression, packed.problem) == (ModelFormat.MPS, Compression.GZ, "")


def test_a_file_without_permission_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read says so (shown by a system that denies it, as root may read everything)."""
    plant(tmp_path, "a.mps")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "permission denied" in the_one(["a.mps"]).problem


def test_a_folder_that_cannot_be_listed_is_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subfolder without permission gives one input with the reason, so that the exit code shows it; the rest is found."""
    plant(tmp_path, "m/a.mps", "m/secret/b.mps", "m/z.mps")
    real = os.scandir

    def scandir(path: str) -> object:
        if "secret" in path:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = discover(["m"])
    assert shown(found) == ["m/a.mps", "m/secret/", "m/z.mps"]
    assert found.inputs[1].problem == "is a folder that cannot be listed: permission denied"


def test_patterns_that_the_shell_left_alone(tmp_path: Path) -> None:
    """* ? [] and ** are expanded in the order of bytes; hidden files and links to folders are left out of **."""
    plant(tmp_path, "m/c2.mps", "m/c1.mps", "m/d.mps", "m/s/c3.mps", "m/.h/c4.mps", "m/.c5.mps", "n/c6.mps")
    (tmp_path / "m/loop").symlink_to("..")
    assert shown(discover(["m/c?.mps"])) == ["m/c1.mps", "m/c2.mps"]
    assert shown(discover(["[mn]/c[16].mps"])) == ["m/c1.mps", "n/c6.mps"]
    assert shown(discover(["**/c*.mps"])) == ["m/c1.mps", "m/c2.mps", "m/s/c3.mps", "n/c6.mps"]
    assert shown(discover(["m/**"])) == ["m/c1.mps", "m/c2.mps", "m/d.mps", "m/s/c3.mps"]
    assert shown(discover([f"{tmp_path}/*/c6.mps"])) == [f"{tmp_path}/n/c6.mps"]
    assert the_one([f"{tmp_path}/*/c6.mps"]).name == "n/c6.mps"


def test_a_pattern_without_a_match_is_a_problem(tmp_path: Path) -> None:
    """A pattern that matches nothing is one input, and a file with that very name is taken as it is."""
    assert "no file matches" in the_one(["x[1].mps"]).problem
    plant(tmp_path, "x[1].mps", "x1.mps")
    assert (the_one(["x[1].mps"]).path, the_one(["x[1].mps"]).problem) == ("x[1].mps", "")


def test_each_mention_of_a_file_is_an_input(tmp_path: Path) -> None:
    """The same file by another path, a link or its folder is a duplicate of its first mention, with a name of its own."""
    plant(tmp_path, "m/a.mps", "m/b.mps")
    (tmp_path / "link.mps").symlink_to("m/a.mps")
    found = discover(["m", "m/a.mps", f"{tmp_path}/m/../m/a.mps", "link.mps", "m/b.mps"]).inputs
    assert [i.duplicate_of for i in found] == [None, None, 0, 0, 0, 1]
    assert len({i.name for i in found}) == 6


def test_stdin_is_one_model(tmp_path: Path) -> None:
    """- is a model without a path in the format given; mentioned again it is a duplicate; without a format a problem."""
    first, second = discover(["-", "-"], input_format=ModelFormat.LP).inputs
    assert (first.path, first.shown, first.format, first.problem) == (None, "-", ModelFormat.LP, "")
    assert second.duplicate_of == 0
    assert "--input-format" in the_one(["-"]).problem


def test_file_names_that_are_no_unicode(tmp_path: Path) -> None:
    """A name of any bytes is found, opened by its exact path, and shown without anything that disturbs a terminal."""
    plant(tmp_path, "m/")
    raw = os.path.join(os.fsencode(tmp_path), b"m", b"\xff\x1b[2J\n.mps")
    with open(raw, "wb"):
        pass
    found = the_one(["m"])
    assert found.path is not None
    assert os.path.isfile(found.path)
    assert found.shown == "m/\\xff\\x1b[2J\\n.mps"
    assert the_one([found.path]).problem == ""
    assert found.name.isprintable()


def test_a_list_of_files_is_read() -> None:
    """One path a line, or each ended by NUL; blank lines and a byte order mark are left out, other bytes are kept."""
    assert read_file_list(b"\xef\xbb\xbfa.mps\r\n\n b c.mps\n  \n\xff.lp", null=False) == ["a.mps", " b c.mps", "\udcff.lp"]
    assert read_file_list(b"a\nb.mps\0\0-\0", null=True) == ["a\nb.mps", "./-"]
    assert read_file_list(b"", null=False) == []


def test_a_list_with_nul_bytes_read_as_lines_says_what_to_do() -> None:
    """Forgetting --null gives a problem that names it."""
    assert "--null" in the_one(read_file_list(b"a.mps\0b.mps\0", null=False)).problem


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "./"])), max_size=20), st.integers(1, 6))
def test_shards_share_out_the_inputs(mentions: list[tuple[int, str]], n: int) -> None:
    """Every input is in exactly one shard, with its duplicates; shards differ by at most one file; order does not matter."""
    plant(Path(), *[f"f{k}.mps" for k in range(10)])
    paths = [f"{dots}f{k}.mps" for k, dots in mentions]
    whole = discover(paths)
    parts = [shard_inputs(whole, i, n) for i in range(1, n + 1)]
    assert sorted(i.index for part in parts for i in part.inputs) == list(range(len(paths)))
    for part in parts:
        kept = {i.index for i in part.inputs}
        assert all(i.duplicate_of in kept for i in part.inputs if i.duplicate_of is not None)
    sizes = [sum(i.duplicate_of is None for i in part.inputs) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    backwards = discover(paths[::-1])
    for i, part in enumerate(parts, 1):
        again = shard_inputs(backwards, i, n)
        assert sorted((x.shown, x.name) for x in part.inputs) == sorted((x.shown, x.name) for x in again.inputs)


@pytest.mark.parametrize(("i", "n"), [(0, 3), (4, 3), (1, 0)])
def test_a_shard_that_does_not_exist_is_a_usage_error(i: int, n: int) -> None:
    """Shards are counted from 1 to n."""
    with pytest.raises(UsageError, match="expected i/n"):
        shard_inputs(Discovery(()), i, n)


def test_a_large_folder_needs_no_quadratic_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a plain folder no model is asked for by itself: one listing and a few calls, however many files there are."""
    plant(tmp_path, *[f"m/{k:04d}.mps" for k in range(2000)])
    calls: list[str] = []

    def counted(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*arguments: object, **options: object) -> object:
            calls.append(name)
            return real(*arguments, **options)

        return call

    for name in ("stat", "lstat", "access", "readlink"):
        monkeypatch.setattr(os, name, counted(name))
    assert len(discover(["m"]).inputs) == 2000
    assert len(calls) < 100


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_shown_names_are_harmless(text: str) -> None:
    """What is shown can be printed and encoded, and text that is harmless is not changed."""
    assert printable(text).isprintable()
    printable(text).encode("utf-8")
    assert printable(text) == text or not text.isprintable()
