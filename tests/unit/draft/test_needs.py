"""Workloads and quotas → what namespaces need, and whether a resource stays or moves, with counts."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.draft.verdicts import Verdict
from tests.unit.draft.conftest import deployment, draft, node

T4 = {"nvidia.com/gpu.product": "Tesla-T4"}
CHOSEN = {"nodeSelector": T4}


def groups(count: int = 4, version: str = "v1.36.1", **more: int) -> tuple[dict[str, Any], ...]:
    served = {"nvidia.com/gpu": count, **more}
    return tuple(node(f"{one}1", served, {**T4, "node-pool": one}, version) for one in ("a", "b"))


def quota(count: int, namespace: str = "team") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "devices", "namespace": namespace},
        "spec": {"hard": {"requests.nvidia.com/gpu": str(count)}},
    }


@pytest.mark.parametrize(
    ("replicas", "bound", "expected"),
    [
        (3, None, (3, 3, 3)),
        (3, 6, (3, 3, 6)),
        (3, 2, (3, 2, 2)),
        (20, None, (20, 8, 8)),
        (3, 100, (3, 3, 8)),
    ],
)
def test_promises_what_is_asked_for_and_there(
    replicas: int, bound: int | None, expected: tuple[int, int, int]
) -> None:
    quotas = () if bound is None else (quota(bound),)
    done = draft(*groups(), deployment("d", {"nvidia.com/gpu": 1}, replicas), *quotas)
    (need,) = done.needs
    assert (need.asked, need.guaranteed, need.limit) == expected
    assert bool(need.questions) is (need.guaranteed < need.asked)


def test_no_sum_of_promises_exceeds_what_there_is() -> None:
    listed = [deployment("d", {"nvidia.com/gpu": 2}, 3, f"team-{i}") for i in range(4)]
    done = draft(*groups(), *listed)
    assert sum(need.guaranteed for need in done.needs) == 8
    assert [need.guaranteed for need in done.needs] == [6, 2, 0, 0]


def test_a_quota_alone_promises_nothing() -> None:
    (need,) = draft(*groups(), quota(4)).needs
    assert (need.asked, need.guaranteed, need.limit) == (0, 0, 4)


def test_work_that_has_ended_asks_for_nothing() -> None:
    pod = deployment("d", {"nvidia.com/gpu": 1})
    ended = {
        **pod,
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": pod["spec"]["template"]["spec"],
        "status": {"phase": "Succeeded"},
    }
    assert draft(*groups(), ended).needs == ()


def test_namespaces_of_the_platform_are_a_question() -> None:
    done = draft(*groups(), deployment("d", {"nvidia.com/gpu": 1}, namespace="kube-system"))
    assert done.needs == ()
    assert "where the work of namespace kube-system goes" in [one.question for one in done.open]


def test_a_selector_picks_the_tier() -> None:
    other = {"nvidia.com/gpu.product": "NVIDIA-L4"}
    done = draft(
        *groups(),
        node("c1", {"nvidia.com/gpu": 2}, other),
        deployment("d", {"nvidia.com/gpu": 1}, nodeSelector=other),
        deployment("e", {"nvidia.com/gpu": 1}),
    )
    assert [need.tier for need in done.needs] == ["nvidia-l4"]
    assert any(
        "which tier Deployment e" in one.question for need in done.needs for one in need.questions
    )


def verdict(*objects: dict[str, Any]) -> Verdict:
    return draft(*objects).verdicts[0]


def test_moves_where_something_is_gained_and_nothing_stands_in_the_way() -> None:
    plain = deployment("e", {"nvidia.com/gpu": 1})
    done = verdict(*groups(), deployment("d", {"nvidia.com/gpu": 1}, **CHOSEN), plain)
    assert done.moves
    assert done.gains[0].endswith("1 of 2 workloads")


@pytest.mark.parametrize(
    ("objects", "says"),
    [
        ([*groups(), deployment("d", {"nvidia.com/gpu": 1})], "nothing that its workloads say"),
        ([groups()[0], deployment("d", {"nvidia.com/gpu": 1}, **CHOSEN)], "it has one pool"),
        ([*groups()], "no namespace that a tenant can have"),
        (
            [*groups(version="v1.31.4"), deployment("d", {"nvidia.com/gpu": 1}, **CHOSEN)],
            "needs Kubernetes 1.34, and 1.31 is recorded",
        ),
        (
            [
                *groups(**{"nvidia.com/mig-1g.5gb": 7}),
                deployment("d", {"nvidia.com/gpu": 1}, **CHOSEN),
            ],
            "holds other tiers of the driver",
        ),
        (
            [
                *(node(f"{one}1", {"fpga.intel.com/af-1": 1}, {"node-pool": one}) for one in "ab"),
                deployment("d", {"fpga.intel.com/af-1": 1}, nodeSelector={"node-pool": "a"}),
            ],
            "there is no DRA driver for it",
        ),
        ([deployment("d", {"nvidia.com/gpu": 1})], "no recorded node serves it"),
    ],
)
def test_stays(objects: list[dict[str, Any]], says: str) -> None:
    done = verdict(*objects)
    assert not done.moves
    assert any(says in obstacle for obstacle in done.obstacles), done.obstacles


def test_counts_what_is_gained_and_lost() -> None:
    shared = deployment("s", {"nvidia.com/gpu.shared": 2})
    plain = deployment("p", {"nvidia.com/gpu": 1}, **CHOSEN)
    done = verdict(*groups(), plain, deployment("q", {"nvidia.com/gpu": 1}), shared)
    assert any("of the device itself: 1 of 3 workloads" in gain for gain in done.gains)
    assert any("shares, which" in gain for gain in done.gains)
    assert done.losses == (
        "several shares that may lie on one device, which a claim does not carry over: 1 of 3 workloads",
    )


@pytest.mark.parametrize("name", [["a"], {"a": 1}, 7, True])
def test_odd_values_are_passed_over(name: object) -> None:
    thing = deployment("d", {"nvidia.com/gpu": 1})
    thing["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": name}]
    (need,) = draft(*groups(), thing).needs
    assert need.asked == 1
