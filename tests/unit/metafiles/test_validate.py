"""`dracfg metadata validate`: files of containers and of nodes, beside recorded claims and slices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.metafiles.context import recorded_context
from dracfg.metafiles.report import MetadataReport, judge_files, metadata_document
from dracfg.source.records import read_record
from tests.unit.metadata.conftest import SECRET, nic, schemas
from tests.unit.metadata.fakedriver import Claim, FakeDriver, Killed
from tests.unit.metadata.test_faults import DEEP, WHOLE, document, stream

NIC = "nic.example.com"


@pytest.fixture
def driver(tmp_path: Path) -> FakeDriver:
    return FakeDriver(tmp_path / "host", tmp_path / "container")


@pytest.fixture
def claim() -> Claim:
    return Claim("trainer-nic-x7k2p")


def plain(name: str = "eth-0") -> dict[str, Any]:
    """A device with nothing beyond the list."""
    device = nic(name)
    del device["attributes"]["model"]
    return device


def claim_object(
    claim: Claim, *devices: str, request: str = "nic", pods: int = 1
) -> dict[str, Any]:
    results = [
        {"request": request, "driver": NIC, "pool": "node-1", "device": one} for one in devices
    ]
    exactly = {"deviceClassName": "nic-100g", "allocationMode": "ExactCount", "count": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": claim.name,
            "namespace": claim.namespace,
            "uid": claim.uid,
            "annotations": {"dracfg.dev/requests": "nic=nic/nic-100g/whole/-/-"},
        },
        "spec": {"devices": {"requests": [{"name": "nic", "exactly": exactly}]}},
        "status": {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [
                {"resource": "pods", "name": f"p{n}", "uid": f"u{n}"} for n in range(pods)
            ],
        },
    }


def slice_object(node: str = "node-1") -> dict[str, Any]:
    devices = [{"name": f"eth-{n}", "attributes": {"type": {"string": "nic"}}} for n in range(2)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": NIC,
            "nodeName": node,
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def judged(
    path: Path,
    tmp_path: Path,
    *,
    claims: list[dict[str, Any]] | None = None,
    slices: list[dict[str, Any]] | None = None,
    node: str | None = None,
    cdi: Path | None = None,
    schema: bool = True,
) -> MetadataReport:
    records = []
    for name, objects in (("claims", claims), ("slices", slices)):
        if objects is None:
            records.append([])
            continue
        file = tmp_path / f"{name}.yaml"
        listing = {"apiVersion": "v1", "kind": "List", "items": objects}
        file.write_text(yaml.safe_dump(listing), encoding="utf-8")
        records.append([read_record(tmp_path, file.name)[0]])
    context = recorded_context(
        *records, schemas() if schema else (), node, frozenset({"search-prod"})
    )
    return judge_files([path], context, [cdi] if cdi is not None else [])


def codes(done: MetadataReport) -> list[str]:
    return sorted({finding.code for finding in done.findings})


def test_a_file_that_is_right(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [plain()])
    driver.mount()
    done = judged(driver.container, tmp_path)
    assert (codes(done), done.verdict, len(done.files)) == ([], "proven", 1)


def test_no_file_is_unknown(tmp_path: Path) -> None:
    assert judged(tmp_path / "x", tmp_path).verdict == "refuted"
    (tmp_path / "y").mkdir()
    assert judged(tmp_path / "y", tmp_path).verdict == "unknown"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", ["MET032"]),
        (WHOLE[:-40], ["MET033"]),
        (WHOLE + b"x", ["MET034"]),
        (b"\xff", ["MET034"]),
        (b"[]", ["MET034"]),
        (b'{"a": 1, "a": 2}', ["MET035"]),
        (DEEP, ["MET036"]),
        (b'{"a": 1e999}', ["MET036"]),
        (stream(document(apiVersion="metadata.resource.k8s.io/v9")), ["MET037"]),
        (
            stream(document(apiVersion="metadata.resource.k8s.io/v1alpha1"), document()),
            ["MET038", "MET044"],
        ),
        (stream(document(), document()), ["MET038", "MET044"]),
        (stream(document(apiVersion="metadata.resource.k8s.io/v2"), document()), ["MET044", "MET050"]),
        (WHOLE.replace(b'{"int": 9000}', b'{"int": "9000"}'), ["MET039"]),
        (WHOLE.replace(b'"data"', b'"' + b"d" * 65 + b'"'), ["MET039"]),
        (WHOLE + b" " * 17000, ["MET040", "MET044"]),
        (stream(document(podClaimName="other")), ["MET041", "MET044"]),
        (WHOLE.replace(b'"name": "nic"', b'"name": "gpu"'), ["MET041", "MET044"]),
        (WHOLE, ["MET044"]),
        (WHOLE.replace(b'"model"', b'"switchPassword"'), ["MET045"]),
        (WHOLE.replace(SECRET.encode(), b"ghp_0123456789abcdefghijABCD"), ["MET045"]),
        (WHOLE.replace(b'"data"', b'"ghp_0123456789abcdefghijABCD"'), ["MET044", "MET045"]),
        (
            WHOLE + WHOLE.replace(b"v1beta1", b"v1alpha1").replace(b"9000", b"1500"),
            ["MET044", "MET048"],
        ),
    ],
)  # fmt: skip
def test_content(tmp_path: Path, data: bytes, wanted: list[str]) -> None:
    path = tmp_path / "root" / "resourceclaimtemplates/nic/nic" / f"{NIC}-metadata.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    path.chmod(0o644)
    assert codes(judged(tmp_path / "root", tmp_path)) == wanted


def test_places_are_told(tmp_path: Path) -> None:
    path = tmp_path / "loose.json"
    path.write_bytes(WHOLE + b"\n garbage")
    (finding,) = judged(path, tmp_path).findings
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == (3, 2)


def test_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_bytes(WHOLE)
    link = tmp_path / "root" / f"{NIC}-metadata.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert codes(judged(tmp_path / "root", tmp_path)) == ["MET030"]


@pytest.mark.parametrize("which", ["file", "request", "claim"])
def test_writable(driver: FakeDriver, claim: Claim, tmp_path: Path, which: str) -> None:
    path = driver.prepare(claim, "nic", [plain()])
    target = {"file": path, "request": path.parent, "claim": path.parent.parent}[which]
    for one in (path, path.parent, path.parent.parent):
        one.chmod(0o755)
    assert codes(judged(driver.host, tmp_path)) == []
    target.chmod(0o777)
    assert codes(judged(driver.host, tmp_path)) == ["MET031"]


def test_the_claim_is_there_and_holds_the_devices(
    driver: FakeDriver, claim: Claim, tmp_path: Path
) -> None:
    driver.prepare(claim, "nic", [plain()])
    held = [claim_object(claim, "eth-0")]
    done = judged(
        driver.host, tmp_path, claims=held, slices=[slice_object()], node="node-1", cdi=driver.cdi
    )
    assert codes(done) == []


@pytest.mark.parametrize("readable", [True, False])
def test_a_leftover(driver: FakeDriver, claim: Claim, tmp_path: Path, readable: bool) -> None:
    path = driver.prepare(claim, "nic", [plain()])
    if not readable:
        path.write_bytes(b"")
    other = Claim("other", uid="44444444-dddd")
    done = judged(driver.plugins, tmp_path, claims=[claim_object(other, "eth-1")])
    assert "MET046" in codes(done)
    assert driver.cdi.is_dir()
    specs = judged(driver.plugins, tmp_path, claims=[claim_object(claim, "eth-0")], cdi=driver.cdi)
    assert "MET046" not in codes(specs)


def test_all_claims_are_gone(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [plain()])
    assert codes(judged(driver.plugins, tmp_path, claims=[])) == ["MET046"]


def test_the_file_of_a_claim_made_anew(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [plain()])
    anew = Claim(claim.name, uid="33333333-cccc")
    done = judged(driver.plugins, tmp_path, claims=[claim_object(anew, "eth-0")])
    assert codes(done) == ["MET046"]


def test_devices_of_another_claim(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [plain("eth-0")])
    done = judged(driver.plugins, tmp_path, claims=[claim_object(claim, "eth-1")])
    assert codes(done) == ["MET042"]


def test_re_allocated_to_another_tenant(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    """The driver forgot to remove the first file: it is left over, the second is right."""
    driver.prepare(claim, "nic", [plain()])
    taker = Claim("server-nic-9q4ds", "search-prod", "22222222-bbbb")
    driver.prepare(taker, "nic", [plain()])
    done = judged(driver.plugins, tmp_path, claims=[claim_object(taker, "eth-0")])
    assert codes(done) == ["MET046"]
    assert "vision-train/trainer-nic-x7k2p" in done.findings[0].message


def test_copied_to_another_claim(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    path = driver.prepare(claim, "nic", [plain()])
    taker = Claim("server-nic-9q4ds", "search-prod", "22222222-bbbb")
    copied = driver.file(taker, "nic")
    copied.parent.mkdir(parents=True)
    copied.write_bytes(path.read_bytes())
    done = judged(driver.plugins, tmp_path)
    assert codes(done) == ["MET041"]
    assert len(done.findings) == 2


def test_another_node(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [plain()])
    held = [claim_object(claim, "eth-0")]
    done = judged(
        driver.plugins, tmp_path, claims=held, slices=[slice_object("node-2")], node="node-1"
    )
    assert codes(done) == ["MET043"]


@pytest.mark.parametrize(("pods", "wanted"), [(1, ["MET047"]), (0, [])])
def test_a_missing_file(
    driver: FakeDriver, claim: Claim, tmp_path: Path, pods: int, wanted: list[str]
) -> None:
    driver.prepare(claim, "nic", [plain()])
    other = Claim("late-nic-2kkp9", uid="55555555-eeee")
    held = [claim_object(claim, "eth-0"), claim_object(other, "eth-1", pods=pods)]
    done = judged(driver.plugins, tmp_path, claims=held, slices=[slice_object()], node="node-1")
    assert codes(done) == wanted


def test_killed_while_writing(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.killed_after = 200
    with pytest.raises(Killed):
        driver.prepare(claim, "nic", [plain()])
    assert codes(judged(driver.plugins, tmp_path)) == ["MET033"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, []),
        ({"options": ["rw", "bind"]}, ["MET049"]),
        ({"options": []}, ["MET049"]),
        ({"containerPath": "/var/run/dra-device-attributes/c/nic/x-metadata.json"}, ["MET049"]),
    ],
)
def test_mounts(
    driver: FakeDriver, claim: Claim, tmp_path: Path, change: dict[str, Any], wanted: list[str]
) -> None:
    driver.prepare(claim, "nic", [plain()])
    (spec,) = driver.cdi.iterdir()
    data = json.loads(spec.read_text(encoding="utf-8"))
    data["devices"][0]["containerEdits"]["mounts"][0].update(change)
    spec.write_text(json.dumps(data), encoding="utf-8")
    assert codes(judged(driver.plugins, tmp_path, cdi=driver.cdi)) == wanted


def test_specs_that_can_not_be_read(driver: FakeDriver, tmp_path: Path) -> None:
    driver.cdi.mkdir(parents=True)
    (driver.cdi / f"{NIC}_metadata_u_nic.json").write_bytes(b"{")
    (driver.cdi / "vendor.json").write_bytes(b"{")
    done = judged(tmp_path / "host", tmp_path, cdi=driver.cdi)
    assert codes(done) == ["MET030"]
    assert len(done.findings) == 1


def test_the_document_holds_no_value(driver: FakeDriver, claim: Claim, tmp_path: Path) -> None:
    driver.prepare(claim, "nic", [nic(odd=[SECRET])])
    driver.mount()
    text = json.dumps(metadata_document(judged(driver.container, tmp_path)))
    assert SECRET not in text
    assert "string of 32 characters, sha256" in text
