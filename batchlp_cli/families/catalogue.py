"""The families that can be asked for by name: what each is, how its size is written, what varies, and where it is from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from batchlp_cli.batch import Changes, LPBatch
from batchlp_cli.errors import UsageError
from batchlp_cli.families.assignment import generalised_assignment
from batchlp_cli.families.covering import set_cover
from batchlp_cli.families.design import network_design
from batchlp_cli.families.flux import flux_network
from batchlp_cli.families.knapsack import knapsack
from batchlp_cli.families.known import random_optimal, random_optimal_batch
from batchlp_cli.families.location import KoerkelGhosh, capacitated_facility_location, facility_location
from batchlp_cli.families.shipping import transport, transport_scenarios
from batchlp_cli.families.variation import Varied, vary
from batchlp_cli.problem import LinearProgram
from batchlp_cli.solution import Solution

Dimensions = tuple[int, ...]
Make = Callable[[Dimensions, int], LinearProgram]
MEMBER_SEED = 1
"""Added to a family's seed for what varies, so that members are not drawn from the numbers that made the base."""


LARGEST = 100_000_000
"""What the numbers of a size may multiply to: recipes draw arrays of so many numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of related LPs.

    dimensions: what the numbers of a size count. make: (dimensions, seed) -> the base. varies: what may vary, the default
    first. size: the default. sizes: from small to large, for comparisons. integer: whether the base has integer columns.
    """

    name: str
    summary: str
    source: str
    dimensions: tuple[str, ...]
    make: Make
    varies: tuple[str, ...]
    size: str
    sizes: tuple[str, ...]
    integer: bool = True

    def parse_size(self, text: str) -> Dimensions:
        """Returns the numbers of a size such as 20x30; raises UsageError where it is none of this family."""
        if re.fullmatch(r"[1-9]\d{0,8}(x[1-9]\d{0,8})*", text) and text.count("x") == len(self.dimensions) - 1:
            numbers = tuple(int(part) for part in text.split("x"))
            if math.prod(numbers) > LARGEST:
                raise UsageError(f"the size {text} of {self.name} is too large: its numbers multiply to more than {LARGEST:,}")
            return numbers
        raise UsageError(f"the size {text!r} is none of {self.name}; expected {self.size_syntax}, such as {self.size}")

    @property
    def size_syntax(self) -> str:
        """How a size is written: FACILITIESxCLIENTS."""
        return "x".join(word.upper() for word in self.dimensions)

    def varied(self, what: str | None) -> str:
        """Returns what varies, the default for None; raises UsageError where it cannot vary in this family."""
        if what is None:
            return self.varies[0]
        if what not in self.varies:
            raise UsageError(f"{self.name} cannot vary {what}; expected one of {', '.join(self.varies)}")
        return what

    def base(self, size: str, seed: int) -> LinearProgram:
        """Returns the model of a size and a seed."""
        return self.make(self.parse_size(size), seed)

    def members(self, size: str, count: int, seed: int, what: str | None = None) -> LPBatch:
        """Returns a batch of related LPs."""
        return self.solved_members(size, count, seed, what)[0]

    def solved_members(self, size: str, count: int, seed: int, what: str | None = None) -> tuple[LPBatch, list[Solution]]:
        """Returns a batch of related LPs, and their optimal solutions where they are known by construction (else none)."""
        varied = self.varied(what)
        if self.name == RANDOM:
            m, n = self.parse_size(size)
            return random_optimal_batch(m, n, count, seed)
        base = self.base(size, seed)
        if self.name == TRANSPORT and varied == Varied.RHS:
            return transport_scenarios(base, count, seed + MEMBER_SEED), []
        return vary(base, count, seed + MEMBER_SEED, varied), []


RANDOM, TRANSPORT = "random", "transport"
ALL = "all"  # what varies in the random family: everything but the matrix
_LOCATION = ("10x10", "20x20", "40x40", "60x60", "90x90")


def _by(function: Callable[..., LinearProgram], *more: object) -> Make:
    return lambda size, seed: function(*size, seed, *more)


def _koerkel_ghosh(costs: KoerkelGhosh, low: int) -> Family:
    return Family(
        name=f"koerkel-ghosh-{costs}",
        summary=f"facility location with service costs of 1000 to 2000 and fixed costs of {low} to {2 * low}",
        source="Koerkel 1989, EJOR 39, 157-173; Ghosh 2003, EJOR 150, 150-162",
        dimensions=("facilities", "clients"),
        make=_by(facility_location, costs),
        varies=(Varied.COST, Varied.BOUNDS, Varied.RHS, Varied.COLUMN),
        size="30x30",
        sizes=_LOCATION,
    )


