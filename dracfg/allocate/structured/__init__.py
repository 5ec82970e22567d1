"""The allocator of devices, giving the answers of k8s.io/dynamic-resource-allocation/structured.

`Features.of` says what a minor's scheduler switches on, `Allocator` answers for one inventory.
"""

from dracfg.allocate.structured.allocated import AllocatedState, DeviceId
from dracfg.allocate.structured.allocator import BUDGET, Allocator, allocate
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import (
    Allocation,
    Failed,
    NodeChoice,
    Outcome,
    Undecided,
    Unsatisfiable,
)
from dracfg.allocate.structured.results import share_id

__all__ = [
    "BUDGET",
    "AllocatedState",
    "Allocation",
    "Allocator",
    "DeviceId",
    "Failed",
    "Features",
    "NodeChoice",
    "Outcome",
    "Undecided",
    "Unsatisfiable",
    "allocate",
    "share_id",
]
