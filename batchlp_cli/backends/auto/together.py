"""The backend `auto`: HiGHS sessions and lanes work on the batches of one call, and whoever is faster gets the members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from batchlp_cli.backends.auto.cost import Profile, load_profile
from batchlp_cli.backends.auto.joint import Joint
from batchlp_cli.backends.auto.policy import PolicyParameters
from batchlp_cli.backends.auto.rates import Memory
from batchlp_cli.backends.highs.pool import HighsBackend
from batchlp_cli.batch import LPBatch
from batchlp_cli.errors import BackendMissing
from batchlp_cli.optima import Claim, one_by_one
from batchlp_cli.settings import Device, SolveSettings
from batchlp_cli.solution import Solution

if TYPE_CHECKING:
    from batchlp_cli.backends.pdhg.solve import PdhgBackend


class AutoBackend:
    """Measures on the first members of a batch who is faster; see policy.py.

    lanes_first: lanes take all members, and HiGHS what they give up, while other lanes still run. profile: the costs of
    lanes on this machine (default: what the user's cache holds). memory: rates that earlier runs measured (default: none).
    """

    name = "auto"

    def __init__(
        self,
        jobs: int,
        lanes_first: bool = False,
        parameters: PolicyParameters | None = None,
        profile: Profile | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._memory = memory
        self._jobs, self._lanes_first = jobs, lanes_first
        self._parameters, self._profile = parameters or PolicyParameters(), profile or load_profile()
        self._highs = HighsBackend(jobs)
        self._joint: Joint | None = None
        self._choices: Sequence[str] = ()
        self._closed = False
        if lanes_first and not lanes_are_installed():
            raise BackendMissing("the backend pdhg is not installed; try: pip install 'batchlp[pdhg]'")

    @classmethod
    def of(cls, settings: SolveSettings) -> AutoBackend:
        """Returns the backend that settings ask for; raises BackendMissing where there is no such device."""
        _require_device(settings)
        if not settings.cache:
            return cls(settings.jobs, profile=Profile())
        return cls(settings.jobs, memory=Memory())

    def solve(
        self, batch: LPBatch, settings: SolveSettings, warm_start: Solution | None = None
    ) -> Iterator[tuple[int, Solution]]:
        """Yields (member, claim) once for every member as members finish; see `Backend.solve`."""
        for _, member, claim in one_by_one(self._run([batch], settings, warm_start), [batch]):
            yield member, claim

    def solve_many(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, int, Solution]]:
        """Yields (batch, member, claim) once for every member of every batch; see `Backend.solve_many`."""
        yield from one_by_one(self._run(batches, settings, None), batches)

    def solve_together(self, batches: Sequence[LPBatch], settings: SolveSettings) -> Iterator[tuple[int, Claim]]:
        """Yields (batch, claims) until every member of every batch had one; see `Backend.solve_together`."""
        yield from self._run(batches, settings, None)

    def _run(
        self, batches: Sequence[LPBatch], settings: SolveSettings, warm_start: Solution | None
    ) -> Iterator[tuple[int, Claim]]:
        lanes = None if settings.careful or not lanes_are_installed() else lambda: self._load_lanes(settings)
        before = self._joint
        memory = self._memory if lanes is not None and not self._lanes_first else None
        joint = Joint(batches, settings, self._highs, lanes, self._jobs, self._parameters, self._profile, warm_start, memory)
        if before is not None:
            joint.inherit(before)
        self._joint = joint
        if self._closed:
            return
        if self._lanes_first and lanes is not None:
            joint.give_all_to_lanes()
        yield from joint.run()
        self._choices = joint.choices()

    def _load_lanes(self, settings: SolveSettings) -> PdhgBackend:
        from batchlp_cli.backends.pdhg.solve import PdhgBackend

        return PdhgBackend.of(replace(settings, jobs=self._jobs))

    def choices(self) -> Sequence[str]:
        """Returns for each batch of the last call who took it, with what was measured."""
        return self._choices

    def prepare(self, members: int) -> None:
        """Starts HiGHS' worker processes, unless lanes come first; lanes are loaded once a policy asks for them."""
        if not self._lanes_first:
            self._highs.prepare(members)

    def close(self) -> None:
        """Ends all work at once; from any thread, and twice."""
        self._closed = True
        self._highs.close()
        if self._joint is not None:
            self._joint.close()


class LanesFirst(AutoBackend):
    """Lanes take all members, and HiGHS what they give up."""

    name = "pdhg"

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs, lanes_first=True)

    @classmethod
    def of(cls, settings: SolveSettings) -> LanesFirst:
        """Returns the backend that settings ask for; raises BackendMissing where there is no such device."""
        _require_device(settings)
        return cls(settings.jobs)


def _require_device(settings: SolveSettings) -> None:
    """Looks for a device that was asked for by name, since lanes may come late or never; raises BackendMissing."""
    if settings.device not in (Device.AUTO, Device.CPU):
        from batchlp_cli.backends.pdhg.loading import find_device

        find_device(settings.device)


def lanes_are_installed() -> bool:
    """Tells whether the libraries of a lane kernel are there; loads none of them."""
    return find_spec("torch") is not None or (find_spec("numba") is not None and find_spec("llvmlite") is not None)
