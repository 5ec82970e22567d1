"""Every published selector of tests/data/selectors: what it deserves, and what its class matches.

`SHARED` is a folder beside the repository with the manifests that the table was made from; where it
is not there, the table alone is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.allocate import load_inventory
from dracfg.cel import DeviceFacts, EvaluationError, Program
from dracfg.check.lints import compile_selector, lint
from dracfg.check.lints.finding import MEND
from dracfg.link.presets import load_preset
from dracfg.source.records import RecordedObject, read_record

ROOT = Path(__file__).parents[4]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "fixtures" / "real"
MINOR, GATES = "1.36", frozenset({"DRAConsumableCapacity"})
KINDS = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")

ROWS: list[dict[str, Any]] = yaml.safe_load(
    (DATA / "selectors" / "selectors.yaml").read_text("utf-8")
)
BAD = {
    "ResourceClaim/claim1": {"SEL009", "SEL010"},
    "ResourceClaim/dranet-network": {"SEL002", "SEL010"},
    "ResourceClaimTemplate/2-gpu-nic-aligned": {"SEL002", "SEL010"},
    "ResourceClaimTemplate/a100": {"SEL002", "SEL010"},
    "ResourceClaimTemplate/claim1": {"SEL010"},
    "DeviceClass/gpu.example.com": {"SEL002", "SEL010"},
}

# driver → what follows the test of the driver in the class → (match, no match, error) of all devices
# of the driver in tests/data/slices. Of drivers that are left out no readable slice is published.
ALL = ""
MATCHED: dict[str, dict[str, tuple[int, int, int]]] = {
    "dra.cpu": {ALL: (3, 0, 0)},
    "dra.net": {
        ALL: (19, 0, 0),
        "device.attributes[\"dra.net\"].pciDevice == 'Elastic Fabric Adapter (EFA)'": (4, 15, 0),
        'device.attributes["dra.net"].rdma': (16, 3, 0),
        'device.attributes["dra.net"].rdma == true': (16, 3, 0),
    },
    "gpu.example.com": {
        ALL: (7, 0, 0),
        "device.attributes['gpu.example.com'].type == 'gpu'": (0, 7, 0),
    },
    "gpu.intel.com": {ALL: (2, 0, 0)},
    "gpu.nvidia.com": {
        "device.attributes['gpu.nvidia.com'].type == 'gpu'": (21, 5, 0),
        "device.attributes['gpu.nvidia.com'].type == 'mig'": (4, 22, 0),
        "device.attributes['gpu.nvidia.com'].type == 'vfio'": (1, 25, 0),
        "device.attributes['gpu.nvidia.com'].type == 'mig' && "
        "device.attributes['gpu.nvidia.com'].profile == '1g.12gb'": (0, 26, 0),
    },
    "tpu.google.com": {ALL: (2, 0, 0)},
}
UNPUBLISHED = {
    "compute-domain.nvidia.com",
    "dra.memory",
    "gaudi.intel.com",
    "gpu.amd.com",
    "hami-core-gpu.project-hami.io",
    "npu.rebellions.ai",
    "sriovnetwork.k8snetworkplumbingwg.io",
}


def name(row: Mapping[str, Any]) -> str:
    return f"{row['object']}-{row['expression'][:40]}"


def found(row: Mapping[str, Any]) -> set[str]:
    preset = load_preset(row["driver"])
    findings = lint(
        row["expression"], driver=preset, minor=MINOR, gates=GATES, is_first=row["first"]
    )
    return {finding.code for finding in findings}


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_published_selector_gets_what_it_deserves(row: dict[str, Any]) -> None:
    assert found(row) == set(row["codes"])


def test_the_worst_are_named() -> None:
    worst = {row["object"]: set(row["codes"]) for row in ROWS if "because" in row}
    assert worst == BAD


@pytest.mark.parametrize("row", [row for row in ROWS if row["codes"]], ids=name)
def test_a_mended_selector_has_no_finding_left(row: dict[str, Any]) -> None:
    preset = load_preset(row["driver"])
    findings = lint(
        row["expression"], driver=preset, minor=MINOR, gates=GATES, is_first=row["first"]
    )
    mended = [f.help.removeprefix(MEND) for f in findings if f.help and f.help.startswith(MEND)]
    assert mended
    for text in mended:
        left = lint(text, driver=preset, minor=MINOR, gates=GATES, is_first=row["first"])
        assert {one.code for one in left} <= {"SEL002"}, text


def classes() -> dict[tuple[str, str], list[str]]:
    """The selectors of each class, by (driver, what follows the test of the driver)."""
    by_object: dict[tuple[str, str, str], list[str]] = {}
    for row in ROWS:
        if row["object"].startswith("DeviceClass/"):
            key = (row["source"], row["object"], row["driver"])
            by_object.setdefault(key, []).append(row["expression"])
    found = {}
    for (_, _, driver), texts in by_object.items():
        terms = " && ".join(" ".join(text.split()) for text in texts)
        tests = (f"device.driver == {quote}{driver}{quote}" for quote in "'\"")
        rest = next(terms.removeprefix(test) for test in tests if terms.startswith(test))
        found[driver, rest.removeprefix(" && ")] = texts
    return found


@cache
def devices(driver: str) -> tuple[DeviceFacts, ...]:
    """The devices of the driver in every slice that can be read."""
    facts = []
    for path in sorted((DATA / "slices").rglob("*.yaml")):
        record, _ = read_record(DATA / "slices", path.relative_to(DATA / "slices").as_posix())
        for device in load_inventory([record])[0].devices:
            if device.driver == driver:
                content: Any = device.origin.object.data
                for step in device.origin.steps:
                    content = content[step]
                facts.append(DeviceFacts.from_device(driver, content))
    return tuple(facts)


def outcome(texts: list[str], device: DeviceFacts) -> str:
    for text in texts:
        program = compile_selector(text, MINOR, GATES)
        assert isinstance(program, Program)
        result = program.matches(device)
        if isinstance(result, EvaluationError):
            return "error"
        assert isinstance(result, bool)
        if not result:
            return "no match"
    return "match"


@pytest.mark.parametrize(("driver", "terms"), classes())
def test_a_published_class_on_every_published_device(driver: str, terms: str) -> None:
    texts = classes()[driver, terms]
    counted = Counter(outcome(texts, device) for device in devices(driver))
    found = (counted["match"], counted["no match"], counted["error"])
    assert found == MATCHED.get(driver, {}).get(terms, (0, 0, 0))
    assert bool(devices(driver)) == (driver not in UNPUBLISHED)


def objects() -> Iterator[tuple[str, RecordedObject]]:
    """(source, object) of every published object of the four kinds."""
    for folder in sorted(path for path in SHARED.iterdir() if path.is_dir()):
        sources = dict(sources_of(folder / "SOURCES.md"))
        for path in sorted(folder.iterdir()):
            if path.suffix in (".yaml", ".yml", ".json"):
                record, _ = read_record(SHARED, path.relative_to(SHARED).as_posix())
                for item in record.objects:
                    if item.data["kind"] in KINDS:
                        yield sources[path.name], item


def sources_of(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 3 and cells[0].endswith((".yaml", ".yml", ".json")):
            yield cells[0], f"{cells[1]}@{cells[3]}:{cells[2]}"


def selectors(item: RecordedObject) -> Iterator[str]:
    """The expressions of a class, a claim or a template."""
    spec = item.data.get("spec") or {}
    found = list(spec.get("selectors") or ())
    devices = (spec.get("spec") or spec).get("devices") or {}
    for request in devices.get("requests") or () if item.data["kind"] != "ResourceSlice" else ():
        for part in (request, request.get("exactly") or {}, *(request.get("firstAvailable") or ())):
            found += part.get("selectors") or ()
    for selector in found:
        yield (selector.get("cel") or selector)["expression"]


needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the folder of published manifests is not beside the repository"
)


@needs_shared
def test_the_table_holds_every_published_selector() -> None:
    known = {(row["source"], row["object"], row["expression"]) for row in ROWS}
    published = set()
    for source, item in objects():
        metadata = item.data.get("metadata") or {}
        title = metadata.get("name") or metadata.get("generateName") or ""
        for text in selectors(item):
            published.add((source, f"{item.data['kind']}/{title}", text))
    assert published == known


@needs_shared
def test_every_published_object_loads() -> None:
    kinds = Counter(item.data["kind"] for _, item in objects())
    assert min(kinds[kind] for kind in KINDS) > 20
    for path in sorted(SHARED.rglob("*.yaml")):
        record, faults = read_record(SHARED, path.relative_to(SHARED).as_posix())
        published = any(item.data["kind"] in KINDS for item in record.objects)
        assert not (published and faults), path
        slices = [item for item in record.objects if item.data["kind"] == "ResourceSlice"]
        if slices:
            inventory, found = load_inventory([record])
            assert inventory.devices or found, path
