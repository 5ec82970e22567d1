"""What stands beside devices in a workload and does not come along, or no longer means anything.

Judges pods that change. Each finding says what stays as it is and what to do about it; nothing here
keeps a pod from being rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.claims import Ask
from dracfg.migrate.decision import PodChange, View, place_of
from dracfg.migrate.demand import Item, items
from dracfg.migrate.facts import domain, facts, qualities_of
from dracfg.migrate.names import holds_amount, meets, tiers_meant
from dracfg.source.fields import mapping, maps, text, texts, value
from dracfg.source.records import Steps

_QUEUE = "kueue.x-k8s.io/queue-name"


def leftovers(change: PodChange, view: View) -> tuple[Diagnostic, ...]:
    """Everything to be said of a pod that changes, in the order of the pages."""
    judges: tuple[Callable[[PodChange, View], Iterator[Diagnostic]], ...] = (
        _environment,
        _node_labels,
        _companions,
        _lost_amounts,
        _networks,
        _token,
        _fixed,
        _empty_pools,
        _readers,
    )
    return tuple(finding for judge in judges for finding in judge(change, view))


def _domains(change: PodChange) -> frozenset[str]:
    return frozenset(domain(name) for one in change.containers for name in one.removed)


def _of(table: Mapping[str, Sequence[str]], change: PodChange) -> tuple[str, ...]:
    """What a table has for the plugins whose names leave."""
    return tuple(one for name in sorted(_domains(change)) for one in table.get(name, ()))


def _environment(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    known = _of(facts().environment, change)
    for container in change.site.containers:
        for number, entry in enumerate(maps(container.data, "env")):
            name = text(entry, "name")
            if name in known:
                yield diagnose(
                    "ROL048",
                    change.site.thing.span(*container.steps, "env", number),
                    f"{change.site.name} sets {name}, which may show the container other devices "
                    "than those of its claim, or none",
                    help="leave it out: the driver hands the claim's devices to the container",
                )


def _node_labels(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    prefixes = _of(facts().node_labels, change)
    scalers = facts().autoscaler_labels
    for key, steps in _label_keys(change):
        span = change.site.thing.span(*steps, key=True)
        if key.startswith(prefixes):
            yield diagnose(
                "ROL049",
                span,
                f"{change.site.name} picks nodes by {key}, a label that comes with the device plugin",
                help="leave it out: the class of the claim says which hardware is meant",
            )
        elif key.startswith(scalers):
            yield diagnose(
                "ROL056",
                span,
                f"{change.site.name} picks nodes by {key}: an autoscaler that makes them for "
                "amounts in `resources` sees none any more",
                help="keep a node of the pool running, or have the autoscaler know claims",
            )


def _label_keys(change: PodChange) -> Iterator[tuple[str, Steps]]:
    """Every node label that a pod picks nodes by."""
    spec, base = change.site.spec, change.site.steps
    for key in mapping(spec, "nodeSelector"):
        yield key, (*base, "nodeSelector", key)
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = maps(spec, "affinity", "nodeAffinity", required, "nodeSelectorTerms")
    for i, term in enumerate(terms):
        for j, expression in enumerate(maps(term, "matchExpressions")):
            place = ("affinity", "nodeAffinity", required, "nodeSelectorTerms", i)
            label = text(expression, "key")
            if label:
                yield label, (*base, *place, "matchExpressions", j, "key")


def _companions(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    """Tolerations of the plugin's taint and its runtime class: needed as long as nodes have them."""
    names = {name for one in change.containers for name in one.removed}
    for number, entry in enumerate(maps(change.site.spec, "tolerations")):
        if text(entry, "key") in names:
            yield diagnose(
                "ROL050",
                change.site.thing.span(*change.site.steps, "tolerations", number),
                f"{change.site.name} tolerates {text(entry, 'key')} by hand: the admission "
                "controller that adds this by resource names adds nothing for claims",
                help="keep it while nodes have the taint",
            )
    runtime = text(change.site.spec, "runtimeClassName")
    if runtime in _of(facts().runtime_classes, change):
        yield diagnose(
            "ROL050",
            change.site.thing.span(*change.site.steps, "runtimeClassName"),
            f"{change.site.name} names the runtime class {runtime} of the device plugin; "
            "DRA drivers hand devices over by CDI, in any runtime that reads it",
            help="leave it out where the container runtime has CDI switched on",
        )


def _lost_amounts(change: PodChange, view: View) -> Iterator[Diagnostic]:
    """Amounts that no capacity of the class holds, and annotations that only the plugin reads."""
    templates = {entry.template for entry in change.entries}
    asks = [
        ask
        for one in view.offered
        if templates & set(one.templates.values())
        for request in one.plan.requests
        for ask in request.asks
    ]
    for one in change.containers:
        for item in items(one.container.data):
            if item.name not in one.removed:
                continue
            lost = _lost(item, [ask for ask in asks if meets(ask, item)])
            for name in (name for name in lost if name in one.removed):
                yield diagnose(
                    "ROL052",
                    place_of(change.site, one.container, name),
                    f"{change.site.name} says {name}, which the claim can't say",
                    help="have a sharing policy hold that capacity, or do without",
                )
    known = _of(facts().annotations, change)
    for key in texts(change.site.metadata, "annotations"):
        if key in known:
            steps = change.site.steps[:-1] if change.site.has_pod_spec else change.site.steps
            yield diagnose(
                "ROL052",
                change.site.thing.span(*steps, "metadata", "annotations", key, key=True),
                f"{change.site.name} has the annotation {key}, which a DRA driver does not read",
                help="a profile may choose devices by `choose`, a tier by `match`",
            )


