"""Handlers that the tests of the worker pool give to worker processes."""

import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing import current_process

from batchlp_cli.processes import captured_output


def obedient() -> Callable[[object], object]:
    """Returns a handler that does what its payload, (verb, argument), says."""
    served = []

    def handle(payload: object) -> object:
        verb, argument = payload  # type: ignore[misc]
        served.append(argument)
        return _VERBS[verb](argument, served)

    return handle


def broken() -> Callable[[object], object]:
    """Fails as a factory whose library is missing does."""
    raise ImportError("no such library")


def _raise(argument, served):
    raise ValueError(argument)


def _sleep(argument, served):
    time.sleep(argument)
    return argument


def _print_everywhere(argument, served):
    print("python says", argument)
    sys.stdout.flush()
    os.write(1, b"native says it too\n")
    return argument


def _print_captured(argument, served):
    with captured_output() as captured:
        os.write(1, b"one ")
        os.write(2, b"two ")
        print("three", "x" * argument)
    return captured.text


def _allocate(argument, served):
    return len(bytearray(argument))


def _signals_blocked(argument, served):
    return sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


_VERBS = {
    "echo": lambda argument, served: argument,
    "double": lambda argument, served: 2 * argument,
    "served": lambda argument, served: (os.getpid(), list(served)),
    "raise": _raise,
    "sleep": _sleep,
    "kill": lambda argument, served: os.kill(os.getpid(), argument),
    "exit": lambda argument, served: os._exit(argument),
    "print": _print_everywhere,
    "captured": _print_captured,
    "allocate": _allocate,
    "blocked": _signals_blocked,
    "name": lambda argument, served: current_process().name,
    "pid": lambda argument, served: os.getpid(),
}
