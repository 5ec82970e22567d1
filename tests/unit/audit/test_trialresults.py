"""LIV066, LIV067, LIV068: the pods of a trial as their Jobs would make them, and what their results mean.

The messages are made up; their form is that of docs/trials.md.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dracfg.audit import AuditReport
from dracfg.audit.report import audit_document
from dracfg.cli.audittext import trials_text
from dracfg.link.catalog import Catalog
from dracfg.lower.trials import trial_artifacts

Audited = Callable[..., AuditReport]
GI = 2**30
SPEC = "  enforces: {memory: driver}"
LOAD = "\n  version: 1.2.0\n  trial: {image: example.org/load:1, namespace: vendor}"
RECORD = (
    "\n  trials: [{{capacity: memory, version: {version}, date: 2026-11-29, digest: {digest}, "
    "enforced: {enforced}}}]"
)
OTHER = "sha256:" + "0" * 64


@pytest.fixture
def known(changed: Callable[..., Catalog]) -> Callable[..., Catalog]:
    """The catalog with a load, and a record where one is given."""

    def make(digest: str = "", version: str = "1.2.0", enforced: str = "true") -> Catalog:
        record = RECORD.format(version=version, digest=digest, enforced=enforced) if digest else ""
        return changed({SPEC: SPEC + LOAD + record})

    return make


def message(environment: Mapping[str, str], **measured: Any) -> str:
    size = json.loads(environment["DRACFG_AMOUNTS"])["memory"]
    told = {"throughput": size / GI, "p99": 0.02, "lost": 0}
    if environment["DRACFG_PHASE"] == "exceed":
        told |= {"ceiling": size, "recovery": 1.5}
    return "ready\n" + json.dumps({**told, **measured})


def run_trial(
    world: Any,
    catalog: Catalog,
    measured: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
    without: str = "",
    namespace: str = "vendor",
) -> None:
    """Adds the finished pods; `measured` bends what (run, container) tells, or how it ended."""
    for artifact in trial_artifacts(catalog.clusters["east"], catalog.pools["cuts"]):
        job = artifact.object
        run = job["metadata"]["labels"]["dracfg.dev/trial"]
        if job["kind"] != "Job" or run == without:
            continue
        template = job["spec"]["template"]
        statuses = []
        for one in template["spec"]["containers"]:
            environment = {entry["name"]: entry["value"] for entry in one["env"]}
            bent = dict((measured or {}).get((run, one["name"]), {}))
            state = {"exitCode": 0, "reason": bent.pop("reason", "Completed")}
            state |= {"finishedAt": "2026-11-29T11:00:00Z"}
            state |= {"message": bent.pop("message", message(environment, **bent))}
            statuses.append({"name": one["name"], "state": {"terminated": state}})
        world.add(
            "v1",
            "Pod",
            f"{run}-x7k2q",
            metadata={**template["metadata"], "namespace": namespace},
            spec={**template["spec"], "nodeName": "cuts-1"},
            status={"phase": "Succeeded", "containerStatuses": statuses},
        )


def outcome(done: AuditReport) -> str:
    (trial,) = done.trials
    (judged,) = trial.capacities
    return judged.outcome


def told(done: AuditReport) -> dict[str, str]:
    return {
        one.diagnostic.code: one.diagnostic.message
        for one in done.findings
        if one.diagnostic.code >= "LIV066"
    }


def test_shares_that_are_held(world: Any, audited: Audited, known: Callable[..., Catalog]) -> None:
    run_trial(world, known())
    done = audited(world, known())
    assert outcome(done) == "enforced"
    assert list(told(done)) == ["LIV067"]
    step = next(one.diagnostic.help for one in done.findings if one.diagnostic.code == "LIV067")
    assert step is not None
    cited = re.search(r"digest: (sha256:[0-9a-f]{64}), enforced: true", step)
    assert cited is not None
    assert "{capacity: memory, version: 1.2.0, date: 2026-11-29," in step
    assert told(audited(world, known(cited[1]))) == {}
    assert "other results" in told(audited(world, known(OTHER)))["LIV067"]


@pytest.mark.parametrize(
    ("at", "bent", "part"),
    [
        (("exceed-memory", "share-0"), {"ceiling": 5.5 * GI}, "1.10 times its size"),
        (("exceed-memory", "share-1"), {"throughput": 4.4}, "another share fell to 88%"),
        (("exceed-memory", "share-2"), {"lost": 3}, "share-2 of 10Gi lost 3 operations"),
        (("exceed-memory", "share-2"), {"reason": "OOMKilled"}, "ended with OOMKilled"),
    ],
)
def test_shares_that_are_not_held(
    at: tuple[str, str],
    bent: dict[str, Any],
    part: str,
    world: Any,
    audited: Audited,
    known: Callable[..., Catalog],
) -> None:
    run_trial(world, known(), {at: bent})
    done = audited(world, known())
    assert outcome(done) == "notEnforced"
    assert part in told(done)["LIV066"]
    assert "LIV066" not in told(audited(world, known(OTHER, enforced="false")))


@pytest.mark.parametrize(
    ("at", "bent"),
    [
        (("exceed-memory", "share-0"), {"ceiling": 5.25 * GI}),
        (("exceed-memory", "share-1"), {"throughput": 4.5}),
        (("exceed-memory", "share-0"), {"reason": "Error", "throughput": 0, "lost": 9}),
    ],
)
def test_within_the_bounds(
    at: tuple[str, str],
    bent: dict[str, Any],
    world: Any,
    audited: Audited,
    known: Callable[..., Catalog],
) -> None:
    run_trial(world, known(), {at: bent})
    assert outcome(audited(world, known())) == "enforced"


@pytest.mark.parametrize(
    ("without", "measured", "part"),
    [
        ("whole", {}, "there is no result of whole"),
        ("exceed-memory", {}, "exceed for memory"),
        ("shared", {}, "there is no result of shared"),
        ("", {("exceed-memory", "share-0"): {"message": "killed"}}, "tells no ceiling"),
        ("", {("exceed-memory", "share-1"): {"message": "{}"}}, "share-1 tells no throughput"),
        ("", {("exceed-memory", "share-1"): {"throughput": "much"}}, "share-1 tells no throughput"),
    ],
)
def test_results_that_decide_nothing(
    without: str,
    measured: dict[tuple[str, str], dict[str, Any]],
    part: str,
    world: Any,
    audited: Audited,
    known: Callable[..., Catalog],
) -> None:
    run_trial(world, known(), measured, without)
    done = audited(world, known())
    assert outcome(done) == "undecided"
    assert part in told(done)["LIV068"]
    assert [one["record"] for one in audit_document(done)["trials"][0]["capacities"]] == [None]


def test_two_nodes(world: Any, audited: Audited, known: Callable[..., Catalog]) -> None:
    run_trial(world, known())
    world.find("Pod", "whole-x7k2q")["spec"]["nodeName"] = "gpus-1"
    assert "2 nodes" in told(audited(world, known()))["LIV068"]


def test_pods_of_another_namespace_count_for_nothing(
    world: Any, audited: Audited, known: Callable[..., Catalog]
) -> None:
    run_trial(world, known(), namespace="vision")
    assert audited(world, known()).trials == ()


def test_results_of_another_release_are_shown_and_prove_nothing(
    world: Any, audited: Audited, known: Callable[..., Catalog], changed: Callable[..., Catalog]
) -> None:
    run_trial(world, known())
    newer = changed({SPEC: SPEC + LOAD.replace("1.2.0", "1.3.0")})
    done = audited(world, newer)
    assert (outcome(done), told(done)) == ("enforced", {})


def test_the_report(world: Any, audited: Audited, known: Callable[..., Catalog]) -> None:
    run_trial(world, known())
    done = audited(world, known())
    (trial,) = audit_document(done)["trials"]
    assert (trial["tier"], trial["policy"], trial["version"]) == ("cut", "slices", "1.2.0")
    assert trial["capacities"][0]["record"]["digest"] == trial["digest"]
    assert len(trial["results"]) == len({(one["run"], one["share"]) for one in trial["results"]})
    text = trials_text(done)
    assert "cut slices  shared.example.org 1.2.0  memory    enforced" in text
    assert "exceed-memory" in text


def give(world: Any, run: str, shares: Mapping[str, tuple[str, str]]) -> None:
    """Records the claim of a run's pod; `shares` are (device, ShareID) by container."""
    pod = world.find("Pod", f"{run}-x7k2q")
    pod["status"]["resourceClaimStatuses"] = [{"name": "trial", "resourceClaimName": f"of-{run}"}]
    requests = [one["name"] for one in pod["spec"]["containers"]]
    world.add(
        "resource.k8s.io/v1",
        "ResourceClaim",
        f"of-{run}",
        metadata={"namespace": "vendor", "uid": f"uid-{run}"},
        spec={
            "devices": {
                "requests": [
                    {"name": name, "exactly": {"deviceClassName": "cut"}} for name in requests
                ]
            }
        },
        status={
            "allocation": {
                "devices": {
                    "results": [
                        {
                            "request": name,
                            "driver": "shared.example.org",
                            "pool": "cuts-1",
                            "device": device,
                            "shareID": share_id,
                        }
                        for name, (device, share_id) in shares.items()
                    ]
                }
            }
        },
    )