def _lost(item: Item, asks: Sequence[Ask]) -> Iterator[str]:
    """The names whose amounts none of the classes holds."""
    held = {
        key
        for key in item.amounts
        for ask in asks
        if holds_amount(ask.grant.tier, ask.part, item, key)
    }
    for name, quality in qualities_of(item.name).items():
        said = quality.capacity in item.amounts
        if (said or name in item.others) and quality.capacity not in held:
            yield name


def _networks(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    key = facts().networks
    if key in texts(change.site.metadata, "annotations"):
        yield diagnose(
            "ROL053",
            change.site.thing.span(
                *change.site.steps[:-1], "metadata", "annotations", key, key=True
            ),
            f"{change.site.name} keeps its networks: each NetworkAttachmentDefinition must name the "
            "resource that the claimed device publishes as k8s.cni.cncf.io/resourceName",
            help="compare the annotation k8s.v1.cni.cncf.io/resourceName of the networks with the "
            "attribute of the devices; Multus refuses the pod where they differ",
        )


def _token(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    spec = change.site.spec
    named = text(spec, "serviceAccountName") or text(spec, "serviceAccount")
    if named or "automountServiceAccountToken" in spec or not change.site.has_pod_spec:
        return
    yield diagnose(
        "ROL054",
        change.site.thing.span(*change.site.steps, key=True),
        f"pods of {change.site.name} get a token of the default service account, which claims "
        "don't need",
        help="write `automountServiceAccountToken: false` where nothing else needs it",
    )


def _fixed(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    reason = facts().fixed.get(change.site.kind)
    if reason is not None:
        yield diagnose(
            "ROL055",
            change.site.thing.span("kind"),
            f"{change.site.name} that runs does not become this one: {reason}",
            help="let it end, or delete it, before the new one is applied",
        )


def _empty_pools(change: PodChange, view: View) -> Iterator[Diagnostic]:
    """Pools without a node publish no devices, so no autoscaler knows what a claim would find there."""
    for one in change.containers:
        for item in items(one.container.data):
            tiers = set(tiers_meant(view.catalog, item))
            pools = [
                pool
                for name in view.clusters
                for pool, devices in view.catalog.clusters[name].offers()
                if devices.tier in tiers
            ]
            if item.name in one.removed and pools and not any(
                pool.document.spec.nodes for pool in pools
            ):  # fmt: skip
                yield diagnose(
                    "ROL056",
                    place_of(change.site, one.container, item.name),
                    f"{change.site.name} asks for {item.name} of pools that start without a node: "
                    "none publishes devices that an autoscaler could count on",
                    help="keep a node of the pool running",
                )
    holder: Any = change.site.thing.data
    for number, step in enumerate(change.site.steps):
        if isinstance(holder, Mapping) and holder.get("minReplicas") == 0:
            yield diagnose(
                "ROL056",
                change.site.thing.span(*change.site.steps[:number], "minReplicas"),
                f"{change.site.name} may start from no pod: its autoscaler makes nodes by amounts "
                "in `resources`, and there are none any more",
                help="keep one replica, or have the autoscaler know claims",
            )
        holder = holder[step]


def _readers(change: PodChange, _view: View) -> Iterator[Diagnostic]:
    """Controllers that count devices in containers: of what they count there is nothing left."""
    data = change.site.thing.data
    reader = facts().readers.get(str(data.get("apiVersion")).partition("/")[0])
    for one in change.containers:
        for item in items(one.container.data) if reader is not None else ():
            if reader is None or item.name not in reader.of or item.name not in one.removed:
                continue
            holder, steps = _holder(data, change.site.steps, reader.says)
            if value(holder, reader.says, reader.key) is None:
                yield diagnose(
                    "ROL057",
                    place_of(change.site, one.container, item.name),
                    f"{change.site.name}: the controller counts {item.name} of the container and "
                    "finds none",
                    help=f'say `{reader.key}: "{item.count}"` in {reader.says} of '
                    f"{'/'.join(map(str, steps))}",
                )
    if _QUEUE in texts(data, "metadata", "labels"):
        yield diagnose(
            "ROL057",
            change.site.thing.span("metadata", "labels", _QUEUE, key=True),
            f"{change.site.name} is queued: Kueue counts claims by deviceClassMappings, no longer by "
            f"{', '.join(sorted({name for one in change.containers for name in one.removed}))}",
            help="have its queue cover the mapped name; dracfg writes the mappings where Kueue is on",
        )


def _holder(data: Any, steps: Steps, key: str) -> tuple[Any, Steps]:
    """The innermost map on the way to a pod that has, or could have, a key beside the template."""
    for number in range(len(steps), -1, -1):
        if number < len(steps) and steps[number] == "template":
            inner = data
            for step in steps[:number]:
                inner = inner[step]
            return inner, steps[:number]
    return value(data, key), ()
