"""Rules on versions: the gates, API versions and releases that a cluster must have for its objects.

Judges gate plans; which gates are needed and where they are set is found out by `lower.gates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.check.drivergates import is_driver_gate
from dracfg.check.gateview import MOST_RELATED, GateView, first_minor_on, state_of
from dracfg.check.places import distinct_spans, place, span_of
from dracfg.check.rule import suggestion
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.kube.features import contradictions, feature_matrix
from dracfg.link.catalog import Catalog
from dracfg.link.driver import Driver
from dracfg.lower.artifact import Unit, origin_of
from dracfg.lower.gates import GatePlan


def check_versions(
    catalog: Catalog, units: Sequence[Unit], plans: Mapping[str, GatePlan]
) -> tuple[Diagnostic, ...]:
    """Findings on each cluster's gates and drivers: VER001-007, 009, 011 and 012.

    `plans` are the gate plans by the cluster's name; `units` lead from what uses a gate to the
    documents that it comes from.
    """
    found: list[Diagnostic] = []
    for name, plan in plans.items():
        view = GateView(catalog, catalog.clusters[name], plan, units)
        for rule in (_needed, _alpha_allowed, _named, _forced, _contradicted, _api_versions):
            found += rule(view)
        found += _least_minor(view)
    return tuple(dict.fromkeys(found))


def check_releases(catalog: Catalog) -> tuple[Diagnostic, ...]:
    """VER008: releases of drivers of which nothing is known."""
    return tuple(found for driver in catalog.drivers.values() for found in _release(driver))


def _needed(view: GateView) -> Iterator[Diagnostic]:
    """VER001, VER003, VER012: gates that the output needs and can't have."""
    for gate in view.plan.needed:
        state = state_of(gate, view.minor)
        if state.stage == "absent":
            yield _absent(view, gate)
        elif view.said.get(gate) is False and not state.locked:
            yield diagnose(
                "VER003",
                view.spec("featureGates", gate),
                f"{gate} is set to false, but {view.cluster.name} needs it: {view.without(gate)}",
                found="false",
                expected="true",
                related=view.users(gate),
                help="take the entry out, or remove what needs the gate",
            )
        elif not view.sets_gates and view.is_missing(gate):
            yield _unsettable(view, gate)


def _unsettable(view: GateView, gate: str) -> Diagnostic:
    name = view.cluster.document.spec.distribution
    first = first_minor_on(gate)
    since = f"it is on by default from {first}" if first else "no minor has it on by default"
    return diagnose(
        "VER001",
        view.spec("kubernetes"),
        f"{view.cluster.name} needs {gate}, which is off in Kubernetes {view.minor} and can't be "
        f"set on {name}; {since}: {view.without(gate)}",
        found=view.minor,
        expected=first,
        related=view.users(gate),
        help=(f"move to Kubernetes {first}, or do" if first else "do")
        + f" without it here; where {name} has it on, say so: featureGates: {{{gate}: true}}",
    )


def _absent(view: GateView, gate: str) -> Diagnostic:
    minors = feature_matrix().minors
    having = [minor for minor in minors if state_of(gate, minor).stage != "absent"]
    since = f"; {having[0]} is the first that does" if having and having[0] > view.minor else ""
    return diagnose(
        "VER012",
        view.spec("kubernetes"),
        f"{view.cluster.name} needs {gate}, which Kubernetes {view.minor} does not have{since}: "
        f"{view.without(gate)}",
        found=view.minor,
        related=view.users(gate),
        help="remove what needs it from this cluster",
    )


def _alpha_allowed(view: GateView) -> Iterator[Diagnostic]:
    """VER002, VER007: alpha gates in use, and entries of allowAlpha."""
    for gate, on in view.plan.wanted.items():
        state = state_of(gate, view.minor)
        if not on or state.stage != "alpha" or gate in view.allowed:
            continue
        needed = gate in view.plan.needed
        if needed and not view.sets_gates and view.is_missing(gate):
            continue  # VER001: the gate can't be had at all
        why = (
            f"{view.cluster.name} needs it: {view.without(gate)}"
            if needed
            else "featureGates turns it on"
        )
        yield diagnose(
            "VER002",
            view.key("allowAlpha") if view.allowed else view.spec("kubernetes"),
            f"{gate} is alpha in Kubernetes {view.minor} and not allowed here; {why}",
            expected=f"allowAlpha: {{{gate}: <why that is accepted>}}",
            related=view.users(gate),
            help=f"add `{gate}` to allowAlpha with the reason why an alpha feature is accepted, "
            "or do without it",
        )
    for gate in view.allowed:
        state = state_of(gate, view.minor)
        if state.stage == "absent":
            continue  # VER004
        if state.stage != "alpha":
            word = {"ga": "stable"}.get(state.stage, state.stage)
            message = f"{gate} is {word} in Kubernetes {view.minor}, so nothing alpha is allowed"
        elif not view.plan.wanted.get(gate, False):
            if view.catalog.poisoned:
                continue  # what uses it may be among what could not be understood
            message = f"nothing on {view.cluster.name} uses {gate}"
        else:
            continue
        yield diagnose("VER007", view.key("allowAlpha", gate), message, help="remove the entry")


