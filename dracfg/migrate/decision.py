"""One pod description → what changes in it, or why nothing can.

Each container gets its own devices, so each gets a claim of its own, as with device plugins. A container
that ends before the others start hands its devices on, so it shares the claim of one that asks for
the same. Knows no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Tenant
from dracfg.migrate.demand import SECTIONS, Item, items
from dracfg.migrate.fitting import Chosen, NoneFits, Offering, SeveralFit, fit, nearest
from dracfg.migrate.manifest import Container, PodSite
from dracfg.migrate.names import meets, tiers_meant
from dracfg.source.fields import mapping, maps, text


@dataclass(frozen=True, slots=True)
class View:
    """What a decision looks at: a tenant with its profiles.

    `namespace` is that of the pods where it is the tenant's, `wanted` names the profiles that a
    person chose.
    """

    catalog: Catalog
    tenant: Tenant
    clusters: tuple[str, ...]
    offered: tuple[Offering, ...]
    namespace: str | None = None
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of `resourceClaims`."""

    name: str
    template: str
    profile: str
    beside: str = ""


@dataclass(frozen=True, slots=True)
class ContainerChange:
    """Resource names that leave a container, and the claims that come into it."""

    container: Container
    removed: tuple[str, ...]
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodChange:
    """What becomes of one pod description."""

    site: PodSite
    entries: tuple[Entry, ...]
    containers: tuple[ContainerChange, ...]


@dataclass(slots=True)
class _Pod:
    """What is known of a pod while it is being decided."""

    site: PodSite
    view: View
    findings: list[Diagnostic] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    changes: dict[Container, tuple[tuple[Item, ...], tuple[str, ...]]] = field(default_factory=dict)


Asked = dict[Container, tuple[Item, ...]]
"""What each container of a pod asks for that a claim could hold."""


def asked_devices(
    site: PodSite, catalog: Catalog, clusters: Sequence[str]
) -> tuple[Asked, tuple[Diagnostic, ...]]:
    """What the containers of a pod ask for that claims could hold, and what is to be said of the rest."""
    asked: Asked = {}
    findings: list[Diagnostic] = []
    for container in site.containers:
        leaving = []
        for item in items(container.data):
            finding = _keeps(site, container, item, catalog, clusters)
            if finding is None:
                leaving.append(item)
            else:
                findings.append(finding)
        if leaving:
            asked[container] = tuple(leaving)
    return asked, tuple(findings)


def decide(
    site: PodSite, asked: Asked, view: View
) -> tuple[PodChange | None, tuple[Diagnostic, ...]]:
    """The change of a pod description, None where nothing changes, with what keeps it from one."""
    pod = _Pod(site, view)
    pod.findings += _twice(pod, asked)
    for container, listed in asked.items():
        if not container.runs_first:
            _claim(pod, container, listed)
    for container, listed in asked.items():
        if container.runs_first:
            _share(pod, container, listed)
    if not pod.changes or any(finding.is_error for finding in pod.findings):
        return None, tuple(pod.findings)
    changes = tuple(
        ContainerChange(one, _names(one, listed), claims)
        for one, (listed, claims) in pod.changes.items()
    )
    return PodChange(site, tuple(pod.entries), changes), tuple(pod.findings)


def place_of(site: PodSite, container: Container, name: str) -> Span:
    """Where a container names a resource."""
    section = next(
        (one for one in SECTIONS if name in mapping(container.data, "resources", one)), SECTIONS[0]
    )
    return site.thing.span(*container.steps, "resources", section, name, key=True)


def _keeps(
    site: PodSite, container: Container, item: Item, catalog: Catalog, clusters: Sequence[str]
) -> Diagnostic | None:
    """Why an item can't be asked for by a claim, whatever the tenant; None where it may be."""
    span = place_of(site, container, item.name)
    tiers = tuple(tiers_meant(catalog, item))
    if not any(
        "dra" in catalog.clusters[name].owners_of(one) for name in clusters for one in tiers
    ):
        named = ", ".join(sorted(tier.name for tier in tiers))
        return diagnose(
            "ROL044",
            span,
            f"{item.name} of {site.name} stays as it is: "
            + (
                f"device plugins alone hand out {named}"
                if tiers
                else "no tier of the catalog goes by that name"
            ),
            help=None if tiers else "say `legacyResource` on the tier whose devices it means",
        )
    if item.is_share and (item.count or 0) > 1:
        return diagnose(
            "ROL042",
            span,
            f"{site.name} asks for {item.count} shares under {item.name}, "
            "which may be of one device or of several",
            found=str(item.count),
            expected="1",
            help="ask for one share, of a larger size where the tenant has one",
        )
    if item.count is None:
        return diagnose(
            "ROL040",
            span,
            f"{site.name} asks for an amount of {item.name} that is no number of devices",
            help="write the number of devices, or choose the claim by hand",
        )
    return None


def _claim(pod: _Pod, container: Container, listed: tuple[Item, ...]) -> None:
    """Claims of its own for a container: one for all of its devices, else one for each name."""
    whole = _fit(pod, listed)
    if isinstance(whole, Chosen):
        pod.changes[container] = (listed, (_enter(pod, whole),))
        return
    parts = [(item, _fit(pod, (item,))) for item in listed]
    chosen = [one for _, one in parts if isinstance(one, Chosen)]
    if whole is None and len(chosen) == len(parts):
        pod.changes[container] = (listed, tuple(_enter(pod, one) for one in chosen))
        return
    if isinstance(whole, SeveralFit):
        _several(pod, container, listed, whole)
        return
    for item, one in parts:
        if isinstance(one, SeveralFit):
            _several(pod, container, (item,), one)
        elif one is None:
            _none(pod, container, item)


