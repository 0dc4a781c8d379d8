"""Worker processes that may crash or hang without hurting the run. What the workers compute does not belong here.

Every worker has its own pipe and its own queue, so a lost worker costs the task it was at and nothing else. Tasks are handed
out by a source, which is asked whenever a worker has room; results are yielded as they come. Workers are forked from a
server that has the factory's module loaded, are deaf to SIGINT and SIGTERM (the parent decides, and kills with SIGKILL)
and die with their parent. Own code, because this many small tasks cost too much in a general pool: see docs/architecture.md.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from batchlp_cli.errors import WorkerCrash
from batchlp_cli.worker import captured_output, choose_context, close_at_exit, end_of, start_worker

__all__ = ["Ending", "Outcome", "Source", "Task", "WorkerPool", "captured_output"]

AHEAD_BYTES = 1 << 16  # a pipe holds this much, so that sending ahead to a busy worker cannot block
QUICK_SECONDS = 0.05  # only workers whose last task was quicker get a task ahead: a long one must not hold up the next
START_SECONDS = 120.0  # a worker that has not reported by then has failed to start
START_TRIES = 3
PAUSE_SECONDS = 0.02  # after which a paused run looks again


class Ending(StrEnum):
    """How a task ended: DONE has a value, RAISED, TIMED_OUT and CRASHED a message, CANCELLED neither."""

    DONE = "done"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work: `payload` is pickled for the worker; `deadline` is seconds after the worker begins it.

    Where what must be sent depends on what the worker already has, give `payload_for(slot, fresh)`: it makes the payload
    at the moment the task is given to a worker, and again if the task had to be given to another one.
    """

    key: Hashable
    payload: object = None
    deadline: float | None = None
    payload_for: Callable[[int, bool], object] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task. value: the handler's result when DONE; message: the exception's text when RAISED, "killed by
    SIGSEGV" or "exit code 3" when CRASHED, "exceeded 2 s" when TIMED_OUT; worker: its slot; seconds: the handler's time."""

    key: Hashable
    ending: Ending
    value: object
    message: str
    worker: int
    seconds: float


Source = Callable[[int, bool], Task | None]
"""(slot, fresh) -> the next task for that worker, or None for "nothing now". fresh: its process has had no task yet."""


@dataclass(slots=True, eq=False)
class _Slot:
    """A place for a worker process. queue: tasks given, the first `sent` of them with their messages sent."""

    index: int
    process: BaseProcess | None = None
    connection: Connection | None = None
    ready: bool = False
    fresh: bool = True
    quick: bool = False
    began: float = 0.0
    sent: int = 0
    sent_bytes: int = 0
    queue: deque[Task] = field(default_factory=deque)
    messages: deque[bytes] = field(default_factory=deque)

    def room(self, ahead: int) -> int:
        """Number of tasks this worker may hold now."""
        return ahead if self.ready and self.quick else 1

    def send(self) -> None:
        """Sends what an idle worker may have, and what fits into the pipe of one that is busy or still starts."""
        while self.connection and self.messages:
            size = len(self.messages[0])
            if (self.sent or not self.ready) and self.sent_bytes + size > AHEAD_BYTES:
                return
            try:
                self.connection.send_bytes(self.messages[0])
            except OSError:  # the worker is gone; the end of its pipe is noticed at the next wait
                return
            self.messages.popleft()
            self.began = self.began if self.sent else time.monotonic()
            self.sent_bytes = self.sent_bytes + size if self.sent else 0
            self.sent += 1

    def finish(self) -> Task:
        """Takes the task in work off the queue; the next one sent begins now."""
        self.sent -= 1
        self.sent_bytes = self.sent_bytes if self.sent > 1 else 0
        self.began = time.monotonic()
        return self.queue.popleft()

    def expires(self) -> float:
        """Time at which the task in work, or the start, has taken too long."""
        if self.process is not None and not self.ready:
            return self.began + START_SECONDS
        deadline = self.queue[0].deadline if self.sent else None
        return float("inf") if deadline is None else self.began + deadline


