"""Pods that ask for several kinds of device: profiles that align them, or a person who decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

from dracfg.diagnostics import Diagnostic
from tests.unit.draft.conftest import deployment, draft, files, node

Check = Callable[[Mapping[str, str]], list[Diagnostic]]
NVIDIA, AMD, EFA = "nvidia.com/gpu", "amd.com/gpu", "vpc.amazonaws.com/efa"
LABELS = {"nvidia.com/gpu.product": "Tesla-T4", "amd.com/gpu.product-name": "MI300X"}
NODES = tuple(
    node(f"{group}1", {NVIDIA: 4, AMD: 4, EFA: 4}, {**LABELS, "node-pool": group}) for group in "ab"
)


def profiles(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    spec = yaml.safe_load(files(*NODES, *objects)["tenants/team.yaml"])["spec"]
    return [one for one in spec.get("profiles", ()) if len(one["requests"]) > 1]


def test_as_many_of_each_are_aligned(errors_in: Check) -> None:
    work = deployment("both", {NVIDIA: 2, AMD: 2})
    (profile,) = profiles(work)
    assert profile["name"] == "gpu-x2-gpu-2-x2"
    assert [one["count"] for one in profile["requests"]] == [2, 2]
    assert profile["align"] == [
        {"requests": ["gpu", "gpu-2"], "by": "resource.kubernetes.io/pcieRoot"}
    ]
    written = files(*NODES, work)
    assert (
        "whether mi300x and tesla-t4 of Deployment both must lie close" in written["DECISIONS.md"]
    )
    assert errors_in(written) == []


def test_uneven_numbers_are_not_aligned(errors_in: Check) -> None:
    work = deployment("odd", {NVIDIA: 2, AMD: 1})
    (profile,) = profiles(work)
    assert "align" not in profile
    written = files(*NODES, work)
    assert "it asks for 1 and 2, so nothing is aligned" in written["DECISIONS.md"]
    assert errors_in(written) == []


def test_the_same_combination_is_one_profile() -> None:
    work = [deployment(name, {NVIDIA: 1, AMD: 1}) for name in ("a", "b")]
    assert len(profiles(*work)) == 1


def test_what_stays_with_its_plugin_is_no_profile() -> None:
    work = [deployment("nic", {NVIDIA: 1, EFA: 1}), deployment("both", {NVIDIA: 1, AMD: 1})]
    assert [one["name"] for one in profiles(*work)] == ["gpu-x1-gpu-2-x1"]
    page = files(*NODES, *work)["DECISIONS.md"]
    assert "how Deployment nic of team comes by vpc-efa beside tesla-t4" in page


@pytest.mark.parametrize(("together", "gains", "loses"), [(AMD, True, False), (EFA, False, True)])
def test_alignment_counts_where_a_claim_can_have_both(
    together: str, gains: bool, loses: bool
) -> None:
    done = draft(*NODES, deployment("d", {NVIDIA: 1, together: 1}), deployment("e", {NVIDIA: 1}))
    verdict = next(one for one in done.verdicts if one.resource == NVIDIA)
    assert any("align: 1 of 2 workloads" in one for one in verdict.gains) is gains
    assert any("stays with its plugin" in one for one in verdict.losses) is loses


def test_what_no_workload_uses_and_how_far_the_driver_is() -> None:
    done = draft(*NODES, deployment("d", {NVIDIA: 1}, nodeSelector={"nvidia.com/gpu.product": "T"}))
    verdict = next(one for one in done.verdicts if one.resource == NVIDIA)
    assert verdict.unused == ("alternatives", "sharing", "alignment", "configuration")
    page = files(*NODES)["DECISIONS.md"]
    told = next(line for line in page.splitlines() if line.startswith("- `gpu.nvidia.com`"))
    assert "its newest release is 0.5.0, before 1.0, after 8 others" in told
    assert "alpha in 0.5.0: ConsumableShares" in told
    assert "resizesShareInPlace" in told
