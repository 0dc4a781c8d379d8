"""Finished members that wait for whoever handles them next, and whether there are so many that no more should be made."""

from __future__ import annotations

import queue


class Backlog:
    """A queue from the thread that makes items to the one that handles them, which may be the slower one.

    It never blocks who puts something in: what is finished is finished. It tells when it is full, so that nobody begins more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.queue: queue.SimpleQueue[object] = queue.SimpleQueue()

    def is_full(self) -> bool:
        """Tells whether as many items wait as should; from any thread."""
        return self.queue.qsize() >= self._most

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # nobody waits in another process
