"""Nodes → tiers and pools: products, parts, replicas, labels that tell nodes apart, two owners."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.unit.draft.conftest import deployment, draft, files, node

T4 = {"nvidia.com/gpu.product": "Tesla-T4"}


def plugin_config(text: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "config", "namespace": "gpu-operator"},
        "data": {"any": text},
    }


SLICED = "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - {name: nvidia.com/gpu, replicas: 4}\n"


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize(
    ("labels", "served", "per_node", "sharing"),
    [
        (T4, 4, 4, None),
        ({"nvidia.com/gpu.product": "Tesla-T4-SHARED"}, 16, 4, "turns-4"),
        ({"nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "2"}, 4, 2, "turns-2"),
        ({"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.replicas": "1"}, 4, 4, None),
        ({}, 16, 4, "turns-4"),
    ],
)  # fmt: skip
def test_replicas(labels: dict[str, str], served: int, per_node: int, sharing: str | None) -> None:
    done = draft(node("n1", {"nvidia.com/gpu": served}, labels), plugin_config(SLICED))
    (pool,) = done.hardware.pools
    assert [(part.per_node, part.policy) for part in pool.parts] == [(per_node, sharing)]
    assert pool.units(pool.parts[0].tier) == served


def test_replicas_that_do_not_divide_are_a_question() -> None:
    labels = {"nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "4"}
    done = draft(node("n1", {"nvidia.com/gpu": 7}, labels))
    (pool,) = done.hardware.pools
    assert pool.parts[0].per_node == 1
    assert "how many devices stand behind 7 nvidia.com/gpu" in pool.questions[0].question


def test_a_configuration_that_no_node_shows_is_a_question() -> None:
    done = draft(node("n1", {"nvidia.com/gpu": 4}, T4), plugin_config(SLICED))
    assert not done.hardware.policies
    (asked,) = done.open
    assert "`shares: 4`" in asked.reason


def test_turns_are_written_with_their_number_and_shares_are_named() -> None:
    written = files(
        node("n1", {"nvidia.com/gpu": 16}, {"nvidia.com/gpu.product": "Tesla-T4-SHARED"}),
        plugin_config(SLICED),
    )
    (policy,) = documents(written["catalog/policies.yaml"])
    assert policy["spec"]["mode"] == "timeSliced"
    assert policy["spec"]["replicas"] == 4
    assert "`unlimited` has no bound" in written["DECISIONS.md"]


def test_parts_are_tiers_of_their_own() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
    written = files(node("n1", {"nvidia.com/mig-1g.5gb": 7, "nvidia.com/mig-2g.10gb": 3}, labels))
    tiers = documents(written["catalog/tiers.yaml"])
    assert [tier["spec"]["match"]["attributes"]["profile"] for tier in tiers] == [
        "1g.5gb",
        "2g.10gb",
    ]
    assert {tier["spec"]["match"]["attributes"]["type"] for tier in tiers} == {"mig"}
    assert [tier["spec"]["legacyResource"] for tier in tiers] == [
        "nvidia.com/mig-1g.5gb",
        "nvidia.com/mig-2g.10gb",
    ]


def test_one_label_has_product_and_part() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}
    done = draft(node("n1", {"nvidia.com/gpu": 7}, labels))
    (tier,) = done.hardware.tiers
    assert (tier.make.product, tier.make.partition) == ("nvidia-a100-sxm4-40gb", "1g.5gb")


def test_a_node_group_is_a_pool() -> None:
    done = draft(
        *(node(f"a{i}", {"nvidia.com/gpu": 4}, {**T4, "node-pool": "a"}) for i in (1, 2)),
        node("b1", {"nvidia.com/gpu": 4}, {**T4, "node-pool": "b"}),
    )
    assert [(pool.name, len(pool.nodes), dict(pool.selector)) for pool in done.hardware.pools] == [
        ("tesla-t4-a", 2, {"node-pool": "a"}),
        ("tesla-t4-b", 1, {"node-pool": "b"}),
    ]


def test_a_selector_leaves_out_nodes_without_devices() -> None:
    shared = {"node-pool": "a"}
    done = draft(node("a1", {"nvidia.com/gpu": 4}, {**T4, **shared}), node("a2", {}, shared))
    (pool,) = done.hardware.pools
    assert dict(pool.selector) == {"node-pool": "a", "nvidia.com/gpu.product": "Tesla-T4"}


def test_without_a_label_that_tells_them_apart_a_person_sets_one() -> None:
    done = draft(
        *(node(f"n{i}", {"nvidia.com/gpu": 4}) for i in (1, 2)),
        node("m1", {"nvidia.com/gpu": 8}),
    )
    by_count = {len(pool.nodes): pool for pool in done.hardware.pools}
    assert dict(by_count[2].selector) == {"node.example.com/pool": by_count[2].name}
    assert "by which label the 2 nodes" in by_count[2].questions[0].question
    assert dict(by_count[1].selector) == {"kubernetes.io/hostname": "m1"}


SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "n-gpu"},
    "spec": {
        "driver": "gpu.nvidia.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {
                "name": f"gpu-{i}",
                "attributes": {"type": {"string": "gpu"}, "productName": {"string": "Tesla T4"}},
                "capacity": {"memory": {"value": "15360Mi"}},
            }
            for i in range(4)
        ],
    },
}


def test_published_devices_are_owned_by_dra() -> None:
    written = files(node("n1", {}, T4), SLICE)
    (pool,) = documents(written["catalog/pools.yaml"])
    assert pool["spec"]["owner"] == {"gpu.nvidia.com": "dra"}
    (tier,) = documents(written["catalog/tiers.yaml"])
    assert tier["spec"]["match"]["attributes"] == {"type": "gpu", "productName": "Tesla T4"}
    assert tier["spec"]["device"]["capacity"] == {"memory": "15Gi"}


def test_two_owners_are_a_question_and_the_plugin_stays() -> None:
    done = draft(node("n1", {"nvidia.com/gpu": 4}, T4), SLICE)
    (pool,) = done.hardware.pools
    assert [(part.owner, part.per_node) for part in pool.parts] == [("devicePlugin", 4)]
    assert "who owns the devices of gpu.nvidia.com on node n1" in pool.questions[0].question
    (tier,) = done.hardware.tiers
    assert tier.sample.spelled == "Tesla T4", "the slice shows how the driver spells it"


def test_names_that_meet_are_numbered() -> None:
    written = files(node("n1", {"a.example.com/x": 1, "a.example.net/x": 1}))
    names = [one["metadata"]["name"] for one in documents(written["catalog/tiers.yaml"])]
    assert names == ["a-x", "a-x-2"]


def test_what_is_no_device_is_left_out() -> None:
    done = draft(node("n1", {"devices.kubevirt.io/kvm": 1000, "vpc.amazonaws.com/pod-eni": 54}))
    assert not done.hardware.pools


def test_amounts_of_another_name_pick_its_driver() -> None:
    done = draft(
        node("n1", {"nvidia.com/gpu": 40}),
        deployment("d", {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000}),
    )
    (tier,) = done.hardware.tiers
    assert tier.make.driver == "hami-core-gpu.project-hami.io"


def test_a_label_that_no_attribute_could_hold() -> None:
    written = files(node("n1", {"nvidia.com/gpu": 4}, {"nvidia.com/gpu.product": "x" * 300}))
    (tier,) = documents(written["catalog/tiers.yaml"])
    assert tier["spec"]["match"] == {"attributes": {"type": "gpu"}}


def test_an_amount_is_no_number_of_devices() -> None:
    assert not draft(node("n1", {"example.com/bytes": 17_179_869_184})).hardware.pools
