"""Exact verdicts in worker processes: rational arithmetic is pure Python, so that only processes make it faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import cast

from batchlp_cli.exact_referee import ExactVerdict, judge_exactly
from batchlp_cli.problem import LinearProgram
from batchlp_cli.processes import Ending, Task, WorkerPool
from batchlp_cli.solution import Solution

WORKER = "batchlp_cli.exact_pool:make_handler"


@dataclass(frozen=True, slots=True, eq=False)
class ExactTask:
    """A claim to judge: the key that its verdict comes back with, the LP, the solution and the relative tolerance."""

    key: int
    lp: LinearProgram
    solution: Solution
    tol: float


class ExactPool:
    """Judges claims with `jobs` worker processes, in this process where that is one; a context manager that ends them."""

    def __init__(self, jobs: int) -> None:
        self._pool = WorkerPool(WORKER, jobs) if jobs > 1 else None

    def __enter__(self) -> ExactPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.close()

    def judge(self, tasks: Iterable[ExactTask]) -> Iterator[tuple[int, ExactVerdict | None, str]]:
        """Yields (key, verdict, why there is none) as claims are judged."""
        if self._pool is None:
            yield from ((task.key, _judge(task), "") for task in tasks)
            return
        waiting = iter(tasks)

        def next_task(slot: int, fresh: bool) -> Task | None:
            task = next(waiting, None)
            return None if task is None else Task(task.key, task)

        for outcome in self._pool.run(next_task):
            done = outcome.ending is Ending.DONE
            verdict = cast(ExactVerdict, outcome.value) if done else None
            problem = "" if done else f"the exact check {outcome.ending}: {outcome.message}"
            yield cast(int, outcome.key), verdict, problem


def make_handler() -> Callable[[ExactTask], ExactVerdict]:
    """Returns the handler of a worker process."""
    return _judge


def _judge(task: ExactTask) -> ExactVerdict:
    return judge_exactly(task.lp, task.solution, task.tol)
