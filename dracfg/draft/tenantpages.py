"""A draft → the documents of `tenants/`: a tenant for each namespace that asks for devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.draft.decisions import Decision
from dracfg.draft.draft import Draft
from dracfg.draft.facts import facts
from dracfg.draft.lines import Document, Line, head
from dracfg.draft.needs import Need
from dracfg.draft.recording import Recording
from dracfg.draft.scalars import counted, flow_list, label, scalar, shown, unique
from dracfg.kube.names import check_dns_label


def tenant_pages(draft: Draft, recording: Recording) -> Iterator[tuple[str, list[Document]]]:
    """Path and documents, in the order of the namespaces."""
    names = sorted(
        {
            *(need.namespace for need in draft.needs),
            *(
                ask.namespace
                for ask in draft.asks
                if ask.pods and not facts().is_platform(ask.namespace)
            ),
        }
    )
    for namespace in names:
        if check_dns_label(namespace) is None:
            document = _tenant(draft, namespace, recording.namespaces.get(namespace, {}))
            yield f"tenants/{namespace}.yaml", [document]


def _tenant(draft: Draft, namespace: str, labels: Mapping[str, str]) -> Document:
    asks = [ask for ask in draft.asks if ask.namespace == namespace]
    needs = [need for need in draft.needs if need.namespace == namespace]
    people = Decision(
        f"who works in {namespace}",
        "a record of workloads does not tell whose they are; nobody is given rights",
        tuple(ask.place for ask in asks[:1]),
    )
    owner = Decision(
        f"who owns the Namespace {namespace}",
        "it exists, so `external` leaves it to whoever made it, who must set its rights; with "
        "`dracfg` it is written here",
    )
    together = [
        Decision(
            f"whether {namespace} is a tenant of its own",
            f"its label {key} is {labels[key]}: namespaces of one team can be one tenant",
        )
        for key in facts().tenant_labels
        if key in labels
    ]
    lines = [
        *head("Tenant", namespace),
        *_asked(draft, namespace),
        Line("  access: {}", decisions=(people,)),
        Line("  namespaces:"),
        Line(
            f"    - {{name: {scalar(namespace)}, clusters: [{scalar(draft.cluster.name)}], "
            "managedBy: external}",
            decisions=(*together, owner),
        ),
    ]
    if not needs:
        return lines
    taken: set[str] = set()
    named = [(unique(label(need.tier, "devices"), taken), need) for need in needs]
    lines.append(Line("  entitlements:"))
    lines += [_entitlement(name, need) for name, need in named]
    profiles = [line for name, need in named for line in _profiles(draft, name, need)]
    return [*lines, *([Line("  profiles:"), *profiles] if profiles else [])]


def _asked(draft: Draft, namespace: str) -> Iterator[Line]:
    """What its workloads ask for, a comment a workload."""
    asks = [ask for ask in draft.asks if ask.namespace == namespace]
    for ask in asks[:12]:
        said = f"{ask.kind} {ask.name}: {ask.count} {ask.resource.name} in each of {counted(ask.pods, 'pod')}"
        yield Line(f"  # {shown(said)}")
    if len(asks) > 12:
        yield Line(f"  # and {len(asks) - 12} more")


def _entitlement(name: str, need: Need) -> Line:
    sharing = f", sharing: {need.policy}" if need.policy else ""
    limit = f", limit: {need.limit}" if need.limit != need.guaranteed else ""
    return Line(
        f"    - {{name: {scalar(name)}, tier: {scalar(need.tier)}{sharing}, "
        f"guaranteed: {need.guaranteed}{limit}}}",
        note=f"{need.asked} asked for at a time" if need.asked else "by its ResourceQuota alone",
        decisions=need.questions,
    )


def _profiles(draft: Draft, name: str, need: Need) -> Iterator[Line]:
    """One for each number that its pods ask for, where claims are or become the way."""
    verdict = draft.verdict_of(need.tier)
    owners = {
        part.owner
        for pool in draft.hardware.pools_of(need.tier)
        for part in pool.parts
        if part.tier == need.tier
    }
    if "dra" not in owners and not (verdict is not None and verdict.moves):
        return
    for count in need.counts:
        number = f", count: {count}" if count > 1 else ""
        request = f"{{name: device, entitlement: {scalar(name)}{number}}}"
        profile = scalar(f"{name}-x{count}")
        yield Line(f"    - {{name: {profile}, requests: {flow_list([request])}}}")
