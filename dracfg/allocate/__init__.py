"""The structured-parameters allocator: what is published, and what a claim would get of it.

Knows objects of Kubernetes, not the input language of dracfg.
"""

from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.pools import Pool

__all__ = ["Inventory", "Pool", "load_inventory"]