def uid(number: int) -> str:
    return f"a1b2c3d4-0000-4000-8000-{number:012}"


def names(world: Any, run: str) -> list[str]:
    return [one["name"] for one in world.find("Pod", f"{run}-x7k2q")["spec"]["containers"]]


def test_a_share_is_named_by_its_id(
    world: Any, audited: Audited, known: Callable[..., Catalog]
) -> None:
    """Claims on record name the shares, and change neither verdict nor digest."""
    run_trial(world, known())
    (before,) = audit_document(audited(world, known()))["trials"]
    for run in ("shared", "exceed-memory"):
        shares = {name: ("cut-0", uid(i)) for i, name in enumerate(names(world, run))}
        give(world, run, shares)
    done = audited(world, known())
    (trial,) = audit_document(done)["trials"]
    assert (trial["digest"], trial["capacities"]) == (before["digest"], before["capacities"])
    by_name = {(one["run"], one["share"]): one for one in trial["results"]}
    assert by_name["shared", "share-1"]["shareID"] == uid(1)
    assert by_name["shared", "share-1"]["device"] == "shared.example.org/cuts-1/cut-0"
    assert by_name["whole", "share-0"]["shareID"] is None
    assert uid(1) in trials_text(done)


def test_containers_of_one_share_are_judged_together(
    world: Any, audited: Audited, known: Callable[..., Catalog]
) -> None:
    """Of two containers in one share one falls behind while the other gains: the share keeps its pace."""
    bent = {
        ("exceed-memory", "share-1"): {"throughput": 2.5, "p99": 0.5, "lost": 0},
        ("exceed-memory", "share-2"): {"throughput": 17.5, "p99": 0.02, "lost": 0},
    }
    run_trial(world, known(), bent)
    assert outcome(audited(world, known())) == "notEnforced"
    for run in ("shared", "exceed-memory"):
        shares = {name: ("cut-0", uid(min(i, 1))) for i, name in enumerate(names(world, run))}
        give(world, run, shares)
    done = audited(world, known())
    assert outcome(done) == "enforced"
    (trial,) = audit_document(done)["trials"]
    joined = [one for one in trial["results"] if one["run"] == "exceed-memory"]
    assert [one["share"].count("+") for one in joined] == [0, len(names(world, "shared")) - 2]
    assert joined[1]["measured"]["p99"] == 0.5


