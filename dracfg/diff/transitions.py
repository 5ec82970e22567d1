"""DIF001-DIF004 and DIF008-DIF012: steps of tenants, pools, names, templates and minors that are illegal.

Each state is sound by itself; what is judged is that the one follows on the other. What happens on the
cluster between two syncs is the reason for each. Rollouts are judged by `rolloutsteps`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import place, span_of
from dracfg.check.standing import first_change
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.diff.counterparts import changed_tenants, clusters, linked_otherwise, same_platform
from dracfg.diff.handovers import holder, holder_place, legacy_names, words
from dracfg.diff.machines import in_turn, machine, transition_data
from dracfg.diff.minors import changes_layout, partitioned_pools
from dracfg.diff.pair import Pair
from dracfg.diff.templates import Versions, versions
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster, Pool, Tenant
from dracfg.link.driver import Driver

_APART = "each in a commit of its own that is synced before the next"


def tenant_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF001 for a state that is skipped, DIF002 for a tenant that leaves git before it is removed."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    states = machine("tenant")
    for name in sorted(linked_otherwise(before, after) & before.tenants.keys()):
        tenant = before.tenants[name]
        was = tenant.document.spec.state
        if name not in after.tenants:
            if was != "removed" and after.is_complete("Tenant"):
                yield _left_git(pair, tenant)
            continue
        document = after.tenants[name].document
        now = document.spec.state
        if not states.allows(was, now):
            way = states.way(was, now)
            yield diagnose(
                "DIF001",
                place(document, "spec", "state"),
                f"tenant {name} goes from {was} to {now} in one step",
                found=f"{was} -> {now}",
                expected=f"{was} -> {way[0]}" if way else None,
                help=f"go by {in_turn(way)}, {_APART}: {states.why(way)}",
            )


def _left_git(pair: Pair, tenant: Tenant) -> Diagnostic:
    state = tenant.document.spec.state
    way = machine("tenant").way(state, "removed")
    return diagnose(
        "DIF002",
        place(tenant.document, "metadata", "name"),
        f"tenant {tenant.name} is taken out of git while it is {state}: its namespaces stay on the "
        "cluster with the rights and quotas that they have",
        label=f"stands in {pair.base.name} alone",
        found=f"{state} -> no document",
        expected="removed -> no document",
        help=f"go by {in_turn(way)}, {_APART}; then take the document out",
    )


def pool_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF003 for a state that is skipped, DIF004 for an owner that changes on a pool with new work."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    states = machine("pool")
    quiet = tuple(transition_data()["owner"]["states"])
    for name, pool in before.pools.items():
        new = after.pools.get(name)
        if new is None:
            continue
        was, now = pool.document.spec.state, new.document.spec.state
        if not states.allows(was, now):
            way = states.way(was, now)
            yield diagnose(
                "DIF003",
                place(new.document, "spec", "state"),
                f"pool {name} goes from {was} to {now} in one step",
                found=f"{was} -> {now}",
                expected=f"{was} -> {way[0]}" if way else None,
                help=f"go by {in_turn(way)}, {_APART}: {states.why(way)}",
            )
        held = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
        for devices in new.devices:
            driver = devices.tier.driver
            old = held.pop(driver.name, None)
            if old is None or pool.owner(old) == new.owner(driver) or pool.state in quiet:
                continue
            if _is_moved(pool, new, driver):
                continue
            yield diagnose(
                "DIF004",
                place(new.document, "spec", "owner", driver.name),
                f"the devices of {driver.name} on pool {name} go from {_owner(pool.owner(old))} to "
                f"{_owner(new.owner(driver))} while the pool is {pool.state}: a pod of the one may "
                "still hold a device that the other gives away",
                label=f"the pool was {pool.state}",
                found=f"{pool.owner(old)} -> {new.owner(driver)} on a pool that is {pool.state}",
                expected=f"a pool that is {' or '.join(quiet[:2])}",
                help=f"set the pool to {in_turn(quiet[:2])}, wait until no pod there holds a device, "
                f"then change the owner, then open it; {_APART}. A Rollout does the same",
            )


def _is_moved(pool: Pool, new: Pool, driver: Driver) -> bool:
    """Whether a rollout moves the pool, so that its own steps are judged and not what comes of them."""
    movers = {
        move.rollout.name
        for move in (*pool.moves, *new.moves)
        if move.moved and move.rollout.spec.subject == "ownership"
    }
    owners = {one.document.spec.owner.get(driver.name) for one in (pool, new)}
    stands = movers <= {move.rollout.name for move in new.moves}
    return bool(movers) and stands and len(owners) == 1


def _owner(owner: str) -> str:
    return "DRA" if owner == "dra" else "the device plugin"


def name_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF008: a legacy name that goes from one class to another without being free in between."""
    holders = machine("holder")
    for before, after in clusters(pair):
        if same_platform(before, after):
            continue
        for name in legacy_names(before, after):
            was, now = holder(pair.base, before, name), holder(pair.head, after, name)
            if holders.allows(was[0], now[0]):
                continue
            way = holders.way(was[0], now[0])
            yield diagnose(
                "DIF008",
                holder_place(after, name),
                f"{name} goes on {after.name} from {words(was)} to {words(now)} in one step: while "
                "both answer to it, the newer class wins, by the order of syncs",
                found=f"{words(was)} -> {words(now)}",
                expected=f"{words(was)} -> {words((way[0], '')) if way else 'nobody'}",
                help=f"free the name first and let that sync, then give it to {words(now)}: "
                f"{holders.why(way)}",
            )


