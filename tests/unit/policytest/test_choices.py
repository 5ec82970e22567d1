"""What a profile chooses of a tier's parameters: the applier may write it, people may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dracfg.lower.artifact import K8sObject
from dracfg.policytest.requests import Request, authenticated_groups
from dracfg.policytest.world import World

APPLIER = "system:serviceaccount:argocd:argocd-application-controller"


@pytest.fixture
def template(worlds: Mapping[str, World]) -> K8sObject:
    objects = worlds["prod-east"].objects.values()
    (found,) = (thing for thing in objects if thing["metadata"]["name"] == "notebook-stream")
    return found


def request(world: World, thing: K8sObject, user: str) -> Request:
    groups = authenticated_groups(user, ())
    beside = {**thing, "metadata": {**thing["metadata"], "name": "notebook-next"}}
    return Request("CREATE", user, groups, beside, None, world.namespace("notebooks"))


def test_the_choice_is_a_selector_of_the_request(template: K8sObject) -> None:
    gpu, net = template["spec"]["spec"]["devices"]["requests"]
    assert "selectors" not in gpu["exactly"]
    assert net["exactly"]["selectors"] == [
        {
            "cel": {
                "expression": 'device.driver == "vnic.net.example.com" &&\n'
                'has(device.attributes["vnic.net.example.com"].mtu) &&\n'
                'device.attributes["vnic.net.example.com"].mtu == 9000'
            }
        }
    ]


def test_the_applier_may_write_it(worlds: Mapping[str, World], template: K8sObject) -> None:
    world = worlds["prod-east"]
    assert world.judge(request(world, template, APPLIER)).answer == "allow"


def test_nobody_else_may(worlds: Mapping[str, World], template: K8sObject) -> None:
    world = worlds["prod-east"]
    said = world.judge(request(world, template, "mia"), roles=["edit"])
    assert "TEN020" in {denial.rule for denial in said.denials}
    ungoverned = replace(world, policies=())
    assert ungoverned.judge(request(ungoverned, template, "mia"), roles=["edit"]).answer == "allow"