def _named(view: GateView) -> Iterator[Diagnostic]:
    """VER004: gates that the minor does not know; a component that is told of one does not start."""
    matrix = feature_matrix()
    here = [name for name, gate in matrix.gates.items() if gate.at(view.minor).stage != "absent"]
    for field, names in (("featureGates", view.said), ("allowAlpha", view.allowed)):
        for name in names:
            if name in here or is_driver_gate(name):
                continue
            known = matrix.gates.get(name)
            help_, fix = suggestion(name, here)
            if name in matrix.not_landed:
                reason = f": {matrix.not_landed[name]}"
            elif known is not None:
                having = ", ".join(m for m in matrix.minors if known.at(m).stage != "absent")
                reason, help_, fix = f"; it exists in {having}", "remove the entry", None
            else:
                reason = ""
            yield diagnose(
                "VER004",
                view.key(field, name),
                f"Kubernetes {view.minor} has no feature gate {name} that dracfg knows of{reason}",
                found=name,
                help=help_,
                fix=fix,
            )


def _forced(view: GateView) -> Iterator[Diagnostic]:
    """VER006: values that no component starts with."""
    for name, value in view.said.items():
        gate = feature_matrix().gate(name)
        if gate is None or gate.at(view.minor).stage == "absent":
            continue
        state = gate.at(view.minor)
        if gate.never_emit:
            message = f"{name} is always on and may stand in no flag"
        elif state.locked and value is not state.default:
            fixed = str(state.default).lower()
            message = (
                f"{name} is locked to {fixed} in Kubernetes {view.minor}: "
                f"{', '.join(gate.components)} would not start"
            )
        else:
            continue
        yield diagnose(
            "VER006",
            view.spec("featureGates", name),
            message,
            found=str(value).lower(),
            help="remove the entry",
        )


def _contradicted(view: GateView) -> Iterator[Diagnostic]:
    """VER009: a gate on, what it depends on off."""
    here = {g: on for g, on in view.said.items() if state_of(g, view.minor).stage != "absent"}
    for gate, dependency in contradictions(here, view.minor):
        if dependency in view.plan.needed:
            continue  # VER003 says so
        yield diagnose(
            "VER009",
            view.spec("featureGates", dependency),
            f"{dependency} is off, but {gate} is on and depends on it: components would not start",
            found="false",
            expected="true",
            related=[Related(view.spec("featureGates", gate), f"{gate} is on here")],
            help=f"turn {dependency} on, or {gate} off",
        )


def _api_versions(view: GateView) -> Iterator[Diagnostic]:
    """VER011: API versions that kube-apiserver must be told to serve, where nobody can tell it."""
    if view.sets_gates:
        return
    for group_version in view.plan.runtime_config:
        things = [a for a in view.artifacts.values() if a.object["apiVersion"] == group_version]
        places = distinct_spans(view.catalog, (a.origin for a in things), MOST_RELATED)
        yield diagnose(
            "VER011",
            view.spec("distribution"),
            f"{view.cluster.document.spec.distribution} serves no {group_version}: in Kubernetes "
            f"{view.minor} it needs a flag of kube-apiserver that can't be set there",
            found=group_version,
            related=[Related(span, "needs it") for _, span in places],
            help="remove what needs it from this cluster",
        )


def _least_minor(view: GateView) -> Iterator[Diagnostic]:
    """VER005: drivers that need a newer Kubernetes."""
    minors = feature_matrix().minors
    for driver in view.cluster.drivers:
        least = driver.preset.kubernetes.min if driver.preset is not None else "unknown"
        if least in minors and minors.index(least) > minors.index(view.minor):
            yield diagnose(
                "VER005",
                view.spec("kubernetes"),
                f"{driver.name} needs Kubernetes {least} or later; {view.cluster.name} has "
                f"{view.minor}",
                found=view.minor,
                expected=f"at least {least}",
                related=[Related(span_of(view.catalog, origin_of(driver.document)), "the driver")],
            )


def _release(driver: Driver) -> Iterator[Diagnostic]:
    """VER008: a release that the preset does not list, so that nothing is known of it."""
    version, preset = driver.document.spec.version, driver.preset
    if version is None or preset is None or not preset.releases:
        return
    if preset.release_index(version) is None:
        _, fix = suggestion(version, preset.releases)
        yield diagnose(
            "VER008",
            place(driver.document, "spec", "version"),
            f"the preset of {driver.name} does not list release {version}, so what that release "
            "publishes is not known",
            found=version,
            expected=", ".join(preset.releases),
            help="rules take it for a release that has all that was never dropped",
            fix=fix,
        )
