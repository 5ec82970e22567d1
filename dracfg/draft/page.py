"""The page that tells people what the draft is, what stays and moves and why, and what they must decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.draft.draft import Draft
from dracfg.draft.lines import Numbered
from dracfg.draft.maturity import maturity
from dracfg.draft.scalars import code, counted, shown
from dracfg.draft.verdicts import Verdict


def decisions_page(draft: Draft, decisions: Sequence[Numbered]) -> str:
    """DECISIONS.md."""
    return "\n".join(_lines(draft, decisions)) + "\n"


def _lines(draft: Draft, decisions: Sequence[Numbered]) -> Iterator[str]:
    pools = draft.hardware.pools
    nodes = counted(sum(len(pool.nodes) for pool in pools), "node")
    tenants = counted(len({need.namespace for need in draft.needs}), "namespace")
    yield f"# What to decide for {code(draft.cluster.name)}"
    yield ""
    yield (
        f"Drafted by `dracfg import cluster` from a record: {nodes} with devices in "
        f"{counted(len(pools), 'pool')}, {counted(len(draft.asks), 'request')} of workloads, {tenants} "
        "with a share. Every number "
        "comes from the record. What it does not tell is listed here, and stands in the files as the "
        "value that promises least, under a comment `decide` with its number."
    )
    yield ""
    yield "## Stay or move"
    yield ""
    if not draft.verdicts:
        yield "No extended resource of a device plugin is recorded."
        yield ""
    for verdict in draft.verdicts:
        yield from _verdict(verdict)
    yield from _drivers(draft)
    yield "## Decisions"
    yield ""
    for one in decisions:
        yield from _decision(one)
    yield "## Then"
    yield ""
    yield "```console"
    yield "dracfg schema --out schemas   # for editors"
    yield "dracfg check"
    yield "dracfg compile"
    yield "```"


def _verdict(verdict: Verdict) -> Iterator[str]:
    where = f" on {code(verdict.tier)}" if verdict.tier else ""
    yield f"### {verdict.word}: {code(verdict.resource)}{where}"
    yield ""
    yield (
        f"Driver {code(verdict.driver)}; {counted(verdict.pods, 'pod')} at a time; recorded at "
        f"{code(verdict.place)}."
    )
    yield ""
    for sign, reasons in (
        ("for claims", verdict.gains),
        ("against", verdict.obstacles),
        ("lost with claims", verdict.losses),
        ("used by no workload", (", ".join(verdict.unused),) if verdict.unused else ()),
    ):
        yield from (f"- {sign}: {shown(reason)}" for reason in reasons)
    yield ""


def _drivers(draft: Draft) -> Iterator[str]:
    """How far the drivers are of which some resource could move."""
    told = {
        driver: found
        for driver, resources in draft.resources.items()
        if resources and (found := tuple(maturity(resources[0].preset)))
    }
    if told:
        yield "## Drivers"
        yield ""
        yield from (f"- {code(driver)}: {shown('; '.join(said))}" for driver, said in told.items())
        yield ""


def _decision(one: Numbered) -> Iterator[str]:
    where = f"{code(one.place)}: " if one.place is not None else ""
    yield f"{one.number}. {where}{shown(one.decision.question)}"
    yield f"   - {shown(one.decision.reason)}"
    if one.decision.seen:
        yield f"   - seen at {', '.join(code(place) for place in one.decision.seen)}"
    yield ""
