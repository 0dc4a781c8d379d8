"""Watching iterates on their way: traces of chosen members, and how many lanes were in use when. Solvers call, nobody is asked.

A watch is for threads of one process. It arrives in another process as None, for what is solved there tells nothing on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from threading import Lock
from types import NoneType

import numpy as np

SERIES = ("iteration", "primal", "dual", "gap", "omega", "restarts")
SPANS = 256
"""Most entries of lanes over time; when they are used up, each two become one."""

SHORTEST_SPAN = 1e-3
"""Seconds of an entry at first."""

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Watch:
    """Collects traces of members whose name matches a pattern (as a shell does, the whole name or its last part), and lanes."""

    def __init__(self, patterns: Sequence[str] = (), say: Callable[[str], None] | None = None) -> None:
        """say: takes a sentence for the user, from any thread."""
        self._patterns, self._say = tuple(patterns), say
        self._traces: dict[str, dict[str, list[float]]] = {}
        self._restarted: dict[str, float] = {}
        self._lock = Lock()
        self._origin = float("inf")
        self._span = SHORTEST_SPAN
        self._busy, self._width = [0.0] * SPANS, [0.0] * SPANS

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Returns how to copy a watch: as None."""
        return NoneType, ()

    @property
    def tracing(self) -> bool:
        """Whether any member may be wanted."""
        return bool(self._patterns)

    def wants(self, name: str) -> bool:
        """Tells whether a member of this name is to be traced."""
        last = name.rpartition("/")[2]
        return any(fnmatchcase(name, pattern) or fnmatchcase(last, pattern) for pattern in self._patterns)

    def checked(
        self, names: Sequence[str | None], iterations: Floats, since_restart: Floats, errors: Floats, omega: Floats
    ) -> None:
        """Adds a check of W lanes: names [W] (None: not to be looked at), iterations of the member and those since its last
        restart [W], relative primal residual, dual residual and gap [3, W], primal weights [W]."""
        for lane, name in enumerate(names):
            if name is None or (name not in self._traces and not self.wants(name)):
                continue
            trace = self._traces.setdefault(name, {series: [] for series in SERIES})
            at, began = int(iterations[lane]), float(iterations[lane] - since_restart[lane])
            restarts = trace["restarts"][-1] if trace["restarts"] else 0
            restarts += began != self._restarted.setdefault(name, began)
            self._restarted[name] = began
            values = (at, *(float(e) for e in errors[:, lane]), float(omega[lane]), restarts)
            for series, value in zip(SERIES, values, strict=True):
                trace[series].append(value)

    def take(self, name: str) -> dict[str, list[float]] | None:
        """Returns the trace of a member, which is forgotten, or None where there is none."""
        self._restarted.pop(name, None)
        return self._traces.pop(name, None)

    def say(self, text: str) -> None:
        """Tells the user what takes long before any member can begin."""
        if self._say is not None:
            self._say(text)

    def worked(self, begun: float, busy: int, width: int) -> None:
        """Adds that a tile of `width` lanes worked since time.perf_counter() was `begun`, with members in `busy` of them."""
        now = time.perf_counter()
        with self._lock:
            self._origin = min(self._origin, begun)
            self._add(max(0.0, begun - self._origin), now - self._origin, busy, width)

    def lanes(self) -> dict[str, object] | None:
        """Returns span (seconds of an entry) and, an entry each, lane-seconds with members (busy) and of all lanes (width)."""
        with self._lock:
            used = max((k + 1 for k, seconds in enumerate(self._width) if seconds > 0), default=0)
            if not used:
                return None
            series = ([round(v, 6) for v in values[:used]] for values in (self._busy, self._width))
            return {"span": self._span} | dict(zip(("busy", "width"), series, strict=True))

    def _add(self, start: float, end: float, busy: int, width: int) -> None:
        while end >= SPANS * self._span:
            for values in (self._busy, self._width):
                values[:] = [values[k] + values[k + 1] for k in range(0, SPANS, 2)] + [0.0] * (SPANS // 2)
            self._span *= 2
        for k in range(int(start / self._span), int(end / self._span) + 1):
            seconds = max(0.0, min(end, (k + 1) * self._span) - max(start, k * self._span))
            self._busy[k] += busy * seconds
            self._width[k] += width * seconds