def test_shares_on_several_devices_show_nothing(
    world: Any, audited: Audited, known: Callable[..., Catalog]
) -> None:
    run_trial(world, known(), {("exceed-memory", "share-1"): {"throughput": 1}})
    run = "exceed-memory"
    give(world, run, {name: (f"cut-{i}", uid(i)) for i, name in enumerate(names(world, run))})
    done = audited(world, known())
    assert outcome(done) == "undecided"
    assert "in exceed-memory its shares were on" in told(done)["LIV068"]


@pytest.mark.parametrize(
    ("bent", "kept"),
    [({"message": "killed"}, None), ({"reason": "OOMKilled"}, "OOMKilled")],
)
def test_what_one_container_of_a_share_does_not_tell_is_not_known(
    world: Any,
    audited: Audited,
    known: Callable[..., Catalog],
    bent: dict[str, Any],
    kept: str | None,
) -> None:
    run_trial(world, known(), {("exceed-memory", "share-2"): bent})
    run = "exceed-memory"
    give(world, run, {name: ("cut-0", uid(min(i, 1))) for i, name in enumerate(names(world, run))})
    (trial,) = audit_document(audited(world, known()))["trials"]
    one = next(one for one in trial["results"] if one["run"] == run and "+" in one["share"])
    assert (one["measured"] is None) == (kept is None)
    assert one["ended"] == (kept or "Completed")
