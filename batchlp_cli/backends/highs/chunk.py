"""Many members of a batch in one task: what a basis that is known already decides needs no solver, the rest goes to the session.

Bases are tried while that saves time, which is measured; so a batch whose members have nothing in common loses little. Where
they save none, members of a wide LP are sifted, while that saves time.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.backends.highs.sharing import Bunch, SharedBasis
from batchlp_cli.backends.highs.sifting import Sifter, suits
from batchlp_cli.batch import Changes, Indices
from batchlp_cli.optima import Optima, joined
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status

MOST_BASES = 64
MOST_ROWS = 5000  # bases of larger models are not factored: one costs more than it may save
TRIALS = 8  # new bases that are tried before it is asked whether they pay
RARELY = 16  # then every so many members, where they do not
BLOCK = 64  # members that go through the solver between two looks at what is the better way
MEASURED_EVERY = 16  # chunks that are sifted between two that begin with a whole member, which tells what that takes
LOADING = 1.0  # seconds in the solver after which scipy is loaded, which bases and sifting need: three times what that takes
METHOD = "simplex shared basis"


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTask:
    """Members to solve, numbered 0, 1, ... in changes; the opening comes with the first task of a batch that a process gets.

    ahead: seconds that the solver may take for what this worker may still be given, as members are measured alone.
    """

    batch_id: int
    changes: Changes
    members: int
    mode: Mode
    opening: object | None = None
    ahead: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ChunkAnswer:
    """optima: of the members that have one with nothing more to tell; claims: of the others. By their numbers in the chunk."""

    claims: list[tuple[int, Solution]]
    optima: list[Optima]


@dataclass(slots=True, eq=False)
class _Known:
    """A basis, the share of members that it decided of late, and seconds that trying it took of late."""

    basis: SharedBasis
    share: float = 1.0
    seconds: float = 0.0

    def note(self, hits: int, tried: int, seconds: float) -> None:
        self.share += 0.3 * (hits / tried - self.share)
        self.seconds += 0.3 * (seconds - self.seconds)


@dataclass(slots=True, eq=False)
class _Found:
    members: list[Indices] = field(default_factory=list)
    points: list[Vector] = field(default_factory=list)
    bases: list[SharedBasis] = field(default_factory=list)


class ChunkSolver:
    """Solves chunks of one batch's members in a session, and keeps what bases it met."""

    def __init__(self, base: LinearProgram, settings: SolveSettings) -> None:
        self._base, self._settings = base, settings
        self._known: list[_Known] = []
        self._solve_seconds = 1e-3  # of a member in the solver, of late
        self._all_seconds = 0.0  # of all members in the solver
        self._new, self._spent, self._saved = 0, 0.0, 0.0
        self._skipped = 0
        self._ahead = 0.0
        self._unmeasured = 0  # chunks since a whole member was in the solver
        self._sifter = Sifter(base, settings) if suits(base, settings) else None

    def solve(self, session: Session, task: ChunkTask) -> ChunkAnswer:
        """Returns the claims of all members."""
        self._ahead = task.ahead
        base, changes, mode = self._base, task.changes, task.mode
        bunch = Bunch.of(base, changes, task.members) if base.m <= MOST_ROWS and self._may_load() else None
        left: Indices = np.arange(task.members, dtype=np.int64)
        found, claims, optima = _Found(), list[tuple[int, Solution]](), list[Optima]()
        self._unmeasured += 1
        started = time.perf_counter()
        if bunch is not None:
            for known in sorted(self._known, key=lambda k: -k.share):
                if left.size and known.share * left.size * self._solve_seconds > known.seconds:
                    left, _ = self._try(known, bunch, left, found)
        sharing = time.perf_counter() - started
        while left.size:
            if self._sifts() and not self._sharing_pays(bunch):
                assert self._sifter is not None
                parts, stuck, left = self._sifter.solve(changes, left)
                optima += parts
                claims += [(k, session.solve(changes.of_member(k), mode, self._settings)) for k in stuck.tolist()]
                continue
            many = self._before_trial(bunch, left.size)
            if many and session.goes_through(mode, self._settings):
                optimal, stuck = self._go_through(session, task, left[:many])
                left = left[many:]
                optima.append(optimal)
                claims += [(k, session.solve(changes.of_member(k), mode, self._settings)) for k in stuck.tolist()]
                continue
            member, left = int(left[0]), left[1:]
            explores = left.size > 0 and self._explores(bunch)
            claim = session.solve(changes.of_member(member), mode, self._settings, want_basis=explores)
            claims.append((member, claim))
            self._note_seconds(claim.seconds, 1)
            if self._sifter is not None:
                self._sifter.note(claim)
            if explores and bunch is not None and claim.status is Status.OPTIMAL and claim.basis is not None:
                begun = time.perf_counter()
                left = self._learn(claim, bunch, left, found)
                sharing += time.perf_counter() - begun
        if found.members:
            optima.append(_shared(found, sharing))
        return _answer(claims, optima)

    def _go_through(self, session: Session, task: ChunkTask, members: Indices) -> tuple[Optima, Indices]:
        """Returns the optima of members in the solver, and the members that have none at once."""
        begun = time.perf_counter()
        found = session.solve_many(task.changes.take(members), members.size, task.mode, self._settings)
        each = (time.perf_counter() - begun) / members.size
        self._note_seconds(each, members.size)
        which = found.found
        method = str(task.mode)
        return Optima(members[which], found.x[which], found.y[which], found.iterations[which], each, "highs", method), members[
            ~which
        ]

    def _note_seconds(self, each: float, members: int) -> None:
        """Takes in what each of some members took in the solver."""
        self._unmeasured = 0
        self._solve_seconds += (1 - 0.9**members) * (each - self._solve_seconds)
        self._all_seconds += members * each

    def _may_load(self) -> bool:
        """Tells whether scipy is loaded, or worth loading: by what the solver took so far, or may still take."""
        return self._all_seconds >= LOADING or self._ahead >= LOADING or "scipy.sparse" in sys.modules

    def _sifts(self) -> bool:
        """Tells whether members are sifted now: not without knowing what a whole one takes of late."""
        if self._sifter is None or self._unmeasured >= MEASURED_EVERY or not self._may_load():
            return False
        return self._sifter.pays(self._solve_seconds)

    def _wants_whole(self, sifter: Sifter) -> bool:
        """Tells whether the next member is solved whole by itself, for the sake of those that are sifted."""
        return sifter.is_learning or (self._unmeasured >= MEASURED_EVERY and sifter.pays(self._solve_seconds))

    def _sharing_pays(self, bunch: Bunch | None) -> bool:
        """Tells whether the basis of every member is tried on the others."""
        return bunch is not None and (self._new < TRIALS or self._saved > self._spent)

    def _before_trial(self, bunch: Bunch | None, left: int) -> int:
        """Returns how many of the next members need no more than an optimum: nothing is learned from them."""
        if self._sharing_pays(bunch) or (self._sifter is not None and self._wants_whole(self._sifter)):
            return 0
        if bunch is None:
            return min(left, BLOCK)
        many = min(left, RARELY - 1 - self._skipped % RARELY)
        self._skipped += many
        return many

    def _explores(self, bunch: Bunch | None) -> bool:
        """Tells whether the basis of the next member is kept and tried: while that pays, else now and then."""
        if bunch is None or self._sharing_pays(bunch):
            return bunch is not None
        self._skipped += 1
        return self._skipped % RARELY == 0

    def _learn(self, claim: Solution, bunch: Bunch, left: Indices, found: _Found) -> Indices:
        assert claim.basis is not None
        begun = time.perf_counter()
        before = left.size
        try:
            known = _Known(SharedBasis(self._base, claim.basis))
        except ValueError:
            known = None
        if known is not None:
            left, _ = self._try(known, bunch, left, found)
            known.share = (before - left.size) / before
            self._known.append(known)
            if len(self._known) > MOST_BASES:
                self._known.remove(min(self._known, key=lambda k: k.share))
        self._new += 1
        # a later chunk may gain as much again, which is left out: what is known pays for its own trials
        self._spent = 0.9 * self._spent + time.perf_counter() - begun
        self._saved = 0.9 * self._saved + (before - left.size) * self._solve_seconds
        return left

    def _try(self, known: _Known, bunch: Bunch, left: Indices, found: _Found) -> tuple[Indices, int]:
        begun = time.perf_counter()
        fits, values = known.basis.fits(bunch, left)
        hits = left[fits]
        if hits.size:
            found.members.append(hits)
            found.points.append(known.basis.points(bunch, hits, values[fits]))
            found.bases.append(known.basis)
        known.note(hits.size, left.size, time.perf_counter() - begun)
        return left[~fits], int(hits.size)


def _shared(found: _Found, seconds: float) -> Optima:
    """Returns the optima of members that have a basis of another one; seconds: of all of them."""
    members = np.concatenate(found.members)
    y = np.repeat([basis.y for basis in found.bases], [part.size for part in found.members], axis=0)
    none = np.zeros(members.size, dtype=np.int64)
    return Optima(members, np.concatenate(found.points), y, none, seconds / members.size, "highs", METHOD)


def _answer(claims: Sequence[tuple[int, Solution]], optima: Sequence[Optima]) -> ChunkAnswer:
    """Returns what is claimed, all optima as arrays: those of single members that are optimal and have nothing to tell, too."""
    alike: defaultdict[str, list[tuple[int, Solution]]] = defaultdict(list)
    others = []
    for member, claim in claims:
        if claim.status is Status.OPTIMAL and not claim.message and claim.x is not None and claim.y is not None:
            alike[claim.method].append((member, claim))
        else:
            others.append((member, replace(claim, basis=None)))
    return ChunkAnswer(others, joined([part for part in (*optima, *map(Optima.of, alike.values())) if len(part)]))
