"""What applications get of files that are as they should be, and of what is not there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dracfg import metadata
from dracfg.metadata import reader
from tests.unit.metadata.conftest import SECRET, nic, schemas
from tests.unit.metadata.fakedriver import Claim, FakeDriver

READER = Path(reader.__file__)
KEP = Path(__file__).parents[2] / "data" / "metadata" / "kep5304-metadata.json"
LIBRARY = KEP.with_name("library-both-versions.json")
"""Real documents; their sources stand beside them in SOURCES.md."""


def test_devices_of_a_template_claim(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic(), nic("eth-1", rdma={"bool": True})])
    driver.mount()
    found = metadata.read(schemas=schemas(), root=driver.container)
    assert found.source == "file"
    one, two = found.devices("nic", "nic")
    assert (one.driver, one.pool, one.name) == ("nic.example.com", "node-1", "eth-0")
    assert one.attributes == {"network": "data", "mtu": 9000}
    assert two.attributes["rdma"] is True
    assert one.network is not None
    assert one.network.ips == ("10.0.0.7/24",)
    asked = found.claims["nic"]
    assert (asked.claim, asked.namespace, asked.from_template) == (claim.name, "vision-train", True)
    assert asked.requests["nic"].version == "v1beta1"


def test_devices_of_a_named_claim(driver: FakeDriver) -> None:
    driver.prepare(Claim("uplink", pod_claim=None), "nic", [nic()])
    driver.mount()
    found = metadata.read("uplink", "nic", schemas=schemas(), root=driver.container)
    assert not found.claims["uplink"].from_template


def test_a_chosen_alternative(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "device/link", [nic()])
    driver.mount()
    found = metadata.read(schemas={"device/link": schemas()}, root=driver.container)
    assert found.claims["nic"].requests["device"].name == "device/link"


def test_without_a_schema_no_attribute_is_returned(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    (device,) = metadata.read(root=driver.container).devices("nic", "nic")
    assert device.name == "eth-0"
    assert device.attributes == {}
    assert device.network is None


@pytest.mark.parametrize(
    ("written", "understood", "taken"),
    [
        (("v1beta1", "v1alpha1"), reader.VERSIONS, "v1beta1"),
        (("v1alpha1",), reader.VERSIONS, "v1alpha1"),
        (("v1beta1", "v1alpha1"), ("v1alpha1",), "v1alpha1"),
        (("v1", "v1beta1"), reader.VERSIONS, "v1beta1"),
        (("v1alpha1", "v1beta1"), reader.VERSIONS, "v1beta1"),
    ],
)
def test_the_newest_known_version(
    driver: FakeDriver,
    claim: Claim,
    written: tuple[str, ...],
    understood: tuple[str, ...],
    taken: str,
) -> None:
    driver.versions = written
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    found = metadata.read(schemas=schemas(), root=driver.container, versions=understood)
    assert found.claims["nic"].requests["nic"].version == taken


def test_no_known_version_is_not_supported(driver: FakeDriver, claim: Claim) -> None:
    driver.versions = ("v1beta1",)
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    with pytest.raises(metadata.NotSupported) as refused:
        metadata.read(root=driver.container, versions=("v1alpha1",))
    assert refused.value.fault == "unknownVersion"


def test_no_file_is_not_supported(tmp_path: Path) -> None:
    with pytest.raises(metadata.NotSupported) as refused:
        metadata.read(root=tmp_path / "nothing")
    assert (refused.value.state, refused.value.fault) == ("notSupported", "absent")


def test_a_claim_of_another_name_is_not_supported(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    with pytest.raises(metadata.NotSupported, match="claim gpu"):
        metadata.read("gpu", root=driver.container)


@pytest.mark.parametrize("name", ["../x", "a/b", "", "a\0b"])
def test_names_that_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="named by letters"):
        metadata.read(name, root=tmp_path)


def test_an_empty_file_is_not_yet(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()]).write_bytes(b"\n")
    driver.mount()
    with pytest.raises(metadata.NotYet) as refused:
        metadata.read(root=driver.container)
    assert refused.value.state == "notYet"


def test_network_data_are_waited_for(
    driver: FakeDriver, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.prepare(claim, "nic", [nic(ready=False)])
    driver.mount()
    with pytest.raises(metadata.NotYet) as refused:
        metadata.read(schemas=schemas(), root=driver.container, network=True)
    assert refused.value.fault == "noNetworkData"

    def fill(_seconds: float) -> None:
        driver.update(claim, "nic", [nic()])
        driver.mount()

    monkeypatch.setattr(reader.time, "sleep", fill)
    found = metadata.read(schemas=schemas(), root=driver.container, network=True, wait=60)
    assert found.claims["nic"].requests["nic"].generation == 2


def test_waiting_ends(driver: FakeDriver, claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    driver.prepare(claim, "nic", [nic(ready=False)])
    driver.mount()
    now = iter(range(1000))
    monkeypatch.setattr(reader.time, "monotonic", lambda: float(next(now)))
    slept: list[float] = []
    monkeypatch.setattr(reader.time, "sleep", slept.append)
    with pytest.raises(metadata.NotYet):
        metadata.read(schemas=schemas(), root=driver.container, network=True, wait=5)
    assert 1 <= len(slept) <= 5


def test_the_environment_stands_in(tmp_path: Path) -> None:
    said = {"NIC_NETWORK": "data", "NIC_MTU": "9000", "OTHER": "x"}
    found = metadata.read(schemas=schemas(), root=tmp_path, environment=said)
    assert found.source == "environment"
    (device,) = found.fallback_devices
    assert device.attributes == {"network": "data", "mtu": 9000}
    assert (device.pool, device.name) == (None, None)


@pytest.mark.parametrize("said", [{}, {"NIC_MTU": "many"}, {"NIC_NETWORK": "x" * 65}])
def test_an_environment_that_says_nothing(tmp_path: Path, said: dict[str, str]) -> None:
    with pytest.raises(metadata.NotSupported):
        metadata.read(schemas=schemas(), root=tmp_path, environment=said)


def test_what_is_broken_never_falls_back(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()]).write_bytes(b"{]")
    driver.mount()
    with pytest.raises(metadata.Broken):
        metadata.read(schemas=schemas(), root=driver.container, environment={"NIC_MTU": "9000"})


def test_the_legacy_path(tmp_path: Path) -> None:
    (schema, *_) = schemas()
    path = tmp_path / "legacy"
    schema["x-dracfg"]["fallback"] = {"to": "legacyPath", "path": str(path)}
    with pytest.raises(metadata.NotSupported):
        metadata.read(schemas=[schema], root=tmp_path / "none")
    path.write_text("", encoding="utf-8")
    found = metadata.read(schemas=[schema], root=tmp_path / "none")
    assert (found.source, found.legacy_path) == ("legacyPath", str(path))


def test_a_startup_probe_waits_for_the_file(
    driver: FakeDriver, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = schemas("flex-170", "alpha")
    card = {"pool": "node-1", "name": "card-0", "attributes": {"model": {"string": "Flex170"}}}
    driver.name = "gpu.intel.com"

    def arrive(_seconds: float) -> None:
        driver.prepare(claim, "gpu", [card])
        driver.mount()

    monkeypatch.setattr(reader.time, "sleep", arrive)
    driver.versions = ("v1alpha1",)
    found = metadata.read(schemas=held, root=driver.container)
    assert found.devices("nic", "gpu")[0].attributes == {"model": "Flex170"}


def test_the_document_of_the_proposal() -> None:
    (document,) = reader.documents(KEP.read_bytes())
    file = reader.File(KEP, "my-claim", "gpu-request", "example.com", from_template=False)
    request = reader.accepted(document, None, file)
    assert (request.version, request.generation) == ("v1alpha1", 1)


@pytest.mark.parametrize(
    ("understood", "taken"), [(reader.VERSIONS, "v1beta1"), (("v1alpha1",), "v1alpha1")]
)
def test_the_document_of_the_library_itself(understood: tuple[str, ...], taken: str) -> None:
    """Indented, with every field that the API has; an attribute of many forms is nobody's to read."""
    known = [
        one
        for one in reader.documents(LIBRARY.read_bytes())
        if reader.version_of(one) in understood
    ]
    file = reader.File(
        LIBRARY, known[0]["podClaimName"], "request", "gpu.example.com", from_template=True
    )
    request = reader.accepted(known[0], None, file)
    assert (request.version, request.generation) == (taken, 7)
    assert request.devices[0].attributes == {}
    schema = reader.document_schema(taken)
    device = schema["properties"]["requests"]["items"]["properties"]["devices"]["items"]
    device["properties"]["attributes"]["properties"] = {"model": reader.attribute_schema("string")}
    with pytest.raises(metadata.Broken):
        reader.accepted(known[0], schema, file)


