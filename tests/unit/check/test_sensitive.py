"""What looks like a credential, a serial number or an identity, and what only nearly does."""

from __future__ import annotations

import pytest

from dracfg.check.sensitive import kind_of_name, kind_of_value


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("switchPassword", "credential"),
        ("example.com/api_key", "credential"),
        ("accessToken", "credential"),
        ("serial", "serial number"),
        ("resource.example.com/serialNumber", "serial number"),
        ("uuid", "serial number"),
        ("macAddress", "serial number"),
        ("ownerName", "identity"),
        ("tenant", "identity"),
        ("productName", None),
        ("pciBusID", None),
        ("password.example.com/mtu", None),
        ("network", None),
        ("interfaceName", None),
    ],
)
def test_names(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----", "credential"),
        ("ghp_0123456789abcdefghijABCD", "credential"),
        ("AKIAIOSFODNN7EXAMPLE", "credential"),
        ("password=hunter2", "credential"),
        ("Ab1" * 12, "credential"),
        ("GPU-5f724f14-1bea-2982-b267-4aabd1261948", "serial number"),
        ("02:42:ac:11:00:02", "serial number"),
        ("S/N: 0042", "serial number"),
        ("ada@example.com", "identity"),
        ("net of search-prod", "identity"),
        (("data", "search-prod"), "identity"),
        ("NVIDIA A100-SXM4-40GB", None),
        ("MT2910 Family [ConnectX-7]", None),
        ("0000:17:00.0", None),
        ("580.126.9", None),
        ("search-production", None),
        (9000, None),
        (True, None),
    ],
)
def test_values(value: object, kind: str | None) -> None:
    assert kind_of_value(value, {"search-prod"}) == kind
