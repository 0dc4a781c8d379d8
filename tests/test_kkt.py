"""The referee accepts optima that are proved, refuses everything else in words, and depends on nothing but the member itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from batchlp_cli import kkt
from batchlp_cli.batch import LPBatch
from batchlp_cli.kkt import dual_bound, verify
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram
from batchlp_cli.products import Matrix
from batchlp_cli.solution import Solution, Status
from tests.kkt_cases import (
    ENDLESS,
    FARKAS,
    GOOD,
    INF,
    INFEASIBLE,
    NAN,
    OPTIMAL,
    TOL,
    UNBOUNDED,
    Numbers,
    claim,
    judge,
    lp_of,
    with_vectors,
)


@pytest.mark.parametrize("r", [OPTIMAL.r, None], ids=["with r", "without r"])
def test_optimal_is_proved(r: np.ndarray | None) -> None:
    """An optimal pair is verified: the objective has the offset, the residuals are 0, the bound touches the value."""
    verdict = judge(GOOD, replace(OPTIMAL, r=r))
    assert verdict.verified
    assert (verdict.reason, verdict.notes) == ("", ())
    assert verdict.objective == 93.0
    assert verdict.residuals.primal_abs == verdict.residuals.dual_abs == verdict.residuals.gap_abs == 0.0
    assert 93.0 - 1e-12 <= verdict.dual_bound <= 93.0


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("name", ["x", "y", "r"])
def test_not_finite_never_passes(name: str, bad: float) -> None:
    """One NaN or infinity in any vector refuses the claim, and no residual of that vector is a number."""
    vector = np.array(getattr(OPTIMAL, name))
    vector[1] = bad
    verdict = judge(GOOD, with_vectors(OPTIMAL, **{name: vector}))
    assert not verdict.verified
    assert verdict.objective is None
    assert verdict.reason == f"{name} holds a NaN or an infinity"
    assert np.isnan(verdict.residuals.gap_abs) == (name != "r")


@pytest.mark.parametrize(
    ("lp", "good"), [(GOOD, OPTIMAL), (INFEASIBLE, FARKAS), (UNBOUNDED, ENDLESS)], ids=["optimal", "infeasible", "unbounded"]
)
def test_vectors_must_be_there_and_in_shape(lp: LinearProgram, good: Solution) -> None:
    """The claim holds as it is; without a vector that it needs, or with one of a wrong length, it is refused by name."""
    assert judge(lp, good).verified
    for name in {"optimal": "xy", "infeasible": ["ray"], "unbounded": ["x", "ray"]}[good.status]:
        assert judge(lp, with_vectors(good, **{name: None})).reason == f"{good.status} was claimed without {name}"
        for wrong in (np.zeros(3), np.zeros((2, 1)), np.zeros(0)):
            assert judge(lp, with_vectors(good, **{name: wrong})).reason.startswith(f"{name} has shape")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"x": [1, 3.1]}, "primal"),
        ({"x": [1, 2]}, "gap"),
        ({"y": [1.5, 0.5]}, "dual"),
        ({"y": [-1.5, -0.5]}, "dual"),
        ({"y": [-1, 0.5]}, "dual"),
        ({"r": [0, 1e-3]}, "reduced costs do not match"),
    ],
)
def test_wrong_points_are_refused(change: dict[str, Numbers], word: str) -> None:
    """An infeasible x, a worse x, duals of the wrong sign or size and tampered reduced costs are refused for that reason."""
    wrong = OPTIMAL if "r" in change else replace(OPTIMAL, r=None)
    verdict = judge(GOOD, with_vectors(wrong, **{name: np.array(v, dtype=np.float64) for name, v in change.items()}))
    assert not verdict.verified
    assert word in verdict.reason


def test_value_below_the_dual_value_is_a_gap_too() -> None:
    """A point that is feasible within tolerance but cheaper than the dual value allows is refused for the gap."""
    lp = lp_of([1e3, -1e3], [[1, 0]], ([1], [INF]), ([0, 1], [INF, 1]))
    verdict = judge(lp, claim(Status.OPTIMAL, x=[1 - 1e-6, 1], y=[1e3]))
    assert verdict.residuals.primal_rel < TOL
    assert "gap" in verdict.reason


def off_row(d: float) -> tuple[LinearProgram, Solution]:
    """x1 <= 4 beside x2 = 3 is passed by d (1 + ||(4, 3)||)."""
    lp = lp_of([0, 0], [[1, 0], [0, 1]], ([-INF, 3], [4, 3]), ([-INF, -INF], [INF, INF]))
    return lp, claim(Status.OPTIMAL, x=[4 + 6 * d, 3], y=[0, 0])


def off_column(d: float) -> tuple[LinearProgram, Solution]:
    """x >= 9 is missed by d (1 + 9), beside a row with a large bound."""
    lp = lp_of([0], [[1]], ([-INF], [1e9]), ([9], [INF]))
    return lp, claim(Status.OPTIMAL, x=[9 - 10 * d], y=[0])


def off_cost(d: float) -> tuple[LinearProgram, Solution]:
    """A free column has reduced cost d (1 + ||c||), with ||c|| = d (1 + ||c||)."""
    lp = lp_of([d / (1 - d)], [[0]], ([0], [0]), ([-INF], [INF]))
    return lp, claim(Status.OPTIMAL, x=[0], y=[0])


def off_side(d: float) -> tuple[LinearProgram, Solution]:
    """y prices the infinite lower side of a row by d (1 + ||(3, 4)||)."""
    lp = lp_of([3, 4], [[0, 0], [1, 0]], ([-INF, -1], [0, 1]), ([0, 0], [1, 1]))
    return lp, claim(Status.OPTIMAL, x=[0, 0], y=[6 * d, 0])


def off_gap(d: float) -> tuple[LinearProgram, Solution]:
    """x >= 0 with cost 1 stands at p, D = 0, p = d (1 + p); the offset does not count."""
    lp = lp_of([1], [[0]], ([0], [0]), ([0], [5]), offset=1e9)
    return lp, claim(Status.OPTIMAL, x=[d / (1 - d)], y=[0])


def off_r(d: float) -> tuple[LinearProgram, Solution]:
    """The claimed r is d (1 + ||c||) away from c - A.T @ y."""
    lp = lp_of([3, 4], [[1, 0]], ([0], [0]), ([0, 0], [1, 1]))
    return lp, claim(Status.OPTIMAL, x=[0, 0], y=[1], r=[2 + 6 * d, 4])


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("miss", [off_row, off_column, off_cost, off_side, off_gap, off_r])
def test_near_misses(miss: Callable[[float], tuple[LinearProgram, Solution]], tol: float) -> None:
    """Each residual passes at 0.999 of its tolerance and is refused at 1.001."""
    assert judge(*miss(0.999 * tol), tol).verified
    assert not judge(*miss(1.001 * tol), tol).verified


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)])
def test_other_statuses_are_no_verdicts(status: Status) -> None:
    """A limit or a failure is never verified, be its vectors good, bad or missing; what can be measured is."""
    good = judge(GOOD, replace(OPTIMAL, status=status))
    assert (good.verified, good.objective, good.reason) == (
        False,
        None,
        f"it ended with {status.replace('_', ' ')}, so nothing is proved",
    )
    assert good.residuals.gap_rel == 0.0
    assert good.dual_bound == pytest.approx(93.0)
    for vectors in (Solution(status), claim(status, x=[NAN, 0], y=[1])):
        bad = judge(GOOD, vectors)
        assert (bad.reason, bad.dual_bound) == (f"it ended with {status.replace('_', ' ')}, so nothing is proved", -INF)
        assert np.isnan([bad.residuals.primal_abs, bad.residuals.dual_rel, bad.residuals.gap_rel]).all()


def test_empty_shapes() -> None:
    """No members, no rows, no columns and free rows are judged like everything else."""
    assert verify(LPBatch.of([GOOD]).take([]), [], TOL) == []
    no_rows = lp_of([1, -1], [], ([], []), ([2, -INF], [INF, 3]))
    assert judge(no_rows, claim(Status.OPTIMAL, x=[2, 3], y=[])).objective == -1.0
    assert judge(no_rows, claim(Status.INFEASIBLE, ray=[])).reason.startswith("the ray proves nothing")
    no_columns = lp_of([], [[], []], ([-INF, -1], [INF, 1]), ([], []), offset=5.0)
    assert judge(no_columns, claim(Status.OPTIMAL, x=[], y=[0, 0])).objective == 5.0
    excluded = replace(no_columns, row_lower=np.array([-INF, 0.5]))
    assert judge(excluded, claim(Status.INFEASIBLE, ray=[0, 1])).verified
    assert judge(excluded, claim(Status.UNBOUNDED, x=[], ray=[])).reason.startswith("the ray does not improve")


def test_numbers_that_overflow_never_pass() -> None:
    """Products, norms and sums that overflow refuse the claim; they do not make a residual small."""
    wide = lp_of([1, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], ([1, -1e308, -1e308], [INF, 1e308, 1e308]), ([0] * 3, [INF] * 3))
    wide = replace(wide, row_lower=np.array([1.0, -1.7e308, -1.7e308]))
    far = replace(GOOD, col_upper=np.array([1e300, 1e300]), c=np.array([1e300, -1e300]))
    for lp, solution in (
        (wide, claim(Status.OPTIMAL, x=[0, 0, 0], y=[0, 0, 0])),
        (far, claim(Status.OPTIMAL, x=[1e300, 1e300], y=[0, 0])),
        (GOOD, claim(Status.OPTIMAL, x=[1.5e308, 1.5e308], y=[-1.5, 0.5])),
        (GOOD, claim(Status.OPTIMAL, x=[1, 3], y=[-1.5e308, 1.5e308])),
    ):
        verdict = judge(lp, solution)
        assert not verdict.verified
        assert verdict.dual_bound < INF


def test_large_finite_bounds_are_numbers_like_others() -> None:
    """A bound whose square overflows neither hides nor makes a violation."""
    lp = lp_of([1, 0], [[1, 0], [0, 1]], ([1, -INF], [INF, 1e200]), ([0, 0], [INF, INF]))
    verdict = judge(lp, claim(Status.OPTIMAL, x=[1, 0], y=[1, 0]))
    assert (verdict.verified, verdict.objective) == (True, 1.0)
    column = lp_of([0], [], ([], []), ([-1e200], [1]))
    assert "primal" in judge(column, claim(Status.OPTIMAL, x=[1.1], y=[])).reason


def test_row_that_hides_beside_large_bounds_is_noted() -> None:
    """A row far off by its own measure, within tolerance only relative to another row's bound, is named in a note."""
    lp = lp_of([0, 0], [[1, 0], [0, 1]], ([1, -INF], [INF, 1e9]), ([0, 0], [INF, INF]))
    verdict = judge(lp, claim(Status.OPTIMAL, x=[0, 0], y=[0, 0]))
    assert verdict.verified
    assert verdict.notes[0].startswith("row 1 is off by 0.5")


