"""Admission that refuses less than before, or more: policies and bindings by what they judge and do.

Expressions are dracfg's own and the same on both sides but for a cluster's facts; compared is whether a
policy is there, what it judges, whether it denies, and what becomes of a request that it can't judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.check.places import span_of
from dracfg.diff.change import Change, change
from dracfg.diff.counterparts import Linked, clusters
from dracfg.diff.pair import Pair, Side
from dracfg.diff.words import few
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact

_POLICY = "ValidatingAdmissionPolicy"
_BINDING = "ValidatingAdmissionPolicyBinding"
_MOST = 4
_ABSENCE = ("there is no such policy", "the policy is there")
_LESS = ("as before", "less is refused")
_MORE = ("as before", "more is refused")

Guards = Mapping[tuple[str, str], Artifact]
"""(kind, name) -> the object."""
Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""What is looser and what is stricter, in words."""


def protection_changes(pair: Pair) -> Iterator[Change]:
    """Policies of clusters that stand on both sides, each with its binding."""
    for linked in clusters(pair):
        old, new = _guards(pair.base, linked[0]), _guards(pair.head, linked[1])
        for name in sorted({name for _, name in (*old, *new)}):
            yield from _policy(pair, linked, name, old, new)


def _guards(side: Side, cluster: Cluster) -> Guards:
    return {
        (artifact.object["kind"], artifact.object["metadata"]["name"]): artifact
        for unit in side.judgement.units
        if unit.path.startswith(f"{cluster.name}/guard")
        for artifact in unit.artifacts
        if artifact.object["kind"] in (_POLICY, _BINDING)
    }


def _policy(pair: Pair, linked: Linked, name: str, old: Guards, new: Guards) -> Iterator[Change]:
    was, now = old.get((_POLICY, name)), new.get((_POLICY, name))
    if was is None or now is None:
        artifact = was or now
        if artifact is not None:
            yield _change(pair, linked, artifact, now is not None, _ABSENCE, ())
        return
    looser, stricter = _judged(was.object["spec"], now.object["spec"])
    before, after = old.get((_BINDING, name)), new.get((_BINDING, name))
    if before is not None and after is not None:
        more = _bound(before.object["spec"], after.object["spec"])
        looser, stricter = (*looser, *more[0]), (*stricter, *more[1])
    if looser:
        yield _change(pair, linked, now, False, _LESS, looser)
    if stricter:
        yield _change(pair, linked, now, True, _MORE, stricter)


def _judged(was: Mapping[str, Any], now: Mapping[str, Any]) -> Sides:
    looser, stricter = [], []
    before, after = _reach(was), _reach(now)
    if before - after:
        looser.append(f"no longer judges {few(sorted(before - after), _MOST)}")
    if after - before:
        stricter.append(f"judges {few(sorted(after - before), _MOST)} as well")
    if was["failurePolicy"] != now["failurePolicy"]:
        words = f"a request that it can't judge: {was['failurePolicy']} -> {now['failurePolicy']}"
        (looser if now["failurePolicy"] == "Ignore" else stricter).append(words)
    rules, left = len(was["validations"]), len(now["validations"])
    if left < rules:
        looser.append(f"{rules - left} of {rules} rules are gone")
    elif left > rules:
        stricter.append(f"{left - rules} more rules")
    conditions = {one["name"] for one in was.get("matchConditions", ())}
    later = {one["name"] for one in now.get("matchConditions", ())}
    looser += [
        f"passes over requests by the condition {name}" for name in sorted(later - conditions)
    ]
    stricter += [f"no longer passes over requests by {name}" for name in sorted(conditions - later)]
    return tuple(looser), tuple(stricter)


def _reach(spec: Mapping[str, Any]) -> frozenset[str]:
    """`CREATE pods` for each operation and resource that the policy judges."""
    return frozenset(
        f"{operation} {resource}{f'.{group}' if group else ''}"
        for rule in spec["matchConstraints"]["resourceRules"]
        for operation in rule["operations"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    )


def _bound(was: Mapping[str, Any], now: Mapping[str, Any]) -> Sides:
    before, after = was["validationActions"], now["validationActions"]
    words = (f"{' and '.join(before)} -> {' and '.join(after)}",)
    denied, denies = "Deny" in before, "Deny" in after
    if denied is denies:
        return (), ()
    return (words, ()) if denied else ((), words)


def _change(
    pair: Pair,
    linked: Linked,
    policy: Artifact,
    tightened: bool,
    values: tuple[str, str],
    details: tuple[str, ...],
) -> Change:
    before, after = values if tightened or values is not _ABSENCE else values[::-1]
    return change(
        "protection-tightened" if tightened else "protection-loosened",
        f"admission policy {policy.object['metadata']['name']}",
        before,
        after,
        cluster=linked[1].name,
        span=span_of(pair.head.judgement.catalog, policy.origin),
        details=details,
    )
