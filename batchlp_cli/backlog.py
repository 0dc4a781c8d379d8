"""Finished members that wait for whoever handles them next, and whether there are so many that no more should be made."""

from __future__ import annotations

import queue
from collections.abc import Callable


class Backlog:
    """A queue from the thread that makes items to the one that handles them, which may be the slower one.

    It never blocks who puts something in: what is finished is finished. It tells when it is full, so that nobody begins more.
    count: of how many members an item is, one by default.
    """

    def __init__(self, most: int, count: Callable[[object], int] = lambda item: 1) -> None:
        self._most, self._count = most, count
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._put = self._got = 0  # members; each is changed by one thread only

    def put(self, item: object) -> None:
        """Adds an item; from one thread."""
        self._put += self._count(item)
        self._queue.put(item)

    def get(self) -> object:
        """Takes the item that has waited longest, and waits where there is none; from one thread."""
        item = self._queue.get()
        self._got += self._count(item)
        return item

    def has_items(self) -> bool:
        """Tells whether `get` need not wait."""
        return not self._queue.empty()

    def waiting(self) -> int:
        """Returns how many members wait; from any thread."""
        return self._put - self._got

    def is_full(self) -> bool:
        """Tells whether as many members wait as should; from any thread."""
        return self.waiting() >= self._most

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # nobody waits in another process
