"""`dracfg capacity` without a file: what stands, what can be promised, what is, and what is proven of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dracfg.cli import exits
from dracfg.cli.capacitytext import columns
from dracfg.cli.capacityusage import Recorded, usage_lines
from dracfg.cli.output import OutputFile, plural, show_facts
from dracfg.diagnostics.render.document import report
from dracfg.passes import keeping_all
from dracfg.pipeline import Judgement
from dracfg.plan.plandocument import capacity_plan


@keeping_all()
def show_plan(
    judged: Judgement,
    clusters: Sequence[str] | None,
    form: str,
    outputs: Sequence[OutputFile],
    target: Fraction | None,
    alternatives: bool,
    recorded: Recorded | None = None,
) -> int:
    """Shows the plan. Done where every guarantee is proven and no objective was missed, else findings."""
    plan = capacity_plan(
        judged.catalog, target, alternatives=alternatives, inventories=judged.inventories
    )
    tiers = [tier for tier in plan["tiers"] if clusters is None or tier["cluster"] in clusters]
    words = {proof["verdict"] for tier in tiers for proof in tier["proofs"]}
    verdict = next((word for word in ("refuted", "unknown") if word in words), "proven")
    show_facts(
        form,
        "never",
        outputs,
        lambda: report("CapacityPlan", verdict, judged.findings, tiers=tiers, **_said(recorded)),
        lambda _colour: "\n".join(_lines(tiers, recorded)) + "\n",
    )
    missed = recorded is not None and recorded.is_missed
    return exits.DONE if verdict == "proven" and not missed else exits.FINDINGS


def _said(found: Recorded | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {"usage": found.usage, "objectives": found.objectives, "notOfTheCatalog": found.lost}


def _lines(tiers: Sequence[Mapping[str, Any]], found: Recorded | None) -> Iterator[str]:
    for tier in tiers:
        yield from _tier(tier)
    if found is not None:
        yield from usage_lines(found)


def _tier(tier: Mapping[str, Any]) -> Iterator[str]:
    pools = ", ".join(tier["pools"]) or "no pool"
    by = "" if tier["owner"] == "dra" else ", by device plugin"
    yield f"{tier['tier']} on {tier['cluster']} ({pools}{by})"
    for figure in tier["figures"]:
        yield f"  {_figure(figure)}"
        if figure["planned"] is not None:
            yield f"    planned by utilisation alone: {figure['planned']}"
    for row in columns([_proof(proof) for proof in tier["proofs"]]):
        yield f"  {row}"
    for way in tier.get("alternatives", ()):
        yield f"  {_way(way)}"
    yield ""


def _figure(figure: Mapping[str, Any]) -> str:
    """`memory: 16 x 40Gi = 640Gi, -160Gi spare = 480Gi; promised 140Gi, limits 160Gi (0.33x)`."""
    key = figure["key"]
    counted = f"{figure['devices']:,}"
    if key != "devices":
        counted = f"{counted} x {figure['aDevice']} = {figure['physical']}"
    taken = "".join(f", -{one['amount']} {one['name']}" for one in figure["deductions"])
    ratio = f" ({figure['overcommit']}x)" if figure["overcommit"] is not None else ""
    return (
        f"{key}: {counted}{taken} = {figure['promiseable']} to promise; "
        f"promised {figure['promised']}, limits {figure['limit']}{ratio}"
    )


_QUESTIONS = {"promised": "all together", "fits": "fits", "nonBlocking": "non-blocking"}


def _proof(proof: Mapping[str, Any]) -> tuple[str, ...]:
    several = f" x {proof['devices']}" if proof["devices"] > 1 else ""
    notes = [
        note
        for note, holds in (
            ("after reclaim", proof["afterReclaim"]),
            ("conditional", proof["conditional"]),
        )
        if holds
    ]
    return (
        proof["tenant"],
        f"{proof['guaranteed']} {proof['entitlement']}",
        f"{_QUESTIONS[proof['question']]}{several}",
        ", ".join([proof["verdict"], *notes]),
    )


def _way(way: Mapping[str, Any]) -> str:
    start = f"as {way['mode']} ({way['policy']}): "
    if "whyNot" in way:
        return f"{start}no, {way['whyNot']}"
    if "devices" not in way or "nodes" not in way:
        return f"{start}the devices needed were not found"
    more = f", {plural(way['nodesToAdd'], 'node')} to add" if way["nodesToAdd"] else ""
    lost = f", {way['lost']:.0%} of them unpromised" if way.get("lost") else ""
    return (
        f"{start}{plural(way['devices'], 'device')} on {plural(way['nodes'], 'node')}{more}{lost}; "
        f"fits {way['fits']}, non-blocking {way['nonBlocking']}"
    )
