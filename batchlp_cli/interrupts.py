"""SIGINT and SIGTERM become one exception, raised only where nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from batchlp_cli.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """While entered, a signal raises Interrupted in the main thread; inside `held()` it waits for the block's end.

    After the first signal further ones are ignored, so that keeping what is finished is not itself interrupted.
    Outside the main thread it does nothing, since only the main thread may set handlers.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._arrived = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interruptions:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Puts a signal off until the block is done."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        if self._depth == 0 and self._arrived:
            raise Interrupted(self._arrived)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._arrived:
            return
        self._arrived = number
        if self._depth == 0:
            raise Interrupted(number)
