"""Turns an iterator that blocks into lists of what has become ready meanwhile, so that finished work is handled together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TypeVar, cast

from batchlp_cli.backlog import Backlog

T = TypeVar("T")
_END = object()


def ready_lists(items: Iterator[T], most: int = 512, backlog: Backlog | None = None) -> Iterator[list[T]]:
    """Yields all items in lists of at most `most`: whatever is ready, and never waiting to fill a list.

    backlog: where items wait, for who wants to know how many do.
    The iterator runs in a thread of its own; an exception that it raises is raised here after the items before it.
    """
    ready = backlog or Backlog(most)

    def drain() -> None:
        try:
            for item in items:
                ready.put(item)
        except BaseException as error:  # handed over to the thread that asked, which raises it
            ready.put(_Raised(error))
        ready.put(_END)

    threading.Thread(target=drain, daemon=True, name="ready-lists").start()
    while True:
        got = [ready.get()]
        while len(got) < most and got[-1] is not _END and ready.has_items():
            got.append(ready.get())
        plain = [cast(T, item) for item in got if item is not _END and not isinstance(item, _Raised)]
        if plain:
            yield plain
        for item in got:
            if isinstance(item, _Raised):
                raise item.error
        if got[-1] is _END:
            return


class _Raised:
    """An exception on its way between threads."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error