class WorkerPool:
    """Up to `jobs` worker processes, started when there is work for them and kept until close().

    factory: "package.module:function", called once in each worker; it returns the handler, handler(payload) -> value.
    ahead: tasks a worker may hold, so that quick ones follow each other without waiting for the parent.
    memory_limit_bytes: address space a worker may take beyond what it has when it starts (Linux).
    Raises WorkerCrash where a worker failed to start three times in a row.
    """

    def __init__(self, factory: str, jobs: int, *, ahead: int = 2, memory_limit_bytes: int | None = None) -> None:
        self._factory, self._ahead, self._memory_limit = factory, ahead, memory_limit_bytes
        self._context = choose_context(factory)
        self._slots = [_Slot(i) for i in range(jobs)]
        self._returned: deque[Task] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._cancelled: set[Hashable] = set()
        self._failed_starts = 0
        self.ready_since: float | None = None  # time.perf_counter() at which the first worker was there
        self._closed = False
        self._lock = threading.Lock()
        self._wake, self._waker = self._context.Pipe(duplex=False)
        close_at_exit(self)

    def run(
        self, source: Source, more: Callable[[], bool] | None = None, paused: Callable[[], bool] | None = None
    ) -> Iterator[Outcome]:
        """Yields the outcome of every task of the source, in any order; ends when the source has nothing for any worker
        and nothing is in flight, or when close() is called. One run at a time.

        While more() is true it waits for wake() instead of ending, and then asks the source again. While paused() is true no
        task is given to a worker.
        """
        try:
            while True:
                self._cancel()
                pausing = paused is not None and paused()
                if not pausing:
                    self._feed(source)
                busy = pausing or bool(self._returned) or any(slot.queue for slot in self._slots)
                if self._outcomes:
                    yield self._outcomes.popleft()
                elif self._closed or not (busy or (more is not None and more())):
                    return
                else:
                    self._wait(PAUSE_SECONDS if pausing else float("inf"))
        finally:
            self._abandon()

    def wake(self) -> None:
        """Makes a run() in another thread ask its source again."""
        with self._lock:
            if not self._closed:
                self._waker.send_bytes(b"")

    def cancel(self, key: Hashable) -> None:
        """Ends the task of that key, killing the worker that is at it; from any thread. One that is done stays done."""
        self._cancelled.add(key)
        self.wake()

    @property
    def busy(self) -> int:
        """Number of workers that have work; from any thread."""
        return sum(bool(slot.queue) for slot in list(self._slots))

    def begin(self, tasks: Iterable[Task]) -> None:
        """Gives tasks to workers, one each, ahead of the run() whose source goes on after them; once, from any thread."""
        for slot, task in zip(list(self._slots), tasks, strict=False):
            self._give(slot, task)

    def prepare(self, count: int) -> None:
        """Starts up to `count` workers ahead of their first tasks. Not while a run is under way, but from any thread."""
        for slot in [slot for slot in self._slots[:count] if slot.process is None]:
            self._start(slot)

    def close(self) -> None:
        """Kills all workers at once; may be called twice and from any thread, and ends a run() in another thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._waker.send_bytes(b"closed")
            for slot in self._slots:
                if slot.process is not None:
                    slot.process.kill()

    def _feed(self, source: Source) -> None:
        """Fills the queues breadth first, workers that are running before those that would have to be started."""
        if self._closed:
            return
        slots = sorted(self._slots, key=lambda slot: slot.process is None)
        for depth in range(self._ahead):
            for slot in slots:
                if len(slot.queue) > depth or slot.room(self._ahead) <= depth:
                    continue
                task = self._returned.popleft() if self._returned else source(slot.index, slot.fresh)
                if task is not None:
                    self._give(slot, task)

    def _cancel(self) -> None:
        """Ends the tasks that were cancelled; a worker that has one of them only ahead goes on until it begins it."""
        for key in list(self._cancelled):
            for task in [task for task in self._returned if task.key == key]:  # its worker ended before it began
                self._returned.remove(task)
                self._outcomes.append(Outcome(key, Ending.CANCELLED, None, "", -1, 0.0))
            holders = [slot for slot in self._slots if any(task.key == key for task in slot.queue)]
            if all(slot.sent and slot.queue[0].key == key for slot in holders):
                self._cancelled.discard(key)
                for slot in holders:
                    self._blame(slot, Ending.CANCELLED, "")

    def _give(self, slot: _Slot, task: Task) -> None:
        payload = task.payload_for(slot.index, slot.fresh) if task.payload_for else task.payload
        slot.fresh = False
        slot.queue.append(task)
        slot.messages.append(pickle.dumps(payload, protocol=5))
        if slot.process is None:
            self._start(slot)
        slot.send()

    def _start(self, slot: _Slot) -> None:
        with self._lock:
            if self._closed:
                return
            ours, theirs = self._context.Pipe()
            try:
                process = start_worker(self._context, theirs, self._factory, self._memory_limit)
            except (OSError, EOFError) as error:
                self._start_failed(slot, f"{type(error).__name__}: {error}")
                return
            finally:
                theirs.close()
            slot.process, slot.connection, slot.began = process, ours, time.monotonic()

    def _start_failed(self, slot: _Slot, reason: str) -> None:
        self._failed_starts += 1
        self._retire(slot)
        if self._failed_starts >= START_TRIES:
            raise WorkerCrash(f"worker processes for {self._factory} do not start ({START_TRIES} tries), the last: {reason}")

    def _wait(self, most: float) -> None:
        """Waits for results, ends of workers, deadlines or close(), and turns what happened into outcomes; `most` seconds."""
        live = [slot for slot in self._slots if slot.process is not None and slot.connection is not None]
        if not live and self._returned:
            return  # a worker that did not start: its task is given to another
        owners: dict[object, _Slot] = {slot.connection: slot for slot in live}
        owners |= {slot.process.sentinel: slot for slot in live if slot.process is not None}
        timeout = min(most, min((slot.expires() for slot in live), default=float("inf")) - time.monotonic())
        happened = wait([*owners, self._wake], None if timeout == float("inf") else max(timeout, 0.0))  # type: ignore[list-item]
        for slot in {id(owners[h]): owners[h] for h in happened if h is not self._wake}.values():
            self._receive(slot)
        while self._wake in happened and not self._closed and self._wake.poll():
            self._wake.recv_bytes()
        now = time.monotonic()
        for slot in live:
            if slot.expires() <= now:
                self._expire(slot)

    def _receive(self, slot: _Slot) -> None:
        if slot.connection is None or self._closed:
            return
        try:
            message = slot.connection.recv_bytes() if slot.connection.poll() else None
        except (EOFError, OSError):
            message = None
        if message is None:
            self._lose(slot)
        elif not slot.ready:
            self._started(slot, pickle.loads(message))
        else:
            done, value, seconds = pickle.loads(message)
            slot.quick, task = seconds < QUICK_SECONDS, slot.finish()
            ending, text = (Ending.DONE, "") if done else (Ending.RAISED, value)
            self._outcomes.append(Outcome(task.key, ending, value if done else None, text, slot.index, seconds))
            slot.send()

    def _started(self, slot: _Slot, failure: str) -> None:
        if failure:
            self._start_failed(slot, failure)
            return
        self._failed_starts = 0
        self.ready_since = self.ready_since or time.perf_counter()
        slot.ready, slot.began = True, time.monotonic()  # what it was sent before, it begins now
        slot.send()

    def _lose(self, slot: _Slot) -> None:
        """Blames the task in work for the end of its worker."""
        assert slot.process is not None
        reason = end_of(slot.process)
        if self._closed:
            return
        if not slot.ready:
            self._start_failed(slot, reason)
        else:
            self._blame(slot, Ending.CRASHED, reason)

    def _expire(self, slot: _Slot) -> None:
        if slot.connection is None or slot.connection.poll():  # the result came in time, only we are late
            self._receive(slot)
        elif not slot.ready:
            self._start_failed(slot, f"no sign of life in {START_SECONDS:g} s")
        else:
            self._blame(slot, Ending.TIMED_OUT, f"exceeded {slot.queue[0].deadline:g} s")

    def _blame(self, slot: _Slot, ending: Ending, message: str) -> None:
        if slot.sent:
            seconds = time.monotonic() - slot.began
            self._outcomes.append(Outcome(slot.finish().key, ending, None, message, slot.index, seconds))
        self._retire(slot)

    def _retire(self, slot: _Slot) -> None:
        """Ends a worker and puts back what it had not begun; the slot is then as new."""
        self._returned.extendleft(reversed(slot.queue))
        if slot.process is not None:
            slot.process.kill()
            slot.process.join()
        if slot.connection is not None:
            slot.connection.close()
        self._slots[slot.index] = _Slot(slot.index)

    def _abandon(self) -> None:
        """Leaves no work of this run behind: workers that still have some are ended."""
        for slot in [slot for slot in self._slots if slot.queue]:
            self._retire(slot)
        self._returned.clear()
        self._outcomes.clear()
        self._cancelled.clear()
