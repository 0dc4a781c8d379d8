"""What an iteration of the lanes costs on this machine: measured by `measure_profile`, kept in the user's cache, else assumed."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from batchlp_cli.cache import cache_root, keep_text
from batchlp_cli.problem import LinearProgram

SIZES = ((600, 600, 1800), (3000, 3000, 9000), (20000, 20000, 60000))
"""Rows, columns and nonzeros that are measured: within the caches, at their edge, beyond."""


Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What one iteration of one member costs in a full tile on one core.

    points: (rows + columns + nonzeros, seconds), ascending; between them the cost of an entry is interpolated over the
    logarithm of the size, since larger tiles leave one cache after another. calibrated: measured on this machine, not assumed.
    """

    points: Points = ((3_000, 0.6e-6), (15_000, 4.5e-6), (100_000, 5.5e-5))
    calibrated: bool = False

    def iteration(self, lp: LinearProgram) -> float:
        """Returns the seconds of an iteration of a member in a full tile."""
        size = max(1, lp.m + lp.n + lp.nnz)
        sizes, seconds = (np.array(column, dtype=np.float64) for column in zip(*self.points, strict=True))
        return float(size * np.interp(np.log(size), np.log(sizes), seconds / sizes))


def profile_path() -> Path:
    """Returns the file of the machine's profile: below $BATCHLP_CACHE_DIR, or below the user's cache folder."""
    return cache_root() / "profile.json"


def load_profile() -> Profile:
    """Returns the profile that was measured on this machine, or the assumed one where there is none that can be read."""
    try:
        kept = json.loads(profile_path().read_text(encoding="utf-8"))
        points = tuple((int(size), float(seconds)) for size, seconds in kept["points"])
        sound = len(points) > 1 and all(size > 0 and 1e-12 < seconds / size < 1e-6 for size, seconds in points)
        if kept["machine"] == fingerprint() and sound and list(points) == sorted(points):
            return Profile(points, calibrated=True)
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a profile is a convenience: without one, or with a damaged one, more is measured in the run itself
    return Profile()


def save_profile(profile: Profile) -> Path:
    """Writes the profile beside its place and renames it; returns the place. Raises OSError where that fails."""
    path = profile_path()
    keep_text(path, json.dumps(asdict(profile) | {"machine": fingerprint()}, indent=1))
    return path


def fingerprint() -> str:
    """Returns what a profile is valid for: the processor as the system names it, and the number of its cores."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass  # not Linux
    return f"{model}, {os.cpu_count()} cores"


def measure_profile(seconds: float = 1.0) -> Profile:
    """Returns the profile of this machine.

    seconds: what each size may take. Raises ModuleNotFoundError where the lanes' libraries are not installed.
    """
    import scipy.sparse as sp  # late, like what follows: a run that only reads a profile loads neither

    from batchlp_cli.backends.pdhg.loading import seconds_of_iteration

    measured = []
    for m, n, nnz in SIZES:
        rng = np.random.default_rng(m)
        places = rng.choice(m * n, size=nnz, replace=False)
        A = sp.csr_array((rng.normal(size=nnz), (places // n, places % n)), shape=(m, n))
        ones = np.ones(m)
        lp = LinearProgram("calibration", rng.normal(size=n), A, -ones, ones, np.zeros(n), np.ones(n))
        measured.append((m + n + nnz, seconds_of_iteration(lp, seconds)))
    return Profile(tuple(measured), calibrated=True)
