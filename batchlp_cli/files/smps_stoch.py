"""Reads the stochastic file of an SMPS triple into independent sources of randomness, each with its outcomes.

Sections: SCENARIOS, INDEP and BLOCKS, each DISCRETE and with REPLACE (the default), ADD or MULTIPLY; INDEP also UNIFORM,
NORMAL, LOGNORM, GAMMA and BETA. Later outcomes of a block and scenarios with a parent list only what differs. CHANCE and
ICC couple scenarios, which scenario LPs cannot say: they are left out with a note. Everything else is refused.
[H. Gassmann, The SMPS format for stochastic linear programs, in: Applications of Stochastic Programming, SIAM 2005]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batchlp_cli.errors import UsageError
from batchlp_cli.files.mps_numbers import INFINITE
from batchlp_cli.files.scenario_cells import What
from batchlp_cli.files.smps_core import CoreNames, lines_of
from batchlp_cli.problem import LinearProgram, Vector

COEFFICIENT = -1
"""In Target.what: an entry of the matrix, at row * n + column."""

_BOUNDS = {"UP": (What.UB,), "LO": (What.LB,), "FX": (What.FIX,), "UI": (What.UB,), "LI": (What.LB,)}
_IGNORED = {"CHANCE": "chance constraints", "ICC": "integrated chance constraints"}
_NORMALISED = 1e-3


class Target(NamedTuple):
    """What an entry changes: a code of What or COEFFICIENT, and the row, column or row * n + column."""

    what: int
    place: int


Values = dict[Target, float]


@dataclass(slots=True)
class Source:
    """One independent source: outcomes with probabilities; names where the file gives them (scenarios). A continuous one
    has one target, and draws [N] values; its mean is known."""

    outcomes: list[Values] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    draw: Callable[[np.random.Generator, int], Vector] | None = None
    mean: float = math.nan


@dataclass(slots=True)
class Stoch:
    """The sources of a stochastic file, and sentences about what was left out."""

    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_stoch(path: Path, lp: LinearProgram, core: CoreNames, limit_bytes: int) -> Stoch:
    """Reads a stochastic file against its core; raises UsageError with the line for what cannot be used."""
    reader = _Reader(path, lp, core)
    for number, words, heads in lines_of(path, limit_bytes):
        reader.where = f"{path}, line {number}"
        if heads:
            reader.begin(words)
        else:
            reader.take(words)
    return reader.finish()


class _Reader:
    """Takes a stochastic file line by line."""

    def __init__(self, path: Path, lp: LinearProgram, core: CoreNames) -> None:
        self._lp, self._core = lp, core
        self._rows = {lp.row_name(i): i for i in range(lp.m)}
        self._columns = {lp.col_name(j): j for j in range(lp.n)}
        self._path = path
        self._stoch = Stoch()
        self._sources: dict[object, Source] = {}  # by what tells sources apart
        self._current: Values | None = None
        self._section, self._law, self._rule = "", "DISCRETE", "REPLACE"
        self.where = str(path)

    def begin(self, words: list[str]) -> None:
        """Takes the line that begins a section."""
        self._section, self._current = words[0].upper(), None
        modifiers = [word.upper() for word in words[1:]]
        if self._section in _IGNORED:
            what = _IGNORED[self._section]
            self._stoch.notes.append(f"{self.where}: {what} couple the scenarios; the scenario LPs are solved without them")
            return
        if self._section in ("STOCH", "NAME", "ENDATA"):
            return
        if self._section not in ("SCENARIOS", "INDEP", "BLOCKS"):
            raise UsageError(f"{self.where}: the section {words[0]} is not supported; expected SCENARIOS, INDEP or BLOCKS")
        self._law = next((word for word in modifiers if word not in ("REPLACE", "ADD", "MULTIPLY")), "DISCRETE")
        self._rule = next((word for word in modifiers if word in ("REPLACE", "ADD", "MULTIPLY")), "REPLACE")
        known = ("DISCRETE", *_LAWS) if self._section == "INDEP" else ("DISCRETE",)
        if self._law not in known:
            raise UsageError(f"{self.where}: {self._section} {self._law} is not supported; expected {', '.join(known)}")

    def take(self, words: list[str]) -> None:
        """Takes a line of data."""
        if self._section == "SCENARIOS":
            self._scenario(words) if words[0].upper() == "SC" else self._entries(words)
        elif self._section == "BLOCKS":
            self._block(words) if words[0].upper() == "BL" else self._entries(words)
        elif self._section == "INDEP":
            self._element(words)
        elif self._section not in _IGNORED:
            raise UsageError(f"{self.where}: found {' '.join(words)!r} outside of a section SCENARIOS, INDEP or BLOCKS")

    def _scenario(self, words: list[str]) -> None:
        """SC name parent probability period, and in some files a known lower bound of the scenario's value"""
        if len(words) not in (4, 5, 6):
            raise UsageError(f"{self.where}: expected SC, name, parent, probability and period, found {' '.join(words)!r}")
        source = self._sources.setdefault("scenarios", Source())
        name, parent = words[1], words[2].strip("'\"")
        if name in source.names:
            raise UsageError(f"{self.where}: the scenario {name} comes twice; expected it once")
        if parent.upper() != "ROOT" and parent not in source.names:
            hint = get_close_matches(parent, source.names, 1)
            also = f"; did you mean {hint[0]}?" if hint else "; expected ROOT or a scenario above"
            raise UsageError(f"{self.where}: the parent {parent!r} is not there{also}")
        inherited = {} if parent.upper() == "ROOT" else source.outcomes[source.names.index(parent)]
        self._current = dict(inherited)
        self._add(source, self._current, self._probability(words[3]))
        source.names.append(name)

    def _block(self, words: list[str]) -> None:
        """BL name period probability"""
        if len(words) not in (3, 4):
            raise UsageError(f"{self.where}: expected BL, name, period and probability, found {' '.join(words)!r}")
        source = self._sources.setdefault(("block", words[1]), Source())
        self._current = dict(source.outcomes[0]) if source.outcomes else {}
        self._add(source, self._current, self._probability(words[-1]))

    def _entries(self, words: list[str]) -> None:
        if self._current is None:
            raise UsageError(
                f"{self.where}: found {' '.join(words)!r} before the first {self._section[0]}{self._section[1]} line"
            )
        if words[0].upper() in _BOUNDS and len(words) == 4 and words[0] not in self._columns:
            self._put(self._current, self._target(words[:3]), self._number(words[3]))
            return
        if len(words) not in (3, 5):
            raise UsageError(f"{self.where}: expected a column and one or two pairs of row and number, found {' '.join(words)!r}")
        for k in range(1, len(words), 2):
            self._put(self._current, self._target([words[0], words[k]]), self._number(words[k + 1]))

    def _put(self, values: Values, target: Target | None, number: float) -> None:
        if target is not None:
            values[target] = self._combined(target, number)

    def _combined(self, target: Target, number: float) -> float:
        if self._rule == "REPLACE":
            return number
        old = core_value(self._lp, self._core, target)
        return old + number if self._rule == "ADD" else old * number

    def _element(self, words: list[str]) -> None:
        """column row number [period] probability, or the two parameters of a distribution"""
        head = 3 if words[0].upper() in _BOUNDS and words[0] not in self._columns else 2
        if len(words) not in (head + 2, head + 3):
            raise UsageError(f"{self.where}: expected column, row, number, period and probability, found {' '.join(words)!r}")
        target = self._target(words[:head])
        if target is None:
            return
        number = self._number(words[head])
        source = self._sources.setdefault(("element", target), Source())
        if self._law == "DISCRETE":
            self._add(source, {target: self._combined(target, number)}, self._probability(words[-1]))
            return
        if source.outcomes:
            raise UsageError(f"{self.where}: this element has a distribution already; expected one line")
        self._continuous(source, target, number, self._number(words[-1]))

    def _continuous(self, source: Source, target: Target, a: float, b: float) -> None:
        law, mean, wrong = _LAWS[self._law]
        if wrong(a, b):
            raise UsageError(f"{self.where}: {self._law} with parameters {a:g} and {b:g} is no distribution")
        combine = self._combined
        self._add(source, {target: combine(target, mean(a, b))}, 1.0)
        source.mean = combine(target, mean(a, b))
        shift = combine(target, 0.0)
        slope = combine(target, 1.0) - shift
        source.draw = lambda rng, count: shift + slope * law(rng, a, b, count)

    def _add(self, source: Source, values: Values, probability: float) -> None:
        source.outcomes.append(values)
        source.probability.append(probability)

    def _probability(self, word: str) -> float:
        value = self._number(word)
        if not 0 <= value <= 1 + _NORMALISED:
            raise UsageError(f"{self.where}: the probability is {word}, expected a number from 0 to 1")
        return value

    def _number(self, word: str) -> float:
        try:
            value = float(word.replace("D", "E").replace("d", "e")) if "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise UsageError(f"{self.where}: found {word!r}, expected a number")
        return value

    def _target(self, words: list[str]) -> Target | None:
        """Returns what [column, row] or [type, set, column] names; None for a row of type N that is not the objective."""
        if len(words) == 3:
            return Target(_BOUNDS[words[0].upper()][0], self._find(words[2], self._columns, "column"))
        column, row = words
        if row in self._core.free:
            return None
        is_objective = row == self._core.objective
        i = -1 if is_objective else self._find(row, self._rows, "row")
        if column in self._columns:
            j = self._columns[column]
            return Target(What.COST, j) if is_objective else Target(COEFFICIENT, i * self._lp.n + j)
        if column in self._core.ranges and column not in self._core.rhs and not is_objective:
            return Target(What.RANGE, i)
        if column in self._core.rhs or column.upper() in ("RHS", "RIGHT", "RHS1"):
            return Target(What.OFFSET, 0) if is_objective else Target(What.RHS, i)
        self._find(column, {**self._columns, **dict.fromkeys(self._core.rhs, 0)}, "column or right-hand side")
        raise AssertionError("unreachable: a name that is not known is refused")

    def _find(self, name: str, table: dict[str, int], kind: str) -> int:
        if name not in table:
            close = get_close_matches(name, list(table)[:20_000], 3, 0.6)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f"{self.where}: the core has no {kind} {name!r}{hint}")
        return table[name]

    def finish(self) -> Stoch:
        """Returns what was read; raises UsageError where there is nothing random, or probabilities are off."""
        self._stoch.sources = list(self._sources.values())
        if not self._stoch.sources:
            raise UsageError(f"{self._path}: nothing random; expected a section SCENARIOS, INDEP or BLOCKS with data")
        if "scenarios" in self._sources and len(self._sources) > 1:
            raise UsageError(f"{self._path}: SCENARIOS beside INDEP or BLOCKS is not supported; expected one kind")
        off = [s for s in self._stoch.sources if abs(sum(s.probability) - 1) > _NORMALISED]
        if off:
            total = sum(off[0].probability)
            more = f", and {len(off) - 1} more" if len(off) > 1 else ""
            self._stoch.notes.append(
                f"{self._path}: probabilities of one source sum to {total:g}{more}; means are taken over the sum"
            )
        return self._stoch


