"""What the API server allows a claim's status to become, by state: the ground that Kubernetes gives.

No scheduler and no controller runs here, so nothing changes a claim but the test.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from tests.cluster.client import Client, Object, Refused
from tests.cluster.controlplane import ControlPlane
from tests.cluster.drivers import RESOURCE

FINALIZER = "resource.kubernetes.io/delete-protection"
NAMESPACE = "default"
NUMBERS = itertools.count(1)

Step = Callable[["Subject"], None]


@dataclass
class Subject:
    """One claim and who changes it."""

    client: Client
    claim: Object
    consumers: list[Object] = field(default_factory=list)

    def status(self, change: Object) -> None:
        self.claim = self.client.patch(self.claim, {"status": change}, "status")

    def reserve(self, *numbers: int) -> None:
        self.consumers = [_consumer(number) for number in numbers]
        self.status({"reservedFor": self.consumers})


@pytest.fixture
def subject(bare_plane: ControlPlane) -> Iterator[Subject]:
    client = bare_plane.admin
    obj: Object = {"apiVersion": RESOURCE, "kind": "ResourceClaim"}
    obj["metadata"] = {"name": f"claim-{next(NUMBERS)}", "namespace": NAMESPACE}
    request = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    obj["spec"] = {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}
    made = Subject(client, client.create(obj))
    yield made
    if (left := client.find(obj)) is not None:
        client.patch(left, {"metadata": {"finalizers": None}})
        if client.find(obj) is not None:
            client.delete(obj)


def _consumer(number: int) -> Object:
    return {"resource": "pods", "name": f"pod-{number}", "uid": f"uid-{number}"}


def _allocation(device: str) -> Object:
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": device}
    return {"devices": {"results": [result]}}


def pending(subject: Subject) -> None:
    """As created."""


def allocated(subject: Subject) -> None:
    subject.claim = subject.client.patch(subject.claim, {"metadata": {"finalizers": [FINALIZER]}})
    subject.status({"allocation": _allocation("gpu-0")})


def reserved(subject: Subject) -> None:
    allocated(subject)
    subject.reserve(1)


def unreserved(subject: Subject) -> None:
    reserved(subject)
    subject.reserve()


def deallocated(subject: Subject) -> None:
    unreserved(subject)
    subject.status({"allocation": None})


def deleting(subject: Subject) -> None:
    """In use while it was deleted: the finalizer holds it."""
    reserved(subject)
    subject.client.delete(subject.claim)
    subject.claim = subject.client.read(subject.claim)
    assert subject.claim["metadata"]["deletionTimestamp"]


def deleting_unreserved(subject: Subject) -> None:
    deleting(subject)
    subject.reserve()


def allocate(subject: Subject) -> None:
    subject.status({"allocation": _allocation("gpu-0")})


def move(subject: Subject) -> None:
    subject.status({"allocation": _allocation("gpu-1")})


def free(subject: Subject) -> None:
    subject.status({"allocation": None})


def reserve_one(subject: Subject) -> None:
    subject.reserve(1)


def reserve_two(subject: Subject) -> None:
    subject.reserve(1, 2)


def reserve_most(subject: Subject) -> None:
    subject.reserve(*range(256))


def reserve_too_many(subject: Subject) -> None:
    subject.reserve(*range(257))


def reserve_twice(subject: Subject) -> None:
    subject.reserve(1, 1)


def release(subject: Subject) -> None:
    subject.reserve()


def release_and_free(subject: Subject) -> None:
    subject.status({"allocation": None, "reservedFor": None})


def report(subject: Subject) -> None:
    subject.status({"devices": [_report("gpu-0")]})


def report_other(subject: Subject) -> None:
    subject.status({"devices": [_report("gpu-7")]})


def ask_more(subject: Subject) -> None:
    requests = subject.claim["spec"]["devices"]["requests"]
    requests[0]["exactly"]["count"] = 2
    subject.client.patch(subject.claim, {"spec": {"devices": {"requests": requests}}})


def label(subject: Subject) -> None:
    subject.client.patch(subject.claim, {"metadata": {"labels": {"seen": "yes"}}})


def _report(device: str) -> Object:
    return {"driver": "gpu.example.com", "pool": "node-1", "device": device}


ALLOWED: list[tuple[Step, Step]] = [
    (pending, allocate),
    (pending, label),
    (allocated, allocate),
    (allocated, reserve_one),
    (allocated, reserve_most),
    (allocated, free),
    (allocated, report),
    (allocated, label),
    (reserved, reserve_two),
    (reserved, release),
    (reserved, release_and_free),
    (reserved, report),
    (unreserved, reserve_one),
    (unreserved, free),
    (deallocated, move),
    (deleting, release),
    (deleting, release_and_free),
    (deleting, report),
    (deleting_unreserved, free),
]

FORBIDDEN: list[tuple[Step, Step, str]] = [
    (pending, reserve_one, "status.reservedFor"),
    (pending, report, "status.devices"),
    (pending, ask_more, "spec"),
    (allocated, move, "status.allocation"),
    (allocated, reserve_too_many, "status.reservedFor"),
    (allocated, reserve_twice, "status.reservedFor[1]"),
    (allocated, report_other, "status.devices[0]"),
    (allocated, ask_more, "spec"),
    (reserved, free, "status.reservedFor"),
    (reserved, move, "status.allocation"),
    (reserved, ask_more, "spec"),
    (deallocated, reserve_one, "status.reservedFor"),
    (deleting, reserve_two, "status.reservedFor"),
    (deleting, move, "status.allocation"),
    (deleting_unreserved, reserve_one, "status.reservedFor"),
]


def _words(value: object) -> str:
    return str(getattr(value, "__name__", ""))


@pytest.mark.parametrize(("state", "change"), ALLOWED, ids=_words)
def test_allowed(subject: Subject, state: Step, change: Step) -> None:
    state(subject)
    change(subject)


@pytest.mark.parametrize(("state", "change", "place"), FORBIDDEN, ids=_words)
def test_forbidden(subject: Subject, state: Step, change: Step, place: str) -> None:
    state(subject)
    before = subject.client.read(subject.claim)
    with pytest.raises(Refused) as refused:
        change(subject)
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    fields = {cause["field"] for cause in refused.value.status["details"]["causes"]}
    assert any(one.startswith(place) for one in fields), refused.value.message
    assert subject.client.read(subject.claim) == before


def test_allocation_ends_with_the_finalizer(subject: Subject) -> None:
    """A deleted claim goes as soon as nothing holds its finalizer, and not before."""
    deleting_unreserved(subject)
    free(subject)
    assert subject.client.find(subject.claim) is not None
    subject.client.patch(subject.claim, {"metadata": {"finalizers": None}})
    assert subject.client.find(subject.claim) is None


def test_unheld_claim_goes_at_once(subject: Subject) -> None:
    subject.client.delete(subject.claim)
    assert subject.client.find(subject.claim) is None


def test_status_is_not_written_with_the_claim(subject: Subject) -> None:
    """And the spec not with the status."""
    subject.client.patch(subject.claim, {"status": {"allocation": _allocation("gpu-0")}})
    assert not subject.client.read(subject.claim).get("status")
    subject.client.patch(subject.claim, {"spec": {"devices": {}}}, "status")
    assert subject.client.read(subject.claim)["spec"] == subject.claim["spec"]
