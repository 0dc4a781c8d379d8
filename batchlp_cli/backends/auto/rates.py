"""Rates that earlier runs measured, kept in the user's cache: a later run of the same family need not measure them again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from batchlp_cli.backends.auto.cost import fingerprint
from batchlp_cli.batch import LPBatch
from batchlp_cli.cache import cache_root, keep_text
from batchlp_cli.settings import SolveSettings

MOST = 200
"""Families that are remembered; the one that was measured longest ago is forgotten first."""

LEAST_MEMBERS = 8
"""Members of a batch that rates are kept and looked up for."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds a member in HiGHS and in lanes (infinite: they came to no answer in time), of one core.

    same_matrix: measured with this very matrix, not with another one of its size.
    """

    highs: float
    lanes: float
    same_matrix: bool = True


def rates_path() -> Path:
    """Returns the file of the rates: below $BATCHLP_CACHE_DIR, or below the user's cache folder."""
    return cache_root() / "rates.json"


class Memory:
    """The rates of earlier runs on this machine. note: why there are none, where a file is there that cannot be used."""

    def __init__(self) -> None:
        self.note = ""
        self._entries = self._read()

    def recall(self, batch: LPBatch, settings: SolveSettings) -> Rates | None:
        """Returns what was measured with the batch's matrix, kind of changes and settings; else with a matrix of its size."""
        if len(batch) < LEAST_MEMBERS or not self._entries:
            return None
        size, matrix = size_key(batch, settings), matrix_key(batch)
        alike = [entry for entry in self._entries if entry[0] == size]
        same = [entry for entry in alike if entry[1] == matrix]
        found = (same or alike)[-1:]
        return Rates(found[0][2], found[0][3], bool(same)) if found else None

    def keep(self, measured: Sequence[tuple[LPBatch, Rates]], settings: SolveSettings) -> None:
        """Writes rates beside their place and renames them; where that fails, later runs measure again."""
        if not measured:
            return
        new = [(size_key(batch, settings), matrix_key(batch), rates.highs, rates.lanes) for batch, rates in measured]
        places = {entry[:2] for entry in new}
        others = [entry for entry in self._read() if entry[:2] not in places]  # another run may have written meanwhile
        self._entries = [*others, *new][-MOST:]
        told = [[size, matrix, highs, None if math.isinf(lanes) else lanes] for size, matrix, highs, lanes in self._entries]
        path = rates_path()
        try:
            keep_text(path, json.dumps({"machine": fingerprint(), "rates": told}, indent=1))
        except OSError:
            self.note = f"the rates measured could not be kept in {path}"

    def _read(self) -> list[tuple[str, str, float, float]]:
        """Returns (size key, matrix key, seconds in HiGHS, seconds in lanes), the oldest first."""
        try:
            kept = json.loads(rates_path().read_text(encoding="utf-8"))
            if kept["machine"] != fingerprint():
                return []
            return [_entry(*given) for given in kept["rates"]][-MOST:]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.note = f"the rates of earlier runs in {rates_path()} cannot be used and are measured anew: {error}"
            return []


def _entry(size: object, matrix: object, highs: object, lanes: object) -> tuple[str, str, float, float]:
    """Returns an entry of the file; raises ValueError where it cannot be one."""
    seconds = [math.inf if value is None else float(str(value)) for value in (highs, lanes)]
    if not all(value > 0 for value in seconds) or math.isinf(seconds[0]):
        raise ValueError(f"rates {highs!r} and {lanes!r}, expected seconds above 0")
    return str(size), str(matrix), seconds[0], seconds[1]


def size_key(batch: LPBatch, settings: SolveSettings) -> str:
    """Returns what rates depend on beside the entries of the matrix, in words: its size, which numbers change, the settings."""
    base = batch.base
    fields = ",".join(str(code) for code in np.unique(batch.changes.field))
    ends = "cutoff" * (settings.cutoff is not None) + "near" * settings.near  # what studies ask for beyond the tolerance
    told = (settings.jobs, settings.tol, settings.precision, settings.device, settings.time_limit, settings.iteration_limit, ends)
    return f"{base.m}x{base.n}x{base.nnz} changes {fields} " + " ".join(map(str, told))


def matrix_key(batch: LPBatch) -> str:
    """Returns a digest of the matrix: pattern and values."""
    rows, digest = batch.base.rows, hashlib.blake2b(digest_size=12)
    for part in (rows.indptr, rows.indices, rows.data):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
