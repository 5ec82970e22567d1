"""How the allocators of the minors differ: one value for each difference, defects among them.

Compared in kubernetes/dynamic-resource-allocation@v0.34.4, @v0.35.4, @v0.36.3 and @v0.37.2
(structured/internal/{stable,incubating,experimental}). Knows no claim and no device.
"""

from __future__ import annotations

from typing import Literal

from dracfg.allocate.structured.features import Features
from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one implementation of one minor does. The defaults are those of experimental 1.37.

    Pools
    - `counters_in_slice`: counter sets serve the slice they stand in (layout of 1.34).
    - `counter_sets_everywhere`: slices with counter sets count for every node.
    - `counts_whole_pool`: slices that are not for the node still count for completeness.
    - `aborts_on_invalid_pool`: an invalid pool on the way ends the search in an error, and
      incomplete pools are used; else both are passed over.
    - `own_slices_first`: the slices of the node's own name are gathered before all others, so that
      their count of slices holds; they are then put in the order of their names.
    - `binding_slices_last`, `binding_pools_last`: where devices with binding conditions stand.
    - `ignores_grouped_slices`: without the gate, slices with compatibility groups are not seen.

    Requests
    - `subrequest_lag`: of two alternatives that ask for All, the second gets what the first has
      selected.
    - `all_forgets_alternative`: from the second device of an alternative with All, the first
      alternative is continued.
    - `all_forgets_pool`: All on a device that draws from counters makes the scheduler panic
      (kubernetes/kubernetes#138885).
    - `limit_per_request`: the limit of 32 devices is held against each request as it comes.
    - `all_sees_static_capacity`: All counts devices whose capacity is taken, and then fails.

    Search
    - `combinations`: the devices of one request are tried in their order only.
    - `leaks`: what a rejected candidate has reserved is not given back.
    - `recheck_by_position`: the capacity of the device at the wanted device's number in the slice
      is looked at, in place of its own.

    Constraints and capacity
    - `distinct`: what distinctAttribute remembers: each device's value, one value for each request,
      or which device it was (values are then never compared).
    - `knows_distinct`, `knows_capacity`, `knows_binding`: whether the implementation has code for
      distinctAttribute, for capacity requests and shareable devices, for bindsToNode.
    - `restores_intersection`: backtracking restores what lists have in common.
    - `capacity_errors`: a request that can't be represented aborts the allocation.
    - `shares_take_counters_once`: a second share of a device takes no counters.
    - `shared_ids_count`, `shares_hold_counters`: whether a share that is recorded without consumed
      capacity counts as one, and whether recorded shares hold counters.
    - `counter_scope`: what keeps counters apart.
    - `blocks_on_any_effect`: a taint blocks whatever its effect.

    Result
    - `results_tolerations`, `repeats_config`, `widens_config`, `skips_node_operations`.
    """

    counters_in_slice: bool = False
    counter_sets_everywhere: bool = False
    counts_whole_pool: bool = True
    aborts_on_invalid_pool: bool = False
    own_slices_first: bool = True
    binding_slices_last: bool = False
    binding_pools_last: bool = True
    ignores_grouped_slices: bool = True
    subrequest_lag: bool = False
    all_forgets_alternative: bool = False
    all_forgets_pool: bool = False
    limit_per_request: bool = True
    all_sees_static_capacity: bool = True
    combinations: bool = True
    leaks: bool = False
    recheck_by_position: bool = False
    distinct: Literal["device", "request", "identity"] = "device"
    knows_distinct: bool = True
    knows_capacity: bool = True
    knows_binding: bool = True
    restores_intersection: bool = True
    capacity_errors: bool = True
    shares_take_counters_once: bool = True
    shared_ids_count: bool = True
    shares_hold_counters: bool = True
    counter_scope: Literal["pool", "pool name", "slice"] = "pool"
    blocks_on_any_effect: bool = False
    results_tolerations: bool = True
    repeats_config: bool = False
    widens_config: bool = True
    skips_node_operations: bool = True


def behaviour_of(features: Features) -> Behaviour:
    """The behaviour of the implementation that these features pick."""
    minor, chosen = features.minor, features.implementation
    newest = chosen == "experimental"
    old = minor in ("1.34", "1.35")
    complete = newest if old else chosen != "stable"
    oldest = minor == "1.34" or (minor == "1.35" and chosen == "stable")
    last = minor == "1.37"
    return Behaviour(
        counters_in_slice=oldest,
        counter_sets_everywhere=not oldest and not (last and complete),
        counts_whole_pool=minor != "1.34",
        aborts_on_invalid_pool=minor == "1.34",
        own_slices_first=complete and not old,
        binding_slices_last=old and newest,
        binding_pools_last=complete,
        ignores_grouped_slices=last,
        subrequest_lag=old,
        all_forgets_alternative=old,
        all_forgets_pool=minor == "1.35" and chosen != "stable",
        limit_per_request=last,
        all_sees_static_capacity=last,
        combinations=complete and not old,
        leaks=old,
        recheck_by_position=minor == "1.34",
        distinct="device" if last else "identity" if minor == "1.34" else "request",
        knows_distinct=complete,
        knows_capacity=complete,
        knows_binding=complete,
        restores_intersection=last,
        capacity_errors=last,
        shares_take_counters_once=minor != "1.34",
        shared_ids_count=last,
        shares_hold_counters=complete and not old,
        counter_scope="slice" if oldest else "pool" if last else "pool name",
        blocks_on_any_effect=oldest,
        results_tolerations=not oldest,
        repeats_config=not last,
        widens_config=last,
        skips_node_operations=last and newest,
    )
