"""Measures on the first members of a batch whether the last basis or a cold start with presolve is faster."""

from __future__ import annotations

from dataclasses import dataclass

from batchlp_cli.backends.highs.session import Mode

LEAST = 2  # members timed in each mode before a decision
MOST = 4  # members timed in each mode where two are too close to tell
CLOSE = 1.3  # ratio of the means below which two are too close to tell
CLEAR = 3.0  # ratio above which one member in the slower mode is enough


@dataclass(slots=True)
class Timing:
    """Members given out in a mode and not yet back, members timed, and their seconds together."""

    out: int = 0
    timed: int = 0
    seconds: float = 0.0

    @property
    def mean(self) -> float:
        """Seconds a member; 0 before the first."""
        return self.seconds / self.timed if self.timed else 0.0

    def __str__(self) -> str:
        return f"{self.mean * 1000:.3g} ms"


class ModeTrial:
    """Gives each member its mode: both in turn until they are told apart, then the faster one."""

    def __init__(self) -> None:
        self._timings = {Mode.WARM: Timing(), Mode.COLD: Timing()}
        self.decided: Mode | None = None

    def assign(self, without_basis: bool) -> Mode:
        """Returns the mode of the next member; in a session without basis that will be cold whatever is asked for."""
        if self.decided is not None:
            return self.decided
        warm, cold = self._timings[Mode.WARM], self._timings[Mode.COLD]
        fewer_cold = cold.out + cold.timed < warm.out + warm.timed
        mode = Mode.COLD if without_basis or fewer_cold else Mode.WARM
        self._timings[mode].out += 1
        return mode

    @property
    def seconds_a_member(self) -> float | None:
        """Mean of the mode that was chosen, or of the faster one before; None where no member was timed yet."""
        timed = [t.mean for mode, t in self._timings.items() if t.timed and self.decided in (None, mode)]
        return min(timed, default=None)

    @property
    def has_both(self) -> bool:
        """Tells whether a member was timed in each mode."""
        return all(timing.timed for timing in self._timings.values())

    def record(self, assigned: Mode, method: str = "", seconds: float = 0.0) -> None:
        """Takes in a member that came back: how it really was solved (empty: it was not) and how long that took."""
        self._timings[assigned].out -= self.decided is None
        if method in (Mode.WARM, Mode.COLD):
            self._timings[Mode(method)].timed += 1
            self._timings[Mode(method)].seconds += seconds
        if self.decided is None:
            self.decided = self._decide()

    def _decide(self) -> Mode | None:
        faster, slower = sorted(self._timings, key=lambda mode: self._timings[mode].mean)
        few, many = sorted(t.timed for t in self._timings.values())
        if few == 0 or many < LEAST:
            return None
        ratio = self._timings[slower].mean / max(self._timings[faster].mean, 1e-9)
        enough = few >= MOST or (few >= LEAST and ratio > CLOSE) or (self._timings[faster].timed >= LEAST and ratio > CLEAR)
        return faster if enough else None

    def words(self) -> str:
        """Says what was chosen and what was measured."""
        warm, cold = self._timings[Mode.WARM], self._timings[Mode.COLD]
        counts = f"({warm.timed} and {cold.timed} members timed)"
        if self.decided is Mode.WARM:
            return f"warm: {warm} a member from the last basis against {cold} cold with presolve {counts}"
        if self.decided is Mode.COLD:
            return f"cold: {cold} a member cold with presolve against {warm} from the last basis {counts}"
        if warm.timed and cold.timed:
            return f"undecided: {warm} a member from the last basis, {cold} cold with presolve {counts}, all members there were"
        if cold.timed:
            return f"cold: {cold} a member; too few members to measure a start from the last basis"
        return ""
