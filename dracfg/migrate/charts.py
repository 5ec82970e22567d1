"""Helm templates and values → what a person changes in them; they are never edited.

A template is no YAML until it is rendered. Its actions are covered by placeholders of the same length,
so that what is left can be read as a manifest and every place keeps its line and column. Knows no
engine: what an action does is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.migrate.demand import SECTIONS, Item, items
from dracfg.migrate.fitting import Chosen, fit, nearest
from dracfg.migrate.lines import apply_edits
from dracfg.migrate.manifest import TEMPLATED, normal, read_manifest
from dracfg.migrate.migration import decide_all, edited, line_edits
from dracfg.migrate.names import tiers_meant
from dracfg.migrate.result import FileResult, diff_text
from dracfg.migrate.tenancy import Tenancy
from dracfg.source.fields import mapping
from dracfg.source.kubeyaml import PlainComposer
from dracfg.source.records import Steps

_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_ALONE = re.compile(r"^([ \t]*)(\{\{(?:(?!\}\}).)*\}\}(?:[ \t]*\{\{(?:(?!\}\}).)*\}\})*)[ \t]*$",
                    re.MULTILINE | re.DOTALL)  # fmt: skip


def covered(text: str) -> str:
    """A template with placeholders for its actions; an action that has its lines alone is a comment."""
    return _ACTION.sub(_placeholder, _ALONE.sub(_comment, text))


def migrate_template(path: str, data: bytes, raw: str, tenancy: Tenancy) -> FileResult:
    """The diff that a person applies to a template."""
    shown = covered(raw)
    manifest = read_manifest(path, normal(shown))
    if not manifest.is_sound:
        if not any(name in raw for name in _names(tenancy)):
            return FileResult(path, "unchanged", data, data)
        reason = next(fault for fault in manifest.faults if fault.is_error).message
        finding = _told(path, f"a template that can't be read without rendering it ({reason})",
                        "render it with `helm template`, migrate that, and take the lines over")  # fmt: skip
        return FileResult(path, "patch", data, data, (finding,))
    changes, findings = decide_all(manifest, tenancy)
    if any(finding.is_error for finding in findings):
        return FileResult(path, "left", data, data, findings)
    if not changes:
        return FileResult(path, "unchanged", data, data, findings)
    patch = ""
    if edited(shown, manifest, changes) is not None:
        patch = diff_text(path, raw, apply_edits(raw, line_edits(manifest, changes)))
    mend = "apply the diff that is printed, then render it"
    mend = mend if patch else "write out what an anchor stands for, then run the command again"
    told = _told(path, "it is a template of a chart", mend)
    return FileResult(path, "patch", data, data, (*findings, told), changes, patch)


def migrate_values(path: str, data: bytes, raw: str, tenancy: Tenancy) -> FileResult:
    """Values that take amounts out and name claims, and what the chart's pod spec needs for them."""
    roots = [root for root in PlainComposer(path, normal(raw)).run() if isinstance(root, dict)]
    found = [(steps, listed) for root in roots for steps, listed in _resources(root, (), tenancy)]
    if not found:
        return FileResult(path, "unchanged", data, data)
    view, findings = tenancy.view_of(tenancy.namespace, path, Span(path))
    if view is None:
        return FileResult(path, "left", data, data, findings)
    values: dict[str, Any] = {}
    claims: list[dict[str, str]] = []
    for steps, listed in found:
        chosen = fit(listed, view.offered, view.namespace, view.wanted)
        if not isinstance(chosen, Chosen):
            near = nearest(view.catalog, view.tenant, listed, view.offered)
            finding = diagnose(
                "ROL040",
                Span(path),
                f"{'.'.join(map(str, steps))} of the chart's values asks for "
                f"{', '.join(map(str, listed))}, which no one profile of tenant "
                f"{view.tenant.name} holds",
                found=near.nearest or None,
                help=f"add to tenant {view.tenant.name}: {near.missing}, or say --profile",
            )
            return FileResult(path, "left", data, data, (*findings, finding))
        name = chosen.claim if not claims else f"{chosen.claim}-{len(claims) + 1}"
        claims.append({"name": name, "resourceClaimTemplateName": chosen.template})
        _put(values, steps, _replacement(roots, steps, listed, name))
    told = _told(path, "it holds the values of a chart", "take the values that are printed over, and "
                 "have the chart's pod spec name the claims")  # fmt: skip
    patch = "# values of the chart\n" + _dumped(values)
    patch += "# in the pod spec that they lead to\n" + _dumped({"resourceClaims": claims})
    return FileResult(path, "patch", data, data, (*findings, told), (), patch)


def _placeholder(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", TEMPLATED, match.group())


def _comment(match: re.Match[str]) -> str:
    """An action alone on its lines, each of them as a comment of the same length."""
    lines = match.group().split("\n")
    return "\n".join("#" + TEMPLATED * (len(line) - 1) if line else line for line in lines)


def _names(tenancy: Tenancy) -> Iterator[str]:
    for tier in tenancy.catalog.tiers.values():
        if tier.legacy_resource is not None:
            yield tier.legacy_resource


def _resources(
    data: Any, steps: Steps, tenancy: Tenancy
) -> Iterator[tuple[Steps, tuple[Item, ...]]]:
    """Maps of values that hold amounts of the catalog's devices."""
    if not isinstance(data, Mapping):
        return
    listed = tuple(
        item for item in items({"resources": data}) if any(tiers_meant(tenancy.catalog, item))
    )
    if listed:
        yield steps, listed
        return
    for key, inner in data.items():
        yield from _resources(inner, (*steps, key), tenancy)


def _replacement(
    roots: list[dict[str, Any]], steps: Steps, listed: tuple[Item, ...], claim: str
) -> dict[str, Any]:
    """Nulls for what goes, as Helm merges values, and the claim."""
    held: Any = roots[0]
    for step in steps:
        held = held[step]
    gone = {
        section: dict.fromkeys(
            name for item in listed for name in item.names if name in mapping(held, section)
        )
        for section in SECTIONS
    }
    return {**{key: names for key, names in gone.items() if names}, "claims": [{"name": claim}]}


def _put(values: dict[str, Any], steps: Steps, said: dict[str, Any]) -> None:
    for step in steps:
        values = values.setdefault(str(step), {})
    values.update(said)


def _dumped(data: dict[str, Any]) -> str:
    dumped: str = yaml.safe_dump(data, sort_keys=False, width=1000, allow_unicode=True)
    return dumped


def _told(path: str, reason: str, mend: str) -> Diagnostic:
    return diagnose("ROL059", Span(path), f"the file is not edited, {reason}", help=mend)
