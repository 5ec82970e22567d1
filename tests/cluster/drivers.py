"""A DRA driver without devices: publishes ResourceSlices, prepares claims, fails on demand.

One FakeDriver is one kubelet plugin: one driver name on one node, with one pool. It prepares a
claim by writing `status.devices`, as drivers do that report their devices.
Lies are functions from slices to slices, applied before the slices are written.
"""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.client import Client, Object, Refused, unless_away

RESOURCE = "resource.k8s.io/v1"
DEVICES_A_SLICE = 64
POLL_SECONDS = 0.1

Lie = Callable[[list[Object]], list[Object]]


@dataclass
class FakeDriver:
    """`devices` and `counters` are entries of spec.devices and spec.sharedCounters of a slice.

    `delay` seconds pass before a claim is prepared; `refuses` is asked first, and says why a claim
    is never prepared. Claims are looked for every `poll` seconds.
    `prepared` holds the uids of the claims that are.
    """

    client: Client
    name: str
    node: str
    devices: list[Object]
    counters: list[Object] = field(default_factory=list)
    pool: str = ""
    generation: int = 1
    lies: Sequence[Lie] = ()
    delay: float = 0.0
    poll: float = POLL_SECONDS
    refuses: Callable[[Object], str | None] = lambda _: None
    prepared: set[str] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        self.pool = self.pool or self.node

    def slices(self) -> list[Object]:
        """The truth: all slices of the pool's generation, those of counters first."""
        parts: list[Object] = [{"sharedCounters": self.counters}] if self.counters else []
        chunks = range(0, len(self.devices), DEVICES_A_SLICE)
        parts += [{"devices": self.devices[at : at + DEVICES_A_SLICE]} for at in chunks]
        return [
            {
                "apiVersion": RESOURCE,
                "kind": "ResourceSlice",
                "metadata": {"name": f"{self.node}-{self.name}-{self.generation}-{number}"},
                "spec": {
                    "driver": self.name,
                    "nodeName": self.node,
                    "pool": {
                        "name": self.pool,
                        "generation": self.generation,
                        "resourceSliceCount": len(parts),
                    },
                    **part,
                },
            }
            for number, part in enumerate(parts)
        ]

    def publish(self) -> list[Object]:
        """Writes the slices, with the lies told, and removes what stood before; returns them."""
        slices = copy.deepcopy(self.slices())
        for lie in self.lies:
            slices = lie(slices)
        for one in slices:
            self.client.apply(one, self.name, force=True)
        kept = {one["metadata"]["name"] for one in slices}
        for standing in self._standing():
            if standing["metadata"]["name"] not in kept:
                self.client.delete(standing)
        return slices

    def change(self, devices: list[Object], counters: list[Object] | None = None) -> list[Object]:
        """Publishes other devices as the next generation of the pool."""
        self.devices = devices
        self.counters = self.counters if counters is None else counters
        self.generation += 1
        return self.publish()

    def start(self) -> FakeDriver:
        """Publishes, then prepares claims in a thread of its own."""
        self.publish()
        self._ended.clear()
        self._thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
        self._thread.start()
        return self

    def kill(self) -> None:
        """As a crash: nothing is prepared any more, the slices stand."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def stop(self) -> None:
        """As an uninstall: the slices go as well."""
        self.kill()
        for one in self._standing():
            self.client.delete(one)

    def _standing(self) -> list[Object]:
        mine = f"spec.driver={self.name},spec.nodeName={self.node}"
        return self.client.list(RESOURCE, "ResourceSlice", fieldSelector=mine)

    def _serve(self) -> None:
        while not self._ended.wait(self.poll):
            with unless_away():
                self._follow()

    def _follow(self) -> None:
        claims = self.client.list(RESOURCE, "ResourceClaim")
        held = {one["metadata"]["uid"] for one in claims if self._results(one)}
        # A claim may have been given back and allocated anew between two looks.
        self.prepared &= {one["metadata"]["uid"] for one in claims if self._reported(one)}
        for claim in claims:
            uid = claim["metadata"]["uid"]
            if uid in held - self.prepared and claim["status"].get("reservedFor"):
                self._prepare(claim)

    def _prepare(self, claim: Object) -> None:
        if self.refuses(claim) is not None or self._ended.wait(self.delay):
            return
        others = [
            one
            for one in claim["status"].get("devices", ())
            if (one["driver"], one["pool"]) != (self.name, self.pool)
        ]
        mine = [self._status(result) for result in self._results(claim)]
        version = claim["metadata"]["resourceVersion"]
        change = {"metadata": {"resourceVersion": version}, "status": {"devices": others + mine}}
        try:
            self.client.patch(claim, change, "status")
        except Refused as refused:
            if refused.code not in (404, 409):
                raise
        else:
            self.prepared.add(claim["metadata"]["uid"])

    def _results(self, claim: Object) -> list[Object]:
        allocation = claim.get("status", {}).get("allocation") or {}
        return [
            one
            for one in allocation.get("devices", {}).get("results", ())
            if (one["driver"], one["pool"]) == (self.name, self.pool)
        ]

    def _reported(self, claim: Object) -> bool:
        statuses = claim.get("status", {}).get("devices", ())
        return any((one["driver"], one["pool"]) == (self.name, self.pool) for one in statuses)

    def _status(self, result: Object) -> Object:
        key = ("driver", "pool", "device", "shareID")
        ready = {"type": "Ready", "status": "True", "reason": "Prepared", "message": ""}
        ready["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        return {name: result[name] for name in key if name in result} | {"conditions": [ready]}


def capacity_of(name: str, value: str) -> Lie:
    """Every device has this capacity, whatever it has."""

    def lie(slices: list[Object]) -> list[Object]:
        for device in _devices(slices):
            device.setdefault("capacity", {}).setdefault(name, {})["value"] = value
        return slices

    return lie


def attribute_of(name: str, value: Object) -> Lie:
    """Every device has this attribute, such as {"string": "NVIDIA L4"}."""

    def lie(slices: list[Object]) -> list[Object]:
        for device in _devices(slices):
            device.setdefault("attributes", {})[name] = value
        return slices

    return lie


def duplicates(slices: list[Object]) -> list[Object]:
    """The last slice comes twice, so that its device names do as well."""
    again = copy.deepcopy(slices[-1])
    again["metadata"]["name"] += "-again"
    told = [*slices, again]
    for one in told:
        one["spec"]["pool"]["resourceSliceCount"] = len(told)
    return told


def stale_generation(slices: list[Object]) -> list[Object]:
    """The last slice says that it is of an older generation than the others."""
    slices[-1]["spec"]["pool"]["generation"] -= 1
    return slices


def incomplete(slices: list[Object]) -> list[Object]:
    """The pool has one slice more than was published."""
    for one in slices:
        one["spec"]["pool"]["resourceSliceCount"] += 1
    return slices


def _devices(slices: list[Object]) -> Iterator[Any]:
    return itertools.chain.from_iterable(one["spec"].get("devices", ()) for one in slices)
