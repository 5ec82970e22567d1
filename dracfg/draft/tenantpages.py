"""A draft → the documents of `tenants/`: a tenant for each namespace that asks for devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.draft.decisions import Decision
from dracfg.draft.draft import Draft
from dracfg.draft.facts import facts
from dracfg.draft.lines import Document, Line, head
from dracfg.draft.needs import Need
from dracfg.draft.people import People, read_people
from dracfg.draft.profilepages import profile_lines
from dracfg.draft.recording import Recording
from dracfg.draft.scalars import counted, flow_list, flow_map, label, scalar, shown, unique
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
    people = read_people(recording)
    for namespace in names:
        if check_dns_label(namespace) is None:
            labels = recording.namespaces.get(namespace, {})
            alike = sorted(
                other
                for other in names
                if other != namespace and other in people and namespace in people
                if people[other].groups & people[namespace].groups
            )
            own = people.get(namespace, People())
            yield f"tenants/{namespace}.yaml", [_tenant(draft, namespace, labels, own, alike)]


def _tenant(
    draft: Draft, namespace: str, labels: Mapping[str, str], people: People, alike: Sequence[str]
) -> Document:
    needs = [need for need in draft.needs if need.namespace == namespace]
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
    if alike:
        together.append(
            Decision(
                f"whether {namespace} is a tenant of its own",
                f"groups that may run work in it may do so in {', '.join(alike[:5])} as well",
                people.seen[:3],
            )
        )
    lines = [
        *head("Tenant", namespace),
        *_asked(draft, namespace),
        _access(draft, namespace, people),
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
    return [*lines, *profile_lines(draft, namespace, named)]


def _access(draft: Draft, namespace: str, people: People) -> Line:
    """Who has Kubernetes' own roles there; nobody where no binding tells."""
    written = {"use": people.use, "view": people.view}
    asks = [ask.place for ask in draft.asks if ask.namespace == namespace]
    if people.use or people.view:
        why = (
            "those who have the roles admin, edit or view there may use or view the tenant's devices; "
            "whoever has rights in the whole cluster is not in it"
        )
    else:
        why = "a record of workloads does not tell whose they are; nobody is given rights"
    decision = Decision(f"who works in {namespace}", why, people.seen[:3] or tuple(asks[:1]))
    access = flow_map({key: flow_list(subjects) for key, subjects in written.items() if subjects})
    return Line(f"  access: {access}", decisions=(decision, *people.questions))


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