def minor_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF011 for a minor that is skipped or lowered, DIF012 for slices that the next one can't read."""
    minors = feature_matrix().minors
    most = int(transition_data()["minor"]["up"])
    after = pair.head.judgement.catalog
    for name, old in pair.base.judgement.catalog.clusters.items():
        new = after.clusters.get(name)
        if new is None or new.minor == old.minor:
            continue
        was, now = minors.index(old.minor), minors.index(new.minor)
        if now < was:
            yield _lowered(old, new)
        elif now - was > most:
            way = minors[was + 1 : now + 1]
            yield diagnose(
                "DIF011",
                place(new.document, "spec", "kubernetes"),
                f"{name} goes from Kubernetes {old.minor} to {new.minor} in one step",
                found=f"{old.minor} -> {new.minor}",
                expected=f"{old.minor} -> {way[0]}",
                help=f"go by {in_turn(way)}, {_APART}: a control plane is upgraded minor by minor",
            )
        yield from _relaid(old, new)


def _lowered(old: Cluster, new: Cluster) -> Diagnostic:
    return diagnose(
        "DIF011",
        place(new.document, "spec", "kubernetes"),
        f"{new.name} goes from Kubernetes {old.minor} back to {new.minor}",
        found=f"{old.minor} -> {new.minor}",
        expected=f"{old.minor} or later",
        help="a control plane has no way back by a minor; make a new cluster document where another "
        "cluster takes its place",
    )


def _relaid(old: Cluster, new: Cluster) -> Iterator[Diagnostic]:
    standing = [pool for pool in old.pools if pool.name in partitioned_pools(old)]
    running = [pool for pool in standing if pool.state != "disabled"]
    if not running or not changes_layout(old, new):
        return
    names = ", ".join(pool.name for pool in running)
    yield diagnose(
        "DIF012",
        place(new.document, "spec", "kubernetes"),
        f"{new.name} goes from Kubernetes {old.minor} to {new.minor} while partitions are published on "
        f"{names}: the one's slices with shared counters are not understood by the other",
        related=[
            Related(place(pool.document, "spec", "state"), f"{pool.name} is {pool.state}")
            for pool in running
        ],
        found=f"{old.minor} -> {new.minor}",
        help=f"set {names} to frozen, then draining, then disabled, {_APART}; delete the slices of the "
        "driver, upgrade, then open the pools again",
    )


def template_steps(pair: Pair) -> Iterator[Diagnostic]:
    """DIF009 for a revision that goes back, DIF010 for a template that changes under its name.

    Where the template stands under `out/`, the later side does not compile, and OBJ004 says why.
    """
    changed = changed_tenants(pair)
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    for name in sorted(changed & before.tenants.keys() & after.tenants.keys()):
        yield from _lowered_revisions(before.tenants[name], after.tenants[name])
    seen: set[tuple[str, str]] = set()
    for old, new in clusters(pair):
        names = frozenset(after.tenants if not same_platform(old, new) else changed)
        first, second = versions(pair.base, old, names), versions(pair.head, new, names)
        for tenant, held in second.items():
            for finding, key in _changed(after, tenant, first.get(tenant, Versions()), held):
                if key not in seen:
                    seen.add(key)
                    yield finding


def _lowered_revisions(old: Tenant, new: Tenant) -> Iterator[Diagnostic]:
    was = {profile.name: profile.revision for profile in old.document.spec.profiles}
    for i, profile in enumerate(new.document.spec.profiles):
        before = was.get(profile.name, profile.revision)
        if profile.revision < before:
            yield diagnose(
                "DIF009",
                place(new.document, "spec", "profiles", i, "revision"),
                f"profile {profile.name} of {new.name} goes from revision {before} back to "
                f"{profile.revision}, whose template stands already, with what it asked for then",
                found=f"{before} -> {profile.revision}",
                expected=f"{before}, or {before + 1} where the content changes",
                help=f"keep revision {before}; to go back to what an earlier one asked for, write that "
                f"under revision {before + 1}",
            )


def _changed(
    catalog: Catalog, tenant: str, old: Versions, new: Versions
) -> Iterator[tuple[Diagnostic, tuple[str, str]]]:
    for profile, places in new.active.items():
        for namespace, artifact in places.items():
            other = old.active.get(profile, {}).get(namespace)
            if other is None:
                continue
            name = artifact.object["metadata"]["name"]
            if name != other.object["metadata"]["name"]:
                continue
            found = first_change(other.object["spec"], artifact.object["spec"])
            if found is not None:
                finding = diagnose(
                    "DIF010",
                    span_of(catalog, artifact.origin),
                    f"template {name} of profile {profile} changes under its name: {found}",
                    found=f"{name}, changed",
                    expected="a new revision",
                    help="raise `revision`: the new template gets a name of its own, the old one stays "
                    "for workloads that name it; a template can't be edited in place",
                )
                yield finding, (tenant, profile)
