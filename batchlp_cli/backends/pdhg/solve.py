"""The backend: tiles of lanes on threads, fed from one queue, whose answers leave as members finish."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue

import numpy as np

from batchlp_cli.backends.pdhg.alone import run_tile
from batchlp_cli.backends.pdhg.certificates import Prover
from batchlp_cli.backends.pdhg.course import Answer, Course, Entry, Feed
from batchlp_cli.backends.pdhg.kernels.base import Kernel
from batchlp_cli.backends.pdhg.lanes import Lanes
from batchlp_cli.backends.pdhg.loading import LANE_ROW_BYTES, lane_row_bytes, load_kernel, parameters_of, rehearse, uncollected
from batchlp_cli.backends.pdhg.parameters import Arithmetic, PdhgParameters
from batchlp_cli.backends.pdhg.reduction import keep_whole
from batchlp_cli.backends.pdhg.scaling import scale_matrix
from batchlp_cli.backends.pdhg.states import WIDTHS
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.optima import Claim
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import Precision, SolveSettings
from batchlp_cli.solution import Solution, Status

COMPILING = 2.0
"""Seconds of preparation from which kernels were compiled rather than loaded from the cache."""

COMPILING_WORDS = "compiling the kernels of the lanes; this takes up to a minute, once, and is kept for later runs"

MOST_NNZ = 2**31 - 1
"""Kernels count entries with 32 bits."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What puts more tiles to work on a batch that is being solved."""

    tiles: int