def core_value(lp: LinearProgram, core: CoreNames, target: Target) -> float:
    """Returns the number that the core has for a target, with the signs of its file."""
    what, place = target
    if what == COEFFICIENT:
        return float(lp.A[divmod(place, lp.n)])
    if what in (What.COST, What.OFFSET):
        return lp.sign * float(lp.c[place]) if what == What.COST else -lp.sign * lp.offset
    if what in (What.LB, What.UB, What.FIX):
        return float((lp.col_upper if what == What.UB else lp.col_lower)[place])
    lower, upper = float(lp.row_lower[place]), float(lp.row_upper[place])
    if what == What.RANGE:
        return upper - lower
    return upper if core.kinds.get(lp.row_name(place)) == "L" or math.isinf(lower) else lower


_Law = tuple[
    Callable[[np.random.Generator, float, float, int], Vector], Callable[[float, float], float], Callable[[float, float], bool]
]
_LAWS: dict[str, _Law] = {
    # how to draw, the mean, and which parameters are none
    "UNIFORM": (lambda g, a, b, n: g.uniform(a, b, n), lambda a, b: (a + b) / 2, lambda a, b: not -INFINITE < a <= b < INFINITE),
    "NORMAL": (lambda g, a, b, n: g.normal(a, math.sqrt(b), n), lambda a, b: a, lambda a, b: b < 0),
    "LOGNORM": (lambda g, a, b, n: g.lognormal(a, math.sqrt(b), n), lambda a, b: math.exp(a + b / 2), lambda a, b: b < 0),
    "GAMMA": (lambda g, a, b, n: g.gamma(b, a, n), lambda a, b: a * b, lambda a, b: a <= 0 or b <= 0),
    "BETA": (lambda g, a, b, n: g.beta(a, b, n), lambda a, b: a / (a + b), lambda a, b: a <= 0 or b <= 0),
}
"""INDEP laws by the two numbers of a line: ends; mean and variance; the same of the logarithm; scale and shape; a and b."""
