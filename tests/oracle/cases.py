"""Cases for two allocators: what a cluster holds, and claims that a node is asked for.

A case is JSON: `minor`, `gates` (those that are on), `node`, `slices`, `classes`, `allocated` and
`claims`, all as Kubernetes objects of v1. Slices stand in the order of their names. Cases are small
so that searching ends, and many of them can be satisfied.
"""

from __future__ import annotations

from tests.oracle.asked import claim, claims, classes
from tests.oracle.draw import NODE, Draw, Object, begin
from tests.oracle.published import slices


def make_case(minor: str, seed: int, number: int) -> Object:
    """The case of that number; the same one for the same seed, on every machine."""
    draw = begin(minor, seed, number)
    node = NODE
    if draw.about("operations") and draw.chance(0.7):
        node = {**NODE, "status": {"declaredFeatures": ["DRAOptionalNodeOperations"]}}
    published = sorted(slices(draw), key=lambda part: str(part["metadata"]["name"]))
    return {
        "minor": minor,
        "gates": sorted(draw.gates),
        "node": node,
        "slices": published,
        "classes": classes(draw),
        "allocated": _allocated(draw, published),
        "claims": claims(draw),
    }


def _allocated(draw: Draw, published: list[Object]) -> list[Object]:
    """Claims that hold some of the devices already."""
    if draw.chance(0.45):
        return []
    held: list[Object] = []
    for part in published:
        spec = part["spec"]
        for device in spec.get("devices", ()):
            if not draw.chance(0.2):
                continue
            times = draw.number(1, 2) if device.get("allowMultipleAllocations") else 1
            held += [_result(draw, spec, device, len(held) + n) for n in range(times)]
    if draw.chance(0.05):
        held.append({"request": "req", "driver": "gone.example.com", "pool": "a", "device": "x"})
    found: list[Object] = []
    while held:
        size = draw.number(1, 3)
        some, held = held[:size], held[size:]
        one = claim(f"held-{len(found)}", {"requests": [_held_request()]})
        one["status"] = {"allocation": {"devices": {"results": some}}}
        found.append(one)
    return found


def _held_request() -> Object:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    return {"name": "req", "exactly": exactly}


def _result(draw: Draw, spec: Object, device: Object, number: int) -> Object:
    result: Object = {
        "request": "req",
        "driver": spec["driver"],
        "pool": spec["pool"]["name"],
        "device": device["name"],
    }
    if draw.about("admin") and draw.chance(0.3):
        result["adminAccess"] = True
    if device.get("allowMultipleAllocations") and draw.chance(0.9):
        result["shareID"] = f"00000000-0000-4000-8000-{number:012d}"
        consumed = {
            key: draw.of(("1Gi", "2Gi", "512Mi"))
            if key == "memory"
            else draw.of(("1", "2", "500m"))
            for key in device.get("capacity", {})
        }
        if consumed:
            result["consumedCapacity"] = consumed
    return result
