"""The allocator on a large cluster: 10,000 devices on 1,250 nodes, 1,000 claims of 1 to 8 devices.

Run: python -m tests.bench.allocator. Places the claims one after the other, each on the first node
that takes it, once by dracfg and once by Kubernetes' own allocator (needs go; left out without it),
and checks that all claims come to the same nodes. Prints seconds of processor time, so that other
work on the machine does not count, and how many times longer dracfg takes.
"""

from __future__ import annotations

import random
import time
from typing import Any

from dracfg.allocate.claimobjects import in_memory, read_claims
from dracfg.allocate.inventory import load_inventory
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured.allocator import Allocator
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import Allocation
from dracfg.kube.features import feature_matrix
from tests.oracle.upstream import Unavailable, bench, build

MINOR = "1.36"
DRIVER = "gpu.example.com"
NODES, DEVICES, CLAIMS, MOST = 1_250, 8, 1_000, 8

Object = dict[str, Any]


def case() -> Object:
    """One slice of eight devices for each node; every third claim wants devices of one root."""
    names = [f"node-{number:04d}" for number in range(NODES)]
    gates = feature_matrix().gates.values()
    return {
        "minor": MINOR,
        "gates": sorted(gate.name for gate in gates if gate.at(MINOR).default),
        "nodes": [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names
        ],
        "slices": [published(name) for name in names],
        "classes": [device_class()],
        "allocated": [],
        "claims": [asked(number, random.Random(number)) for number in range(CLAIMS)],
    }


def published(node: str) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{DRIVER}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [device(number) for number in range(DEVICES)],
        },
    }


def device(number: int) -> Object:
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "productName": {"string": "Model 1"},
            "index": {"int": number},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:0{number // 4}"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


def device_class() -> Object:
    text = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].productName == "Model 1"'
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": text}}]},
    }


def asked(number: int, draw: random.Random) -> Object:
    together = number % 3 == 0
    count = draw.randint(1, MOST // 2 if together else MOST)
    selector = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'
    request = {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": count,
        "selectors": [{"cel": {"expression": selector}}],
    }
    devices: Object = {"requests": [{"name": "gpus", "exactly": request}]}
    if together:
        devices["constraints"] = [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "team", "name": f"claim-{number}", "uid": f"uid-{number}"},
        "spec": {"devices": devices},
    }


def place(given: Object) -> tuple[float, float, list[str]]:
    """Seconds for reading and for allocating, and the node of each claim."""
    start = time.process_time()
    inventory, faults = load_inventory([in_memory([*given["nodes"], *given["slices"]])], MINOR)
    read, more = read_claims([in_memory([*given["classes"], *given["claims"]])], MINOR)
    assert not faults and not more
    done = time.process_time()
    nodes = [inventory.nodes[node["metadata"]["name"]] for node in given["nodes"]]
    state = AllocationState.of((), inventory)
    classes = {one.name: one for one in read.classes}
    allocator = Allocator(inventory, classes, Features.of(MINOR, frozenset(given["gates"])))
    at, found = 0, []
    for claim in read.claims:
        for _ in nodes:
            outcome = allocator.allocate([claim], nodes[at], state.allocated())
            if isinstance(outcome, Allocation):
                state = state.with_allocation(claim, outcome.results[0])
                found.append(nodes[at].name)
                break
            at = (at + 1) % len(nodes)
        else:
            raise AssertionError(f"claim {claim.name} fits on no node")
    return done - start, time.process_time() - done, found


def main() -> None:
    given = case()
    reading, seconds, nodes = place(given)
    print(f"{NODES * DEVICES:,} devices on {NODES:,} nodes, {CLAIMS:,} claims, {MINOR}")
    print(f"  dracfg      {seconds:8.2f} s (target: below 10 s), reading {reading:.2f} s more")
    try:
        build(MINOR)
    except Unavailable as reason:
        print(f"  Kubernetes  left out: {reason}")
        return
    upstream = bench(MINOR, given)
    assert upstream["nodes"] == nodes
    print(f"  Kubernetes  {upstream['seconds']:8.2f} s for {upstream['devices']:,} devices")
    print(f"  ratio       {seconds / upstream['seconds']:8.1f} (aim: within 20)")


if __name__ == "__main__":
    main()
