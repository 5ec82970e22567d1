"""Names of retired claim templates in workloads → those of the templates that took their place.

A template can't be edited in place, so a new revision of a profile has a new name. Replaces nothing
but the name; what a migration marked stays marked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose, did_you_mean
from dracfg.lower.artifact import Unit
from dracfg.lower.templates import PROFILE, TENANT
from dracfg.migrate.manifest import BYTE_ORDER_MARK, Manifest, PodSite, normal, read_manifest
from dracfg.migrate.result import FileResult
from dracfg.source.fields import maps, text
from dracfg.source.lineends import line_starts
from dracfg.source.reader import decode


@dataclass(frozen=True, slots=True)
class Names:
    """Template names by namespace: those that are current, and retired ones with what follows them."""

    current: Mapping[str, frozenset[str]]
    retired: Mapping[str, Mapping[str, frozenset[str]]]

    def follows(self, namespace: str | None, name: str) -> frozenset[str]:
        """The current names of what a template was of; of all namespaces where none is known."""
        places = self.retired if namespace is None else [namespace]
        found = frozenset[str]()
        for place in places:
            if name in self.current.get(place, ()):
                return frozenset()
            found |= self.retired.get(place, {}).get(name, frozenset())
        return found


def template_names(units: Iterable[Unit]) -> Names:
    """The names that units hold, retired files and earlier revisions included."""
    profiles: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    old: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for unit in units:
        for artifact in unit.artifacts:
            if artifact.object.get("kind") != "ResourceClaimTemplate":
                continue
            metadata = artifact.object["metadata"]
            labels = metadata.get("labels", {})
            if PROFILE not in labels:
                continue
            key = (metadata["namespace"], labels.get(TENANT, ""), labels[PROFILE])
            if artifact.file.startswith("retired/"):
                old[key].add(metadata["name"])
            else:
                profiles[key].add(metadata["name"])
                old[key] |= set(_revisions(labels[PROFILE], metadata["name"]))
    current: dict[str, set[str]] = defaultdict(set)
    retired: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for (namespace, tenant, profile), names in profiles.items():
        current[namespace] |= names
        for name in old[namespace, tenant, profile] - names:
            retired[namespace][name] = frozenset(names)
    return Names({place: frozenset(names) for place, names in current.items()}, retired)


def bump_file(path: str, data: bytes, names: Names, namespace: str | None) -> FileResult:
    """A manifest that names current templates; `namespace` is that of objects that name none."""
    raw = decode(data, path)
    if isinstance(raw, Diagnostic):
        return FileResult(path, "left", data, data, (raw,))
    manifest = read_manifest(path, normal(raw))
    if not manifest.is_sound:
        return FileResult(path, "left", data, data, manifest.faults)
    edits: dict[tuple[int, int], str] = {}
    findings: list[Diagnostic] = []
    for site in manifest.sites:
        place = site.namespace or namespace
        for number, entry in enumerate(maps(site.spec, "resourceClaims")):
            name = text(entry, "resourceClaimTemplateName")
            if name is None:
                continue
            current = names.follows(place, name)
            node = _node(manifest, site, number)
            if len(current) == 1 and node is not None:
                edits[node.start_mark.index, node.end_mark.index] = next(iter(current))
            elif place is not None and name not in names.current.get(place, (name,)):
                findings += _unknown(manifest, site, number, name, names, place)
    if not edits:
        return FileResult(path, "unchanged", data, data, tuple(findings))
    return FileResult(path, "rewritten", data, _replaced(raw, edits).encode(), tuple(findings))


def _revisions(profile: str, name: str) -> Iterator[str]:
    """The names of the revisions before one, where names carry a revision."""
    number = name.removeprefix(f"{profile}-v")
    if number != name and number.isdecimal():
        yield profile
        yield from (f"{profile}-v{earlier}" for earlier in range(2, int(number)))


def _node(manifest: Manifest, site: PodSite, number: int) -> Any:
    """The scalar that names a template; None where an alias leads to it from elsewhere."""
    try:
        node = manifest.nodes[site.thing.index]
    except (yaml.YAMLError, IndexError):
        return None
    for step in (*site.steps, "resourceClaims", number, "resourceClaimTemplateName"):
        if isinstance(node, yaml.MappingNode):
            node = next((inner for key, inner in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
    return node if isinstance(node, yaml.ScalarNode) else None


def _replaced(raw: str, edits: Mapping[tuple[int, int], str]) -> str:
    """The text with other scalars; a scalar of one line that is quoted stays so."""
    mark = BYTE_ORDER_MARK if raw.startswith(BYTE_ORDER_MARK) else ""
    body = raw.removeprefix(BYTE_ORDER_MARK)
    shown = normal(raw)
    theirs, ours = line_starts(body), line_starts(shown)
    parts = [mark]
    done = 0
    for (start, end), name in sorted(edits.items()):
        line = shown.count("\n", 0, start)
        shift = theirs[line] - ours[line]
        quote = shown[start] if shown[start] in "'\"" else ""
        parts += [body[done : start + shift], quote, name, quote]
        done = end + shift
    return "".join([*parts, body[done:]])


def _unknown(
    manifest: Manifest, site: PodSite, number: int, name: str, names: Names, place: str
) -> Iterator[Diagnostic]:
    """A template that is neither of dracfg nor in the file."""
    own = {
        text(thing.data, "metadata", "name")
        for thing in manifest.record.objects
        if thing.data["kind"] == "ResourceClaimTemplate"
    }
    if name in own:
        return
    near = did_you_mean(name, tuple(sorted(names.current[place])))
    yield diagnose(
        "ROL046",
        site.thing.span(*site.steps, "resourceClaims", number, "resourceClaimTemplateName"),
        f"{site.name} names template {name}, which is none of namespace {place}",
        found=name,
        help=f"did you mean {near}?" if near else "name a profile of the tenant",
    )
