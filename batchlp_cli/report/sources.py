"""Where the rows of many members come from, told by columns: a `Source` is made of a member only when it is asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from batchlp_cli.batch import Indices, picked
from batchlp_cli.problem import Vector
from batchlp_cli.report.rows import Source


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Sources of members as columns [B], in the words of `Source`; what is shown of one is `before` and then its `called`.

    digests: empty where an input has none. probability: NaN where there is none. warnings: the same for all members.
    """

    names: tuple[str, ...]
    before: str
    called: tuple[str, ...]
    digests: tuple[str, ...]
    read_time: Vector
    probability: Vector
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, k: int) -> Source:
        known = float(self.probability[k])
        probability = None if known != known else known
        shown = self.before + self.called[k]
        return Source(self.names[k], shown, self.digests[k], float(self.read_time[k]), self.warnings, probability)

    def take(self, which: Indices) -> Sources:
        """Returns those of some members."""
        names, digests = picked(self.names, which), picked(self.digests, which)
        called = names if self.called is self.names else picked(self.called, which)
        return Sources(names, self.before, called, digests, self.read_time[which], self.probability[which], self.warnings)

    @staticmethod
    def joined(parts: Sequence[Sources]) -> Sources:
        """Returns sources of one origin, and so with the same warnings, one part after the other."""
        if not parts:
            return Sources((), "", (), (), np.zeros(0), np.zeros(0))
        names, called, digests = (tuple(chain.from_iterable(column)) for column in zip(*map(_names, parts), strict=True))
        read_time, probability = (np.concatenate(column) for column in zip(*map(_numbers, parts), strict=True))
        return Sources(names, parts[0].before, called, digests, read_time, probability, parts[0].warnings)

    @staticmethod
    def of(sources: Sequence[Source]) -> Sources:
        """Returns the columns of sources, at least one, which have the same warnings."""
        names, shown, digests, times, _, chances = zip(*map(_parts, sources), strict=True)
        return Sources(names, "", shown, digests, np.array(times), np.array(chances, dtype=np.float64), sources[0].warnings)


def _names(sources: Sources) -> tuple[tuple[str, ...], ...]:
    return sources.names, sources.called, sources.digests


def _numbers(sources: Sources) -> tuple[Vector, ...]:
    return sources.read_time, sources.probability


def _parts(source: Source) -> tuple[str, str, str, float, tuple[str, ...], float | None]:
    return source.name, source.shown, source.input_digest, source.read_time, source.warnings, source.probability


class SourcesByKey(Mapping[int, Source]):
    """Sources by ascending keys [B]."""

    def __init__(self, keys: Indices, sources: Sources) -> None:
        self._keys, self._sources = keys, sources

    def __len__(self) -> int:
        return int(self._keys.size)

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys.tolist())

    def __getitem__(self, key: int) -> Source:
        place = int(np.searchsorted(self._keys, key))
        if place >= self._keys.size or self._keys[place] != key:
            raise KeyError(key)
        return self._sources[place]

    @staticmethod
    def joined(parts: Sequence[tuple[Indices, Sources]]) -> SourcesByKey:
        """Returns sources of one origin, given in parts with ascending keys, each after the keys before."""
        if len(parts) == 1:
            return SourcesByKey(*parts[0])
        keys = np.concatenate([part[0] for part in parts] or [np.zeros(0, dtype=np.int64)])
        return SourcesByKey(keys, Sources.joined([part[1] for part in parts]))

    def columns(self, keys: Indices) -> Sources:
        """Returns the sources of some keys."""
        return self._sources.take(np.searchsorted(self._keys, keys))


def columns_of(sources: Mapping[int, Source], keys: Indices) -> list[tuple[Indices, Sources]]:
    """Returns the sources of some keys as columns, those with the same warnings together, and which of the keys these are."""
    if isinstance(sources, SourcesByKey):
        return [(np.arange(keys.size), sources.columns(keys))]
    found = [sources[key] for key in keys.tolist()]
    which: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for k, source in enumerate(found):
        which[source.warnings].append(k)
    return [(np.array(some, dtype=np.int64), Sources.of([found[k] for k in some])) for some in which.values()]


def names_of(sources: Mapping[int, Source], keys: Sequence[int]) -> tuple[str, ...]:
    """Returns the names of the sources of some keys."""
    if isinstance(sources, SourcesByKey):
        return sources.columns(np.array(keys, dtype=np.int64)).names
    return tuple(sources[key].name for key in keys)
