"""Matrices as plain arrays: the same as scipy's, and what may not be loaded because of them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from batchlp_cli.matrix import Csr, by_rows
from batchlp_cli.problem import LinearProgram
from batchlp_cli.products import Matrix
from tests.command import command_line, environment
from tests.mps_files import SEEDED, differences

ROOT = Path(__file__).resolve().parents[1]


def drawn(seed: int, m: int, n: int, density: float = 0.4) -> sp.csr_array:
    """Returns a random matrix with sorted indices and no zeros."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(m, n)) * (rng.random((m, n)) < density)
    return sp.csr_array(dense)


sizes = st.integers(0, 12)


@given(st.integers(0, SEEDED), sizes, sizes)
def test_products_are_those_of_scipy(seed: int, m: int, n: int) -> None:
    """A @ x, A.T @ y and those with |A| are scipy's up to the rounding of each sum, for empty matrices too."""
    A, rng = drawn(seed, m, n), np.random.default_rng(seed)
    rows, x, y = Csr.of(A), rng.normal(size=n), rng.normal(size=m)
    for absolute, M in ((False, A), (True, abs(A))):
        assert rows.times(x, absolute=absolute) == pytest.approx(M @ x, rel=1e-13, abs=1e-13)
        assert rows.transposed_times(y, absolute=absolute) == pytest.approx(M.T @ y, rel=1e-13, abs=1e-13)


@given(st.integers(0, SEEDED), sizes, sizes)
def test_entries_by_columns_become_rows(seed: int, m: int, n: int) -> None:
    """Entries in the order of their columns, as files have them, give the arrays that scipy gives."""
    A = drawn(seed, m, n)
    columns = A.tocsc()
    cols = np.repeat(np.arange(n, dtype=np.int32), np.diff(columns.indptr))
    rows = by_rows((m, n), columns.indices.astype(np.int32), cols, columns.data)
    assert rows.equals(Csr.of(A))
    assert rows.scipy.has_canonical_format
    assert np.array_equal(rows.scipy.toarray(), A.toarray())


def test_more_rows_than_16_bits_count() -> None:
    """Rows beyond 65535 are put in order too."""
    row = np.array([70000, 3, 65536, 70000], dtype=np.int32)
    rows = by_rows((70001, 3), row, np.array([0, 1, 1, 2], dtype=np.int32), np.arange(1.0, 5.0))
    assert rows.row_of.tolist() == [3, 65536, 70000, 70000]
    assert rows.indices.tolist() == [1, 1, 0, 2]
    assert rows.data.tolist() == [2, 3, 1, 4]


@given(st.integers(0, SEEDED), sizes, sizes)
def test_rows_are_taken_and_zeros_left_out(seed: int, m: int, n: int) -> None:
    """The rows to keep are those of scipy, and stored zeros are gone."""
    A, rng = drawn(seed, m, n), np.random.default_rng(seed)
    A.data[rng.random(A.nnz) < (0.3 if seed % 2 else 0.0)] = 0.0
    keep = rng.random(m) < 0.6
    expected = sp.csr_array(A[np.flatnonzero(keep)])
    expected.eliminate_zeros()
    assert Csr.of(A).take(keep).equals(Csr.of(expected))


def test_a_linear_program_keeps_its_matrix() -> None:
    """However it is copied, A is the same object; sent to another process, it is the same matrix."""
    A = drawn(1, 4, 5)
    lp = LinearProgram("t", np.ones(5), A, np.zeros(4), np.ones(4), np.zeros(5), np.ones(5))
    assert lp.A is A
    assert lp.A is replace(lp, c=np.zeros(5)).A
    assert replace(lp, name="u").rows.shares(lp.rows)
    sent = pickle.loads(pickle.dumps(lp))
    assert not differences(sent, lp)
    assert not hasattr(lp, "B")


@pytest.mark.parametrize("absolute", [False, True])
def test_few_and_many_members_are_judged_by_the_same_products(absolute: bool) -> None:
    """The referee's products agree between numpy, for few members, and scipy, for many."""
    A, rng = drawn(3, 30, 40), np.random.default_rng(3)
    few, many = Matrix(Csr.of(A), 1), Matrix(Csr.of(A))
    assert (few.needs_scipy, many.needs_scipy) == (False, True)
    X, Y = rng.normal(size=(3, 40)), rng.normal(size=(3, 30))
    assert few.times(X, absolute=absolute) == pytest.approx(many.times(X, absolute=absolute), rel=1e-12, abs=1e-12)
    transposed = few.transposed_times(Y, absolute=absolute)
    assert transposed == pytest.approx(many.transposed_times(Y, absolute=absolute), rel=1e-12, abs=1e-12)
    alone = [few.rows.times(x, absolute=absolute) for x in X], [few.rows.transposed_times(y, absolute=absolute) for y in Y]
    assert np.array_equal(few.times(X, absolute=absolute), alone[0]), "a member's product depends on its mates"
    assert np.array_equal(transposed, alone[1]), "a member's product depends on its mates"


WORKERS = """
import pickle, sys
from batchlp_cli.backends.highs import worker as solving
from batchlp_cli.backends.highs.session import Mode
from batchlp_cli.batch import Changes
from batchlp_cli.files.inputs import Compression, ModelFormat
from batchlp_cli.files.read import ModelReader, worker as reading
from batchlp_cli.files.read.messages import ReadRequest, Work
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings

def sent(value):
    return pickle.loads(pickle.dumps(value))

read, solve = reading.make_handler(), solving.make_handler()
for number, (path, form) in enumerate(zip(sys.argv[1::2], sys.argv[2::2])):
    request = ReadRequest(number, path, None, ModelFormat(form), Compression.NONE, path)
    answer = sent(read(Work(request, 1 << 30, (), resend=True)))
    lp = LinearProgram(path, A=answer.matrix.as_scipy_later(), **answer.numbers.vectors)
    opening = solving.Opening(sent(lp), SolveSettings(), None, True)
    print(solve(sent(solving.MemberTask(number, Changes(), Mode.COLD, opening))).status, file=sys.stderr)
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"scipy", "rich", "click", "torch", "numba"}), file=sys.stderr)
"""


def test_worker_processes_load_no_scipy() -> None:
    """Reading MPS and LP files and solving them, infeasible and unbounded ones too, needs numpy and highspy only."""
    mixed = ROOT / "sample_instances" / "mixed"
    files = [(mixed / f"{name}.mps", "mps") for name in ("optimal", "infeasible", "unbounded", "ranges")]
    files.append((mixed / "blending.lp", "lp"))
    arguments = [str(part) for pair in files for part in pair]
    done = subprocess.run(
        [sys.executable, "-c", WORKERS, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    # stdout has HiGHS' banner
    assert done.stderr.splitlines() == ["optimal", "infeasible", "unbounded", "optimal", "optimal", ""]


def test_small_run_into_a_pipe_loads_neither_scipy_nor_rich(tmp_path: Path) -> None:
    """A run of a few small models imports nothing that takes longer than they do, from command line to report."""
    command = command_line("solve", ROOT / "sample_instances" / "family", "-o", tmp_path / "run", "-j", "1")
    done = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if line.startswith("import")}
    assert "numpy" in loaded
    assert not loaded & {"scipy", "rich", "torch", "numba", "matplotlib"}, "neither in the program nor in its workers"
