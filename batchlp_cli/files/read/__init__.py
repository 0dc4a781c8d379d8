"""Reads models in worker processes, so that neither a crash nor a hang of native code nor a bomb ends the run.

LPs with equal matrices share one matrix object, and those with equal names one tuple: a worker sends each only once. Nor does it
send vectors that the LP before had, so the LPs of a family share these too.
`worker.py` is what a worker does with one model; `decompress` and `refuse` are its leaves.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from threading import Thread
from types import TracebackType
from typing import Generic, TypeVar, cast

from batchlp_cli.errors import ModelError, WorkerCrash
from batchlp_cli.files.read.messages import VECTORS, Answer, Names, Numbers, ReadOutcome, ReadRequest, Work
from batchlp_cli.files.read.spool import remove_leftovers, remove_spool, spool_folders
from batchlp_cli.matrix import Csr
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.processes import Ending, Outcome, Task, WorkerPool
from batchlp_cli.settings import SolveSettings

__all__ = ["ModelReader", "ReadOutcome", "ReadRequest"]

WORKER = "batchlp_cli.files.read.worker:make_handler"
TRIES = 2  # a worker may be killed through no fault of its file
LEAST_MEMORY_BYTES = 4 << 30
LEAST_KEPT_BYTES = 64 << 20
ORDERED_BYTES = 64 << 20
MATRIX_BYTES = 16  # of a coefficient: value, column, and its share of the rest

Part = TypeVar("Part", Csr, Names)


class Kept(Generic[Part]):
    """Parts by digest, the most recently used ones within a limit of bytes (and the newest in any case)."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit, self._total = limit_bytes, 0
        self._parts: OrderedDict[str, tuple[Part, int]] = OrderedDict()

    def take(self, digest: str, part: Part | None, memory_bytes: int) -> Part | None:
        """Returns the part that is kept under the digest; keeps the one given if there is none."""
        if digest in self._parts:
            self._parts.move_to_end(digest)
            return self._parts[digest][0]
        if part is not None:
            self._parts[digest] = part, memory_bytes
            self._total += memory_bytes
            while self._total > self._limit and len(self._parts) > 1:
                self._total -= self._parts.popitem(last=False)[1][1]
        return part


def in_order(outcomes: Iterable[ReadOutcome], asked: deque[int], limit_bytes: int = ORDERED_BYTES) -> Iterator[ReadOutcome]:
    """Yields outcomes in the order of the keys in `asked`, which grows while it works, holding back at most limit_bytes."""
    waiting: dict[int, ReadOutcome] = {}
    held_bytes = 0
    for outcome in outcomes:
        waiting[outcome.key] = outcome
        held_bytes += _vector_bytes(outcome)
        while asked and (asked[0] in waiting or held_bytes > limit_bytes):
            key = asked[0] if asked[0] in waiting else next(iter(waiting))
            asked.remove(key)
            ready = waiting.pop(key)
            held_bytes -= _vector_bytes(ready)
            yield ready
    yield from waiting.values()


def _vector_bytes(outcome: ReadOutcome) -> int:
    lp = outcome.lp
    return 0 if lp is None else int(lp.c.nbytes + 2 * lp.col_lower.nbytes + 2 * lp.row_lower.nbytes)


