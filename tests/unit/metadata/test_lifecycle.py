"""What a driver does to its files over time, and what readers make of each state."""

from __future__ import annotations

import pytest

from dracfg.metadata import Broken, NotSupported, read
from tests.unit.metadata.conftest import nic, schemas
from tests.unit.metadata.fakedriver import Claim, FakeDriver, Killed


def names(driver: FakeDriver, claim: str = "nic") -> list[str]:
    driver.mount()
    found = read(schemas=schemas(), root=driver.container)
    return [device.name or "" for device in found.devices(claim, "nic")]


@pytest.mark.parametrize("after", [0, 1, 200, 700])
def test_killed_while_writing_then_restarted(driver: FakeDriver, claim: Claim, after: int) -> None:
    driver.killed_after = after
    with pytest.raises(Killed):
        driver.prepare(claim, "nic", [nic()])
    driver.killed_after = None
    # The kubelet prepares the claim again once the driver is back, and only then starts containers.
    driver.prepare(claim, "nic", [nic()])
    assert names(driver) == ["eth-0"]


def test_killed_while_it_updates(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic(ready=False)])
    driver.mount()
    driver.killed_after = 300
    with pytest.raises(Killed):
        driver.update(claim, "nic", [nic()])
    driver.mount()
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=driver.container)
    assert refused.value.fault == "halfWritten"


def test_unprepared(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    driver.unprepare(claim)
    driver.mount()
    with pytest.raises(NotSupported):
        read(root=driver.container)


def test_a_device_that_goes_to_another_tenant(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    driver.unprepare(claim)
    taker = Claim("server-nic-9q4ds", "search-prod", "22222222-bbbb")
    driver.prepare(taker, "nic", [nic()])
    driver.mount()
    found = read(schemas=schemas(), root=driver.container).claims["nic"]
    assert (found.namespace, found.uid) == ("search-prod", "22222222-bbbb")


def test_a_claim_that_was_made_anew_has_a_file_of_its_own(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    again = Claim(claim.name, uid="33333333-cccc")
    driver.unprepare(claim)
    driver.prepare(again, "nic", [nic("eth-1")])
    assert names(driver) == ["eth-1"]
    assert len(list(driver.cdi.iterdir())) == 1


@pytest.mark.parametrize(
    ("before", "after", "taken"),
    [
        (("v1alpha1",), ("v1beta1", "v1alpha1"), "v1beta1"),
        (("v1beta1", "v1alpha1"), ("v1alpha1",), "v1alpha1"),
    ],
)
def test_an_upgrade_and_a_downgrade(
    driver: FakeDriver, claim: Claim, before: tuple[str, ...], after: tuple[str, ...], taken: str
) -> None:
    driver.versions = before
    driver.prepare(claim, "nic", [nic()])
    driver.versions = after
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    found = read(schemas=schemas(), root=driver.container)
    assert found.claims["nic"].requests["nic"].version == taken


def test_an_upgrade_past_an_old_reader(driver: FakeDriver, claim: Claim) -> None:
    driver.versions = ("v1beta1",)
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    with pytest.raises(NotSupported):
        read(schemas=schemas(), root=driver.container, versions=("v1alpha1",))
