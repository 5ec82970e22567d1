"""Claim templates and shared claims that get another version, and those that leave for good.

Template and claim specs can't be edited in place. A profile with a raised revision gets a new
template beside the old one; claims that were made keep what they have. What stands under one name
with another spec is an error of the later side, or one of `transitions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from dracfg.check.places import span_of
from dracfg.check.rule import listed
from dracfg.check.standing import first_change
from dracfg.dataclass import dataclass
from dracfg.diff.change import Change, change
from dracfg.diff.counterparts import changed_tenants, clusters, same_platform, tenants
from dracfg.diff.pair import Pair, Side
from dracfg.diff.words import bounded, plural
from dracfg.diff.workloads import Workloads, recorded
from dracfg.link.catalog import Cluster, Tenant
from dracfg.lower.artifact import Artifact
from dracfg.lower.templates import CLAIMS_FILE, PROFILE, REQUESTS, TEMPLATES_FILE
from dracfg.lower.units import RETIRED

Names = Mapping[str, Artifact]
"""Namespace -> the template that a profile has there."""


@dataclass(slots=True)
class Versions:
    """What a side emits of one tenant on one cluster: templates by profile, those retired, claims."""

    active: dict[str, dict[str, Artifact]] = field(default_factory=dict)
    retired: dict[tuple[str, str], Artifact] = field(default_factory=dict)
    claims: dict[tuple[str, str], Artifact] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """(namespace, name) of every template that stands, in use or retired."""
        held = {(ns, _name(a)) for by_ns in self.active.values() for ns, a in by_ns.items()}
        return frozenset(held | self.retired.keys())


def template_changes(pair: Pair) -> Iterator[Change]:
    """Tenants of clusters on both sides, where their document or the platform differs."""
    changed = changed_tenants(pair)
    for before, after in clusters(pair):
        steady = same_platform(before, after)
        moved = [
            (old, new)
            for old, new in tenants(pair, after.name, changed if steady else None)
            if new.document.spec.state != "removed"
        ]
        if not moved:
            continue
        names = frozenset(new.name for _, new in moved)
        first = versions(pair.base, before, names)
        second = versions(pair.head, after, names)
        live = recorded(pair, after)
        for _, new in moved:
            was, now = first.get(new.name, Versions()), second.get(new.name, Versions())
            yield from _revised(pair, after, new, (was, now), live)
            yield from _left(pair, after, new, (was, now), live)
            yield from _recreated(pair, after, new, (was, now), live)


def versions(side: Side, cluster: Cluster, names: frozenset[str]) -> dict[str, Versions]:
    """The templates and claims of some tenants on a cluster, by tenant."""
    found: dict[str, Versions] = {}
    prefix = f"{cluster.name}/tenants/"
    for unit in side.judgement.units:
        tenant = unit.path.removeprefix(prefix)
        if tenant == unit.path:
            continue
        stem, _, number = tenant.rpartition(".")
        tenant = stem if number.isdecimal() else tenant
        if tenant not in names:
            continue
        held = found.setdefault(tenant, Versions())
        for artifact in unit.artifacts:
            _sort_in(held, artifact)
    return found


def _sort_in(held: Versions, artifact: Artifact) -> None:
    metadata = artifact.object["metadata"]
    place = metadata.get("namespace", ""), metadata["name"]
    if artifact.file == TEMPLATES_FILE:
        profile = (metadata.get("labels") or {}).get(PROFILE, metadata["name"])
        held.active.setdefault(profile, {})[place[0]] = artifact
    elif artifact.file == f"{RETIRED}/{TEMPLATES_FILE}":
        held.retired[place] = artifact
    elif artifact.file == CLAIMS_FILE:
        held.claims[place] = artifact


def _revised(
    pair: Pair, cluster: Cluster, tenant: Tenant, sides: tuple[Versions, Versions], live: Workloads
) -> Iterator[Change]:
    """A line a profile whose template has a new name."""
    was, now = sides
    for profile, new in now.active.items():
        old = was.active.get(profile, {})
        renamed = {ns: a for ns, a in new.items() if ns in old and _name(old[ns]) != _name(a)}
        if not renamed:
            continue
        ns, artifact = next(iter(renamed.items()))
        pods = [p for n in renamed for p in live.pods_of_template(n, _name(old[n]))]
        shown, more = bounded(pods)
        yield change(
            "template-revised",
            f"template of profile {profile}",
            *_versions(old[ns], artifact),
            cluster=cluster.name,
            tenant=tenant.name,
            namespaces=sorted(renamed),
            span=span_of(pair.head.judgement.catalog, artifact.origin),
            details=(
                *_difference(old[ns], artifact),
                *_skipped(_name(old[ns]), _name(artifact), profile),
                _kept(now, ((n, _name(old[n])) for n in renamed), pods),
                *more,
            ),
            workloads=shown,
        )


def _name(artifact: Artifact) -> str:
    return str(artifact.object["metadata"]["name"])


def _versions(old: Artifact, new: Artifact) -> tuple[str, str]:
    """The names of both, with what a claim asks for where that is not the same."""
    was, now = _asks(_devices(old)), _asks(_devices(new))
    if was == now:
        return _name(old), _name(new)
    return f"{_name(old)}: {was}", f"{_name(new)}: {now}"


def _difference(old: Artifact, new: Artifact) -> tuple[str, ...]:
    if _asks(_devices(old)) != _asks(_devices(new)):
        return ()
    found = first_change(_devices(old), _devices(new))
    return (f"{found}",) if found is not None else ("the claims that it makes are the same",)


def _asks(devices: Mapping[str, Any]) -> str:
    """`8 of a100-40g, 8 of cx7-400g`; alternatives of a request as `1 of a or 2 of b`."""
    total: Counter[str] = Counter()
    either = []
    for request in devices["requests"]:
        alternatives = request.get("firstAvailable")
        if alternatives:
            ways = (f"{one['count']} of {one['deviceClassName']}" for one in alternatives)
            either.append(listed(ways, "or"))
        elif "count" in request["exactly"]:
            total[request["exactly"]["deviceClassName"]] += request["exactly"]["count"]
        else:
            either.append(f"every device of {request['exactly']['deviceClassName']}")
    return ", ".join((*(f"{number} of {name}" for name, number in total.items()), *either))


def _devices(artifact: Artifact) -> Any:
    """What a template or claim asks for, without metadata."""
    spec = artifact.object["spec"]
    return spec.get("spec", spec)["devices"]


def revision_of(name: str, stem: str) -> int | None:
    """The revision that a template's name carries; None where it carries a digest."""
    if name == stem:
        return 1
    number = name.removeprefix(f"{stem}-v")
    return int(number) if number != name and number.isdecimal() else None