class ModelReader:
    """Reads models with `settings.jobs` worker processes; a context manager that ends them."""

    def __init__(self, settings: SolveSettings, worker: str = WORKER) -> None:
        self._settings = settings
        self._memory_limit = max(LEAST_MEMORY_BYTES, settings.memory_bytes)
        self._pool = WorkerPool(worker, settings.jobs, memory_limit_bytes=self._memory_limit)
        self._spool = spool_folders()
        kept_bytes = max(LEAST_KEPT_BYTES, settings.memory_bytes // 16)
        self._matrices: Kept[Csr] = Kept(kept_bytes)
        self._names: Kept[Names] = Kept(kept_bytes)
        self._latest: dict[str, tuple[int, dict[str, Vector]]] = {}
        self._begun: list[Work] = []
        self._beginning: Thread | None = None

    def __enter__(self) -> ModelReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers at once and removes what they left; may be called twice and from any thread."""
        self._pool.close()
        self._wait_for_beginning()
        remove_spool(self._spool)

    def begin(self, requests: Iterable[ReadRequest]) -> None:
        """Lets each worker begin its first file while the program gets ready; read() must be asked for these requests first."""
        self._begun = [self._work(request) for request in islice(requests, self._settings.jobs)]
        tasks = [self._task(work) for work in self._begun]
        self._beginning = Thread(target=self._begin, args=(tasks,), name="first files")  # a start waits for the server's imports
        self._beginning.start()

    def _begin(self, tasks: Sequence[Task]) -> None:
        with suppress(WorkerCrash):  # it comes again where the files are awaited
            self._pool.begin(tasks)

    def _wait_for_beginning(self) -> None:
        if self._beginning is not None:
            self._beginning.join()

    def _work(self, request: ReadRequest) -> Work:
        return Work(request, self._settings.max_file_bytes, self._spool, self._settings.negative_upper)

    def _task(self, work: Work) -> Task:
        return Task(work.request.key, work, deadline=self._settings.read_timeout)

    def read(self, requests: Iterable[ReadRequest]) -> Iterator[ReadOutcome]:
        """Yields one outcome for each request; requests are taken as workers have room.

        Outcomes come in the order of the requests, so that a run is the same each time, but a file that takes long does not
        hold up more than ORDERED_BYTES of those behind it.
        """
        asked: deque[int] = deque()

        def noted() -> Iterator[ReadRequest]:
            for request in requests:
                asked.append(request.key)
                yield request

        yield from in_order(self._as_they_come(noted()), asked)

    def _as_they_come(self, requests: Iterable[ReadRequest]) -> Iterator[ReadOutcome]:
        waiting = iter(requests)
        again: deque[Work] = deque()
        works = {work.request.key: work for work in self._begun}
        for work in self._begun:
            request = next(waiting, None)
            if request is None or request.key != work.request.key:
                raise ValueError(f"{work.request.name} was begun but is not asked for in its turn")
        self._begun = []
        self._wait_for_beginning()
        crashes: Counter[int] = Counter()

        def next_task(slot: int, fresh: bool) -> Task | None:
            if again:
                work = again.popleft()
            else:
                request = next(waiting, None)
                if request is None:
                    return None
                work = self._work(request)
            works[work.request.key] = work
            return self._task(work)

        for outcome in self._pool.run(next_task):
            work = works.pop(cast(int, outcome.key))
            crashes[work.request.key] += outcome.ending is Ending.CRASHED
            if outcome.ending is Ending.CRASHED and crashes[work.request.key] < TRIES:
                again.append(work)
                continue
            read = self._outcome(work.request, outcome)
            if read is None:
                again.append(replace(work, resend=True))
            else:
                yield read

    def _outcome(self, request: ReadRequest, outcome: Outcome) -> ReadOutcome | None:
        """Returns what a worker's outcome means; None where its parts must be sent once more."""
        if outcome.ending is not Ending.DONE:
            remove_leftovers(self._spool, request.key)
            return ReadOutcome(request.key, error=f"{request.name}: {self._in_words(outcome)}", seconds=outcome.seconds)
        answer = cast(Answer, outcome.value)
        read = ReadOutcome(
            request.key,
            input_digest=answer.input_digest,
            warnings=answer.warnings,
            error=answer.error,
            unchanged=answer.unchanged,
            seconds=outcome.seconds,
        )
        return read if answer.numbers is None else self._assemble(request, read, answer, answer.numbers)

    def _assemble(self, request: ReadRequest, read: ReadOutcome, answer: Answer, numbers: Numbers) -> ReadOutcome | None:
        size = MATRIX_BYTES * answer.matrix.nnz if answer.matrix is not None else 0
        matrix = self._matrices.take(answer.matrix_digest, answer.matrix, size)
        names = self._names.take(answer.names_digest, answer.names, answer.names.memory_bytes if answer.names else 0)
        vectors = self._vectors(numbers)
        if matrix is None or names is None or len(vectors) < len(VECTORS):
            return None
        try:
            lp = LinearProgram(
                name=request.name,
                A=matrix.as_scipy_later(),
                offset=numbers.offset,
                maximize=numbers.maximize,
                **{**names._asdict(), **vectors},
            )
        except ModelError as error:
            return replace(read, error=str(error))
        return replace(read, lp=lp, matrix_digest=answer.matrix_digest)

    def _vectors(self, numbers: Numbers) -> dict[str, Vector]:
        """Returns the vectors of an answer with those of the worker's answer before; some are missing if that never came."""
        number, known = self._latest.pop(numbers.worker, (0, {}))
        vectors = {**known, **numbers.vectors} if number == numbers.number - 1 else numbers.vectors
        self._latest[numbers.worker] = numbers.number, vectors
        if len(self._latest) > self._settings.jobs:
            del self._latest[next(iter(self._latest))]  # of a worker that is no more
        return vectors

    def _in_words(self, outcome: Outcome) -> str:
        if outcome.ending is Ending.TIMED_OUT:
            return f"reading {outcome.message}; give it more with --read-timeout"
        if outcome.ending is Ending.CRASHED:
            return f"the reader crashed ({outcome.message.removeprefix('killed by ')}) on each of {TRIES} tries"
        if outcome.message.startswith("MemoryError"):
            return f"reading needs more memory than the {self._memory_limit} bytes it may take; raise --memory"
        return f"reading raised {outcome.message}"