def mixed() -> tuple[LPBatch, list[Solution]]:
    """Returns members of one matrix that differ in everything, with good and bad claims of all kinds."""
    rng = np.random.default_rng(3)
    lps, claims = [], []
    for k in range(40):
        kind, solution = [(GOOD, OPTIMAL), (INFEASIBLE, FARKAS), (UNBOUNDED, ENDLESS)][k % 3]
        lps.append(replace(kind, name=f"lp{k}", c=kind.c * rng.uniform(1, 1 + (k % 2)), offset=float(k)))
        x = None if solution.x is None else solution.x + rng.choice([0, 1e-7, 1e-3], size=2)
        claims.append(replace(solution, x=x, y=rng.normal(size=2) if k % 5 == 0 else solution.y, r=None))
    return LPBatch.of(lps), claims


def test_verdict_depends_on_nothing_but_the_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, in another order, in pieces and in slices of another width, every member has the same verdict to the last bit."""
    batch, claims = mixed()
    expected = [repr(verdict) for verdict in verify(batch, claims, TOL)]
    assert len({text[:24] for text in expected}) > 1
    assert [repr(judge(batch.member(k), claims[k])) for k in range(len(batch))] == expected
    order = np.random.default_rng(1).permutation(len(batch))
    shuffled = verify(batch.take(order), [claims[k] for k in order], TOL)
    assert [repr(v) for v in shuffled] == [expected[k] for k in order]
    pieces = [verify(batch.take(range(a, b)), claims[a:b], TOL) for a, b in pairwise([0, 1, 7, 29, 40])]
    assert [repr(v) for piece in pieces for v in piece] == expected
    monkeypatch.setattr(kkt, "SLICE_BYTES", 8 * kkt.ARRAYS * 4 * 3)
    assert [repr(verdict) for verdict in verify(batch, claims, TOL)] == expected


def test_wrong_counts_are_errors_of_the_caller() -> None:
    """A list of another length than the batch, or duals of another shape, is a ValueError."""
    batch = LPBatch.of([GOOD, GOOD])
    with pytest.raises(ValueError, match="1 solutions for a batch of 2"):
        verify(batch, [OPTIMAL], TOL)
    with pytest.raises(ValueError, match="expected"):
        dual_bound(batch, np.zeros((2, 3)))


def test_dual_bound_of_hand_made_duals() -> None:
    """Each y gives its own dual value with the offset, -inf where it prices nothing finite or is not finite."""
    # min x1 + x2, x1 + x2 >= 2, x1 - x2 free, 0 <= x <= 3
    lp = lp_of([1, 1], [[1, 1], [1, -1]], ([2, -INF], [INF, INF]), ([0, 0], [3, 3]), offset=10.0)
    Y = np.array([[1, 0], [0, 0], [0.5, 0], [2, 0], [-4, 0], [1, 7], [NAN, 0], [INF, 0]])
    bounds = dual_bound(LPBatch.of([lp] * len(Y)), Y)
    exact = np.array([12, 10, 11, 8, 10, 12, -INF, -INF])
    assert (bounds <= exact).all()
    assert bounds == pytest.approx(exact, abs=1e-12)


def test_dual_bound_with_infinite_column_bounds() -> None:
    """A rounded reduced cost on an infinite bound costs the whole bound, unless rows and cost imply a finite one; 0 is free."""
    free = ([-INF, -INF], [INF, INF])
    rounded = lp_of([0.3, 3], [[0.1, 1], [1, 0]], ([3, -INF], [INF, INF]), free)
    # |x1| <= 1e3; then row 1 bounds x2 below, and the cost bounds it above
    implied = replace(rounded, row_lower=np.array([3, -1e3]), row_upper=np.array([INF, 1e3]))
    unused = lp_of([0, 1], [[0, 1]], ([3], [INF]), ([-INF, 0], [INF, 9]))
    assert dual_bound(LPBatch.of([rounded, implied]), np.array([[3.0, 0.0]] * 2)) == pytest.approx([-INF, 9.0], abs=1e-9)
    assert dual_bound(LPBatch.of([unused]), np.array([[1.0]])) == pytest.approx([3.0])


def test_bounds_that_the_cost_implies_are_the_same_for_one_member_and_for_many() -> None:
    """Priced infinite sides, of both signs, have their bound from the cost or from the rows; mates change no bit of it."""
    rng = np.random.default_rng(11)
    lps, duals = [], []
    for k in range(24):
        cost = np.where(rng.random(6) < 0.2, -1.0, 1.0) * rng.uniform(0.5, 2, 6)
        lower, upper = np.where(cost > 0, float(k % 3), -INF), np.where(cost > 0, INF, 2.0)
        A = sp.csr_array(np.arange(1.0, 25.0).reshape(4, 6) % 5)
        lps.append(LinearProgram(f"p{k}", cost, A, np.full(4, 1.0 + k), np.full(4, 50.0 + k), lower, upper))
        duals.append(rng.normal(scale=0.3, size=4))
    batch = LPBatch.of(lps)
    together = dual_bound(batch, np.array(duals))
    assert np.isfinite(together).sum() > 12
    alone = [float(dual_bound(LPBatch.of([lp]), y[None])[0]) for lp, y in zip(lps, duals, strict=True)]
    assert together.tolist() == alone
    for lp, bound in zip(lps, alone, strict=True):
        sides = [
            (None if np.isinf(a) else a, None if np.isinf(b) else b) for a, b in zip(lp.col_lower, lp.col_upper, strict=True)
        ]
        rows = np.vstack([lp.A.toarray(), -lp.A.toarray()])
        found = linprog(lp.c, rows, np.r_[lp.row_upper, -lp.row_lower], bounds=sides)
        assert found.fun is None or bound <= found.fun + 1e-9


def test_dual_bound_does_not_pass_its_cutoff() -> None:
    """Where bounds were implied for points that cost less than a cutoff, and there are none, the bound is the cutoff at most."""
    # min -x1 + x2, -3 x1 + x2 >= 0, x2 = 100: the value is 200 / 3; y = 1 leaves 2 x1, and the cutoff 1 would need x1 >= 99
    lp = lp_of([-1, 1], [[-3, 1]], ([0], [INF]), ([-INF, 100], [INF, 100]))
    assert dual_bound(LPBatch.of([lp]), np.array([[1.0]])) == pytest.approx([1.0])


def test_tiny_numbers_do_not_vanish() -> None:
    """Products that underflow are not taken for 0: no bound, and no proof, grows out of them."""
    lp = lp_of([0], [[1e-200]], ([1], [INF]), ([-INF], [INF]))
    assert dual_bound(LPBatch.of([lp]), np.array([[1e-200]]))[0] <= 0.0
    zero = lp_of([1e-200], [[0]], ([0], [0]), ([-1e-200], [1]))
    bound = dual_bound(LPBatch.of([zero]), np.array([[0.0]]))[0]
    assert -1e-280 < bound < 0.0


def test_a_matrix_made_before_changes_nothing_and_must_be_the_bases() -> None:
    """Verdicts with a shared matrix are those without; a matrix of another base is refused."""
    batch = LPBatch.of([GOOD])
    assert verify(batch, [OPTIMAL], TOL, Matrix(GOOD.rows, 1)) == verify(batch, [OPTIMAL], TOL)
    with pytest.raises(ValueError, match="not that of the batch"):
        verify(batch, [OPTIMAL], TOL, Matrix(Csr.of(GOOD.A.copy()), 1))
