"""`dracfg capacity` without a file: what stands, what can be promised, what is, and what is proven of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import click

from dracfg.cli import exits
from dracfg.cli.output import plural
from dracfg.diagnostics.render.document import report
from dracfg.pipeline import Judgement
from dracfg.plan.plandocument import capacity_plan


def show_plan(
    judged: Judgement,
    clusters: Sequence[str] | None,
    form: str,
    target: Fraction | None,
    alternatives: bool,
) -> int:
    """Prints the plan. Done where every guarantee is proven, else findings."""
    plan = capacity_plan(
        judged.catalog, target, alternatives=alternatives, inventories=judged.inventories
    )
    tiers = [tier for tier in plan["tiers"] if clusters is None or tier["cluster"] in clusters]
    words = {proof["verdict"] for tier in tiers for proof in tier["proofs"]}
    verdict = next((word for word in ("refuted", "unknown") if word in words), "proven")
    if form == "json":
        document = report("CapacityPlan", verdict, judged.findings, tiers=tiers)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(line for tier in tiers for line in _tier(tier)))
    return exits.DONE if verdict == "proven" else exits.FINDINGS


def _tier(tier: Mapping[str, Any]) -> Iterator[str]:
    pools = ", ".join(tier["pools"]) or "no pool"
    by = "" if tier["owner"] == "dra" else ", by device plugin"
    yield f"{tier['tier']} on {tier['cluster']} ({pools}{by})"
    for figure in tier["figures"]:
        yield f"  {_figure(figure)}"
        if figure["planned"] is not None:
            yield f"    planned by utilisation alone: {figure['planned']}"
    for row in _columns([_proof(proof) for proof in tier["proofs"]]):
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


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


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