def _share(pod: _Pod, container: Container, listed: tuple[Item, ...]) -> None:
    """The claim of a later container for one that ends before; one of its own where none asks."""
    others = {one: held for one, held in pod.changes.items() if one is not container}
    for held, claims in others.values():
        if held == listed and not _refuses_sharing(pod, claims):
            pod.changes[container] = (listed, claims)
            return
    if not others and not any(finding.is_error for finding in pod.findings):
        _claim(pod, container, listed)
    elif others:
        other, (held, _) = next(iter(others.items()))
        pod.findings.append(
            diagnose(
                "ROL043",
                place_of(pod.site, container, listed[0].name),
                f"init container {container.name} of {pod.site.name} asks for other devices than "
                f"{other.name}, and a claim of its own would hold them until the pod ends",
                related=[Related(place_of(pod.site, other, held[0].name), "asked for later")],
                found=", ".join(map(str, listed)),
                expected=", ".join(map(str, held)),
                help="let both ask for the same devices, or the init container for none",
            )
        )


def _fit(pod: _Pod, listed: Sequence[Item]) -> Chosen | SeveralFit | None:
    view = pod.view
    return fit(listed, view.offered, view.namespace, view.wanted)


def _enter(pod: _Pod, chosen: Chosen) -> str:
    """A new entry of the pod's claims, under a name that none has."""
    taken = {text(entry, "name") for entry in maps(pod.site.spec, "resourceClaims")}
    taken |= {entry.name for entry in pod.entries}
    name, number = chosen.claim, 1
    while name in taken:
        number += 1
        name = f"{chosen.claim[:60]}-{number}"
    pod.entries.append(Entry(name, chosen.template, chosen.profile, chosen.beside))
    return name


def _names(container: Container, listed: Sequence[Item]) -> tuple[str, ...]:
    """The resource names that go, as far as the container says them."""
    said = {name for section in SECTIONS for name in mapping(container.data, "resources", section)}
    return tuple(name for item in listed for name in item.names if name in said)


def _refuses_sharing(pod: _Pod, claims: Sequence[str]) -> bool:
    """Whether a driver refuses a claim that a second container uses."""
    profiles = {entry.profile for entry in pod.entries if entry.name in claims}
    return any(
        ask.grant.tier.driver.shares_one_allocation == "no"
        for one in pod.view.offered
        if one.name in profiles
        for request in one.plan.requests
        for ask in request.asks
    )


def _twice(pod: _Pod, asked: Asked) -> Iterator[Diagnostic]:
    """Devices of one kind that a pod asks for by two names, or by a name and a claim."""
    templates = {
        text(entry, "resourceClaimTemplateName"): number
        for number, entry in enumerate(maps(pod.site.spec, "resourceClaims"))
    }
    places: dict[str, tuple[str, Span]] = {}
    for container, listed in asked.items():
        for item in listed:
            span = place_of(pod.site, container, item.name)
            claimed = _claimed(pod.view, item, templates)
            if claimed is not None:
                entry = pod.site.thing.span(*pod.site.steps, "resourceClaims", templates[claimed])
                yield _asked_twice(pod, item.name, span, f"template {claimed}", entry)
            for tier in tiers_meant(pod.view.catalog, item):
                other = places.setdefault(tier.name, (item.name, span))
                if other[0] != item.name and claimed is None and _same_devices(pod, item, other[0]):
                    yield _asked_twice(pod, item.name, span, other[0], other[1])
                    break


def _claimed(view: View, item: Item, templates: dict[str | None, int]) -> str | None:
    """The template of the tenant that a pod names already and that has devices of the item."""
    return next(
        (
            template
            for one in view.offered
            for template in one.templates.values()
            if template in templates
            and any(meets(ask, item) for request in one.plan.requests for ask in request.asks)
        ),
        None,
    )


def _same_devices(pod: _Pod, item: Item, other: str) -> bool:
    """Whether two names are for devices of one class of the tenant."""
    return any(
        meets(ask, item) and meets(ask, Item(other, 1))
        for one in pod.view.offered
        for request in one.plan.requests
        for ask in request.asks
    )


def _asked_twice(pod: _Pod, name: str, span: Span, other: str, place: Span) -> Diagnostic:
    return diagnose(
        "ROL047",
        span,
        f"{pod.site.name} asks for devices by {name} and by {other}: it would hold both",
        related=[Related(place, "asked for here as well")],
        help="keep the one that is meant",
    )


def _several(pod: _Pod, container: Container, listed: Sequence[Item], found: SeveralFit) -> None:
    what = ", ".join(map(str, listed))
    if found.clusters:
        message = f"the template of profile {found.profiles[0]} has another name on each cluster"
        mend = f"say where the workload runs: --cluster {' | '.join(dict.fromkeys(found.clusters))}"
    else:
        message = f"several profiles of tenant {pod.view.tenant.name} hold {what}"
        mend = "say which is meant: --profile NAME"
    pod.findings.append(
        diagnose(
            "ROL041",
            place_of(pod.site, container, listed[0].name),
            f"{pod.site.name}: {message}",
            found=", ".join(found.profiles),
            help=mend,
        )
    )


def _none(pod: _Pod, container: Container, item: Item) -> None:
    view = pod.view
    near: NoneFits = nearest(view.catalog, view.tenant, (item,), view.offered)
    where = f" in namespace {view.namespace}" if view.namespace else ""
    among = f" of those that --profile names ({', '.join(view.wanted)})" if view.wanted else ""
    pod.findings.append(
        diagnose(
            "ROL040",
            place_of(pod.site, container, item.name),
            f"no profile of tenant {view.tenant.name}{among} holds what {pod.site.name} asks for"
            f"{where}: {item}",
            found=near.nearest or None,
            expected=str(item),
            help=f"add to tenant {view.tenant.name}: {near.missing}",
        )
    )
