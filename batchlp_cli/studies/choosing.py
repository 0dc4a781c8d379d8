"""Which rows or columns a user means by names and patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from batchlp_cli.errors import ModelError


def choose(patterns: Sequence[str], count: int, name_of: Callable[[int], str], what: str) -> list[int]:
    """Returns the indices, ascending, whose names are given or match a pattern (`*`, `?`, `[a-c]`); all for no pattern.

    A name is first taken literally, since names such as x[1] look like patterns. Raises ModelError for one that matches none.
    """
    if not patterns:
        return list(range(count))
    names = [name_of(k) for k in range(count)]
    places = {name: k for k, name in enumerate(names)}
    chosen: set[int] = set()
    for pattern in patterns:
        found = {places[pattern]} if pattern in places else {k for k, name in enumerate(names) if fnmatchcase(name, pattern)}
        if not found:
            raise ModelError(
                f"no {what} is called or matches {pattern!r}; there are {count}, such as {', '.join(names[:3]) or 'none'}"
            )
        chosen |= found
    return sorted(chosen)