def _skipped(old: str, new: str, profile: str) -> Iterator[str]:
    first, second = revision_of(old, profile), revision_of(new, profile)
    if first is not None and second is not None and second > first + 1:
        left_out = ", ".join(str(number) for number in range(first + 1, second))
        yield f"revision {left_out} is left out, which harms nothing"


def _kept(now: Versions, old: Iterable[tuple[str, str]], pods: list[str]) -> str:
    using = f", {plural(len(pods), 'pod')} of the record among them" if pods else ""
    if all(place in now.retired for place in old):
        return f"the old one stays for workloads that name it{using}"
    if pods:
        return (
            f"the old one is not kept, and {plural(len(pods), 'pod')} of the record still name it"
        )
    return "the old one is not kept"


def _left(
    pair: Pair, cluster: Cluster, tenant: Tenant, sides: tuple[Versions, Versions], live: Workloads
) -> Iterator[Change]:
    """Retired templates that stand no longer."""
    was, now = sides
    stands = now.names
    gone: dict[str, list[str]] = {}
    for namespace, name in was.retired:
        if (namespace, name) not in stands:
            gone.setdefault(name, []).append(namespace)
    for name, namespaces in gone.items():
        pods = [p for ns in namespaces for p in live.pods_of_template(ns, name)]
        shown, more = bounded(pods)
        yield change(
            "template-gone",
            f"retired template {name}",
            "retired",
            None,
            cluster=cluster.name,
            tenant=tenant.name,
            namespaces=sorted(namespaces),
            span=span_of(pair.base.judgement.catalog, was.retired[namespaces[0], name].origin),
            gone=True,
            details=more,
            workloads=shown,
        )


def _recreated(
    pair: Pair, cluster: Cluster, tenant: Tenant, sides: tuple[Versions, Versions], live: Workloads
) -> Iterator[Change]:
    """Shared claims that would have another spec under the name that pods hold them by."""
    was, now = sides
    for place, artifact in now.claims.items():
        old = was.claims.get(place)
        if old is None:
            continue
        found = first_change(old.object["spec"], artifact.object["spec"])
        if found is None:
            found = first_change(_note(old), _note(artifact), REQUESTS)
        if found is None:
            continue
        ref = "/".join(place)
        users = [
            pod.ref
            for pod in live.pods
            if pod.namespace == place[0] and any(one.claim == place[1] for one in pod.claims)
        ]
        shown, more = bounded(users)
        yield change(
            "shared-claim-recreated",
            f"shared claim {ref}",
            None if found.before is None else f"{found.before}",
            None if found.after is None else f"{found.after}",
            cluster=cluster.name,
            tenant=tenant.name,
            namespaces=(place[0],),
            span=span_of(pair.head.judgement.catalog, artifact.origin),
            details=(f"at {found.pointer}", *more),
            workloads=shown,
        )


def _note(artifact: Artifact) -> Any:
    return (artifact.object["metadata"].get("annotations") or {}).get(REQUESTS)
