"""A namespace and nodes of one test on a shared control plane, with drivers, classes and pods.

Names end in the lab's number, so that labs don't meet.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.cluster.client import Object
from tests.cluster.controlplane import account_of
from tests.cluster.drivers import RESOURCE, FakeDriver, Lie
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import Scheduling

NUMBERS = itertools.count(1)
ADMIN_ACCESS = "resource.kubernetes.io/admin-access"


@dataclass
class Lab:
    """`pod` gives pods that are not created yet; what a lab has made goes when it is closed."""

    scheduling: Scheduling
    number: int
    namespace: str
    nodes: list[str] = field(default_factory=list)
    drivers: list[FakeDriver] = field(default_factory=list)
    kubelets: list[FakeKubelet] = field(default_factory=list)
    made: list[Object] = field(default_factory=list)

    def name(self, word: str) -> str:
        return f"{word}-{self.number}"

    def driver_name(self, word: str = "gpu") -> str:
        return f"{word}-{self.number}.example.com"

    def node(self) -> str:
        """A further node."""
        name = f"node-{self.number}-{len(self.nodes)}"
        self.kubelets.append(FakeKubelet(self.scheduling.client, [name]).start())
        self.nodes.append(name)
        return name

    def publish(
        self,
        devices: list[Object],
        word: str = "gpu",
        *,
        node: str | None = None,
        counters: list[Object] | None = None,
        lies: tuple[Lie, ...] = (),
    ) -> FakeDriver:
        """Devices of the driver of this word, on the first node if no other is named."""
        where = node or (self.nodes[0] if self.nodes else self.node())
        layout = (within_slices,) if counters and self.scheduling.minor == "1.34" else ()
        driver = FakeDriver(
            self.scheduling.client,
            self.driver_name(word),
            where,
            devices,
            counters or [],
            lies=(*layout, *lies),
        )
        driver.publish()
        self.drivers.append(driver)
        return driver

    def device_class(self, word: str = "gpu", condition: str = "true", **spec: object) -> str:
        """The name of a class that takes the driver's devices where the condition holds."""
        expression = f'device.driver == "{self.driver_name(word.partition(".")[0])}" && {condition}'
        name = self.name(word)
        selectors = [{"cel": {"expression": expression}}]
        self.create(RESOURCE, "DeviceClass", name, {"selectors": selectors, **spec})
        return name

    def create(self, api_version: str, kind: str, name: str, spec: Object) -> Object:
        """An object that is not of the namespace."""
        obj = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        self.made.append(self.scheduling.client.create(obj))
        return self.made[-1]

    def template(self, name: str, *requests: Object, constraints: object = ()) -> str:
        """The name of a template with these requests, named in their order where they aren't."""
        named = [{"name": f"request-{number}"} | one for number, one in enumerate(requests)]
        devices: Object = {"requests": named, "constraints": constraints or []}
        metadata = {"name": name, "namespace": self.namespace}
        self.scheduling.client.create(
            {
                "apiVersion": RESOURCE,
                "kind": "ResourceClaimTemplate",
                "metadata": metadata,
                "spec": {"spec": {"devices": devices}},
            }
        )
        return name

    def pod(self, name: str, template: str = "", **resources: object) -> Object:
        """With a claim of the template, and the extended resources of one container."""
        container: Object = {"name": "main", "image": "none", "resources": resources}
        claims = [{"name": "claim", "resourceClaimTemplateName": template}] if template else []
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"containers": [container], "resourceClaims": claims},
        }

    def devices(self, pod: Object) -> list[str]:
        """The devices of the claims that were made for a pod, in the order of the results."""
        owner = pod["metadata"]["uid"]
        return [
            one["device"]
            for claim in self.scheduling.client.list(RESOURCE, "ResourceClaim", self.namespace)
            if owner in {one["uid"] for one in claim["metadata"].get("ownerReferences", ())}
            for one in claim["status"]["allocation"]["devices"]["results"]
        ]

    def close(self) -> None:
        client = self.scheduling.client
        self.scheduling.remove(*client.list("v1", "Pod", self.namespace))
        for driver in self.drivers:
            driver.stop()
        for kubelet in self.kubelets:
            kubelet.stop()
        for obj in self.made:
            if client.find(obj) is not None:
                client.delete(obj)


@contextmanager
def open_lab(scheduling: Scheduling, *, admin_access: bool = False) -> Iterator[Lab]:
    """A new lab, closed in the end."""
    labels = {ADMIN_ACCESS: "true"} if admin_access else {}
    number = next(NUMBERS)
    metadata = {"name": f"lab-{number}", "labels": labels}
    client = scheduling.client
    namespace = client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    lab = Lab(scheduling, number, f"lab-{number}", made=[namespace])
    wait_for(lambda: client.find(account_of(lab.namespace)), f"the account of {lab.namespace}")
    try:
        yield lab
    finally:
        lab.close()


def exactly(device_class: str, **more: object) -> Object:
    """A request for one device."""
    asked = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1} | more
    if asked["allocationMode"] == "All":
        del asked["count"]
    return {"exactly": asked}


def within_slices(slices: list[Object]) -> list[Object]:
    """The layout of 1.34: counter sets stand in the slice whose devices draw on them."""
    counters, devices = slices
    devices["spec"]["sharedCounters"] = counters["spec"]["sharedCounters"]
    devices["spec"]["pool"]["resourceSliceCount"] = 1
    return [devices]
