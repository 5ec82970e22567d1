"""Workloads as their projects publish them: rewritten, sound in every minor, and reversed to the byte."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dracfg.kube.objects import SchemaFault, UnknownKind, schema_faults
from dracfg.migrate.demand import items
from dracfg.migrate.manifest import read_manifest
from dracfg.migrate.migration import migrate_file, reverse_file
from dracfg.migrate.tenancy import Tenancy

DATA = Path(__file__).parents[2] / "data" / "workloads"
FILES = sorted((DATA / "manifests").rglob("*.yaml"))
LEFT = {
    "legacy-kubeflow/lammps-train-gpus.yaml": "ROL058",
    "nvidia/bats-nvb.tmpl.yaml": "ROL040",
}
"""What can't be rewritten, and why: an amount outside of pods, an amount that is yet to be filled in."""
MINORS = ("1.34", "1.35", "1.36", "1.37")


def name_of(path: Path) -> str:
    return path.relative_to(DATA / "manifests").as_posix()


REWRITTEN = [path for path in FILES if name_of(path) not in LEFT]


def test_all_are_here() -> None:
    listed = {
        line.split("|")[1].strip()
        for line in (DATA / "SOURCES.md").read_text().split("\n")[9:]
        if line
    }
    assert listed == {name_of(path) for path in FILES}


@pytest.mark.parametrize("path", REWRITTEN, ids=name_of)
def test_rewritten_and_reversed(path: Path, tenancy: Tenancy) -> None:
    data = path.read_bytes()
    done = migrate_file("w.yaml", data, tenancy)
    assert done.outcome == "rewritten", done.findings
    assert b"resourceClaims:" in done.after
    again = migrate_file("w.yaml", done.after, tenancy)
    assert again.after == done.after
    assert not again.changes
    back = reverse_file("w.yaml", done.after)
    assert back.after == data
    assert reverse_file("w.yaml", data).outcome == "unchanged"


@pytest.mark.parametrize("path", REWRITTEN, ids=name_of)
def test_no_amount_is_left(path: Path, tenancy: Tenancy) -> None:
    done = migrate_file("w.yaml", path.read_bytes(), tenancy)
    after = read_manifest("w.yaml", done.after.decode())
    for site in after.sites:
        for container in site.containers:
            assert not items(container.data), site.name


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("path", REWRITTEN, ids=name_of)
def test_sound_in_every_minor(path: Path, minor: str, tenancy: Tenancy) -> None:
    data = path.read_bytes()
    done = migrate_file("w.yaml", data, tenancy)
    before = set(_faults(data.decode(), minor))
    assert set(_faults(done.after.decode(), minor)) <= before


def _faults(text: str, minor: str) -> Iterator[tuple[str, SchemaFault]]:
    """Faults of objects that Kubernetes knows, and of the pod specs of those that it doesn't."""
    manifest = read_manifest("w.yaml", text)
    for thing in manifest.record.objects:
        found = schema_faults(thing.data, minor)
        if not isinstance(found, UnknownKind):
            yield from ((thing.data["kind"], fault) for fault in found)
    for site in manifest.sites:
        pod: dict[str, Any] = {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": dict(site.spec),
        }  # fmt: skip
        found = schema_faults(pod, minor)
        assert not isinstance(found, UnknownKind)
        yield from ((site.name, fault) for fault in found)


@pytest.mark.parametrize(("name", "code"), LEFT.items())
def test_left(name: str, code: str, tenancy: Tenancy) -> None:
    data = (DATA / "manifests" / name).read_bytes()
    done = migrate_file("w.yaml", data, tenancy)
    assert done.outcome == "left"
    assert done.after == data
    assert code in {finding.code for finding in done.findings}
