"""One worker process: how it is started, and its inside (take a payload, hand it to the handler, send the answer).

What many of them do together is in processes.py.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Protocol

CAPTURE_BYTES = 1 << 16
PR_SET_PDEATHSIG = 1  # linux/prctl.h

Handler = Callable[[object], object]


_starting = threading.Lock()  # what _without_main changes belongs to the whole program


def choose_context(factory: str) -> BaseContext:
    """Returns the start method: a fork server that has the factory's module loaded, else spawn."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, factory.partition(":")[0]])
    return context


def start_server(*modules: str) -> None:
    """Starts the fork server now, with these modules loaded, so that it gets ready while this program still imports its own."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return
    multiprocessing.get_context("forkserver").set_forkserver_preload([__name__, *modules])
    with _starting, _deaf_to_signals(), _without_main():
        forkserver.ensure_running()


def start_worker(context: BaseContext, connection: Connection, factory: str, memory_limit_bytes: int | None) -> BaseProcess:
    """Starts a worker process at the other end of a connection; raises OSError or EOFError where it cannot be started."""
    arguments = (connection, factory, memory_limit_bytes)
    process: BaseProcess = context.Process(target=serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
    with _starting, _deaf_to_signals(), _without_main():
        process.start()
    return process


def end_of(process: BaseProcess) -> str:
    """Waits a moment for a process to end; returns how it ended: "exit code 3" or "killed by SIGSEGV"."""
    process.join(5.0)
    code = process.exitcode
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"exit code {code}"
    return f"killed by {signal.Signals(-code).name if -code in list(signal.Signals) else f'signal {-code}'}"


class Closable(Protocol):
    """What can be closed, twice if need be."""

    def close(self) -> None:
        """Ends it."""


_open_pools: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_at_exit(pool: Closable) -> None:
    """Sees to it that a pool is closed before Python waits for its workers, which are deaf to SIGTERM."""
    if not _open_pools:  # again if need be, since what was registered last runs first
        atexit.unregister(_close_open_pools)
        atexit.register(_close_open_pools)
    _open_pools.add(pool)


def _close_open_pools() -> None:
    for pool in list(_open_pools):
        pool.close()


@contextmanager
def _deaf_to_signals() -> Iterator[None]:
    """Blocks SIGINT and SIGTERM in this thread; processes started meanwhile keep them blocked for life.

    The resource tracker must run before: when it starts, Python unblocks both signals.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hides the program's main module, so that workers don't run it again (scripts need no `if __name__` guard)."""
    main = sys.modules["__main__"]
    spec, path = main.__spec__, main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__spec__ = spec
        if path is not None:
            main.__dict__["__file__"] = path


def serve(connection: Connection, factory: str, memory_limit_bytes: int | None) -> None:
    """Makes the handler, reports an empty text (or why it could not be made), then answers until the pipe ends."""
    _die_with_parent()
    _silence_stdout()
    module, _, name = factory.partition(":")
    try:
        handler: Handler = getattr(importlib.import_module(module), name)()
        _limit_memory(memory_limit_bytes)
    except Exception as error:  # whatever the factory raises is the parent's to report
        connection.send_bytes(pickle.dumps(f"{type(error).__name__}: {error}"))
        return
    connection.send_bytes(pickle.dumps(""))
    while True:
        try:
            message = connection.recv_bytes()
            connection.send_bytes(_answer(handler, message))
        except (EOFError, OSError):  # the parent is gone or has closed the pipe
            return


def _answer(handler: Handler, message: bytes) -> bytes:
    """Returns the pickled (True, value, seconds), or (False, text of the exception, seconds)."""
    start = time.monotonic()
    try:
        value = handler(pickle.loads(message))
        return pickle.dumps((True, value, time.monotonic() - start), protocol=5)
    except Exception as error:  # a task's failure is its outcome, whatever it is
        return pickle.dumps((False, f"{type(error).__name__}: {error}".rstrip(": "), time.monotonic() - start))


def _die_with_parent() -> None:
    """Asks Linux for SIGKILL when the fork server ends, which ends with the program: native code sees no closed pipe.

    The fork server gives every worker a copy of the pipe whose end tells it that the program is gone; it has to be closed.
    """
    server = getattr(forkserver, "_forkserver", None)
    alive = getattr(server, "_forkserver_alive_fd", None)
    if server is not None and alive is not None:
        os.close(alive)
        server._forkserver_alive_fd = None
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended just before we asked
            os._exit(1)


def _silence_stdout() -> None:
    """Points file descriptor 1 at nothing: stdout is the parent's, and native code prints as it likes."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _limit_memory(limit_bytes: int | None) -> None:
    """Limits the address space to what is in use now and limit_bytes more (Linux)."""
    if limit_bytes is None or sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + limit_bytes
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


@dataclass(slots=True)
class Captured:
    """What was printed, there when the block has ended."""

    text: str = ""


@contextmanager
def captured_output() -> Iterator[Captured]:
    """Catches what is printed to file descriptors 1 and 2 in the block, native code included, up to 64 KiB of it.

    Not for several threads at once: the descriptors belong to the whole process.
    """
    captured = Captured()
    _flush()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(1), os.dup(2)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield captured
        finally:
            _flush()
            for number, copy in enumerate(saved, start=1):
                os.dup2(copy, number)
                os.close(copy)
            captured.text = os.pread(file.fileno(), CAPTURE_BYTES, 0).decode(errors="replace")


def _flush() -> None:
    """Empties the buffers of Python's and of C's standard streams."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
