"""Quota keys of a device class."""

from __future__ import annotations

import pytest

from dracfg.kube.names import check_qualified_name
from dracfg.kube.quota import quota_keys

CLASS = "a100.deviceclass.resource.k8s.io/devices"
IMPLICIT = "requests.deviceclass.resource.kubernetes.io/a100"
EXPLICIT = "requests.nvidia.com/gpu"


@pytest.mark.parametrize(
    ("extended", "minor", "enabled", "expected"),
    [
        (None, "1.34", False, (CLASS,)),
        (None, "1.34", True, (CLASS,)),
        ("nvidia.com/gpu", "1.34", True, (CLASS, EXPLICIT)),
        ("nvidia.com/gpu", "1.35", False, (CLASS,)),
        ("nvidia.com/gpu", "1.35", True, (CLASS, IMPLICIT, EXPLICIT)),
        (None, "1.36", True, (CLASS, IMPLICIT)),
        ("nvidia.com/gpu", "1.37", True, (CLASS, IMPLICIT, EXPLICIT)),
    ],
)
def test_keys(extended: str | None, minor: str, enabled: bool, expected: tuple[str, ...]) -> None:
    assert quota_keys("a100", extended, minor, enabled) == expected


@pytest.mark.parametrize(("length", "count"), [(63, 2), (64, 1), (220, 1), (225, 1), (226, 0)])
def test_long_class_names_lose_keys(length: int, count: int) -> None:
    name = (("a" * 59 + ".") * 4)[:length].rstrip(".") + ""
    name = name + "a" * (length - len(name))
    keys = quota_keys(name, None, "1.36", True)
    assert len(keys) == count
    assert all(check_qualified_name(key) is None for key in keys)