def test_two_schemas_of_one_driver_need_a_request(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    with pytest.raises(ValueError, match="give them by request"):
        metadata.read(schemas=[*schemas(), *schemas()], root=driver.container)


def test_nothing_is_shown_of_values(driver: FakeDriver, claim: Claim) -> None:
    driver.prepare(claim, "nic", [nic(network={"string": SECRET})])
    driver.mount()
    assert SECRET not in repr(metadata.read(schemas=schemas(), root=driver.container))


def test_copied_alone_it_is_a_probe(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    """The file by itself, without site packages, in an interpreter that knows no dracfg."""
    alone = tmp_path / "alone" / "reader.py"
    alone.parent.mkdir()
    alone.write_bytes(READER.read_bytes())
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(schemas()[-1]), encoding="utf-8")

    def probe() -> tuple[int, str]:
        command = [
            sys.executable,
            "-I",
            "-S",
            str(alone),
            "--root",
            str(driver.container),
            str(schema),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=alone.parent
        )
        return done.returncode, done.stdout + done.stderr

    assert probe()[0] == 3
    driver.prepare(claim, "nic", [nic(mtu={"string": SECRET})])
    driver.mount()
    code, said = probe()
    assert code == 2
    assert "claim nic, request nic, driver nic.example.com" in said
    assert SECRET not in said
    driver.prepare(claim, "nic", [nic()])
    driver.mount()
    assert probe() == (0, "")
