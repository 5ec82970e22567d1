"""A diff as the JSON document that every other form is made from; its schema is the contract.

Knows nothing of terminals, comments or pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from dracfg.diagnostics import Diagnostic, Severity
from dracfg.diagnostics.render.document import SCHEMA_VERSION, finding_document
from dracfg.diff.capacity import CapacityRow, Figures
from dracfg.diff.change import Change, Effect, Flag, Impact
from dracfg.diff.objects import How, ObjectDifference
from dracfg.diff.plan import DiffPlan, EndState, Verdict

_DRAFT = "http://json-schema.org/draft-07/schema#"


def diff_document(plan: DiffPlan, *, full: bool = False) -> dict[str, Any]:
    """`{schemaVersion, kind: DiffPlan, verdict, maxImpact, base, head, changes, …}`.

    `forbidden` are steps that may not follow on each other, `findings` the errors of a side that
    does not compile and what the head newly has. A `full` one has `objects` too: each emitted
    object that differs, with its fields.
    """
    objects = {"objects": [_object_document(one) for one in plan.objects]} if full else {}
    return {
        "schemaVersion": SCHEMA_VERSION,
        "kind": "DiffPlan",
        "verdict": plan.verdict,
        "maxImpact": plan.max_impact.word,
        "base": _end(plan.base),
        "head": _end(plan.head),
        "changes": [change_document(found) for found in plan.changes],
        "capacity": [_capacity(row) for row in plan.capacity],
        "forbidden": [finding_document(finding) for finding in plan.forbidden],
        "findings": [
            *_findings("base", plan.base.findings),
            *_findings("head", plan.head.findings),
        ],
        **objects,
    }


def change_document(found: Change) -> dict[str, Any]:
    """One change; lines and columns count characters from 1, absent values are null.

    `file` is a path in the head, or in the base where `gone`.
    """
    span = found.span
    return {
        "kind": found.kind.name,
        "impact": found.impact.word,
        "flags": list(found.flags),
        "cluster": found.cluster,
        "tenant": found.tenant,
        "object": found.object,
        "before": found.before,
        "after": found.after,
        "effect": found.effect,
        "wayBack": found.way_back,
        "title": found.kind.title,
        "means": found.kind.means,
        "namespaces": list(found.namespaces),
        "workloads": list(found.workloads),
        "details": list(found.details),
        "file": span.path if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "gone": found.gone,
    }


def document_text(document: Mapping[str, Any]) -> str:
    """A document or schema as it is written to a file; a number that is not whole is text."""
    return json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"


def _object_document(one: ObjectDifference) -> dict[str, Any]:
    return {
        "object": one.name,
        "cluster": one.cluster,
        "tenant": one.tenant,
        "unit": one.unit,
        "how": one.how,
        "fields": [
            {"path": field.path, "before": field.before, "after": field.after}
            for field in one.fields()
        ],
    }


def _end(end: EndState) -> dict[str, Any]:
    return {"name": end.name, "commit": end.commit, "compiles": end.compiles}


def _capacity(row: CapacityRow) -> dict[str, Any]:
    return {
        "cluster": row.cluster,
        "tier": row.tier,
        "classes": list(row.classes),
        "key": row.key,
        "before": _figures(row.before),
        "after": _figures(row.after),
    }


def _figures(figures: Figures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        "usable": str(figures.usable),
        "promiseable": str(figures.promiseable),
        "guaranteed": str(figures.guaranteed),
        "limit": str(figures.limit),
        "spare": str(figures.spare),
        "overcommit": figures.overcommit,
    }


def _findings(side: str, findings: Iterable[Diagnostic]) -> Iterable[dict[str, Any]]:
    for finding in findings:
        yield {"side": side, **finding_document(finding)}


def diff_schema() -> dict[str, Any]:
    """The schema of the document (draft-07). Keys may be added within a schemaVersion, never taken."""
    finding = {
        "code": {"type": "string", "pattern": "^[A-Z]{3}[0-9]{3}$"},
        "severity": {"enum": list(get_args(Severity))},
        "message": _TEXT,
        "file": _TEXT_OR_NULL,
        "line": _PLACE,
        "column": _PLACE,
        "endLine": _PLACE,
        "endColumn": _PLACE,
        "label": _TEXT,
        "related": _list(
            _object({"file": _TEXT, "line": _NUMBER, "column": _NUMBER, "label": _TEXT})
        ),
        "found": _TEXT_OR_NULL,
        "expected": _TEXT_OR_NULL,
        "help": _TEXT_OR_NULL,
        "fix": _TEXT_OR_NULL,
        "waived": {"type": ["object", "null"]},
    }
    impacts = {"enum": [impact.word for impact in Impact]}
    change = {
        "kind": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "impact": impacts,
        "flags": _list({"enum": list(get_args(Flag))}),
        "cluster": _TEXT_OR_NULL,
        "tenant": _TEXT_OR_NULL,
        "object": _TEXT,
        "before": _TEXT_OR_NULL,
        "after": _TEXT_OR_NULL,
        "effect": {"enum": list(get_args(Effect))},
        "wayBack": _TEXT,
        "title": _TEXT,
        "means": _TEXT,
        "namespaces": _list(_TEXT),
        "workloads": _list(_TEXT),
        "details": _list(_TEXT),
        "file": _TEXT_OR_NULL,
        "line": _PLACE,
        "column": _PLACE,
        "gone": {"type": "boolean"},
    }
    names = ("usable", "promiseable", "guaranteed", "limit", "spare")
    figures = _object({**dict.fromkeys(names, _TEXT), "overcommit": _TEXT_OR_NULL})
    row = {
        "cluster": _TEXT,
        "tier": _TEXT,
        "classes": _list(_TEXT),
        "key": _TEXT,
        "before": {**figures, "type": ["object", "null"]},
        "after": {**figures, "type": ["object", "null"]},
    }
    field = {"path": _TEXT, "before": {}, "after": {}}
    thing = {
        "object": _TEXT,
        "cluster": _TEXT,
        "tenant": _TEXT_OR_NULL,
        "unit": _TEXT,
        "how": {"enum": list(get_args(How))},
        "fields": _list(_object(field)),
    }
    end = {"name": _TEXT, "commit": _TEXT_OR_NULL, "compiles": {"type": "boolean"}}
    plan = _object(
        {
            "schemaVersion": {"const": SCHEMA_VERSION},
            "kind": {"const": "DiffPlan"},
            "verdict": {"enum": list(get_args(Verdict))},
            "maxImpact": impacts,
            "base": _object(end),
            "head": _object(end),
            "changes": _list(_object(change)),
            "capacity": _list(_object(row)),
            "forbidden": _list(_object(finding)),
            "findings": _list(_object({"side": {"enum": ["base", "head"]}, **finding})),
        }
    )
    plan["properties"]["objects"] = _list(_object(thing))
    return {
        "$schema": _DRAFT,
        "title": "DiffPlan",
        "description": "What `dracfg diff --format json` writes; `objects` only with `--full`.",
        **plan,
    }


_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_NUMBER = {"type": "integer", "minimum": 1}
_PLACE = {"type": ["integer", "null"], "minimum": 1}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": dict(properties)}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}
