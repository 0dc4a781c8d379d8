"""Reading: what arrives is what the file says, each request has one outcome, and no file harms the run."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import zstandard

from batchlp_cli.errors import ReadError
from batchlp_cli.files import read
from batchlp_cli.files.decompress import decompress
from batchlp_cli.files.inputs import Compression, ModelFormat, format_of
from batchlp_cli.files.mps import parse_mps
from batchlp_cli.files.read import ModelReader, ReadOutcome, ReadRequest, in_order
from batchlp_cli.files.refuse import refuse_what_is_no_lp
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from tests.mps_files import differences

DATA = Path(__file__).parent / "data"
CORPUS = Path(__file__).parents[2] / "shared" / "data"
SMALL = """NAME t
ROWS
 N cost
 G r1
 L r2
COLUMNS
 x cost 1 r1 1
 y cost 2 r1 1
 y r2 3
RHS
 rhs r1 3 r2 9
BOUNDS
 UP b x 4
ENDATA
"""
SMALL_LP = "maximize\n obj: x + 2 y + 5\nsubject to\n c1: x + y <= 3\nbounds\n y <= 2\nend\n"
PACK: dict[Compression, Callable[[bytes], bytes]] = {
    Compression.GZ: gzip.compress,
    Compression.BZ2: bz2.compress,
    Compression.ZST: lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of the tests' own, shown to be empty in the end."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BATCHLP_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def reader(cache: Path) -> Iterator[ModelReader]:
    """One reader for all tests that need nothing special."""
    with ModelReader(SolveSettings(jobs=2)) as opened:
        yield opened


def request_for(path: Path, key: int = 0) -> ReadRequest:
    """Returns the request for a file by its ending."""
    found = format_of(path.name)
    assert found is not None
    return ReadRequest(key, str(path), None, *found, path.name)


def stdin_request(text: str | bytes, form: ModelFormat = ModelFormat.MPS, key: int = 0) -> ReadRequest:
    """Returns the request for a text that is no file."""
    data = text.encode() if isinstance(text, str) else text
    return ReadRequest(key, None, data, form, Compression.NONE, "stdin")


def read_one(reader: ModelReader, request: ReadRequest) -> ReadOutcome:
    """Reads one model and proves that there is one outcome."""
    (outcome,) = reader.read([request])
    assert outcome.key == request.key
    return outcome


def read_text(reader: ModelReader, text: str | bytes, form: ModelFormat = ModelFormat.MPS) -> ReadOutcome:
    """Reads a text."""
    return read_one(reader, stdin_request(text, form))


def test_an_mps_file_arrives_as_it_is(reader: ModelReader, tmp_path: Path) -> None:
    """Numbers, names and digests are those of the file, which HiGHS reads in place."""
    path = tmp_path / "small.mps"
    path.write_text(SMALL)
    outcome = read_one(reader, request_for(path))
    lp = outcome.lp
    assert lp is not None
    assert (lp.name, lp.row_names, lp.col_names) == ("small.mps", ("r1", "r2"), ("x", "y"))
    assert lp.A.toarray().tolist() == [[1, 1], [0, 3]]
    assert (lp.c.tolist(), lp.row_lower.tolist(), lp.row_upper.tolist()) == ([1, 2], [3, -np.inf], [np.inf, 9])
    assert (lp.col_lower.tolist(), lp.col_upper.tolist(), lp.maximize) == ([0, 0], [4, np.inf], False)
    assert outcome.input_digest == hashlib.sha256(SMALL.encode()).hexdigest()
    assert (outcome.error, outcome.warnings, outcome.unchanged) == ("", (), False)


def test_a_maximum_is_stored_as_a_minimum(reader: ModelReader) -> None:
    """Costs and offset of an LP file that maximizes are negated, and `maximize` says so."""
    lp = read_text(reader, SMALL_LP, ModelFormat.LP).lp
    assert lp is not None
    assert (lp.maximize, lp.c.tolist(), lp.offset) == (True, [-1, -2], -5)


def test_integer_columns_are_marked(reader: ModelReader) -> None:
    """Integer and binary columns are in the mask; the LP is the relaxation."""
    lp = read_text(reader, SMALL_LP.replace("end", "general\n x\nend"), ModelFormat.LP).lp
    assert lp is not None
    assert lp.integer.tolist() == [True, False]


def test_tiny_coefficients_are_kept(reader: ModelReader) -> None:
    """A coefficient of 1e-11 is data, though HiGHS by default drops it."""
    lp = read_text(reader, SMALL.replace("y r2 3", "y r2 1e-11")).lp
    assert lp is not None
    assert lp.A.toarray()[1, 1] == 1e-11


@pytest.mark.parametrize("compression", list(PACK))
def test_packed_files_give_the_same_model(reader: ModelReader, cache: Path, tmp_path: Path, compression: Compression) -> None:
    """A packed file gives the LP of the plain one and the digest of its own bytes, and leaves nothing in the spool."""
    packed = PACK[compression](SMALL.encode())
    path = tmp_path / f"small.mps.{compression}"
    path.write_bytes(packed)
    outcome = read_one(reader, request_for(path))
    plain = read_text(reader, SMALL)
    assert outcome.matrix_digest == plain.matrix_digest != ""
    assert outcome.input_digest == hashlib.sha256(packed).hexdigest()
    assert not [p for p in cache.rglob("*") if p.is_file()]


@pytest.mark.parametrize("name", ["UPPER.MPS", "with blank.mps", "caf\u00e9.lp.mps", os.fsdecode(b"latin-\xe9.mps"), "-.mps"])
def test_odd_names_are_read(reader: ModelReader, tmp_path: Path, name: str) -> None:
    """Neither case nor blanks nor bytes that are no UTF-8 keep a file from being read."""
    path = tmp_path / name
    path.write_text(SMALL)
    assert read_one(reader, request_for(path)).lp is not None


def test_eight_bit_names_and_byte_order_marks(reader: ModelReader) -> None:
    """Latin-1 names in an LP file arrive with a warning; a byte-order mark changes nothing in either format."""
    latin = read_text(reader, SMALL_LP.replace("c1", "c\u00e4").encode("latin-1"), ModelFormat.LP)
    assert latin.lp is not None
    assert latin.lp.row_names[0] == "c\u00e4"
    assert "Latin-1" in latin.warnings[0]
    for text, form in ((SMALL_LP, ModelFormat.LP), (SMALL, ModelFormat.MPS)):
        marked = read_text(reader, b"\xef\xbb\xbf" + text.encode(), form)
        assert marked.lp is not None
        assert marked.warnings == ()


def test_equal_matrices_and_names_are_one_object(reader: ModelReader) -> None:
    """LPs that differ in numbers only share matrix, names and integer marks; another matrix is another object."""
    texts = [SMALL.replace("r1 3", f"r1 {k}") for k in range(20)] + [SMALL.replace("y r2 3", "y r2 4")]
    outcomes = sorted(reader.read(stdin_request(text, key=k) for k, text in enumerate(texts)), key=lambda o: o.key)
    lps = [o.lp for o in outcomes if o.lp is not None]
    assert len(lps) == 21
    assert len({id(lp.A) for lp in lps[:20]}) == 1
    assert len({id(lp.col_names) for lp in lps}) == len({id(lp.integer) for lp in lps}) == 1
    assert lps[20].A is not lps[0].A
    assert [float(lp.row_lower[0]) for lp in lps[:20]] == list(range(20))


def test_vectors_that_the_model_before_had_are_one_object(cache: Path) -> None:
    """A worker sends what differs from its model before; costs that change, and models of other sizes between, arrive whole."""
    texts = [SMALL.replace("r1 3", f"r1 {k // 4}") for k in range(12)]
    texts[5] = SMALL.replace(" y ", " z ").replace("ENDATA", "BOUNDS\n UP b x 7\nENDATA")
    texts[6] = "NAME\nROWS\n N c\nCOLUMNS\n x c 1\nENDATA\n"
    with ModelReader(SolveSettings(jobs=1)) as one:
        lps = [o.lp for o in one.read(stdin_request(text, key=k) for k, text in enumerate(texts))]
    alone = [parse_mps(text.encode(), "t.mps").lp for text in texts]
    for lp, expected in zip(lps, alone, strict=True):
        assert lp is not None
        assert not differences(replace(lp, name="t"), replace(expected, name="t"))
    assert lps[1].row_lower is lps[0].row_lower  # type: ignore[union-attr]
    assert lps[4].row_lower is not lps[3].row_lower  # type: ignore[union-attr]
    assert lps[4].c is lps[0].c  # type: ignore[union-attr]


def test_vectors_that_the_parent_does_not_have_are_sent_again(cache: Path) -> None:
    """Where the parent does not know a worker's model before, it asks for all vectors."""
    texts = [SMALL.replace("cost 2", f"cost {k}") for k in range(6)]
    with ModelReader(SolveSettings(jobs=1)) as one:
        for k, text in enumerate(texts):
            lp = read_one(one, stdin_request(text, key=k)).lp
            assert lp is not None
            assert not differences(replace(lp, name="t"), parse_mps(text.encode(), "t.mps").lp)
            one._latest.clear()


