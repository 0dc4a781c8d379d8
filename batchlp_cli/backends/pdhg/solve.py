"""The backend: tiles of lanes on threads, fed from one queue, whose answers leave as members finish."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from queue import SimpleQueue

import numpy as np

from batchlp_cli.backends.pdhg.certificates import Prover
from batchlp_cli.backends.pdhg.course import Answer, Course, Entry
from batchlp_cli.backends.pdhg.kernels.base import Kernel, make_tile, set_numbers
from batchlp_cli.backends.pdhg.lanes import WIDTHS, Lanes
from batchlp_cli.backends.pdhg.numbers import numbers_of, scaled_numbers
from batchlp_cli.backends.pdhg.parameters import KernelName, PdhgParameters, Precision
from batchlp_cli.backends.pdhg.reduction import ReductionParameters, reduce_batch
from batchlp_cli.backends.pdhg.scaling import ScaledMatrix, ScalingParameters, scale_matrix
from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.errors import BackendMissing, UsageError
from batchlp_cli.problem import LinearProgram, Vector
from batchlp_cli.settings import SolveSettings
from batchlp_cli.solution import Solution, Status

LANE_ROW_BYTES = 256
"""Bytes of one row of a tile on the CPU: 32 lanes in float64, 64 in float32; wider tiles leave the cache, narrower ones idle."""

COMPILING = 2.0
"""Seconds of preparation from which kernels were compiled rather than loaded from the cache."""

MOST_NNZ = 2**31 - 1
"""Kernels count entries with 32 bits."""


class PdhgBackend:
    """Restarted Halpern PDHG over lanes; `jobs` threads run a tile each, or all work on the only member."""

    name = "pdhg"

    def __init__(self, jobs: int, parameters: PdhgParameters | None = None) -> None:
        self._jobs = jobs
        self._parameters = parameters or PdhgParameters()
        self._kernel: Kernel | None = None
        self._course: Course | None = None
        self._closed = False
        self._choice = ""
        self._choices: list[str] = []
        self._ready: set[tuple[str, bool]] = set()  # (precision, one lane) for which kernels are compiled

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member as members finish; see `Backend.solve`."""
        self._choice = ""
        start = _checked(batch.base, warm_start)
        if batch.base.nnz > MOST_NNZ:
            yield from _refused(len(batch), f"{batch.base.nnz} nonzeros, expected at most {MOST_NNZ}: use the backend highs")
            return
        if len(batch) == 0 or self._closed:
            return
        if self._kernel is None:
            self._kernel = load_kernel(self._parameters, self._jobs)
        course = self._open(self._kernel, batch, settings, start)
        yield from self._run(course)

    def _open(self, kernel: Kernel, batch: LPBatch, settings: SolveSettings, start: tuple[Vector, Vector] | None) -> Course:
        """Returns the course of a batch: matrix scaled, kernels compiled, all members waiting."""
        parameters = self._parameters
        # numbers decide what presolve may do, and the bits of a member may not depend on those of its mates
        reduction = reduce_batch(batch, ReductionParameters(passes=0))
        matrix = scale_matrix(batch.base.A, parameters.scaling)
        precisions = ["float64"] if parameters.precision is Precision.FLOAT64 else ["float32", "float64"]
        waiting: dict[str, deque[Entry]] = {precision: deque() for precision in precisions}
        waiting[precisions[0]].extend(Entry(i) for i in range(len(batch)))
        course = Course(
            given=batch,
            reduction=reduction,
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
            alone=deque(),
        )
        return course

    def _run(self, course: Course) -> Iterator[Answer]:
        """Runs tiles on threads and yields their answers; stops them when the caller has enough."""
        members = len(course.batch)
        width = self._width(members)
        tiles = max(1, min(self._jobs, -(-members // width)))
        self._course = course
        compiling = self._prepare(course, width)
        self._choice = self._words(course, width, tiles, compiling)
        threads = [threading.Thread(target=_drive, args=(course, width), daemon=True) for _ in range(tiles)]
        for thread in threads:
            thread.start()
        try:
            running = tiles
            while running:
                answer = course.answers.get()
                if answer is None:
                    running -= 1
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    yield answer
        finally:
            course.stop.set()
            for thread in threads:
                thread.join()
            self._course = None

    def _width(self, members: int) -> int:
        """Returns the lanes of a tile: enough for all threads to have some, at most what the cache bears."""
        parameters = self._parameters
        itemsize = 8 if parameters.precision is Precision.FLOAT64 else 4
        most = parameters.lanes or LANE_ROW_BYTES // itemsize
        share = -(-members // self._jobs)
        return min(most, next((w for w in WIDTHS if w >= share), most))

    def _prepare(self, course: Course, width: int) -> float:
        """Runs what will be compiled once on next to nothing, before any member's clock starts; returns the seconds."""
        begin = time.perf_counter()
        for precision in course.waiting:
            for lanes in {1, width}:  # a wide tile may end as a narrow one
                if (precision, lanes == 1) not in self._ready:
                    rehearse(course.kernel, course.matrix, precision, lanes)
                    self._ready.add((precision, lanes == 1))
        return time.perf_counter() - begin

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

    def choices(self) -> list[str]:
        """Returns lanes, kernel and precision for each batch of the last `solve_many`."""
        return self._choices

    def close(self) -> None:
        """Stops all tiles at their next check."""
        self._closed = True
        course = self._course
        if course is not None:
            course.stop.set()


def load_kernel(parameters: PdhgParameters, jobs: int) -> Kernel:
    """Returns the kernel that the parameters ask for; raises BackendMissing where its library or device is missing."""
    name = parameters.kernel
    if name is KernelName.AUTO:
        name = KernelName.NUMBA if parameters.device == "cpu" else KernelName.TORCH
    try:
        if name is KernelName.NUMBA:
            from batchlp_cli.backends.pdhg.kernels.numba_kernel import NumbaKernel

            return NumbaKernel(jobs)
        from batchlp_cli.backends.pdhg.kernels.torch_kernel import TorchKernel

        return TorchKernel(parameters.device)
    except ModuleNotFoundError as error:
        raise BackendMissing(f"the {name} kernel of the backend pdhg is not installed: {error}") from error


def rehearse(kernel: Kernel, matrix: ScaledMatrix, precision: str, width: int) -> None:
    """Does once what lanes do, on a matrix without rows and columns, so that kernels are compiled."""
    none = np.zeros(0)
    nothing = LinearProgram("nothing", none, matrix.A[:0, :0], none, none, none, none)
    empty = scale_matrix(nothing.A, ScalingParameters())
    dtype, lanes = np.dtype(precision), np.full(width, -1)
    tile = make_tile(kernel, empty, kernel.entries(empty, dtype), width, dtype)
    numbers = numbers_of(LPBatch(nothing, Changes(), ()), lanes)
    set_numbers(kernel, tile, numbers, scaled_numbers(numbers, empty, dtype))
    kernel.advance(tile, 1)
    for sums in (kernel.probe, kernel.measure, kernel.directions):
        sums(tile)
    kernel.restart(tile, np.zeros(width, dtype=np.bool_))


def _drive(course: Course, width: int) -> None:
    """Runs tiles of one precision after the other on this thread, and tells the course how it ended."""
    try:
        for precision in course.waiting:
            while course.waiting[precision] and not course.stop.is_set():
                try:
                    Lanes(course, precision, width).run()
                except MemoryError:
                    if width == 1:
                        raise
                    width = max(1, width // 2)
        while course.alone and not course.stop.is_set():
            Lanes(open_alone(course, course.alone.popleft()), "float64", 1).run()
        course.answers.put(None)
    except BaseException as error:
        course.answers.put(error)


def open_alone(course: Course, entry: Entry) -> Course:
    """Returns the course of one member that goes on as an LP of its own: reduced by its own numbers, scaled anew."""
    parameters = replace(course.parameters, weight=course.parameters.weight_alone)
    given = course.given.take([entry.member])
    given = LPBatch(given.member(0), Changes(), given.names)
    reduction = reduce_batch(given, parameters.reduction)
    matrix = scale_matrix(reduction.batch.base.A, parameters.scaling)
    assert entry.x is not None
    assert entry.y is not None
    x, y = reduction.restoration.reduced_start(entry.x, entry.y)
    own = replace(entry, member=0, label=entry.member, x=x, y=y if entry.ray is None else np.zeros_like(y), omega=None)
    own.x = np.clip(x, reduction.batch.base.col_lower, reduction.batch.base.col_upper)
    return replace(
        course,
        given=given,
        reduction=reduction,
        parameters=parameters,
        matrix=matrix,
        warm_start=None,
        waiting={"float64": deque([own])},
        entries={"float64": course.kernel.entries(matrix, np.dtype(np.float64))},
        alone=None,
    )


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


def _refused(members: int, message: str) -> Iterator[Answer]:
    for member in range(members):
        yield member, Solution(Status.NUMERICAL_ERROR, backend="pdhg", method="refused", message=message)
