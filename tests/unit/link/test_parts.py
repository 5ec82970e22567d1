"""The version of a policy is the digest of its numbers, however they are written."""

import yaml

from dracfg.link.parts import policy_version
from dracfg.model.sharing import Consumable

_SPEC = """
mode: consumable
capacity: {memory: {min: 5Gi, step: 5Gi, max: 40Gi}}
sizes: %s
tenancy: sameTenant
isolation: driver
reclaim: {timeout: 15m}
"""


def version(sizes: str) -> str:
    written = yaml.safe_load(_SPEC % sizes)
    return policy_version(Consumable.model_validate({**written, "sizes": tuple(written["sizes"])}))


def test_the_order_of_sizes_means_nothing() -> None:
    assert version("[5Gi, 10Gi, 20Gi]") == version("[20Gi, 5Gi, 10Gi]")
    named = "{name: big, capacity: {memory: 40Gi}}"
    assert version(f"[{named}, 5Gi]") == version(f"[5Gi, {named}]")


def test_other_sizes_are_another_version() -> None:
    assert version("[5Gi, 10Gi]") != version("[5Gi, 20Gi]")
