"""Generated cases: every validation has both, and what is exported says the same as what is emitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from dracfg.cel import Authorizer
from dracfg.policytest.admission import admit, policies_of
from dracfg.policytest.coverage import coverage
from dracfg.policytest.generated import generated_cases, run_generated
from dracfg.policytest.junit import junit
from dracfg.policytest.kyverno import kyverno_tests
from dracfg.policytest.load import LoadedTest
from dracfg.policytest.requests import Request, named_namespace
from dracfg.policytest.run import report_of, run_test
from dracfg.policytest.samples import SAMPLES
from dracfg.policytest.scene import Scene
from dracfg.policytest.strategy import refusal
from dracfg.policytest.world import World

Json = dict[str, Any]
CLUSTERS = ("prod-east", "prod-west")


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_validation_is_refused_by_and_lets_through(
    worlds: Mapping[str, World], cluster: str
) -> None:
    world = worlds[cluster]
    cases = generated_cases(world)
    assert [case.name for case in cases if case.request is None] == []
    validations = sum(len(policy.validations) for policy in world.policies)
    assert len(cases) == 2 * validations
    assert all(result.passed for result in run_generated(world))


def test_what_stands_before_could_be_made(worlds: Mapping[str, World]) -> None:
    """Also where every class is for admin access: namespaces have the label for it then."""
    scene = Scene(
        worlds["prod-east"], {"watch": "size=whole;count=1;version=-;state=open;admin=true"}
    )
    stood = [
        replace(request, operation="CREATE", object=request.old, old=None)
        for samples in SAMPLES.values()
        for request in samples(scene)
        if request.operation == "UPDATE" and not request.subresource
    ]
    assert any("adminAccess" in str(request.object) for request in stood)
    assert [why for request in stood if (why := refusal(request)) is not None] == []


def test_a_policy_without_samples_is_no_silent_success(worlds: Mapping[str, World]) -> None:
    world = worlds["prod-east"]
    foreign = replace(world.policies[0], name="foreign")
    results = run_generated(replace(world, policies=(foreign,)))
    assert results
    assert not any(result.passed for result in results)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_samples_name_policies_that_exist(worlds: Mapping[str, World], cluster: str) -> None:
    assert {policy.name for policy in worlds[cluster].policies} <= SAMPLES.keys()


@pytest.fixture(scope="module")
def files(worlds: Mapping[str, World]) -> Mapping[str, Any]:
    return kyverno_tests(worlds.values())


def test_the_export_says_what_the_policies_say(files: Mapping[str, Any]) -> None:
    suites = [path for path in files if path.endswith("kyverno-test.yaml")]
    assert suites
    for path in suites:
        folder = path.removesuffix("kyverno-test.yaml")
        _run_as_the_cli_does(files, folder)


def _run_as_the_cli_does(files: Mapping[str, Any], folder: str) -> None:
    """Creations by one user; Namespaces have a name and labels, and there are no bindings."""
    (test,) = files[f"{folder}kyverno-test.yaml"]
    (user,) = files[f"{folder}userinfo.yaml"]
    (values,) = files[f"{folder}values.yaml"]
    labels = {entry["name"]: entry["labels"] for entry in values["namespaceSelector"]}
    resources = {
        (thing["kind"], thing["metadata"]["name"]): thing
        for thing in files[f"{folder}resources.yaml"]
    }
    bound = [
        {
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": thing["metadata"]["name"]},
            "spec": {"policyName": thing["metadata"]["name"], "validationActions": ["Deny"]},
        }
        for thing in files[f"{folder}policies.yaml"]
    ]
    policies = policies_of([*files[f"{folder}policies.yaml"], *bound], "1.36")
    by_name = {policy.name: policy for policy in policies}
    for result in test["results"]:
        for name in result["resources"]:
            thing = resources[result["kind"], name]
            place = thing["metadata"].get("namespace")
            bare: Json | None = None
            if place is not None:
                metadata = {"name": place, "labels": labels[place]}
                bare = named_namespace(place, {"kind": "Namespace", "metadata": metadata})
            info = user["userInfo"]
            request = Request("CREATE", info["username"], tuple(info["groups"]), thing, None, bare)
            said = admit((by_name[result["policy"]],), request, "1.36", lambda _: Authorizer())
            assert said.unknown == ()
            assert said.failures or said.held
            assert bool(said.failures) == (result["result"] == "fail"), (folder, result)


def test_the_export_names_what_it_leaves_out(files: Mapping[str, Any]) -> None:
    readme = files["README.md"]
    assert isinstance(readme, str)
    assert "prod-east, dracfg-held-pods-0" in readme


def test_coverage_counts_denials_and_allowances(
    worlds: Mapping[str, World], examples: Mapping[str, LoadedTest]
) -> None:
    denied = run_test(worlds["prod-east"], examples["vision-may-not-have-slices"])
    allowed = run_test(worlds["prod-east"], examples["vision-claims-one-a100"])
    by_code = {
        (one.validation.policy, one.validation.code): one
        for one in coverage(worlds, [denied, allowed])
    }
    entitled = by_code["dracfg-claims", "TEN003"]
    assert (entitled.denials, entitled.allowances, entitled.is_full) == (1, 1, True)
    sized = by_code["dracfg-claims", "TEN004"]
    assert (sized.denials, sized.allowances, sized.is_full) == (0, 1, False)
    failed = replace(denied, passed=False)
    assert all(one.denials == 0 for one in coverage(worlds, [failed]))


def test_junit(worlds: Mapping[str, World], examples: Mapping[str, LoadedTest]) -> None:
    result = run_test(worlds["prod-east"], examples["vision-may-not-have-slices"])
    odd = replace(result, name='a "b" <c>', passed=False, message="x < y\x00 & z")
    open_ = replace(result, name="open", passed=False, actual="unknown")
    root = ElementTree.fromstring(junit(report_of([result, odd, open_])))
    (suite,) = root
    assert suite.attrib == {"name": "prod-east", "tests": "3", "failures": "1", "errors": "1"}
    assert [[part.tag for part in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[1].attrib["name"] == 'a "b" <c>'
    assert suite[1][0].text == "x < y & z"


def test_the_verdict_of_the_report(
    worlds: Mapping[str, World], examples: Mapping[str, LoadedTest]
) -> None:
    result = run_test(worlds["prod-east"], examples["vision-may-not-have-slices"])
    assert report_of([result])["verdict"] == "proven"
    assert report_of([result, replace(result, passed=False)])["verdict"] == "refuted"
    unknown = replace(result, passed=False, actual="unknown")
    assert report_of([result, unknown])["verdict"] == "unknown"
