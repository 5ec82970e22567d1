"""Name checks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dracfg.kube import names

Check = Callable[[str], str | None]

VALID: list[tuple[Check, list[str]]] = [
    (names.check_dns_label, ["a", "0", "gpu-0", "a" * 63]),
    (names.check_dns_subdomain, ["a", "gpu.nvidia.com", "a-b.c", ".".join(["a" * 63] * 3)]),
    (names.check_qualified_name, ["a", "A_b.c-d", "example.com/Name", "x" * 63]),
    (names.check_label_key, ["dracfg.dev/tenant", "tier"]),
    (names.check_label_value, ["", "a", "A.b_c-d", "1" * 63]),
    (names.check_c_identifier, ["a", "_x", "memorySlice0", "a" * 32]),
    (names.check_driver_name, ["gpu.nvidia.com", "dra.cpu", "a" * 63]),
    (names.check_pool_name, ["node-1", "a.b/c.d", "a/b/c"]),
    (names.check_attribute_name, ["memory", "gpu.nvidia.com/memory"]),
    (names.check_fully_qualified_attribute, ["resource.kubernetes.io/pcieRoot"]),
    (names.check_request_reference, ["gpu", "gpu/large"]),
    (names.check_device_class_name, ["a100-shared-10gi", "gpu.nvidia.com"]),
    (names.check_extended_resource_name, ["nvidia.com/gpu", "x.y/Mig-1g.5gb"]),
]

INVALID: list[tuple[Check, str, str]] = [
    (names.check_dns_label, "", "must not be empty"),
    (names.check_dns_label, "A", "lower-case"),
    (names.check_dns_label, "a.b", "lower-case"),
    (names.check_dns_label, "-a", "lower-case"),
    (names.check_dns_label, "a\n", "lower-case"),
    (names.check_dns_label, "ä", "lower-case"),
    (names.check_dns_label, "a" * 64, "at most 63 characters, it has 64"),
    (names.check_dns_subdomain, "a..b", "lower-case"),
    (names.check_dns_subdomain, "a.-b", "lower-case"),
    (names.check_dns_subdomain, "a" * 254, "at most 253"),
    (names.check_qualified_name, "a/b/c", "at most one '/'"),
    (names.check_qualified_name, "/a", "before '/' must not be empty"),
    (names.check_qualified_name, "a/", "after '/' must not be empty"),
    (names.check_qualified_name, "A.com/a", "before '/' must be made of"),
    (names.check_qualified_name, "-a", "starting and ending"),
    (names.check_label_value, "a/b", "starting and ending"),
    (names.check_label_value, "a" * 64, "at most 63"),
    (names.check_c_identifier, "0a", "not starting with a digit"),
    (names.check_c_identifier, "a-b", "not starting with a digit"),
    (names.check_c_identifier, "a" * 33, "at most 32"),
    (names.check_driver_name, "a" * 40 + "." + "b" * 30, "at most 63"),
    (names.check_driver_name, "GPU.example.com", "lower-case"),
    (names.check_pool_name, "a//b", "the part '' must not be empty"),
    (names.check_pool_name, "a" * 254, "at most 253"),
    (names.check_attribute_name, "a.b/c/d", "at most one '/'"),
    (names.check_attribute_name, "a.b/", "after '/' must not be empty"),
    (names.check_attribute_name, "a.b/c-d", "not starting with a digit"),
    (names.check_fully_qualified_attribute, "memory", "must name its domain"),
    (names.check_request_reference, "a/b/c", "<subrequest>"),
    (names.check_request_reference, "a/", "the part '' must not be empty"),
    (names.check_device_class_name, "a" * 64, "at most 63"),
    (names.check_extended_resource_name, "gpu", "must name its domain"),
    (names.check_extended_resource_name, "kubernetes.io/gpu", "kubernetes.io"),
    (names.check_extended_resource_name, "x.kubernetes.io/gpu", "kubernetes.io"),
    (names.check_extended_resource_name, "requests.a.com/gpu", "must not start with"),
    (names.check_extended_resource_name, "a.com/" + "g" * 64, "at most 63"),
    (names.check_extended_resource_name, ".".join(["a" * 61] * 4) + "/g", "at most 253"),
]


@pytest.mark.parametrize(("check", "texts"), VALID)
def test_valid(check: Check, texts: list[str]) -> None:
    for text in texts:
        assert check(text) is None


@pytest.mark.parametrize(("check", "text", "reason"), INVALID)
def test_invalid(check: Check, text: str, reason: str) -> None:
    assert reason in (check(text) or "")
