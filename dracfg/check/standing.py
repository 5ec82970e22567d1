"""Claims and templates that would change under their name although their spec can't be edited
(OBJ004, OBJ005). Source: kubernetes/api@v0.37.0-rc.0 resource/v1/types.go, immutable spec.

Compares specs only: labels, annotations and marks of engines may change in place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.check.places import place, span_of
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.lower.artifact import Artifact, Origin, Unit
from dracfg.lower.retirement import identity
from dracfg.lower.templates import CLAIMS_FILE, REQUESTS, TEMPLATES_FILE, template_name
from dracfg.lower.units import RETIRED
from dracfg.model.tenant import AdminAccess, Profile
from dracfg.source import Map, follow
from dracfg.source.standing import Standing

_MOST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Change:
    """The first place in which two specs differ; None stands for a field that is not there."""

    pointer: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.pointer}: {_shown(self.before)} → {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class Clash:
    """An emitted object that differs from the one of its name that stands; `taken` are names there."""

    artifact: Artifact
    change: Change
    taken: frozenset[str]


def clashes(
    catalog: Catalog, cluster: Cluster, units: Sequence[Unit], standing: Standing
) -> tuple[Clash, ...]:
    """What of one cluster would change under its name."""
    parts: dict[str, list[Unit]] = {}
    for unit in units:
        parts.setdefault(unit.path.partition(".")[0], []).append(unit)
    paths = (f"{cluster.name}/tenants/{one.name}" for one in catalog.tenants_on(cluster.name))
    return tuple(clash for path in paths for clash in _clashes(path, parts.get(path, ()), standing))


def clash_findings(catalog: Catalog, found: Iterable[Clash]) -> tuple[Diagnostic, ...]:
    """One finding for each profile and shared claim, on however many clusters it would change."""
    by_origin: dict[tuple[str, Origin], list[Clash]] = {}
    for clash in found:
        key = (clash.artifact.object["kind"], clash.artifact.origin)
        by_origin.setdefault(key, []).append(clash)
    return tuple(
        _template(catalog, origin, clashing)
        if kind == "ResourceClaimTemplate"
        else _claim(catalog, origin, clashing)
        for (kind, origin), clashing in by_origin.items()
    )


def first_change(before: Any, after: Any, pointer: str = "") -> Change | None:
    """The first place in which `after` differs from `before`, in the order of `after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*after, *before)):
            step = f"{pointer}.{key}" if pointer else str(key)
            found = first_change(before.get(key), after.get(key), step)
            if found is not None:
                return found
        return None
    if isinstance(before, list) and isinstance(after, list):
        for i in range(max(len(before), len(after))):
            old = before[i] if i < len(before) else None
            new = after[i] if i < len(after) else None
            found = first_change(old, new, f"{pointer}[{i}]")
            if found is not None:
                return found
        return None
    same = before == after and isinstance(before, bool) is isinstance(after, bool)
    return None if same else Change(pointer, before, after)


def _clashes(path: str, parts: Iterable[Unit], standing: Standing) -> Iterator[Clash]:
    """What of a unit, whose `parts` these are, differs from what stands under its name."""
    stands: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for file in (TEMPLATES_FILE, CLAIMS_FILE):
        for thing in (
            *standing.objects(path, file),
            *standing.objects(path, f"{RETIRED}/{file}"),
        ):
            stands.setdefault(identity(thing), thing)
    if not stands:
        return
    taken = frozenset(name for _, _, name in stands)
    for part in parts:
        for artifact in part.artifacts:
            if artifact.file not in (TEMPLATES_FILE, CLAIMS_FILE):
                continue
            old = stands.get(identity(artifact.object))
            if old is None:
                continue
            before, after = old.get("spec"), artifact.object["spec"]
            # What reads the same is the same, and most is: that is seen far sooner as a whole.
            same = before is after or repr(before) == repr(after)
            change = None if same else first_change(before, after)
            if change is None and artifact.object["kind"] == "ResourceClaim":
                change = first_change(_note(old), _note(artifact.object), REQUESTS)
            if change is not None:
                yield Clash(artifact, change, taken)


def _note(thing: Mapping[str, Any]) -> str | None:
    """What an object says of its requests: entitlements, sizes and the policy's version."""
    annotations = thing["metadata"].get("annotations") or {}
    return annotations.get(REQUESTS)


def _template(catalog: Catalog, origin: Origin, clashes: Sequence[Clash]) -> Diagnostic:
    name = clashes[0].artifact.object["metadata"]["name"]
    message = (
        f"ResourceClaimTemplate {name} would change under its name, which Kubernetes refuses: "
        f"{clashes[0].change}"
    )
    tenant = catalog.tenants[origin.name]
    source = _revised_by(tenant, origin)
    taken = frozenset().union(*(clash.taken for clash in clashes))
    revision = _next_revision(_stem(name, source.revision), source.revision, taken)
    span, fix = _revision_fix(tenant, origin, revision)
    return diagnose(
        "OBJ004",
        span,
        message,
        found=f"revision: {source.revision}",
        expected=f"revision: {revision}",
        help=f"raise `revision` to {revision}: the new template gets a name of its own, the old one "
        "stays for pods that name it; if the one in out/ was edited by hand or never merged, "
        "take out/ from git instead",
        fix=fix,
    )


def _revised_by(tenant: Tenant, origin: Origin) -> Profile | AdminAccess:
    """The part of the tenant whose revision names the template."""
    match origin.pointer:
        case ("spec", "profiles", int(i)):
            return tenant.document.spec.profiles[i]
        case ("spec", "adminAccess", int(i)):
            return tenant.document.spec.admin_access[i]
        case _:
            raise ValueError(f"no template comes from {origin}")


def _stem(name: str, revision: int) -> str:
    """The name of a template without its revision."""
    return name if revision == 1 else name.removesuffix(f"-v{revision}")


def _claim(catalog: Catalog, origin: Origin, clashes: Sequence[Clash]) -> Diagnostic:
    name = clashes[0].artifact.object["metadata"]["name"]
    return diagnose(
        "OBJ005",
        span_of(catalog, origin),
        f"ResourceClaim {name} would change under its name: {clashes[0].change}; "
        "a claim keeps its spec, and the version of the policy that it was made under",
        found=name,
        help="give the shared claim a new name; pods that name the old one keep its devices",
    )


def _next_revision(stem: str, revision: int, taken: frozenset[str]) -> int:
    """The next revision under whose name nothing stands."""
    revision += 1
    while template_name(stem, revision, {}, "revision") in taken:
        revision += 1
    return revision


def _revision_fix(tenant: Tenant, origin: Origin, revision: int) -> tuple[Span, str]:
    """Where the revision stands or belongs, and the text that makes it the new one.

    A part without the key gets it before its last key.
    """
    part, _ = follow(tenant.document.read_from, origin.pointer)
    if not isinstance(part, Map) or "revision" in part.entries:
        return place(tenant.document, *origin.pointer, "revision"), str(revision)
    keys = [entry.key for entry in part.entries.values()]
    key = next((key for key in keys if key.text in ("requests", "reason")), keys[-1])
    start = keys[0].span
    in_block = (start.line, start.column) == (part.span.line, part.span.column)
    gap = f"\n{' ' * (key.span.column - 1)}" if in_block else ", "
    return key.span, f"revision: {revision}{gap}{key.text}"


def _shown(value: Any) -> str:
    """A value of a spec on one line, lists and maps as JSON, long ones cut."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
