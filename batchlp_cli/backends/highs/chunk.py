"""Many members of a batch in one task: what a basis that is known already decides needs no solver, the rest goes to the session.

Bases are tried while that saves time, which is measured; so a batch whose members have nothing in common loses little. Where
they save none, members of a wide LP are sifted, while that saves time.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace

import numpy as np

from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.backends.highs.sharing import Bunch, SharedBasis
from batchlp_cli.backends.highs.sifting import Sifter, suits
from batchlp_cli.batch import Changes, Indices
from batchlp_cli.optima import Optima
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status

MOST_BASES = 64
MOST_ROWS = 5000  # bases of larger models are not factored: one costs more than it may save
TRIALS = 8  # new bases that are tried before it is asked whether they pay
RARELY = 16  # then every so many members, where they do not
LOADING = 1.0  # seconds in the solver after which scipy is loaded, which bases and sifting need: three times what that takes
METHOD = "simplex shared basis"


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTask:
    """Members to solve, numbered 0, 1, ... in changes; the opening comes with the first task of a batch that a process gets."""

    batch_id: int
    changes: Changes
    members: int
    mode: Mode
    opening: object | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ChunkAnswer:
    """claims: of the members that a solver solved one by one; optima: of the others. All by their numbers in the chunk."""

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
        self._sifter = Sifter(base, settings) if suits(base, settings) else None

    def solve(self, session: Session, changes: Changes, members: int, mode: Mode) -> ChunkAnswer:
        """Returns the claims of all members."""
        bunch = Bunch.of(self._base, changes, members) if self._base.m <= MOST_ROWS and self._may_load() else None
        left: Indices = np.arange(members, dtype=np.int64)
        found = _Found()
        claims: list[tuple[int, Solution]] = []
        sifted: list[Optima] = []
        started = time.perf_counter()
        if bunch is not None:
            for known in sorted(self._known, key=lambda k: -k.share):
                if left.size and known.share * left.size * self._solve_seconds > known.seconds:
                    left, _ = self._try(known, bunch, left, found)
        sharing = time.perf_counter() - started
        while left.size:
            if claims and self._sifts() and not self._sharing_pays(bunch):
                assert self._sifter is not None
                parts, stuck, left = self._sifter.solve(changes, left)
                sifted += parts
                claims += [(k, session.solve(changes.of_member(k), mode, self._settings)) for k in stuck.tolist()]
                continue
            member, left = int(left[0]), left[1:]
            explores = left.size > 0 and self._explores(bunch)
            claim = session.solve(changes.of_member(member), mode, self._settings, want_basis=explores)
            claims.append((member, claim))
            self._solve_seconds += 0.1 * (claim.seconds - self._solve_seconds)
            self._all_seconds += claim.seconds
            if self._sifter is not None:
                self._sifter.note(claim)
            if explores and bunch is not None and claim.status is Status.OPTIMAL and claim.basis is not None:
                begun = time.perf_counter()
                left = self._learn(claim, bunch, left, found)
                sharing += time.perf_counter() - begun
        return self._answer(claims, sifted, found, sharing)

    def _may_load(self) -> bool:
        """Tells whether scipy is loaded, or worth loading by now."""
        return self._all_seconds >= LOADING or "scipy.sparse" in sys.modules

    def _sifts(self) -> bool:
        """Tells whether members are sifted now."""
        return self._sifter is not None and self._may_load() and self._sifter.pays(self._solve_seconds)

    def _sharing_pays(self, bunch: Bunch | None) -> bool:
        """Tells whether the basis of every member is tried on the others."""
        return bunch is not None and (self._new < TRIALS or self._saved > self._spent)

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

    def _answer(self, claims: list[tuple[int, Solution]], sifted: list[Optima], found: _Found, seconds: float) -> ChunkAnswer:
        own = [(member, replace(claim, basis=None)) for member, claim in claims]
        if not found.members:
            return ChunkAnswer(own, sifted)
        members = np.concatenate(found.members)
        y = np.repeat([basis.y for basis in found.bases], [part.size for part in found.members], axis=0)
        none = np.zeros(members.size, dtype=np.int64)
        shared = Optima(members, np.concatenate(found.points), y, none, seconds / members.size, "highs", METHOD)
        return ChunkAnswer(own, [*sifted, shared])
