"""Answers that come together: proofs and rows of many optima are those that each would have alone."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from batchlp_cli.batch import Changes, Field, LPBatch
from batchlp_cli.files.ledger import encode_row
from batchlp_cli.kkt import Proofs, prove, verify
from batchlp_cli.optima import Optima, joined, one_by_one
from batchlp_cli.report.row_block import proved_rows
from batchlp_cli.report.rows import Model, Source, json_line, result_row
from batchlp_cli.report.sources import Sources
from batchlp_cli.solution import Solution
from batchlp_cli.stochastic import Expectation
from tests.test_sifting import BOUNDS, COSTS, ROWS, batch_of, sifted

TOL = 1e-6
ODD = ('a"b', "100%s", "\N{GREEK SMALL LETTER ALPHA}\udc80", "a/b", "%(x)d")


def optima_of(batch: LPBatch) -> Optima:
    """Returns claims on all members that a sifter settled, as arrays: x whole, though most are of a few columns."""
    claims, _ = sifted(batch)
    members = np.array(sorted(claims), dtype=np.int64)
    found = [claims[int(k)] for k in members]
    x, y = np.array([c.x for c in found]), np.array([c.y for c in found])
    return Optima(members, x, y, np.arange(members.size), 0.1, "highs", "simplex sifted")


@pytest.mark.parametrize("fields", [ROWS, COSTS, BOUNDS], ids=["rows", "costs", "bounds"])
def test_proofs_of_optima_are_the_verdicts_on_each_alone(fields: tuple[tuple[Field, np.ndarray], ...]) -> None:
    """What is proved, and every number of it, are the same to the last bit, whether claims come together or one by one."""
    batch = batch_of(1, 90, 0.5, fields)
    optima = optima_of(batch)
    wrong = optima.values.copy()
    wrong[3] += 1.0  # infeasible, or too dear
    wrong[5, 2] = np.nan
    y = optima.y.copy()
    y[7] *= 1.5
    y[8, 0] = np.inf
    optima = replace(optima, values=wrong, y=y)
    proofs = prove(batch, optima, TOL)
    alone = []
    for _, member, claim in one_by_one([(0, optima)], [batch]):
        alone += verify(batch.take([member]), [claim], TOL)
    assert proofs.proved.tolist() == [v.verified and not v.notes for v in alone]
    assert not proofs.proved[[3, 5, 7, 8]].any()
    kept = np.flatnonzero(proofs.proved)
    assert proofs.take(kept).verdicts() == [alone[k] for k in kept]


def test_points_of_few_columns_are_those_of_the_whole() -> None:
    """Points told by the columns that differ from a common rest are the same claims; some of them are taken in any order."""
    rest = np.array([1.0, 2.0, 3.0, 4.0])
    used, values = np.array([3, 1]), np.arange(6.0).reshape(3, 2)
    optima = Optima(np.array([4, 2, 9]), values, np.zeros((3, 1)), np.arange(3), 0.0, "highs", "m", used, rest)
    assert optima.x(slice(None)).tolist() == [[1.0, 1.0, 3.0, 0.0], [1.0, 3.0, 3.0, 2.0], [1.0, 5.0, 3.0, 4.0]]
    some = optima.take([2, 0])
    assert some.members.tolist() == [9, 4]
    assert some.x(slice(1, 2)).tolist() == [[1.0, 1.0, 3.0, 0.0]]
    assert some.renumbered(range(100, 110)).members.tolist() == [109, 104]
    assert rest.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_claims_found_in_one_way_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims of one method and set of columns become one list in their order, with their mean time; others stay apart."""
    rest, used = np.zeros(3), np.array([0, 2])

    def claim(first: int, method: str, columns: np.ndarray | None = None) -> Optima:
        values = np.full((2, 2 if columns is not None else 3), float(first))
        members = np.array([first, first + 1])
        told = {} if columns is None else {"used": columns, "rest": rest.copy()}
        return Optima(members, values, values[:, :1], members, first / 10, "highs", method, **told)

    parts = [
        claim(0, "a"),
        claim(2, "b"),
        claim(4, "a"),
        claim(6, "a", used),
        claim(8, "a", used.copy()),
        claim(10, "a", used[:1].repeat(2)),
    ]
    found = joined(parts)
    assert [part.members.tolist() for part in found] == [[0, 1, 4, 5], [2, 3], [6, 7, 8, 9], [10, 11]]
    assert found[0].seconds == pytest.approx(0.2)
    assert found[0].values[:, 0].tolist() == [0.0, 0.0, 4.0, 4.0]
    assert found[2].used is used
    assert joined([]) == []
    monkeypatch.setattr("batchlp_cli.optima.JOINED_BYTES", parts[0].nbytes + parts[2].nbytes)
    some = [claim(k, "a") for k in range(0, 10, 2)]
    assert [part.members.tolist() for part in joined(some)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("integers", [0, 1, 3])
def test_rows_made_together_are_those_made_one_by_one(sign: float, integers: int) -> None:
    """Each line, and each row as a dict with its keys in order, is what `result_row` makes of the claim and the verdict."""
    rng = np.random.default_rng(3)
    count = 40
    model = Model(sign, 6, 90, 200, integers)
    objective, bound = rng.normal(size=count) * 10.0 ** rng.integers(-300, 300, count), rng.normal(size=count)
    bound[[1, 5]], objective[2], objective[3] = -np.inf, 0.0, -0.0
    residuals = rng.exponential(size=(count, 6)) * 10.0 ** rng.integers(-20, 3, (count, 6))
    residuals[4] = 0.0
    proofs = Proofs(np.ones(count, dtype=np.bool_), objective, bound, residuals)
    optima = Optima(np.arange(count), np.zeros((count, 1)), np.zeros((count, 1)), rng.integers(0, 9, count), 1 / 3, "highs", "%s")
    names = [f"{ODD[k % len(ODD)]}{k}" for k in range(count)]
    probability = [None, 0.25, 1 / 3, 0.0]
    sources = [
        Source(f"n{name}", f"t:{name}", "" if k % 5 == 0 else f"d{k}", k / 7e4, ("50% is odd",), probability[k % 4])
        for k, name in enumerate(names)
    ]
    block = proved_rows(Sources.of(sources), names, model, ("g%d", "digest"), optima, proofs)
    expected = [
        result_row(sources[k], "digest", model, names[k], "g%d", [(optima.without_vectors(k), verdict)])
        for k, verdict in enumerate(proofs.verdicts())
    ]
    assert len(block) == count
    assert list(block.rows()) == expected
    assert [list(row) for row in block.rows()] == [list(row) for row in expected]
    assert block.text.splitlines() == [json_line(row) for row in expected] == list(map(encode_row, expected))
    assert block.text.endswith("}\n")
    assert list(block.names) == [source.name for source in sources]
    together, alone = Expectation(), Expectation()
    together.add_optima(block.probabilities, block.objectives)
    for row in expected:
        alone.add(row)
    assert together == alone
    assert together.scenarios == 30


def test_one_member_alone_is_a_block(tmp_path: Path) -> None:
    """A block of one, with nothing that a scenario has, is a row like any other."""
    proofs = Proofs(np.ones(1, dtype=np.bool_), np.ones(1), np.ones(1), np.zeros((1, 6)))
    optima = Optima(
        np.zeros(1, dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1, dtype=np.int64), 0.0, "highs", "m"
    )
    source = Source("a", "a.mps")
    block = proved_rows(Sources.of([source]), ["A"], Model(1.0, 1, 1, 1, 0), ("g", "d"), optima, proofs)
    (verdict,) = proofs.verdicts()
    claim: Solution = optima.without_vectors(0)
    assert block.text == json_line(result_row(source, "d", Model(1.0, 1, 1, 1, 0), "A", "g", [(claim, verdict)])) + "\n"


def test_members_whose_numbers_come_in_slices_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs do not depend on how many members are measured at once."""
    batch = batch_of(2, 60, 0.5, COSTS)
    optima = optima_of(batch)
    whole = prove(batch, optima, TOL)
    monkeypatch.setattr("batchlp_cli.kkt.SLICE_BYTES", 1)
    single = prove(batch, optima, TOL)
    for name in ("proved", "objective", "dual_bound", "residuals"):
        assert np.array_equal(getattr(whole, name), getattr(single, name))


def test_nobody_is_no_batch() -> None:
    """Optima of no member have proofs of none."""
    batch = LPBatch(batch_of(2, 1, 0.5, COSTS).base, Changes(), ("m",))
    nobody = Optima(
        np.zeros(0, dtype=np.int64),
        np.zeros((0, batch.base.n)),
        np.zeros((0, batch.base.m)),
        np.zeros(0, dtype=np.int64),
        0.0,
        "highs",
        "m",
    )
    assert prove(batch, nobody, TOL).proved.size == 0


@pytest.mark.parametrize("seed", range(30))
def test_changes_arrive_in_another_process_as_they_are(seed: int) -> None:
    """Whether all members change the same places, some have none, or places differ: a table is the same after it was sent."""
    rng = np.random.default_rng(seed)
    members, width = rng.integers(1, 6), rng.integers(0, 5)
    who = np.sort(rng.choice(9, members, replace=False)) if seed % 2 else np.arange(members)
    member = np.repeat(who, width)
    field, index = np.tile(rng.integers(0, 5, width), members).astype(np.int8), np.tile(rng.integers(0, 3, width), members)
    table = Changes(member, field, index, rng.normal(size=member.size))
    if seed % 3 == 1:
        kept = rng.random(member.size) < 0.7
        table = Changes(member[kept], field[kept], index[kept], table.value[kept])
    elif seed % 3 == 2 and member.size:
        index[-1] += 1
    sent = pickle.loads(pickle.dumps(table))
    for name in ("member", "field", "index", "value"):
        assert getattr(sent, name).dtype == getattr(table, name).dtype
        assert np.array_equal(getattr(sent, name), getattr(table, name))


def test_places_that_all_members_change_are_sent_once() -> None:
    """A hundred members with the same places take little more than their numbers."""
    member, place = np.repeat(np.arange(100), 50), np.tile(np.arange(50), 100)
    table = Changes(member, np.zeros(5000, dtype=np.int8), place, np.linspace(0, 1, 5000))
    assert len(pickle.dumps(table)) < 1.1 * table.value.nbytes
