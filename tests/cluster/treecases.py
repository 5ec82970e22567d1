"""Requests about what a tree emits for its tenants, with dracfg's verdicts.

Each template is used as it is meant to be and as it is not, by whoever may come by, and up to the
last device of its namespace's quota and one more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.kube.quantity import Quantity
from dracfg.lower.rights import TENANT
from dracfg.policytest.requests import named_namespace
from dracfg.policytest.scene import CONTROLLER, create, delete, update
from dracfg.policytest.world import World
from tests.cluster.client import Object
from tests.cluster.drivers import RESOURCE
from tests.cluster.emitted import Emitted
from tests.cluster.objects import pod
from tests.cluster.policycases import EVERYTHING, Case, case_of, world

MEMBER, EDITS = "member", ("edit",)
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"


def tree_cases(tree: Emitted) -> list[Case]:
    """All of them, on the cluster with the namespaces that others own."""
    here, spaces = world(tree), _spaces(tree)
    templates = [one for one in tree.objects() if one["kind"] == "ResourceClaimTemplate"]
    found: list[Case] = []
    for one in templates:
        name = f"{one['metadata']['namespace']}/{one['metadata']['name']}"
        found += _uses(here, spaces, name, one)
        found += _counted(here, spaces, name, _claim_of(one))
    return found


def _uses(here: World, spaces: Mapping[str, Object], name: str, template: Object) -> Iterator[Case]:
    own = template["metadata"]["namespace"]
    claim = _claim_of(template)
    user = _pod_of(template, own)
    yield case_of(
        here, f"{name}: its claim", create(claim, spaces[own], CONTROLLER), EVERYTHING, {}
    )
    yield case_of(here, f"{name}: by hand", create(claim, spaces[own], MEMBER), EVERYTHING, {})
    yield case_of(here, f"{name}: a pod", create(user, spaces[own], MEMBER), EDITS, {})
    for place in _elsewhere(spaces, own):
        stray = _pod_of(template, place)
        yield case_of(
            here, f"{name}: from {place}", create(stray, spaces[place], MEMBER), EDITS, {}
        )
        moved = {**claim, "metadata": {**claim["metadata"], "namespace": place}}
        request = create(moved, spaces[place], CONTROLLER)
        yield case_of(here, f"{name}: its claim in {place}", request, EVERYTHING, {})
    other = {**template, "spec": {**template["spec"], "spec": {"devices": {}}}}
    yield case_of(here, f"{name}: changed", update(template, other, spaces[own]), EVERYTHING, {})
    marked = _noted(template, "seen", "yes")
    yield case_of(here, f"{name}: marked", update(template, marked, spaces[own]), EVERYTHING, {})
    yield case_of(here, f"{name}: deleted", delete(template, spaces[own]), EVERYTHING, {})
    yield case_of(here, f"{name}: deleted by its user", delete(template, spaces[own]), EDITS, {})


def _counted(here: World, spaces: Mapping[str, Object], name: str, claim: Object) -> Iterator[Case]:
    """The last claim that a quota lets in, and by each key the one that it does not."""
    own = claim["metadata"]["namespace"]
    request = create(claim, spaces[own], CONTROLLER)
    charged = here.quotas.charges(claim)
    left: dict[str, int] = {}
    for quota in here.quotas.objects:
        if quota["metadata"]["namespace"] == own:
            for key, text in quota["spec"]["hard"].items():
                if charged.get(key):
                    room = int(Quantity.parse(text).exact - charged[key])
                    left[key] = min(left.get(key, room), room)
    used = {key: max(room, 0) for key, room in left.items()}
    yield case_of(here, f"{name}: the last", request, EVERYTHING, used)
    for key in sorted(used):
        more = {**used, key: used[key] + 1}
        yield case_of(here, f"{name}: one more of {key}", request, EVERYTHING, more)


def _spaces(tree: Emitted) -> dict[str, Object]:
    """The Namespaces of the tree's tenants, those included that others own."""
    stand = [one for one in tree.objects() if one["kind"] == "Namespace"]
    listed = [*stand, *tree.external_namespaces()]
    return {
        one["metadata"]["name"]: named_namespace(one["metadata"]["name"], one) for one in listed
    }


def _elsewhere(spaces: Mapping[str, Object], own: str) -> list[str]:
    """A namespace beside the template's, of a tenant where there is one."""
    others = sorted(spaces.keys() - {own})
    noted = [name for name in others if TENANT in spaces[name]["metadata"].get("annotations", {})]
    return (noted or others)[:1]


def _claim_of(template: Object) -> Object:
    """As the claim controller makes it, under a name of this suite."""
    metadata: dict[str, Any] = dict(template["spec"].get("metadata", {}))
    metadata["annotations"] = {**metadata.get("annotations", {}), POD_CLAIM: "gpu"}
    own = {name: template["metadata"][name] for name in ("name", "namespace")}
    own["name"] = f"made-{own['name']}"[:63]
    spec = template["spec"]["spec"]
    metadata |= own
    return {"apiVersion": RESOURCE, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def _pod_of(template: Object, namespace: str) -> Object:
    return pod(namespace, "user", template=template["metadata"]["name"])


def _noted(thing: Object, key: str, value: str) -> Object:
    labels = {**thing["metadata"].get("labels", {}), key: value}
    return {**thing, "metadata": {**thing["metadata"], "labels": labels}}
