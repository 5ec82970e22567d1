"""How good an allocation is: early alternatives of prioritized lists count more.

Follows computeScore of kubernetes/kubernetes@v1.35.4 to @v1.37.2
(pkg/scheduler/framework/plugins/dynamicresources); 1.34 does not score. Knows no search.
"""

from __future__ import annotations

from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import Allocation
from dracfg.allocate.structured.requests import Plan

MOST_ALTERNATIVES = 8
"""FirstAvailableDeviceRequestMaxSize of resource.k8s.io/v1."""


def score(plan: Plan, allocation: Allocation, features: Features) -> int:
    """The score of the pending claims; what is allocated already is the same on every node."""
    if not _scores(features):
        return 0
    total = 0
    for requests, result in zip(plan.requests, allocation.results, strict=True):
        taken = {one.request for one in result.results}
        total += sum(
            MOST_ALTERNATIVES - number
            for request in requests
            if request.has_alternatives
            for number, ask in enumerate(request.asks)
            if ask.result_name in taken
        )
    return total


def best_score(plan: Plan, features: Features) -> int:
    """The score of an allocation that has the first alternative everywhere."""
    if not _scores(features):
        return 0
    lists = sum(request.has_alternatives for requests in plan.requests for request in requests)
    return lists * MOST_ALTERNATIVES


def _scores(features: Features) -> bool:
    return features.prioritized_list and features.minor != "1.34"