class PdhgBackend:
    """Restarted Halpern PDHG over lanes; `jobs` threads run a tile each, or all work on the only member."""

    name = "pdhg"

    def __init__(self, jobs: int, parameters: PdhgParameters | None = None, float64_alone: bool = False) -> None:
        """float64_alone: tiles of one lane don't begin in float32, whatever the parameters say."""
        self._jobs, self._float64_alone = jobs, float64_alone
        self._parameters = parameters or PdhgParameters()
        self._kernel: Kernel | None = None
        self._course: Course | None = None
        self._closed = False
        self._choice = ""
        self._choices: list[str] = []
        self.tiles_at_work = 0
        self.began: float | None = None  # time.perf_counter() at which the tiles of the last batch began
        self._ready: set[tuple[str, bool]] = set()  # (precision, one lane) for which kernels are compiled
        self._steps = 0

    @classmethod
    def of(cls, settings: SolveSettings) -> PdhgBackend:
        """Returns the backend that settings ask for; raises BackendMissing where there is no such device."""
        return cls(settings.jobs, parameters_of(settings), settings.precision is Precision.AUTO)

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member as members finish; see `Backend.solve`."""
        yield from self._solve(batch, settings, warm_start, None)

    def solve_fed(
        self, batch: LPBatch, settings: SolveSettings, feed: Feed, tiles: int, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) for the members that the feed gives, on at most `tiles` threads, until it gives none.

        A member that is cancelled meanwhile has no claim.
        """
        yield from self._solve(batch, settings, warm_start, feed, tiles)

    def cancel(self, member: int) -> None:
        """Takes a member of the batch that is being solved out of its lane at the next check; from any thread."""
        course = self._course
        if course is not None:
            course.cancelled.add(member)

    def grow(self, tiles: int) -> None:
        """Lets the batch that is being solved have so many tiles, as wide as its feed has members for; from any thread."""
        course = self._course
        if course is not None:
            course.answers.put(Growth(tiles))

    @property
    def steps(self) -> int:
        """Iterations of the tile that has worked longest on the batch that is being solved, or was solved last."""
        course = self._course
        return course.steps if course is not None else self._steps

    def load(self) -> None:
        """Loads, or compiles, what the lanes of any batch need; from any thread, but not beside a batch.

        Raises BackendMissing where a library is missing.
        """
        with uncollected():
            if self._kernel is None:
                self._kernel = load_kernel(self._parameters, self._jobs)
            for precision in self._precisions(self._parameters):
                for lanes in (LANE_ROW_BYTES // 8, 1):
                    if not self._closed:
                        self._rehearse(self._kernel, precision, lanes)

    @property
    def choice(self) -> str:
        """Lanes, kernel and precision of the batch that was solved last, in words."""
        return self._choice

    def stop(self) -> None:
        """Ends the batch that is being solved at the next check; members in lanes have no claim. From any thread."""
        course = self._course
        if course is not None:
            course.stop.set()

    def _solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None, feed: Feed | None, tiles: int | None = None
    ) -> Iterator[Answer]:
        self._choice = ""
        start = _checked(batch.base, warm_start)
        if batch.base.nnz > MOST_NNZ:
            yield from _refused(batch, feed, f"{batch.base.nnz} nonzeros, expected at most {MOST_NNZ}: use the backend highs")
            return
        if len(batch) == 0 or self._closed:
            return
        if self._kernel is None:
            self._kernel = load_kernel(self._parameters, self._jobs)
        most_tiles = tiles or self._jobs
        alone = (len(batch) if feed is None else feed.waiting) <= most_tiles
        course = self._open(self._kernel, batch, settings, start, feed, alone)
        yield from self._run(course, most_tiles)

    def _open(
        self,
        kernel: Kernel,
        batch: LPBatch,
        settings: SolveSettings,
        start: tuple[Vector, Vector] | None,
        feed: Feed | None,
        alone: bool,
    ) -> Course:
        """Returns the course of a batch: matrix scaled, kernels compiled, all members waiting unless they are fed."""
        parameters = self._parameters
        if alone and self._float64_alone:
            parameters = replace(parameters, precision=Arithmetic.FLOAT64)
        matrix = scale_matrix(batch.base.A, parameters.scaling)
        precisions = self._precisions(parameters)
        waiting: dict[str, deque[Entry]] = {precision: deque() for precision in precisions}
        waiting[precisions[0]].extend(Entry(i) for i in range(len(batch) if feed is None else 0))
        course = Course(
            given=batch,
            # numbers decide what presolve may do, and the bits of a member may not depend on those of its mates
            reduction=keep_whole(batch, matrix.At),
            settings=settings,
            parameters=parameters,
            kernel=kernel,
            matrix=matrix,
            prover=Prover(batch.base.A, parameters.certificates, settings.tol),
            warm_start=start,
            waiting=waiting,
            answers=SimpleQueue(),
            stop=threading.Event(),
            entries={precision: kernel.entries(matrix, np.dtype(precision)) for precision in precisions},
            branches=not settings.fallback,
            feed=feed,
        )
        return course

    @staticmethod
    def _precisions(parameters: PdhgParameters) -> list[str]:
        """Returns the precisions that members go through, in turn."""
        return ["float64"] if parameters.precision is Arithmetic.FLOAT64 else ["float32", "float64"]

    def _run(self, course: Course, most_tiles: int) -> Iterator[Answer]:
        """Runs tiles on threads and yields their answers; stops them when the caller has enough."""
        members = len(course.batch) if course.feed is None else course.feed.waiting
        width = course.width = self._width(course, members, most_tiles)
        tiles = max(1, min(most_tiles, -(-members // width)))
        self._course = course
        compiling = self._prepare(course, width)
        self._choice = self._words(course, width, tiles, compiling)
        threads = [_thread_of(course, width) for _ in range(tiles)]
        course.kernel.use_threads(most_tiles)
        self.began, self.tiles_at_work = time.perf_counter(), tiles
        for thread in threads:
            thread.start()
        try:
            while self.tiles_at_work:
                answer = course.answers.get()
                if answer is None:
                    self.tiles_at_work -= 1
                elif isinstance(answer, Growth):
                    threads += self._grown(course, answer.tiles)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    yield answer
        finally:
            course.stop.set()
            for thread in threads:
                thread.join()
            self._steps = course.steps
            self._course, self.tiles_at_work = None, 0

    def _grown(self, course: Course, tiles: int) -> list[threading.Thread]:
        """Widens the tiles of a course and returns the threads of those that are new, which it starts."""
        waiting = course.feed.waiting if course.feed is not None else 0
        course.width = max(course.width, self._width(course, waiting, tiles))
        more = min(tiles - self.tiles_at_work, -(-waiting // course.width))
        threads = [_thread_of(course, course.width) for _ in range(more)]
        course.kernel.use_threads(tiles)
        self.tiles_at_work += len(threads)
        for thread in threads:
            thread.start()
        self._choice = self._words(course, course.width, self.tiles_at_work, 0.0)
        return threads

    def _width(self, course: Course, members: int, tiles: int) -> int:
        """Returns the lanes of a tile: enough for all threads to have some, at most what the cache bears."""
        parameters = self._parameters
        itemsize = 8 if parameters.precision is Arithmetic.FLOAT64 else 4
        most = parameters.lanes or lane_row_bytes(parameters.device, course.matrix.m, course.matrix.n) // itemsize
        share = -(-members // tiles)
        return min(most, next((w for w in WIDTHS if w >= share), most))

    def _prepare(self, course: Course, width: int) -> float:
        """Runs what will be compiled once on next to nothing, before any member's clock starts; returns the seconds."""
        # a wide tile may end as a narrow one
        needed = [(p, lanes) for p in course.waiting for lanes in {1, width} if (p, lanes == 1) not in self._ready]
        if not needed:
            return 0.0
        begin, watch = time.perf_counter(), course.settings.watch
        told = threading.Timer(COMPILING, watch.say if watch is not None else str, args=(COMPILING_WORDS,))
        told.daemon = True
        told.start()  # whether there is anything to compile is known only by how long it takes
        try:
            for precision, lanes in needed:
                self._rehearse(course.kernel, precision, lanes)
        finally:
            told.cancel()
        return time.perf_counter() - begin

    def _rehearse(self, kernel: Kernel, precision: str, lanes: int) -> None:
        if (precision, lanes == 1) not in self._ready:
            rehearse(kernel, precision, lanes)
            self._ready.add((precision, lanes == 1))

    def _words(self, course: Course, width: int, tiles: int, compiling: float) -> str:
        lanes = "1 lane" if width == 1 else f"{width} lanes"
        text = f"{tiles} tile{'s' * (tiles > 1)} of {lanes} on the {course.kernel.name} kernel in {course.parameters.precision}"
        return f"{text}; compiled in {compiling:.1f} s, kept for later runs" if compiling > COMPILING else text

    def solve_many(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, int, Solution]]:
        """Yields (batch, member, claim) batch after batch: one batch alone uses all threads."""
        self._choices = []
        for k, batch in enumerate(batches):
            for member, claim in self.solve(batch, settings):
                yield k, member, claim
            self._choices.append(self._choice)

    def solve_together(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, (member, claim)): lanes end one by one."""
        yield from ((k, (member, claim)) for k, member, claim in self.solve_many(batches, settings))

    def choices(self) -> list[str]:
        """Returns lanes, kernel and precision for each batch of the last `solve_many`."""
        return self._choices

    def prepare(self, members: int) -> None:
        """Nothing: a kernel is loaded with the first batch, whose precision decides which."""

    def close(self) -> None:
        """Stops all tiles at their next check."""
        self._closed = True
        self.stop()


def _thread_of(course: Course, width: int) -> threading.Thread:
    """Returns a thread that drives one tile of a course."""
    return threading.Thread(target=_drive, args=(course, width), daemon=True, name="lanes")


def _drive(course: Course, width: int) -> None:
    """Runs tiles of one precision after the other on this thread, and tells the course how it ended."""
    try:
        for precision in course.waiting:
            while course.waits(precision) and not course.stop.is_set():
                try:
                    run_tile(Lanes(course, precision, width), course)
                except MemoryError:
                    if width == 1:
                        raise
                    course.width = width = max(1, width // 2)
        course.answers.put(None)
    except BaseException as error:
        course.answers.put(error)


def _checked(base: LinearProgram, warm_start: Solution | None) -> tuple[Vector, Vector] | None:
    """Returns x, y of a warm start; raises UsageError where they don't fit the base or are not finite."""
    if warm_start is None or warm_start.x is None or warm_start.y is None:
        return None
    for name, vector, size in (("x", warm_start.x, base.n), ("y", warm_start.y, base.m)):
        if np.shape(vector) != (size,):
            raise UsageError(f"the warm start's {name} has shape {np.shape(vector)}, expected ({size},)")
        if not np.isfinite(vector).all():
            raise UsageError(f"the warm start's {name} holds a NaN or an infinity, expected finite numbers")
    return np.asarray(warm_start.x, dtype=np.float64), np.asarray(warm_start.y, dtype=np.float64)


def _refused(batch: LPBatch, feed: Feed | None, message: str) -> Iterator[Answer]:
    for member in range(len(batch)) if feed is None else iter(feed.take, None):
        yield member, Solution(Status.NUMERICAL_ERROR, backend="pdhg", method="refused", message=message)