_FAMILIES = (
    Family(
        name="facility-location",
        summary="uncapacitated facility location, strong form, places in the plane",
        source="Krarup and Pruzan 1983, EJOR 12, 36-81",
        dimensions=("facilities", "clients"),
        make=_by(facility_location),
        varies=(Varied.COST, Varied.BOUNDS, Varied.RHS, Varied.COLUMN),
        size="30x30",
        sizes=_LOCATION,
    ),
    _koerkel_ghosh(KoerkelGhosh.A, 100),
    _koerkel_ghosh(KoerkelGhosh.B, 1000),
    _koerkel_ghosh(KoerkelGhosh.C, 10000),
    Family(
        name="capacitated-facility-location",
        summary="facility location with capacities and linking rows",
        source="Cornuejols, Sridharan and Thizy 1991, EJOR 50, 280-297",
        dimensions=("facilities", "clients"),
        make=_by(capacitated_facility_location),
        varies=(Varied.COST, Varied.BOUNDS, Varied.RHS, Varied.COLUMN),
        size="15x30",
        sizes=("5x10", "10x20", "20x40", "40x80"),
    ),
    Family(
        name="set-cover",
        summary="set covering, one entry in twenty",
        source="Balas and Ho 1980, Mathematical Programming Study 12, 37-60",
        dimensions=("elements", "sets"),
        make=_by(set_cover),
        varies=(Varied.COST, Varied.BOUNDS, Varied.COLUMN),
        size="200x400",
        sizes=("50x100", "100x200", "200x400", "400x1000"),
    ),
    Family(
        name="generalised-assignment",
        summary="generalised assignment, type C",
        source="Martello and Toth 1981, Operational Research '81, 589-603; Chu and Beasley 1997, Computers & OR 24, 17-23",
        dimensions=("agents", "tasks"),
        make=_by(generalised_assignment),
        varies=(Varied.COST, Varied.RHS, Varied.BOUNDS, Varied.COLUMN),
        size="10x50",
        sizes=("5x20", "10x50", "20x100", "40x200"),
    ),
    Family(
        name="network-design",
        summary="multi-commodity network design with fixed costs and capacities, strong form",
        source="Gendron and Crainic 1994, CRT-965; Holmberg and Yuan 2000, Operations Research 48, 461-481; "
        "Crainic, Frangioni and Gendron 2001, Discrete Applied Mathematics 112, 73-99",
        dimensions=("nodes", "arcs", "commodities"),
        make=_by(network_design),
        varies=(Varied.COST, Varied.BOUNDS, Varied.COLUMN),
        size="10x35x10",
        sizes=("10x35x10", "20x100x20", "20x150x40", "30x300x60"),
    ),
    Family(
        name=TRANSPORT,
        summary="transport problem; its demands are the scenarios",
        source="Hitchcock 1941, J. Math. Phys. 20, 224-230",
        dimensions=("origins", "destinations"),
        make=_by(transport),
        varies=(Varied.RHS, Varied.COST),
        size="10x20",
        sizes=("10x20", "20x50", "50x100", "100x200"),
        integer=False,
    ),
    Family(
        name="knapsack",
        summary="0-1 knapsack with one or several constraints, a maximisation",
        source="Chu and Beasley 1998, Journal of Heuristics 4, 63-86",
        dimensions=("constraints", "items"),
        make=_by(knapsack),
        varies=(Varied.COST, Varied.RHS, Varied.BOUNDS, Varied.COLUMN),
        size="5x100",
        sizes=("5x100", "10x250", "30x500", "50x2000"),
    ),
    Family(
        name="flux",
        summary="flux balance of a metabolic network, badly scaled (1e-6 to 1e3): where first-order methods are bad",
        source="Orth, Thiele and Palsson 2010, Nature Biotechnology 28, 245-248; flux variability: "
        "Mahadevan and Schilling 2003, Metabolic Engineering 5, 264-276",
        dimensions=("metabolites", "reactions"),
        make=_by(flux_network),
        varies=(Varied.COLUMN, Varied.BOUNDS),
        size="200x500",
        sizes=("50x120", "100x250", "200x500", "400x1000"),
        integer=False,
    ),
    Family(
        name=RANDOM,
        summary="random LPs with known optimum: x, y and r are chosen first; all but the matrix varies",
        source="the optimality conditions read backwards",
        dimensions=("rows", "columns"),
        make=_by(lambda m, n, seed: random_optimal(m, n, seed)[0]),
        varies=(ALL,),
        size="60x100",
        sizes=("20x30", "60x100", "200x300", "500x800"),
        integer=False,
    ),
)

FAMILIES: Mapping[str, Family] = {family.name: family for family in _FAMILIES}


def find_family(name: str) -> Family:
    """Returns the family of that name; raises UsageError with all names where there is none."""
    if name not in FAMILIES:
        raise UsageError(f"there is no family {name!r}; expected one of {', '.join(FAMILIES)}")
    return FAMILIES[name]


def relaxed(batch: LPBatch) -> LPBatch:
    """Returns the batch without integer marks."""
    return replace(batch, base=replace(batch.base, integer=np.zeros(batch.base.n, dtype=np.bool_)))


def single(lp: LinearProgram) -> LPBatch:
    """Returns the batch of one LP."""
    return LPBatch(lp, Changes(), (lp.name,))
