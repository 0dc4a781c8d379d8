"""Handlers that the tests of the worker pool give to worker processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from batchlp_cli.files.read.messages import Work
from batchlp_cli.files.read.worker import make_handler
from batchlp_cli.processes import captured_output


def obedient() -> Callable[[tuple[str, Any]], object]:
    """Returns a handler that does what its payload, (verb, argument), says."""
    served: list[object] = []

    def handle(payload: tuple[str, Any]) -> object:
        verb, argument = payload
        served.append(argument)
        return (os.getpid(), list(served)) if verb == "served" else VERBS[verb](argument)

    return handle


def broken() -> Callable[[object], object]:
    """Fails as a factory whose library is missing does."""
    raise ImportError("no such library")


def fail(text: str) -> object:
    """Raises ValueError."""
    raise ValueError(text)


def sleep(seconds: float) -> object:
    """Takes a while."""
    time.sleep(seconds)
    return seconds


def print_everywhere(text: str) -> object:
    """Prints to stdout by Python's and by native means."""
    print("python says", text)
    sys.stdout.flush()
    os.write(1, b"native says it too\n")
    return text


def print_captured(count: int) -> object:
    """Returns what it prints by three ways."""
    with captured_output() as captured:
        os.write(1, b"one ")
        os.write(2, b"two ")
        print("three", "x" * count)
    return captured.text


VERBS: dict[str, Callable[[Any], object]] = {
    "echo": lambda argument: argument,
    "double": lambda argument: 2 * argument,
    "raise": fail,
    "sleep": sleep,
    "kill": lambda number: os.kill(os.getpid(), number),
    "exit": os._exit,
    "print": print_everywhere,
    "captured": print_captured,
    "allocate": lambda size: len(bytearray(size)),
    "blocked": lambda _: sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "pid": lambda _: os.getpid(),
    "unpicklable": lambda _: lambda: None,
}


def deadly_reader() -> Callable[[Work], object]:
    """Returns the reader's handler, but one that dies of the model named deadly and never ends with the one named endless."""
    handle = make_handler()

    def die_or_read(work: Work) -> object:
        if work.request.name == "deadly":
            os.kill(os.getpid(), signal.SIGSEGV)
        while work.request.name == "endless":
            time.sleep(0.01)
        return handle(work)

    return die_or_read
