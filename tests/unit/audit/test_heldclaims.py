"""The notes and statuses of a claim, found for each of its devices."""

from typing import Any

import pytest

from dracfg.allocate.claimobjects import read_claims
from dracfg.audit.heldclaims import HeldClaim, held_claim


def read(world: Any) -> HeldClaim:
    objects, faults = read_claims([world.record()], "1.36")
    assert not faults
    return held_claim(objects.claims[0])


@pytest.mark.parametrize(
    ("request_name", "entitlement"),
    [
        ("gpu", "whole"),
        ("gpu-3", "whole"),
        ("any/big", "large"),
        ("any-0/big", "large"),
        ("nic", None),
    ],
)
def test_notes_by_request(world: Any, request_name: str, entitlement: str | None) -> None:
    note = "gpu=whole/big/whole/-/-,any/big=large/big/whole/-/-,broken,too=few/parts"
    made = world.claim("a", ["gpu-0"], note=note)
    made["status"]["allocation"]["devices"]["results"][0]["request"] = request_name
    claim = read(world)
    found = claim.note(claim.results[0])
    assert (found.entitlement if found is not None else None) == entitlement


def test_a_status_of_another_share(world: Any) -> None:
    made = world.share("a", share="00000000-0000-4000-8000-000000000001")
    status = world.status("cut-0") | {"driver": "shared.example.org", "pool": "cuts-1"}
    made["status"]["devices"] = [status | {"shareID": "00000000-0000-4000-8000-000000000002"}]
    claim = read(world)
    assert claim.status(claim.results[0]) is None
    made["status"]["devices"][0]["shareID"] = "00000000-0000-4000-8000-000000000001"
    claim = read(world)
    assert claim.status(claim.results[0]) is not None


def test_what_was_asked_for_where_an_alternative_was_given(world: Any) -> None:
    made = world.claim("a", ["gpu-0"])
    made["spec"]["devices"]["requests"] = [
        {
            "name": "gpu",
            "firstAvailable": [
                {"name": "two", "deviceClassName": "big", "count": 2},
                {"name": "one", "deviceClassName": "small"},
            ],
        }
    ]
    made["status"]["allocation"]["devices"]["results"][0]["request"] = "gpu/one"
    claim = read(world)
    asked = claim.request(claim.results[0])
    assert asked is not None
    assert asked.device_class == "small"
