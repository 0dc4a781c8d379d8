"""What runs in a worker process: it keeps one session and takes members of the session's batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from batchlp_cli.backends.highs.session import Mode, Session
from batchlp_cli.batch import Changes
from batchlp_cli.problem import LinearProgram
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Basis, Solution


@dataclass(frozen=True, slots=True, eq=False)
class MemberTask:
    """A member to solve. `base` (and a basis of it, if there is one) comes with the first member of a batch only."""

    batch_id: int
    changes: Changes
    mode: Mode
    settings: SolveSettings
    want_basis: bool
    base: LinearProgram | None = None
    basis: Basis | None = None


def make_handler() -> Callable[[object], Solution]:
    """Returns the function that a worker process calls for each member."""
    first: MemberTask | None = None
    session: Session | None = None

    def solve(payload: object) -> Solution:
        nonlocal first, session
        assert isinstance(payload, MemberTask)
        if payload.base is not None:
            first, session = payload, None
        assert first is not None, "the base comes with the first member"
        assert first.base is not None, "the first member brings the base"
        assert first.batch_id == payload.batch_id, "this member is of another batch than the base"
        current = session or Session(first.base, first.basis)
        session = None  # one that raises is not used again
        solution = current.solve(payload.changes, payload.mode, payload.settings, payload.want_basis)
        session = current
        return solution

    return solve