def test_parts_that_the_parent_has_dropped_are_sent_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one matrix in the parent, models that take turns still arrive whole, each once."""
    monkeypatch.setattr(read, "LEAST_KEPT_BYTES", 0)
    texts = [SMALL.replace("y r2 3", f"y r2 {3 + k % 3}") for k in range(12)]
    with ModelReader(SolveSettings(jobs=1, memory_bytes=1 << 20)) as small:
        monkeypatch.setattr(small._matrices, "_limit", 0)
        outcomes = {o.key: o for o in small.read(stdin_request(text, key=k) for k, text in enumerate(texts))}
    assert [outcomes[k].lp.A.toarray()[1, 1] for k in range(12)] == [3, 4, 5] * 4  # type: ignore[union-attr]


def test_known_bytes_are_not_parsed(reader: ModelReader) -> None:
    """A request that knows the digest of the bytes comes back unchanged, without an LP; other bytes are read."""
    request = stdin_request(SMALL)
    known = replace(request, known_digest=hashlib.sha256(SMALL.encode()).hexdigest())
    other = replace(request, known_digest="0" * 64)
    assert (read_one(reader, known).unchanged, read_one(reader, known).lp) == (True, None)
    assert read_one(reader, other).lp is not None


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("", "mps", "empty"),
        (" \n\n", "lp", "empty"),
        ("hello\nworld\n", "mps", "line 1: an unknown section"),
        (SMALL.replace("ENDATA", ""), "mps", "without ENDATA"),
        (SMALL[:60], "mps", "line 8: 2 fields"),
        ("\\ nothing\n", "lp", "no minimize or maximize"),
        (SMALL_LP.replace("end", ""), "lp", "stdin:6:8: expected `end`"),
        (SMALL_LP.replace("c1", "c1 c1"), "lp", "stdin:4:"),
        (SMALL.replace("cost 1", "cost nan"), "mps", "line 7: 'nan' is not a value"),
        (SMALL.replace("cost 1", "cost 1\0"), "mps", "stdin:7: a zero byte"),
        (gzip.compress(SMALL.encode()), "mps", "packed with gz"),
        (SMALL.encode("utf-16"), "mps", "UTF-16"),
        (SMALL.replace(" UP b", " SC b"), "mps", "line 13: bound type SC"),
        (SMALL.replace("ENDATA", "QUADOBJ\n x x 1\nENDATA"), "mps", "line 14: section QUADOBJ"),
        (SMALL.replace("ENDATA", "SOS\n S1 s x 1\nENDATA"), "mps", "line 14: section SOS"),
        (SMALL.replace("RHS\n", "INDICATORS\n IF r1 x 1\nRHS\n"), "mps", "line 10: section INDICATORS"),
        (SMALL_LP.replace("5", "[ x ^ 2 ] / 2"), "lp", "stdin:2: quadratic"),
        (SMALL_LP.replace("c1:", "c1: y = 1 ->"), "lp", "stdin:4: indicator"),
        (SMALL_LP.replace("end", "semi\n y\nend"), "lp", "stdin:7: semicontinuous"),
        (SMALL_LP.replace("end", "sos\n s1: S1:: x:1 y:2\nend"), "lp", "special ordered sets"),
    ],
)
def test_what_is_no_lp_is_refused_in_words(reader: ModelReader, text: str | bytes, form: str, words: str) -> None:
    """Each kind of no LP gives an error that begins with the name and says where and what; the digest is there for resuming."""
    outcome = read_text(reader, text, ModelFormat(form))
    assert outcome.lp is None
    assert outcome.error.startswith("stdin")
    assert words in outcome.error
    assert outcome.input_digest


@pytest.mark.parametrize(
    "text",
    [
        SMALL_LP.replace("end", "gen\nsemi\nend"),
        "\\ [ x ] -> quadratic in a comment\n" + SMALL_LP,
        SMALL_LP.replace("c1", "semi"),
    ],
)
def test_words_alone_are_not_refused(text: str) -> None:
    """Empty sections, comments and names that look like what is refused are no reason to refuse."""
    refuse_what_is_no_lp(text.encode(), "model")


def test_what_a_reader_says_reaches_the_outcome(reader: ModelReader) -> None:
    """Warnings come with the LP, bounded in number; HiGHS' errors on an LP file are the error, without the spool's path."""
    columns = "".join(f" x{k} cost 1\n" for k in range(40))
    split = SMALL.replace("RHS\n", columns + "".join(f" x{k} r2 1\n" for k in range(40)) + "RHS\n")
    warned = read_text(reader, split)
    failed = read_text(reader, SMALL_LP.replace("c1:", "c1: 3 3 x"), ModelFormat.LP)
    assert warned.lp is not None
    assert warned.warnings
    assert len(warned.warnings) <= 10
    assert failed.lp is None
    assert failed.error.startswith("stdin:4:")
    assert "spool" not in failed.error


@pytest.mark.parametrize("kind", ["folder", "pipe", "gone", "device"])
def test_what_is_no_file_is_an_error_and_never_waited_for(reader: ModelReader, tmp_path: Path, kind: str) -> None:
    """A folder, a pipe, a device and a missing file named like models give errors at once."""
    path = tmp_path / "x.mps"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to(os.devnull)
    outcome = read_one(reader, request_for(path))
    assert outcome.lp is None
    assert ("No such file" if kind == "gone" else kind) in outcome.error


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (SMALL.replace("cost 1 r1", f"cost {'9' * 100_000} r1"), "mps"),
        (SMALL.replace("x cost 1", f"x {'c' * 100_000} 1"), "mps"),
        (SMALL_LP.replace("y <= 2", f"{'y' * 100_000} <= 2"), "lp"),
        (SMALL_LP.replace("x + y", f"x + {'y' * 100_000} y"), "lp"),
    ],
)
def test_messages_that_quote_a_huge_word_are_cut(reader: ModelReader, text: str, form: str) -> None:
    """An error or a warning is a sentence to read, whatever the file holds; the beginning names the file and the line."""
    outcome = read_text(reader, text, ModelFormat(form))
    said = [outcome.error, *outcome.warnings]
    assert any(said)
    assert max(map(len, said)) < 1100


def test_files_above_the_limit_are_refused(cache: Path, tmp_path: Path) -> None:
    """A plain file above the limit is not read, and a bomb is stopped when the limit is passed."""
    plain, bomb = tmp_path / "big.mps", tmp_path / "bomb.mps.gz"
    plain.write_bytes(b" " * (2 << 20))
    bomb.write_bytes(gzip.compress(b" " * (64 << 20)))
    with ModelReader(SolveSettings(jobs=1, max_file_bytes=1 << 20)) as limited:
        errors = [read_one(limited, request_for(path)).error for path in (plain, bomb)]
    assert all("--max-file-size" in error for error in errors)


@pytest.mark.parametrize("compression", list(PACK))
def test_decompression_of_odd_data(compression: Compression) -> None:
    """Joined members are one text; cut, damaged, mislabelled and excessive data are errors that name the compression."""
    text = np.random.default_rng(0).bytes(100_000) + SMALL.encode()
    packed = PACK[compression](text)

    def refused(data: bytes, limit: int = 1 << 30) -> str:
        with pytest.raises(ReadError) as caught:
            decompress(data, compression, limit, "file")
        return str(caught.value)

    assert decompress(packed + PACK[compression](b"more"), compression, 1 << 30, "file") == text + b"more"
    assert decompress(PACK[compression](b""), compression, 1 << 30, "file") == b""
    for cut in (6, len(packed) // 2, len(packed) - 1):
        assert f"the {compression} data are cut off" in refused(packed[:cut])
    damaged = bytearray(packed)
    damaged[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    if compression is not Compression.ZST:  # its frames need not have a check sum
        assert f"the {compression} data are damaged" in refused(bytes(damaged))
    assert f"no {compression} file" in refused(SMALL.encode())
    assert f"no {compression} file" in refused(b"")
    assert "after decompression" in refused(PACK[compression](bytes(200 << 20)), limit=1 << 20)


def test_zst_skippable_frames_are_skipped() -> None:
    """A skippable frame, as some packers put in front, adds nothing to the text."""
    frame = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    packed = frame + PACK[Compression.ZST](SMALL.encode())
    assert decompress(packed, Compression.ZST, 1 << 20, "file") == SMALL.encode()


def test_a_reader_that_never_ends_is_stopped(cache: Path) -> None:
    """A file whose reading never ends is an error after the time given, and others are read meanwhile."""
    requests = [replace(stdin_request(SMALL, key=0), name="endless"), *[stdin_request(SMALL, key=k) for k in range(1, 9)]]
    with ModelReader(SolveSettings(jobs=2, read_timeout=2.0), worker="worker_tasks:deadly_reader") as impatient:
        outcomes = {o.key: o for o in impatient.read(requests)}
    assert "exceeded 2 s" in outcomes[0].error
    assert all(outcomes[k].lp is not None for k in range(1, 9))


def test_outcomes_come_in_the_order_asked_for_within_a_limit() -> None:
    """Outcomes are put back into the order of the requests; a missing one holds up only so many bytes of others."""
    lp = LinearProgram("t", np.ones(4), sp.csr_array((0, 4)), np.zeros(0), np.zeros(0), np.zeros(4), np.ones(4))
    came = [ReadOutcome(key, lp=lp) for key in (2, 1, 3, 0)]
    assert [o.key for o in in_order(came, deque(range(4)))] == [0, 1, 2, 3]
    assert [o.key for o in in_order(came, deque(range(4)), limit_bytes=250)] == [2, 0, 1, 3]


def test_a_reader_that_crashes_is_a_row(cache: Path) -> None:
    """A file that takes its worker down twice is an error that names the signal; the others are read."""
    requests = [stdin_request(SMALL, key=0), replace(stdin_request(SMALL, key=1), name="deadly"), stdin_request(SMALL, key=2)]
    with ModelReader(SolveSettings(jobs=2), worker="worker_tasks:deadly_reader") as unlucky:
        outcomes = {o.key: o for o in unlucky.read(requests)}
    assert outcomes[1].error == "deadly: the reader crashed (SIGSEGV) on each of 2 tries"
    assert all(outcomes[k].lp is not None for k in (0, 2))


def test_the_spool_is_removed_with_the_reader(cache: Path) -> None:
    """Closing removes the reader's own folder and that of a process that is no more, not that of a living one."""
    host = os.uname().nodename
    dead, alive = cache / "spool" / f"{host}-{2**22 + 1}-abc", cache / "spool" / f"{host}-{os.getppid()}-abc"
    for folder in (dead, alive):
        folder.mkdir(parents=True)
    with ModelReader(SolveSettings(jobs=1)) as brief:
        text = "minimize\n obj: x\nsubject to\n c: x >= 1\nend\n"  # LP files are HiGHS' to read, and it reads no stdin
        assert read_text(brief, text, ModelFormat.LP).lp is not None
        assert list((cache / "spool").glob(f"{host}-{os.getpid()}-*"))
        own = Path(brief._spool[0])
    assert not own.exists()
    assert not dead.exists()
    assert alive.exists()


