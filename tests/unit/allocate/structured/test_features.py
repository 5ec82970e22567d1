"""Which features a minor's scheduler passes, and which implementation they pick."""

import pytest

from dracfg.allocate.structured import Features
from dracfg.allocate.structured.behaviour import behaviour_of
from dracfg.kube.features import feature_matrix

BETA = frozenset({"DRAAdminAccess", "DRAPrioritizedList"})


def defaults(minor: str) -> frozenset[str]:
    gates = feature_matrix().gates
    return frozenset(name for name, gate in gates.items() if gate.at(minor).default)


@pytest.mark.parametrize(
    ("minor", "gates", "implementation"),
    [
        ("1.34", frozenset(), "stable"),
        ("1.34", BETA, "incubating"),
        # DRAResourceClaimDeviceStatus is on by default and counts by itself in 1.34 only.
        ("1.34", defaults("1.34"), "experimental"),
        ("1.35", defaults("1.35"), "incubating"),
        ("1.35", BETA | {"DRAConsumableCapacity"}, "experimental"),
        ("1.36", BETA | {"DRAPartitionableDevices", "DRADeviceTaints"}, "stable"),
        ("1.36", defaults("1.36"), "incubating"),
        ("1.36", defaults("1.36") | {"DRAListTypeAttributes"}, "incubating"),
        ("1.37", BETA, "stable"),
        ("1.37", BETA | {"DRAFractionalCapacityRange"}, "incubating"),
        ("1.37", BETA | {"DRAListTypeAttributes"}, "experimental"),
    ],
)
def test_the_first_implementation_that_supports_everything_is_used(
    minor: str, gates: frozenset[str], implementation: str
) -> None:
    assert Features.of(minor, gates).implementation == implementation


def test_the_scheduler_of_1_36_never_passes_lists() -> None:
    features = Features.of("1.36", frozenset({"DRAListTypeAttributes"}))
    assert not features.list_type_attributes
    assert features.lists_in_cel
    assert not Features.of("1.36", frozenset()).lists_in_cel


def test_binding_needs_both_gates() -> None:
    one = Features.of("1.36", frozenset({"DRADeviceBindingConditions"}))
    assert not one.device_binding_and_status
    assert one.enabled == frozenset()


def test_a_minor_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.33"):
        Features.of("1.33", frozenset())


def test_only_the_minors_before_1_36_forget_to_give_back() -> None:
    leaks = {
        minor: behaviour_of(Features.of(minor, BETA)).leaks for minor in ("1.34", "1.35", "1.36")
    }
    assert leaks == {"1.34": True, "1.35": True, "1.36": False}
