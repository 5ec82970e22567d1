"""What dracfg emits is what Kubernetes takes: whole trees on control planes that they configure.

Custom resources stay out: no control plane here serves them.
"""

from __future__ import annotations

import copy
from functools import partial

import pytest

from tests.cluster.client import APPLY, Client, Object, Refused
from tests.cluster.controlplane import ControlPlane
from tests.cluster.emitted import Emitted
from tests.cluster.processes import wait_for

SET_BY_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


def test_apply_in_order(emitted: Emitted, applied: list[Object]) -> None:
    assert len(applied) == len(emitted.objects()) > 0


@pytest.mark.usefixtures("applied")
def test_apply_again_changes_nothing(emitted: Emitted, applier: Client) -> None:
    """An apply that changes something gives the object a new resourceVersion each time."""
    for obj in emitted.objects():
        look = partial(_is_unchanged_by_apply, applier, obj)
        wait_for(look, f"no drift of {_name(obj)}")


@pytest.mark.usefixtures("applied")
def test_no_warnings(emitted: Emitted, applier: Client) -> None:
    """Neither of the server nor for fields that it doesn't know, also to a second writer."""
    options = {"fieldManager": "second", "dryRun": "All", "fieldValidation": "Strict"}
    warned = {
        _name(obj): answer.warnings
        for obj in emitted.objects()
        if (answer := applier.call("PATCH", applier.path_of(obj), obj, options, APPLY)).warnings
    }
    assert not warned


@pytest.mark.usefixtures("applied")
def test_server_returns_what_was_emitted(emitted: Emitted, applier: Client) -> None:
    """So every default was written out, and no value in a form that the server writes otherwise."""
    differing = {
        _name(obj): (obj, kept)
        for obj in emitted.objects()
        if (kept := _kept(applier.read(obj))) != obj
    }
    assert not differing


@pytest.mark.usefixtures("applied")
def test_policies_have_no_type_warnings(emitted: Emitted, emitted_plane: ControlPlane) -> None:
    policies = [one for one in emitted.objects() if one["kind"] == "ValidatingAdmissionPolicy"]
    assert policies
    for policy in policies:
        found = wait_for(partial(_checked, emitted_plane.admin, policy), _name(policy), 60)
        assert not found["status"]["typeChecking"].get("expressionWarnings"), _name(policy)


@pytest.mark.usefixtures("applied")
def test_classes_change_in_place(emitted: Emitted, applier: Client) -> None:
    for emitted_class in [one for one in emitted.objects() if one["kind"] == "DeviceClass"][:1]:
        before = applier.read(emitted_class)
        changed = copy.deepcopy(emitted_class)
        changed["spec"]["selectors"].append({"cel": {"expression": 'device.driver != "none"'}})
        after = applier.apply(changed).body
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
        assert len(after["spec"]["selectors"]) == len(before["spec"]["selectors"]) + 1
        back = applier.apply(emitted_class).body
        assert back["spec"] == before["spec"]


@pytest.mark.usefixtures("applied")
def test_templates_change_beside_the_old(emitted: Emitted, applier: Client) -> None:
    templates = [one for one in emitted.objects() if one["kind"] == "ResourceClaimTemplate"]
    template = templates[0]
    changed = copy.deepcopy(template)
    changed["spec"].setdefault("metadata", {}).setdefault("annotations", {})["revision"] = "9"
    with pytest.raises(Refused) as refused:
        applier.apply(changed)
    assert refused.value.code == 422
    assert "immutable" in refused.value.message
    changed["metadata"]["name"] += "-r9"
    applier.apply(changed)
    assert _kept(applier.read(template)) == template
    applier.delete(changed)


@pytest.mark.usefixtures("applied")
def test_remove_and_apply_anew(
    emitted: Emitted, applier: Client, emitted_plane: ControlPlane
) -> None:
    """In the reverse of the emitted order; the tree stands again afterwards."""
    for obj in reversed(emitted.objects()):
        applier.delete(obj)
    admin = emitted_plane.admin
    for obj in emitted.objects():
        wait_for(partial(_is_gone, admin, obj), f"{_name(obj)} is gone", 60)
    for obj in emitted.objects():
        applier.apply(obj)
        assert _kept(applier.read(obj)) == obj


def _is_unchanged_by_apply(client: Client, obj: Object) -> bool:
    """Controllers may write the status between the two; so one look does not say."""
    before: Object = client.read(obj)
    answer = client.apply(obj)
    assert not answer.warnings, _name(obj)
    return bool(answer.body == before)


def _is_gone(client: Client, obj: Object) -> bool:
    return client.find(obj) is None


def _checked(client: Client, obj: Object) -> Object | None:
    """The policy once its types were checked."""
    policy = client.read(obj)
    status = policy.get("status", {})
    seen = status.get("observedGeneration") == policy["metadata"]["generation"]
    return policy if seen and "typeChecking" in status else None


def _name(obj: Object) -> str:
    metadata = obj["metadata"]
    return "/".join(filter(None, (obj["kind"], metadata.get("namespace"), metadata["name"])))


def _kept(obj: Object) -> Object:
    """What of an object came from its writer."""
    kept = copy.deepcopy(obj)
    kept.pop("status", None)
    for name in SET_BY_SERVER:
        kept["metadata"].pop(name, None)
    if kept["kind"] == "Namespace":
        kept["metadata"]["labels"].pop("kubernetes.io/metadata.name")
        assert kept.pop("spec") == {"finalizers": ["kubernetes"]}
    if kept["kind"] == "DeviceTaintRule":
        # When the effect began, from which what tolerates it counts.
        assert kept["spec"]["taint"].pop("timeAdded") >= obj["metadata"]["creationTimestamp"]
    return kept