def test_a_read_only_cache_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cache cannot be written, the system's temporary folder is used."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("BATCHLP_CACHE_DIR", str(tmp_path / "file"))
    with ModelReader(SolveSettings(jobs=1)) as reader:
        assert read_text(reader, SMALL).lp is not None


def test_sample_files_are_read(reader: ModelReader) -> None:
    """The two models of the tests' data have the sizes that they are known to have."""
    outcomes = list(
        reader.read(request_for(DATA / name, k) for k, name in enumerate(("n01_transport8.lp", "m40_max_dual_signs.mps")))
    )
    sizes = {o.key: (o.lp.m, o.lp.n, o.lp.maximize) for o in outcomes if o.lp is not None}
    assert sizes == {0: (16, 64, False), 1: (2, 3, True)}


def test_files_begun_early_are_read_like_the_others(cache: Path) -> None:
    """What workers began before they were asked comes once, in its turn and with its errors; more than there are workers too."""
    requests = [stdin_request(SMALL if key % 2 else "NAME t\nNONSENSE\n", key=key) for key in range(5)]
    with ModelReader(SolveSettings(jobs=2), worker="worker_tasks:deadly_reader") as eager:
        eager.begin([replace(request, name="deadly") if request.key == 1 else request for request in requests])
        asked = [replace(request, name="deadly") if request.key == 1 else request for request in requests]
        outcomes = list(eager.read(asked))
    assert [o.key for o in outcomes] == [0, 1, 2, 3, 4]
    assert [o.lp is not None for o in outcomes] == [False, False, False, True, False]
    assert outcomes[1].error == "deadly: the reader crashed (SIGSEGV) on each of 2 tries"
    assert "NONSENSE" in outcomes[0].error


def test_files_begun_must_be_the_first_that_are_read(cache: Path) -> None:
    """Another order would give outcomes that nobody asked for; it is an error of the caller."""
    requests = [stdin_request(SMALL, key=key) for key in range(2)]
    for asked in ([], requests[::-1]):
        with ModelReader(SolveSettings(jobs=1)) as eager:
            eager.begin(requests)
            with pytest.raises(ValueError, match="not asked for in its turn"):
                list(eager.read(asked))
