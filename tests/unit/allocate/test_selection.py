"""Classes on devices: the selectors in their order, and what the nearest devices lack."""

from collections.abc import Callable
from typing import Any

import pytest

from dracfg.allocate.selection import Selection
from dracfg.cel import EvaluationError
from dracfg.link.classes import device_classes

GPU = "gpu.example.org"
Fixture = Callable[..., Any]


def class_of(catalog: Any) -> Any:
    return next(p for p in device_classes(catalog, catalog.clusters["east"]) if p.name == "big")


def test_the_first_selector_shields_the_next(build: Fixture, make: Any) -> None:
    raw = 'device.attributes["gpu.example.org"].model == "B-80"'
    plan = class_of(build(match=f"{{attributes: {{type: gpu}}, cel: ['{raw}']}}"))
    devices = make.inventory(
        {
            "n1": {
                GPU: [make.gpu("gpu-0"), make.gpu("gpu-1", type="mig", model="")],
                "nic.example.org": [make.nic("card-0")],
            }
        }
    ).devices
    outcomes = {d.name: Selection("1.36").select(plan, d) for d in devices}
    assert {name: (one.passed, one.outcome) for name, one in outcomes.items()} == {
        "gpu-0": (2, True),
        "gpu-1": (0, False),
        "card-0": (0, False),
    }
    lacking = make.inventory({"n1": {GPU: [make.gpu("gpu-2", model="")]}}).devices[0]
    assert Selection("1.36").select(plan, lacking).outcome == EvaluationError("no such key: model")


@pytest.mark.parametrize(
    ("devices", "text", "names"),
    [
        ([{"memory": "79Gi"}, {"memory": "60Gi"}], "misses memory by 1Gi", ["gpu-0"]),
        ([{"model": "X"}, {"model": "Y"}, {"model": "Y"}], 'model is "Y"', ["gpu-1", "gpu-2"]),
        ([{"model": "X", "type": "mig"}, {"memory": "1Gi"}], "misses memory by 79Gi", ["gpu-1"]),
        ([{"model": "X", "memory": "1Gi"}], 'model is "X" and misses memory by 79Gi', ["gpu-0"]),
        ([{"type": ""}], "type is not published", ["gpu-0"]),
    ],
)
def test_nearest(
    build: Fixture, make: Any, devices: list[dict[str, str]], text: str, names: list[str]
) -> None:
    plan = class_of(build())
    gpus = [make.gpu(f"gpu-{i}", **one) for i, one in enumerate(devices)]
    inventory = make.inventory({"n1": {GPU: gpus, "nic.example.org": [make.nic("card-0")]}})
    near = Selection("1.36").near_miss(plan, inventory.devices)
    assert near is not None
    assert (near.text, [device.name for device in near.devices]) == (text, names)


def test_raw_cel_is_not_reached_where_the_structured_part_is_not_met(
    build: Fixture, make: Any
) -> None:
    raw = 'device.driver == "x"'
    plan = class_of(build(match=f"{{attributes: {{type: gpu}}, cel: ['{raw}']}}"))
    other, same = make.gpu("gpu-0", type="mig"), make.gpu("gpu-1")
    inventory = make.inventory({"n1": {GPU: [other]}})
    near = Selection("1.36").near_miss(plan, inventory.devices)
    assert near is not None
    assert near.text == 'type is "mig"'
    inventory = make.inventory({"n1": {GPU: [other, same]}})
    near = Selection("1.36").near_miss(plan, inventory.devices)
    assert near is not None
    assert (near.text, near.devices[0].name) == ("selector 2 is not true", "gpu-1")


def test_an_upper_bound_is_exceeded(build: Fixture, make: Any) -> None:
    plan = class_of(build(match="{capacity: {memory: {max: 40Gi}}}"))
    inventory = make.inventory({"n1": {GPU: [make.gpu("gpu-0", memory="48Gi")]}})
    near = Selection("1.36").near_miss(plan, inventory.devices)
    assert near is not None
    assert near.text == "exceeds memory by 8Gi"


def test_nothing_is_near_where_no_device_of_the_driver_is(build: Fixture, make: Any) -> None:
    plan = class_of(build())
    inventory = make.inventory({"n1": {"nic.example.org": [make.nic("card-0")]}})
    assert Selection("1.36").near_miss(plan, inventory.devices) is None
