"""The claim for extended resources asks for what Kubernetes' scheduler would ask for."""

import pytest

from dracfg.plan.extendedresources import claim_spec, named_resources
from dracfg.plan.workloads import Container

CLASSES = {"x.org/gpu": "gpu", "x.org/nic": "nic"}


def container(position: int, *, first: bool = False, **amounts: int) -> Container:
    return Container(position, first, {f"x.org/{name}": count for name, count in amounts.items()})


def asked(*containers: Container, minor: str = "1.36") -> list[tuple[str, str, int]]:
    spec = claim_spec(containers, CLASSES, minor)
    return [
        (one.name, one.exactly.device_class, one.exactly.count)
        for one in (spec.requests if spec is not None else ())
        if one.exactly is not None
    ]


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([container(0, gpu=2)], [("container-0-request-0", "gpu", 2)]),
        (
            [container(0, aaa=1, gpu=2, nic=1)],
            [("container-0-request-1", "gpu", 2), ("container-0-request-2", "nic", 1)],
        ),
        (
            [container(0, gpu=1), container(1, gpu=2)],
            [("container-0-request-0", "gpu", 1), ("container-1-request-0", "gpu", 2)],
        ),
        # What runs first takes the devices of those that come later.
        (
            [container(0, first=True, gpu=2), container(1, gpu=2)],
            [("container-1-request-0", "gpu", 2)],
        ),
        (
            [container(0, first=True, gpu=3), container(1, gpu=2)],
            [("container-0-request-0", "gpu", 1), ("container-1-request-0", "gpu", 2)],
        ),
        # Of several that run first, only the one that misses most asks for more.
        (
            [container(0, first=True, gpu=3), container(1, first=True, gpu=5), container(2, gpu=2)],
            [("container-1-request-0", "gpu", 3), ("container-2-request-0", "gpu", 2)],
        ),
        # A sidecar before it runs beside it, and its devices can't be taken.
        (
            [container(0, gpu=1), container(1, first=True, gpu=2), container(2, gpu=1)],
            [
                ("container-0-request-0", "gpu", 1),
                ("container-1-request-0", "gpu", 1),
                ("container-2-request-0", "gpu", 1),
            ],
        ),
        ([container(0, gpu=0)], []),
        ([container(0, tpu=1)], []),
    ],
)
def test_requests(containers: list[Container], expected: list[tuple[str, str, int]]) -> None:
    assert asked(*containers) == expected


def test_in_1_34_every_container_asks_for_its_own() -> None:
    both = (container(0, first=True, gpu=2), container(1, gpu=2))
    assert asked(*both, minor="1.34") == [
        ("container-0-request-0", "gpu", 2),
        ("container-1-request-0", "gpu", 2),
    ]


def test_named_resources() -> None:
    assert named_resources([container(0, nic=1, tpu=1), container(1, gpu=0)], CLASSES) == (
        "x.org/nic",
    )
