"""Where a rollout stands, as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from dracfg.diagnostics.render.ink import VERDICTS, ink
from dracfg.link.catalog import Catalog
from dracfg.link.gates import order_of
from dracfg.link.moves import stages_of
from dracfg.link.steps import Command, Step, step
from dracfg.model.kinds import Rollout
from dracfg.rollout.gates import Judged, verdict_of, written

_VERDICTS = {"passed": "proven", "failed": "refuted", "missing": "unknown"}


def status_document(
    catalog: Catalog,
    rollout: Rollout,
    judged: Sequence[Judged] | None,
    later: Mapping[str, str],
    drift: Sequence[str],
) -> dict[str, Any]:
    """`{kind: RolloutStatus, stage, phase, direction, order[], pools[], gates[], later[], drift[], steps[]}`.

    `later` says of gates that have nothing to measure yet what they wait for, `drift` what blocks the
    next step beside gates.
    """
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
        "order": list(order_of(spec)),
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
                "measure": None if one.gate.measure is None else one.gate.measure.id,
                "value": one.worst,
                "max": written(one.gate.max),
                "halt": None if one.gate.halt is None else written(one.gate.halt),
                "verdict": one.verdict,
                "halts": one.halts,
                "says": one.says,
            }
            for one in judged or ()
        ],
        "later": [{"name": name, "why": why} for name, why in later.items()],
        "drift": list(drift),
        "steps": [_step(spec, command) for command in get_args(Command)],
    }


def _step(spec: Any, command: Command) -> dict[str, Any]:
    taken = step(spec, command)
    if isinstance(taken, Step):
        return {"command": command, "to": str(taken.after), "flips": taken.flips, "refused": None}
    return {"command": command, "to": None, "flips": False, "refused": taken.why}


def status_text(document: dict[str, Any], *, colour: bool = False) -> str:
    """The document for a terminal; in colour, gates show by it whether they hold."""
    return "\n".join(_lines(document, colour)) + "\n"


def _lines(document: dict[str, Any], colour: bool) -> Iterator[str]:
    way = "" if document["direction"] == "forward" else f", {document['direction']}"
    fenced = ", the next pools fenced" if document["phase"] == "fenced" else ""
    head = f"{document['name']}: {document['tier']}, {document['subject']}"
    yield ink(head, "strong", colour=colour)
    here = ink(f"[{document['stage']}]", "strong", colour=colour)
    marks = (here if n == document["stage"] else n for n in document["stages"])
    yield f"  {' -> '.join(marks)}{fenced}{way}"
    for pool in document["pools"]:
        owner = "claims" if pool["owner"] == "dra" else "device plugin"
        yield f"  {pool['name']} on {pool['cluster']}: {owner}, {pool['state']}"
    for gate in document["gates"]:
        tone = VERDICTS[_VERDICTS[gate["verdict"]]]
        word = ink("holds" if gate["verdict"] == "passed" else "blocks", tone, colour=colour)
        halts = "; beyond the limit that halts" if gate["halts"] else ""
        yield f"  {word}  {gate['name']}: {gate['says']}{halts}"
    for gate in document["later"]:
        yield f"  {ink('later', 'open', colour=colour)}   {gate['name']}: {gate['why']}"
    for line in document["drift"]:
        yield f"  {ink('blocks', VERDICTS['refuted'], colour=colour)}  drift: {line}"
    if document["subject"] != "rebalance":
        yield f"  each pool: {', then '.join(document['order'])}"
    for one in document["steps"]:
        told = one["to"] or f"not now: {one['refused']}"
        yield f"  {one['command']:<9} {told}{'; pools change hands' if one['flips'] else ''}"
