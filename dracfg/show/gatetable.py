"""One cluster's feature gates: what each is in its minor, what it is set to, where, and why.

Judges nothing; what is wrong with a gate is told by the rules on versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dracfg.check.gateview import GateView, state_of
from dracfg.kube.features import closure, feature_matrix
from dracfg.kube.gates import GateUse
from dracfg.lower.gates import watched_versions
from dracfg.show.document import Document, present, shown

API_SERVER = "kube-apiserver"
_SOURCES = {"NodePool": "pool", "Driver": "driver"}


def gate_table(view: GateView) -> Document:
    """Every gate that the output needs, that the Cluster names, or that is written, by name.

    `{schemaVersion, kind: GateTable, cluster, minor, distribution, gates[], runtimeConfig[]}`. A
    gate is `{name, stage, default, locked, wanted, allowAlpha?, components[], notWritten?,
    reasons[]}`: `default` and `locked` are null in minors without the gate, `allowAlpha` stands
    beside alpha gates that are wanted on and is null where nobody allows it, `components` are
    those that it is written for, and where there are none `notWritten` says why: absent, locked,
    default, or managed (the provider's own control plane). A reason is `{source, reason, object?,
    pointer?, uses?}`: where source is object, pool, driver or featureGates, the first place that
    uses the gate and how many do; requires and off (what depends on a gate that is off) have no
    place.
    """
    plan = view.plan
    written = {gate for gates in plan.by_component.values() for gate in gates}
    names = {*plan.wanted, *plan.unknown, *written}
    return shown(
        "GateTable",
        cluster=view.cluster.name,
        minor=view.minor,
        distribution=view.cluster.document.spec.distribution,
        gates=[_gate(view, name) for name in sorted(names)],
        runtimeConfig=[_version(view, version) for version in plan.runtime_config],
    )


def _gate(view: GateView, name: str) -> Document:
    state = state_of(name, view.minor)
    components = _components(view, name)
    row: Document = {
        "name": name,
        "stage": state.stage,
        "default": state.default,
        "locked": state.locked,
        "wanted": _wanted(view, name),
    }
    if state.stage == "alpha" and _wanted(view, name):
        row["allowAlpha"] = view.allowed.get(name)
    row["components"] = components
    if not components:
        row["notWritten"] = _not_written(view, name)
    row["reasons"] = [*_uses(view, name), *_dependants(view, name), *_said(view, name)]
    return row


def _wanted(view: GateView, name: str) -> bool:
    """A gate that is written and wanted by nobody depends on one that is off."""
    return view.plan.wanted.get(name, view.said.get(name, name in view.plan.unknown))


def _components(view: GateView, name: str) -> list[str]:
    if not view.sets_gates:
        return []
    return [component for component, gates in view.plan.by_component.items() if name in gates]


def _not_written(view: GateView, name: str) -> str:
    state = state_of(name, view.minor)
    gate = feature_matrix().gate(name)
    if gate is None or state.stage == "absent":
        return "absent"
    if not gate.settable(view.minor):
        return "locked"
    return "default" if state.default is _wanted(view, name) else "managed"


def _uses(view: GateView, name: str) -> Iterator[Document]:
    """What uses the gate itself, each reason once, in the order of the plan."""
    uses = [use for use in view.plan.uses if use.gate == name]
    order = {reason: i for i, reason in enumerate(dict.fromkeys(use.reason for use in uses))}
    alike = groupby(sorted(uses, key=lambda use: order[use.reason]), key=lambda use: use.reason)
    for reason, group in alike:
        listed = list(group)
        source = _source(view, listed[0])
        yield _reason(source, reason, [(_ref(view, use), use.pointer) for use in listed])


def _source(view: GateView, use: GateUse) -> str:
    if use.object_ref in view.artifacts:
        return "object"
    return _SOURCES.get(use.object_ref.partition("/")[0], "object")


def _ref(view: GateView, use: GateUse) -> str:
    """The use as a reference that can be shown in turn."""
    is_object = use.object_ref in view.artifacts
    return f"{view.cluster.name}/{use.object_ref}" if is_object else use.object_ref


def _dependants(view: GateView, name: str) -> Iterator[Document]:
    gates = feature_matrix().gates
    for other, on in view.plan.wanted.items():
        if on and other in gates and name in gates[other].requires:
            yield {"source": "requires", "reason": f"{other} does not start without it"}
    if name in gates and name not in view.plan.wanted:
        for other, on in view.plan.wanted.items():
            if not on and other in closure([name], view.minor):
                yield {"source": "off", "reason": f"does not start without {other}, which is off"}


def _said(view: GateView, name: str) -> Iterator[Document]:
    if name in view.said:
        value = str(view.said[name]).lower()
        yield _reason(
            "featureGates",
            f"Cluster.featureGates {'sets' if view.sets_gates else 'states'} {value}",
            [(f"Cluster/{view.cluster.name}", f"/spec/featureGates/{name}")],
        )


def _version(view: GateView, version: str) -> Document:
    """`{groupVersion, components[], notWritten?, reasons[]}` for what kube-apiserver must serve."""
    objects = [
        (f"{view.cluster.name}/{ref}", "/apiVersion")
        for ref, artifact in view.artifacts.items()
        if artifact.object["apiVersion"] == version
    ]
    reasons = [_reason("object", f"objects are written in {version}", objects)] if objects else []
    reasons += [
        {"source": "gate", "reason": f"components watch it while {gate} is on"}
        for gate, on in view.plan.wanted.items()
        if on and version in watched_versions(gate, view.minor)
    ]
    return present(
        groupVersion=version,
        components=[API_SERVER] if view.sets_gates else [],
        notWritten=None if view.sets_gates else "managed",
        reasons=reasons,
    )


def _reason(source: str, reason: str, places: Sequence[tuple[str, str]]) -> Document:
    ref, pointer = places[0]
    return {
        "source": source,
        "reason": reason,
        "object": ref,
        "pointer": pointer,
        "uses": len(places),
    }
