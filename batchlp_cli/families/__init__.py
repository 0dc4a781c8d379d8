"""Seeded generators of families of linear programs. Files and solvers do not belong here.

The same arguments give the same numbers. All but the random ones are relaxations of known models, with names, and with the
integer mask of the model they relax. Indices in names count from 1. `catalogue` has them by name.
"""

from batchlp_cli.families.assignment import generalised_assignment
from batchlp_cli.families.catalogue import FAMILIES, Family, find_family, relaxed, single
from batchlp_cli.families.children import branching_children
from batchlp_cli.families.covering import set_cover
from batchlp_cli.families.design import network_design
from batchlp_cli.families.flux import flux_network
from batchlp_cli.families.knapsack import knapsack
from batchlp_cli.families.known import random_optimal, random_optimal_batch
from batchlp_cli.families.location import KoerkelGhosh, capacitated_facility_location, facility_location
from batchlp_cli.families.shipping import transport, transport_scenarios
from batchlp_cli.families.variation import Varied, vary

__all__ = [
    "FAMILIES",
    "Family",
    "KoerkelGhosh",
    "Varied",
    "branching_children",
    "capacitated_facility_location",
    "facility_location",
    "find_family",
    "flux_network",
    "generalised_assignment",
    "knapsack",
    "network_design",
    "random_optimal",
    "random_optimal_batch",
    "relaxed",
    "set_cover",
    "single",
    "transport",
    "transport_scenarios",
    "vary",
]
