"""A placement of many pods as text: a headline, where each pod lands, why others don't, what is in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dracfg.allocate.claims import DeviceResult
from dracfg.plan.question import Answer, ClusterAnswer
from dracfg.plan.utilisation import TierUse
from dracfg.plan.whatif import Placement, WhatIf
from dracfg.plan.workloads import PodGroup

_MOST_ROWS = 40
"""Pods that are listed one by one; where there are more, those of a group and node share a row."""
_MOST_NAMES = 3
_VERBS = {
    "no": ("does not land", "do not land"),
    "unknown": ("was not decided", "were not decided"),
}
_GAP = "  "


def answer_text(file: str, answer: Answer) -> str:
    """The whole answer; ends in a newline."""
    blocks = [list(_cluster(file, one)) for one in answer.clusters]
    if answer.nowhere:
        blocks.append(list(_nowhere(answer.nowhere)))
    if not blocks:
        return f"{file}: no pod asks for a device\n"
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _cluster(file: str, answer: ClusterAnswer) -> Iterator[str]:
    yield _headline(file, answer)
    yield from _indented(_placements(answer.plan.placements))
    for text in _reasons(answer.plan):
        yield f"  {text}"
    if answer.tiers:
        yield ""
        yield from _indented(_tiers(answer.tiers))


def _headline(file: str, answer: ClusterAnswer) -> str:
    plan = answer.plan
    total, lands = len(plan.placements), plan.count("yes")
    text = f"{file} on {answer.cluster}: {lands:,} of {total:,} pod{'' if total == 1 else 's'}"
    text += " lands" if total == 1 else " land"
    if unknown := plan.count("unknown"):
        text += f", {unknown:,} not decided"
    if plan.idle:
        text += f"; {plan.idle:,} ask{'s' if plan.idle == 1 else ''} for no device"
    return f"{text} (as modelled, no inventory is recorded)" if plan.site.modelled else text


def _placements(placements: Sequence[Placement]) -> list[list[str]]:
    if not placements:
        return []
    rows = [["pod", "node", "devices"]]
    for name, one in _listed(placements):
        node = one.node or ("not decided" if one.result == "unknown" else "-")
        rows.append([f"{one.group.namespace}/{name}", node, _devices(one)])
    return rows


def _listed(placements: Sequence[Placement]) -> Iterator[tuple[str, Placement]]:
    """Each pod with its name; `name and 37 more` for neighbours of a group with one fate."""
    if len(placements) <= _MOST_ROWS:
        yield from ((one.pod, one) for one in placements)
        return
    for _, alike in groupby(placements, key=lambda one: (id(one.group), one.node, one.result)):
        first, *others = alike
        yield _and_more(first.pod, len(others)), first


def _devices(placement: Placement) -> str:
    """`8 a100-40g (gpu-0 … gpu-7)`, by class in the order of the claims."""
    by_class: dict[str, list[DeviceResult]] = {}
    for claim in placement.claims:
        for device_class, result in claim.devices:
            by_class.setdefault(device_class, []).append(result)
    return ", ".join(
        f"{len(results)} {device_class} ({_names(results)})"
        for device_class, results in by_class.items()
    )


def _names(results: Sequence[DeviceResult]) -> str:
    names = [f"{result.device}{_consumed(result)}" for result in results]
    if len(names) > _MOST_NAMES:
        return f"{names[0]} … {names[-1]}"
    return ", ".join(names)


def _consumed(result: DeviceResult) -> str:
    taken = [f"{key} {amount}" for key, amount in result.consumed_capacity.items() if amount]
    return f": {', '.join(taken)}" if taken else ""


def _reasons(plan: WhatIf) -> Iterator[str]:
    """Why pods don't land, once for those that have the same reasons."""
    for first, *others in plan.refusals():
        name = f"{first.group.namespace}/{_and_more(first.pod, len(others))}"
        one, many = _VERBS[first.result]
        verb = many if others else one
        yield f"{name} {verb}{': ' + first.reason if first.reason else ''}"
        yield from (f"  {line}" for line in _by_node(first))


def _by_node(placement: Placement) -> Iterator[str]:
    """A line a reason, with the nodes that have it."""
    by_reason: dict[str, list[str]] = {}
    for node in sorted(placement.nodes):
        by_reason.setdefault(placement.nodes[node][1], []).append(node)
    for reason, nodes in by_reason.items():
        yield f"{_and_more(nodes[0], len(nodes) - 1)}: {reason}"


def _tiers(tiers: Sequence[TierUse]) -> list[list[str]]:
    rows = [["tier", "devices", "in use", "free", "capacity in use"]]
    for use in tiers:
        capacity = ", ".join(
            f"{one.key} {_change(one.before, one.after)} of {one.total}" for one in use.capacity
        )
        name = "/".join(filter(None, (use.tier, use.partition))) or f"others of {use.driver}"
        numbers = [f"{use.devices:,}", _change(f"{use.before:,}", f"{use.after:,}")]
        rows.append([name, *numbers, f"{use.free:,}", capacity])
    return rows if any(use.capacity for use in tiers) else [row[:-1] for row in rows]


def _change(before: object, after: object) -> str:
    return str(after) if before == after else f"{before} -> {after}"


def _nowhere(groups: Sequence[PodGroup]) -> Iterator[str]:
    for group in groups:
        yield (
            f"{group.kind} {group.namespace}/{group.name} lands nowhere: no cluster has the "
            "namespace, and none knows all that it asks for; name one with --cluster"
        )


def _and_more(name: str, others: int) -> str:
    return f"{name} and {others:,} more" if others else name


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows whose cells stand below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield _GAP.join(cells).rstrip()


def _indented(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return (f"  {row}" for row in columns(rows))
