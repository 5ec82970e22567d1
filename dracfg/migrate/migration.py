"""A file of workloads → the same file with claims in place of extended resources, and back.

An edit counts only when the text that it leads to says what was meant, and when the way back leads to
the very bytes that it came from; otherwise the file stays and a patch says what to do. With an error
nothing of a file changes. Reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.diagnostics import Diagnostic, Span, diagnose, sort_key
from dracfg.migrate.decision import PodChange, asked_devices, decide
from dracfg.migrate.leftovers import leftovers
from dracfg.migrate.lines import Conflict, LineEdits, apply_edits, reverse
from dracfg.migrate.manifest import Manifest, PodSite, normal, read_manifest
from dracfg.migrate.outside import outside_pods
from dracfg.migrate.patches import object_patches, patches_text
from dracfg.migrate.places import Editor, NoPlace
from dracfg.migrate.result import FileResult
from dracfg.migrate.rewriting import POD_SPEC_PATCH, own_patch, rewritten
from dracfg.migrate.tenancy import Tenancy
from dracfg.source.reader import decode


def migrate_file(path: str, data: bytes, tenancy: Tenancy) -> FileResult:
    """A manifest with claims in place of extended resources."""
    raw = decode(data, path)
    if isinstance(raw, Diagnostic):
        return FileResult(path, "left", data, data, (raw,))
    manifest = read_manifest(path, normal(raw))
    if not manifest.is_sound:
        return FileResult(path, "left", data, data, manifest.faults)
    changes, findings = decide_all(manifest, tenancy)
    if any(finding.is_error for finding in findings):
        return FileResult(path, "left", data, data, findings)
    if not changes:
        return FileResult(path, "unchanged", data, data, findings)
    after = None if manifest.is_json else edited(raw, manifest, changes)
    if after is None:
        told = (*findings, _not_edited(manifest))
        printed = patches_text(object_patches(manifest, changes))
        return FileResult(path, "patch", data, data, _sorted(told), changes, printed)
    return FileResult(path, "rewritten", data, after.encode(), findings, changes)


def reverse_file(path: str, data: bytes) -> FileResult:
    """A manifest as it was before it was migrated, by the marks that it has."""
    raw = decode(data, path)
    if isinstance(raw, Diagnostic):
        return FileResult(path, "left", data, data, (raw,))
    before = reverse(raw)
    if before == raw:
        return FileResult(path, "unchanged", data, data)
    faults = read_manifest(path, normal(before)).faults
    if any(fault.is_error for fault in faults) and read_manifest(path, normal(raw)).is_sound:
        first = next(fault for fault in faults if fault.is_error)
        finding = diagnose(
            "ROL051",
            Span(path),
            f"without its marked lines the file is no manifest: {first.message}",
            help="lines were moved or edited since it was migrated; take it back from git, or by hand",
        )
        return FileResult(path, "left", data, data, (finding,))
    return FileResult(path, "rewritten", data, before.encode())


def decide_all(
    manifest: Manifest, tenancy: Tenancy
) -> tuple[tuple[PodChange, ...], tuple[Diagnostic, ...]]:
    """The changes of all pods of a manifest, and everything that is to be said, in its order."""
    changes: list[PodChange] = []
    findings: dict[Diagnostic, None] = {}
    for site in manifest.sites:
        asked, staying = asked_devices(site, tenancy.catalog, tenancy.clusters)
        findings.update(dict.fromkeys(staying))
        if not asked:
            continue
        view, told = tenancy.view(site)
        findings.update(dict.fromkeys(told))
        if view is None:
            continue
        change, told = decide(site, asked, view)
        findings.update(dict.fromkeys(told))
        if change is not None and not site.has_pod_spec and own_patch(site.spec) is None:
            findings[_unreadable_patch(site)] = None
        elif change is not None:
            changes.append(change)
            findings.update(dict.fromkeys(leftovers(change, view)))
    findings.update(dict.fromkeys(outside_pods(manifest, tenancy.catalog)))
    return tuple(changes), _sorted((*manifest.faults, *findings))


def edited(raw: str, manifest: Manifest, changes: Sequence[PodChange]) -> str | None:
    """The text with the changes, None where no edit of lines leads to just these."""
    try:
        after = apply_edits(raw, line_edits(manifest, changes))
    except (NoPlace, Conflict):
        return None
    again = read_manifest(manifest.path, normal(after))
    meant = [
        rewritten(thing.data, [change for change in changes if change.site.thing is thing])
        for thing in manifest.record.objects
    ]
    said = [thing.data for thing in again.record.objects]
    leads_back = reverse(after) == reverse(raw)
    return after if again.is_sound and said == meant and leads_back else None


def line_edits(manifest: Manifest, changes: Sequence[PodChange]) -> LineEdits:
    """The edits of lines that say the changes. Raises NoPlace."""
    editor = Editor(manifest.text)
    if len(manifest.nodes) != len(manifest.record.objects):
        raise NoPlace
    for change in changes:
        editor.make(manifest.nodes[change.site.thing.index], change)
    return editor.edits


def _unreadable_patch(site: PodSite) -> Diagnostic:
    return diagnose(
        "ROL058",
        site.thing.span(*site.steps, POD_SPEC_PATCH, key=True),
        f"{site.name} has a {POD_SPEC_PATCH} that is known only when it runs, and claims belong there",
        help="add `resourceClaims` to it by hand, and `claims` to the container",
    )


def _not_edited(manifest: Manifest) -> Diagnostic:
    reason = (
        "JSON has no comments to keep what was"
        if manifest.is_json
        else "one text stands for several places, or a place has no lines of its own"
    )
    return diagnose(
        "ROL059",
        Span(manifest.path),
        f"the file is not edited, {reason}",
        help="apply the patch that is printed",
    )


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(findings, key=sort_key))
