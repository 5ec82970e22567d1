"""Published manifests: the wrong ones get their finding, the right ones none.

tests/data/real/wrong.yaml names the wrong ones and says why.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.allocate.claimobjects import in_memory, read_claims
from dracfg.check.manifests import check_manifest
from dracfg.check.recordedparameters import check_parameters
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.source.records import Record, read_record

DATA = Path(__file__).parents[2] / "data" / "real"
TABLE = DATA / "wrong.yaml"
WRONG: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
FILES = sorted(path.relative_to(DATA).as_posix() for path in DATA.rglob("*.yaml") if path != TABLE)
NOTHING = Catalog({}, {}, {}, {}, {}, {}, {})


def findings(record: Record, catalog: Catalog = NOTHING) -> tuple[Diagnostic, ...]:
    return (
        *read_claims([record], "1.36")[1],
        *check_manifest(record, catalog),
        *check_parameters([record], catalog),
    )


def test_the_table_names_files_that_are_there() -> None:
    assert set(WRONG) <= set(FILES)
    assert len(FILES) - len(WRONG) > 200


def test_every_file_has_its_source() -> None:
    rows = (DATA / "SOURCES.md").read_text(encoding="utf-8").splitlines()
    named = {row.split(" | ")[0].removeprefix("| ") for row in rows if "@" in row}
    assert named == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_wrong_manifests_alone_have_findings(file: str) -> None:
    record, faults = read_record(DATA, file)
    found = [*faults, *findings(record)]
    assert sorted({one.code for one in found}) == WRONG.get(file, {"codes": []})["codes"]
    assert all(one.span is not None and one.span.path == file for one in found)


def pod(*claims: dict[str, Any], uses: str = "gpu", **more: Any) -> Record:
    container = {"name": "a", "resources": {"claims": [{"name": uses}], **more}}
    spec = {"containers": [container], "resourceClaims": list(claims)}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    return in_memory([made])


@pytest.mark.parametrize(
    ("record", "codes", "words"),
    [
        (pod({"name": "gpu", "resourceClaimTemplateName": "t"}), [], ""),
        (
            pod({"name": "gpu", "source": {"resourceClaimTemplateName": "t"}}),
            ["INV052"],
            "write `resourceClaimTemplateName: t` beside the name",
        ),
        (pod({"name": "gpu", "resourceclaimname": "c"}), ["INV052"], "letter by letter"),
        (
            pod({"name": "gpu", "resourceClaimName": "c", "resourceClaimTemplateName": "t"}),
            ["INV052"],
            "keep one of the two",
        ),
        (pod({"name": "gpu"}), ["INV052"], "name it by resourceClaimName"),
        (
            pod({"name": "gpu", "resourceClaimName": "c"}, {"name": "gpu", "resourceClaimName": "d"}),
            ["INV052"],
            "a name of its own",
        ),
        (
            pod({"name": "gpu", "resourceClaimName": "c"}, uses="gpus"),
            ["INV052"],
            "did you mean gpu?",
        ),
    ],
)  # fmt: skip
def test_claims_of_a_pod(record: Record, codes: list[str], words: str) -> None:
    found = check_manifest(record, NOTHING)
    assert [one.code for one in found] == codes
    assert all(words in str(one.help) for one in found)


def test_one_class_by_two_names() -> None:
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }
    implicit = "deviceclass.resource.kubernetes.io/gpu"
    for requests, codes in (
        ({"example.com/gpu": 1, implicit: 1}, ["INV053"]),
        ({"example.com/gpu": 1, implicit: 0}, []),
        ({"example.com/gpu": 1, implicit + "s": 1}, []),
    ):
        (asks,) = pod({"name": "gpu", "resourceClaimName": "c"}, requests=requests).objects
        found = check_manifest(in_memory([made, asks.data]), NOTHING)
        assert [one.code for one in found] == codes


@pytest.mark.parametrize(
    ("kind", "sharing", "words"),
    [
        ("GpuConfig", {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}, None),
        ("GpuConfig", {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "long"}}, "Long"),
        ("GPUConfig", {}, "GpuConfig"),
    ],
)  # fmt: skip
def test_parameters(kind: str, sharing: dict[str, Any], words: str | None) -> None:
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": sharing}
    config = {"opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": [request], "config": [config]}},
    }
    found = check_parameters([in_memory([claim])], NOTHING)
    assert [one.code for one in found] == ([] if words is None else ["INV054"])
    assert all(words in f"{one.help} {one.expected}" for one in found if words)
