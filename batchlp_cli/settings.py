"""Settings of a run, one field a flag of the same name, and what the machine offers them as defaults."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from batchlp_cli.backlog import Backlog
from batchlp_cli.errors import UsageError
from batchlp_cli.watch import Watch

if TYPE_CHECKING:
    import numpy as np

    from batchlp_cli.problem import LinearProgram, Vector

    Codes = np.ndarray[tuple[int, ...], np.dtype[np.int8]]


class BackendName(StrEnum):
    """Backends that can be asked for by name."""

    AUTO = "auto"
    HIGHS = "highs"
    PDHG = "pdhg"


class Precision(StrEnum):
    """Arithmetic of lanes: float64 throughout; mixed, float32 first and float64 from where float32 makes no more progress;
    auto, mixed from a tolerance of 1e-5 on where lanes stand side by side. What counts is always measured in float64."""

    AUTO = "auto"
    FLOAT64 = "float64"
    MIXED = "mixed"


class Device(StrEnum):
    """Where lanes run: auto takes a CUDA device if there is one, else the CPU."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class Starts(Protocol):
    """Points to start from, from wherever they are kept. Not sent to worker processes: pickled as None."""

    def point(self, name: str, lp: LinearProgram) -> tuple[Vector, Vector] | None:
        """Returns x [n] and y [m] for the instance of that name, finite; None where there is none for it."""
        ...

    def basis(self, name: str, lp: LinearProgram) -> tuple[Codes, Codes] | None:
        """Returns the codes of a basis for the instance of that name, columns [n] and rows [m] int8 as in solution.Basis; None
        where there is none for it."""
        ...


class SolutionFormat(StrEnum):
    """What is kept of the solutions in the run folder: a .sol file an instance, an .npz or Parquet file a batch, or nothing."""

    SOL = "sol"
    NPZ = "npz"
    PARQUET = "parquet"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Selection:
    """What .npz and Parquet files keep: vectors out of x, y, r, and of x and r only the columns that a pattern names."""

    vectors: frozenset[str] = frozenset("xyr")
    columns: str | None = None


class NegativeUpper(StrEnum):
    """What a negative upper bound of a column without a lower bound does to the lower bound: free it (CPLEX, SAS, COIN-OR;
    the default), keep it at 0 (HiGHS, SCIP), or refuse the file."""

    FREE = "free"
    KEEP = "keep"
    ERROR = "error"


def available_cores() -> int:
    """Returns the cores given to this process: SLURM_CPUS_PER_TASK, and never more than the affinity mask allows."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    slurm = os.environ.get("SLURM_CPUS_PER_TASK", "")
    return min(allowed, int(slurm)) if slurm.isdigit() and int(slurm) > 0 else allowed


def available_memory_bytes() -> int:
    """Returns the memory given to this process: the smallest of the machine's, the control group's and SLURM's."""
    sizes = [4 << 30]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            sizes.append(int(text))
    slurm = os.environ.get("SLURM_MEM_PER_NODE", "")
    if slurm.isdigit() and int(slurm) > 0:
        sizes.append(int(slurm) << 20)
    return min(sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveSettings:
    """How to read, solve and verify.

    jobs: worker processes (default: the cores given). tol: relative tolerance of the referee, 1e-10 to 1e-1 (default
    1e-6). time_limit: seconds an LP (default none). iteration_limit: iterations an LP (default none). memory_bytes: what
    a window of inputs may take in the main process (default a quarter of the memory given). read_timeout: seconds a file
    may take to read (default 60). max_file_bytes: largest file after decompression (default 2 GiB).
    precision, device: of the lanes. negative_upper: what a negative upper bound of a column without a lower one means in an
    MPS file. cache: use what was measured on this machine in earlier runs. fallback: solve once more, carefully, what the
    referee refused. crossover: make optima of lanes basic solutions. careful: cold, without presolve, tightened, certificates
    constructed (set by the fallback, not by a flag). cutoff: for minimisation and with offset, the dual value at which a member
    need not be solved further (set by branching). near: lanes go on from points whose safe bound is not near their value or whose
    rows are off by their own measure, within reason (set by studies). watch: who is told
    of iterates on their way, by backends that have some. starts: where members of lanes begin, by their names in the batch.
    backlog: the answers that nobody has handled yet; while it is full no member is begun.
    """

    backend: BackendName = BackendName.AUTO
    jobs: int = field(default_factory=available_cores)
    tol: float = 1e-6
    time_limit: float = math.inf
    iteration_limit: int | None = None
    memory_bytes: int = field(default_factory=lambda: available_memory_bytes() // 4)
    read_timeout: float = 60.0
    max_file_bytes: int = 2 << 30
    precision: Precision = Precision.AUTO
    device: Device = Device.AUTO
    negative_upper: NegativeUpper = NegativeUpper.FREE
    cache: bool = True
    fallback: bool = True
    crossover: bool = False
    careful: bool = False
    cutoff: float | None = None
    near: bool = False
    watch: Watch | None = field(default=None, compare=False, repr=False)
    starts: Starts | None = field(default=None, compare=False, repr=False)
    backlog: Backlog | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise UsageError(f"jobs is {self.jobs}, expected 1 or more")
        if not 1e-10 <= self.tol <= 1e-1:
            raise UsageError(f"tol is {self.tol}, expected a number from 1e-10 to 1e-1")
        for name in ("time_limit", "read_timeout"):
            value = getattr(self, name)
            if math.isnan(value) or value <= 0:
                raise UsageError(f"{name} is {value}, expected seconds above 0")
        if self.iteration_limit is not None and self.iteration_limit < 0:
            raise UsageError(f"iteration_limit is {self.iteration_limit}, expected 0 or more")
        if self.cutoff is not None and not math.isfinite(self.cutoff):
            raise UsageError(f"cutoff is {self.cutoff}, expected a finite number")
        for name in ("memory_bytes", "max_file_bytes"):
            if getattr(self, name) < 1 << 20:
                raise UsageError(f"{name} is {getattr(self, name)}, expected at least 1 MiB ({1 << 20})")
