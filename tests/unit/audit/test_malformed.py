"""Nothing in a record raises: whatever value stands anywhere in a dump, the audit ends with a report."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dracfg.allocate.claimobjects import in_memory
from dracfg.audit import audit
from dracfg.audit.report import audit_document
from dracfg.link.catalog import Catalog

JUNK = st.sampled_from(
    [
        None,
        0,
        -1,
        True,
        "",
        "x",
        "-5Gi",
        "2026-13-45T99:00:00Z",
        [],
        ["x"],
        {},
        {"a": 1},
        [{}],
        [[]],
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below, without the kind by which objects are told apart."""
    if path and path[-1] != "kind":
        yield path
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in below:
        yield from places(inner, (*path, key))


def full(world: Any) -> list[dict[str, Any]]:
    """A world in which every rule has something to look at."""
    pod, claim = world.held("a", ["gpu-0", "gpu-1"])
    claim["status"]["devices"] = [world.status("gpu-0", status="False")]
    report = {"name": "claim:gpu", "resources": [{"resourceID": "x-gpu-0", "health": "Unhealthy"}]}
    pod["status"]["containerStatuses"] = [{"name": "main", "allocatedResourcesStatus": [report]}]
    late = world.pod("late", None, phase="Pending")
    world.claim("late")
    world.event(late, "FailedScheduling", "0/2 nodes are available: 2 cannot allocate all claims.")
    sharer = world.pod("n", "cuts-1")
    world.share("n", pods=[sharer])
    quota = {"hard": {"big.deviceclass.resource.k8s.io/devices": "2"}}
    world.add("v1", "ResourceQuota", "q", metadata={"namespace": "vision"}, spec=quota)
    rule = {
        "deviceSelector": {"driver": "gpu.example.org"},
        "taint": {"key": "k", "effect": "NoExecute"},
    }
    world.add("resource.k8s.io/v1beta2", "DeviceTaintRule", "r", spec=rule)
    made: list[dict[str, Any]] = world.objects
    return made


def test_any_value_anywhere(world: Any, platform: Catalog) -> None:
    objects = full(world)
    paths = list(places(objects))

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(st.sampled_from(paths), JUNK), min_size=1, max_size=3))
    def judge(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
        bent = copy.deepcopy(objects)
        for path, junk in changes:
            owner: Any = bent
            try:
                for step in path[:-1]:
                    owner = owner[step]
                owner[path[-1]] = junk
            except (KeyError, IndexError, TypeError):
                continue
        record = in_memory([thing for thing in bent if isinstance(thing, dict) and "kind" in thing])
        for known in (platform, None):
            where = known.clusters["east"] if known is not None else None
            json.dumps(audit_document(audit(known, where, [record])))

    judge()


def test_an_empty_record(platform: Catalog) -> None:
    done = audit(platform, platform.clusters["east"], [])
    assert {f.code for f in done.diagnostics} == {"LIV058"}
    assert done.verdict == "unknown"
    assert done.ledger.entries == ()
