"""What runs in a worker process: it keeps one session and takes members of the session's batch, one or many at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from batchlp_cli.backends.highs.chunk import ChunkAnswer, ChunkSolver, ChunkTask
from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.batch import Changes
from batchlp_cli.memory import keep_freed_memory
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution


@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """What all members of a batch share: sent to a worker process once. basis is one of the base, None if there is none."""

    base: LinearProgram
    settings: SolveSettings
    basis: Basis | None
    want_basis: bool


@dataclass(frozen=True, slots=True, eq=False)
class MemberTask:
    """A member to solve; the opening comes with the first member of a batch that a process gets. start: for crossover only."""

    batch_id: int
    changes: Changes
    mode: Mode
    opening: Opening | None = None
    start: Solution | None = None


def make_handler() -> Callable[[object], Solution | ChunkAnswer]:
    """Returns the function that a worker process calls for each member."""
    keep_freed_memory()
    opening: Opening | None = None
    batch_id: int | None = None
    session: Session | None = None
    chunks: ChunkSolver | None = None

    def solve(payload: object) -> Solution | ChunkAnswer:
        nonlocal opening, batch_id, session, chunks
        assert isinstance(payload, (MemberTask, ChunkTask))
        if payload.opening is not None:
            assert isinstance(payload.opening, Opening)
            opening, batch_id, session, chunks = payload.opening, payload.batch_id, None, None
        assert opening is not None, "the first member brings the opening"
        assert batch_id == payload.batch_id, "this member is of another batch than the opening"
        current = session or Session(opening.base, opening.basis)
        session = None  # one that raises is not used again
        if isinstance(payload, ChunkTask):
            chunks = chunks or ChunkSolver(opening.base, opening.settings)
            answer = chunks.solve(current, payload)
            session = current
            return answer
        solution = current.solve(payload.changes, payload.mode, opening.settings, opening.want_basis, payload.start)
        session = current
        return solution

    return solve
