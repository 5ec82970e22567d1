"""The structured-parameters allocator: what is published, and what a claim would get of it.

Knows objects of Kubernetes, not the input language of dracfg.
"""

from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.pools import Pool
from dracfg.allocate.structured import (
    AllocatedState,
    Allocation,
    Allocator,
    Failed,
    Features,
    NodeChoice,
    Outcome,
    Undecided,
    Unsatisfiable,
    allocate,
)

__all__ = [
    "AllocatedState",
    "Allocation",
    "Allocator",
    "Failed",
    "Features",
    "Inventory",
    "NodeChoice",
    "Outcome",
    "Pool",
    "Undecided",
    "Unsatisfiable",
    "allocate",
    "load_inventory",
]
