"""Extended resources of a pod → the requests of the one claim that the scheduler makes for them.

Follows createRequestsAndMappings of kubernetes/kubernetes@v1.36.3:pkg/scheduler/framework/plugins/
dynamicresources/extendeddynamicresources.go (KEP-5004). Knows no pod beyond its containers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.claims import ClaimSpec, DeviceRequest, Request
from dracfg.plan.workloads import Container


def named_resources(containers: Sequence[Container], classes: Mapping[str, str]) -> tuple[str, ...]:
    """The extended resources that containers ask for and some class stands for, sorted."""
    asked = {name for one in containers for name, amount in one.amounts.items() if amount}
    return tuple(sorted(asked & classes.keys()))


def claim_spec(
    containers: Sequence[Container], classes: Mapping[str, str], minor: str
) -> ClaimSpec | None:
    """The claim for all extended resources of a pod; None where no class stands for one of them.

    `classes` leads from resource names to classes. From 1.35 on, containers that run first take
    their devices from those of later containers, and only what is missing is asked for beside them.
    """
    requests = [
        _request(container, name, classes[name], count)
        for name in named_resources(containers, classes)
        for container, count in _counts(containers, name, reuse=minor != "1.34")
    ]
    if not requests:
        return None
    return ClaimSpec(tuple(sorted(requests, key=lambda request: request.name)))


def _counts(
    containers: Sequence[Container], name: str, *, reuse: bool
) -> Iterator[tuple[Container, int]]:
    """The containers that a request stands for, and how many devices it asks for."""
    lasting = {
        one.position: one.amounts.get(name, 0)
        for one in containers
        if not (reuse and one.runs_first)
    }
    missing: list[tuple[int, Container]] = []
    for one in containers:
        if reuse and one.runs_first:
            later = sum(amount for place, amount in lasting.items() if place >= one.position)
            missing.append((one.amounts.get(name, 0) - later, one))
    most = max(missing, key=lambda item: item[0], default=None)
    if most is not None and most[0] > 0:
        yield most[1], most[0]
    for one in containers:
        if lasting.get(one.position):
            yield one, lasting[one.position]


def _request(container: Container, name: str, device_class: str, count: int) -> Request:
    place = sorted(container.amounts).index(name)
    own = f"container-{container.position}-request-{place}"
    return Request(own, exactly=DeviceRequest(own, device_class, count=count))
