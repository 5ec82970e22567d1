"""Where a rollout stands, as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from dracfg.link.catalog import Catalog
from dracfg.link.moves import stages_of
from dracfg.link.steps import Command, Step, step
from dracfg.model.kinds import Rollout
from dracfg.rollout.gates import Judged, verdict_of

_VERDICTS = {"passed": "proven", "failed": "refuted", "missing": "unknown"}


def status_document(
    catalog: Catalog, rollout: Rollout, judged: Sequence[Judged] | None
) -> dict[str, Any]:
    """`{kind: RolloutStatus, stage, phase, direction, pools[], gates[], steps[]}`."""
    spec = rollout.spec
    tier = catalog.tiers.get(spec.tier)
    return {
        "schemaVersion": 1,
        "kind": "RolloutStatus",
        "verdict": "unknown" if judged is None else _VERDICTS[verdict_of(judged)],
        "name": rollout.name,
        "tier": spec.tier,
        "subject": spec.subject,
        "protects": spec.protects,
        "stage": spec.stage,
        "phase": spec.phase,
        "direction": spec.direction,
        "stages": list(stages_of(spec)),
        "pools": [
            {
                "name": pool.name,
                "cluster": pool.cluster,
                "owner": pool.owner(tier.driver),
                "state": pool.state,
            }
            for pool in catalog.pools.values()
            if tier is not None and any(devices.tier is tier for devices in pool.devices)
        ],
        "gates": [
            {
                "name": one.gate.name,
                "value": one.worst,
                "max": str(one.gate.max),
                "halt": None if one.gate.halt is None else str(one.gate.halt),
                "verdict": one.verdict,
                "halts": one.halts,
                "says": one.says,
            }
            for one in judged or ()
        ],
        "steps": [_step(spec, command) for command in get_args(Command)],
    }


def _step(spec: Any, command: Command) -> dict[str, Any]:
    taken = step(spec, command)
    if isinstance(taken, Step):
        return {"command": command, "to": str(taken.after), "flips": taken.flips, "refused": None}
    return {"command": command, "to": None, "flips": False, "refused": taken.why}


def status_text(document: dict[str, Any]) -> str:
    """The document for a terminal."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    way = "" if document["direction"] == "forward" else f", {document['direction']}"
    fenced = ", the next pools fenced" if document["phase"] == "fenced" else ""
    yield f"{document['name']}: {document['tier']}, {document['subject']}"
    marks = (f"[{n}]" if n == document["stage"] else n for n in document["stages"])
    yield f"  {' -> '.join(marks)}{fenced}{way}"
    for pool in document["pools"]:
        owner = "claims" if pool["owner"] == "dra" else "device plugin"
        yield f"  {pool['name']} on {pool['cluster']}: {owner}, {pool['state']}"
    for gate in document["gates"]:
        word = {"passed": "holds", "failed": "blocks", "missing": "blocks"}[gate["verdict"]]
        halts = "; beyond the limit that halts" if gate["halts"] else ""
        yield f"  {word}  {gate['name']}: {gate['says']}{halts}"
    for one in document["steps"]:
        told = one["to"] or f"not now: {one['refused']}"
        yield f"  {one['command']:<9} {told}{'; pools change hands' if one['flips'] else ''}"
