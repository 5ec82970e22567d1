"""Ways around the rules that are known from the field: each is denied, and only by its policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dracfg.policytest.admission import Policy
from dracfg.policytest.load import LoadedTest
from dracfg.policytest.run import run_test
from dracfg.policytest.world import World

NOTHING, QUOTA = None, "QUOTA"
"""What still denies once the policy is gone: a class without a right has a quota of 0 as well."""

ESCAPES = [
    # kubernetes#135404: the annotation that takes a claim out of quota
    (
        "a-claim-that-poses-as-the-schedulers",
        "dracfg-own-claims",
        "which the scheduler alone may set",
        NOTHING,
    ),
    (
        "the-annotation-in-a-template",
        "dracfg-own-claims",
        "which the scheduler alone may set",
        NOTHING,
    ),
    # kubernetes#133366: both names of a class in one pod
    ("both-names-in-one-pod", "dracfg-workloads", "nvidia.com/gpu=1", NOTHING),
    # kubernetes#141293: a label that gives a namespace admin access
    (
        "a-tenant-labels-its-own-namespace",
        "dracfg-namespaces",
        "resource.kubernetes.io/admin-access",
        NOTHING,
    ),
    (
        "the-label-through-status",
        "dracfg-namespaces",
        "resource.kubernetes.io/admin-access",
        NOTHING,
    ),
    # an older served version of the API
    ("v1beta1-a-foreign-class", "dracfg-claims", "is not entitled to a100-40g-mig-3g-20gb", QUOTA),
    ("v1beta1-capacity-left-out", "dracfg-claims", "with capacity left out", NOTHING),
    (
        "v1beta2-an-admin-class-without-admin-access",
        "dracfg-claims",
        "without adminAccess",
        NOTHING,
    ),
    # kubernetes#141422: a taint rule that selects every device
    (
        "a-taint-rule-for-every-device",
        "dracfg-taint-rules",
        "taints every device of the cluster",
        NOTHING,
    ),
    # the name that every class has without being given one
    ("an-implicit-name-of-a-foreign-class", "dracfg-workloads", "not entitled", NOTHING),
    ("an-implicit-name-of-a-share", "dracfg-workloads", "only a claim can", NOTHING),
]


@pytest.mark.parametrize(
    ("name", "policy", "message", "left"), ESCAPES, ids=[row[0] for row in ESCAPES]
)
def test_an_escape_is_denied_by_its_policy_alone(
    worlds: Mapping[str, World],
    examples: Mapping[str, LoadedTest],
    name: str,
    policy: str,
    message: str,
    left: str | None,
) -> None:
    test = examples[name]
    world = worlds[test.document.spec.cluster]
    held = run_test(world, test)
    assert (held.passed, held.actual) == (True, "deny")
    assert held.rule is not None
    assert message in held.message
    open_ = run_test(world.without(policy), test)
    expected = (False, "allow", None) if left is NOTHING else (False, "deny", left)
    assert (open_.passed, open_.actual, open_.rule) == expected, open_.message


@pytest.mark.parametrize("name", ["v1beta1-a-foreign-class", "v1beta1-capacity-left-out"])
def test_older_versions_escape_where_policies_match_exactly(
    worlds: Mapping[str, World], examples: Mapping[str, LoadedTest], name: str
) -> None:
    test = examples[name]
    world = worlds[test.document.spec.cluster]
    exact = replace(world, policies=tuple(map(_exact, world.policies)))
    assert run_test(world, test).actual == "deny"
    assert run_test(exact, test).rule in (NOTHING, QUOTA)


def _exact(policy: Policy) -> Policy:
    constraints = {**policy.spec["matchConstraints"], "matchPolicy": "Exact"}
    return replace(policy, spec={**policy.spec, "matchConstraints": constraints})


def test_every_example_passes(
    worlds: Mapping[str, World], examples: Mapping[str, LoadedTest]
) -> None:
    results = [run_test(worlds[t.document.spec.cluster], t) for t in examples.values()]
    assert [one.name for one in results if not one.passed] == []
    assert len(results) >= 60
