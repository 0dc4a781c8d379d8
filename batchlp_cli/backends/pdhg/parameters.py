"""What the backend as a whole can be told; the parameters of each rule stand beside the rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from batchlp_cli.backends.pdhg.certificates import CertificateParameters
from batchlp_cli.backends.pdhg.interior import InteriorParameters
from batchlp_cli.backends.pdhg.mending import MendingParameters
from batchlp_cli.backends.pdhg.polish import PolishParameters
from batchlp_cli.backends.pdhg.reduction import ReductionParameters
from batchlp_cli.backends.pdhg.restart import RestartParameters
from batchlp_cli.backends.pdhg.scaling import ScalingParameters
from batchlp_cli.backends.pdhg.termination import TerminationParameters
from batchlp_cli.backends.pdhg.weight import WeightParameters
from batchlp_cli.errors import UsageError


class KernelName(StrEnum):
    """The kernels that can be asked for; auto: numba on a CPU that has it, else torch."""

    AUTO = "auto"
    NUMBA = "numba"
    TORCH = "torch"


class Arithmetic(StrEnum):
    """float64 throughout; or mixed: float32 first, and float64 from where float32 makes no more progress."""

    FLOAT64 = "float64"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PdhgParameters:
    """How the lanes are run.

    kernel, precision: see there. device: a torch device (default cpu). lanes: most lanes of a tile (default: by kernel and
    memory). check_every: iterations between two checks, 1 or more (default 50: 25 to 100 beat 200 for warm starts).
    iteration_limit: iterations an LP where the settings give none (default 100,000). alone_after: numbers of iterations, rising,
    after each of which, without a fallback, a member begins one more way as an LP of its own, reduced by presolve and scaled
    anew, with the weights of weight_alone (default 10,000 and 35,000).
    """

    kernel: KernelName = KernelName.AUTO
    device: str = "cpu"
    precision: Arithmetic = Arithmetic.FLOAT64
    lanes: int | None = None
    check_every: int = 50
    iteration_limit: int = 100_000
    reduction: ReductionParameters = field(default_factory=ReductionParameters)
    scaling: ScalingParameters = field(default_factory=ScalingParameters)
    restart: RestartParameters = field(default_factory=RestartParameters)
    weight: WeightParameters = field(default_factory=WeightParameters)
    alone_after: tuple[int, ...] = (10_000, 35_000)
    polish: PolishParameters = field(default_factory=PolishParameters)
    interior: InteriorParameters = field(default_factory=InteriorParameters)
    mending: MendingParameters = field(default_factory=MendingParameters)
    weight_alone: WeightParameters = field(default_factory=lambda: WeightParameters(proportional=0.3))
    termination: TerminationParameters = field(default_factory=TerminationParameters)
    certificates: CertificateParameters = field(default_factory=CertificateParameters)

    def __post_init__(self) -> None:
        for name in ("lanes", "check_every"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is {value}, expected 1 or more")
        if self.kernel is KernelName.NUMBA and self.device != "cpu":
            raise UsageError(f"the numba kernel runs on the cpu, not on {self.device}: ask for the torch kernel")
