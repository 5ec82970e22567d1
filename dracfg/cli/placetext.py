"""A funnel as a headline and an aligned table: a row a node and request, devices fewer from left to right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dracfg.allocate.funnel import Funnel, NodeFunnel, Step

_MOST_ROWS = 40
"""Nodes that are listed one by one; where there are more, those that are alike share a row."""
_GAP = "  "
_COLOURS = {"yes": "\x1b[32m", "no": "\x1b[31m", "unknown": "\x1b[35m"}
_RESET = "\x1b[0m"


def funnel_text(profile: str, funnel: Funnel, *, colour: bool = False) -> str:
    """The funnel of a profile on one cluster; ends in a newline."""
    headline = _headline(profile, funnel)
    lines = (f"\x1b[1m{headline}{_RESET}" if colour else headline, *_table(funnel, colour))
    return "".join(f"{line}\n" for line in lines)


def _headline(profile: str, funnel: Funnel) -> str:
    where = f"profile {profile} on {funnel.cluster}"
    if not funnel.nodes:
        text = f"{where}: no node has a device of its drivers"
    else:
        nodes = f"{funnel.total:,} node{'' if funnel.total == 1 else 's'}"
        text = f"{where}: {funnel.count('yes'):,} of {nodes} can hold it"
    if unknown := funnel.count("unknown"):
        text += f", {unknown:,} not decided"
    return f"{text} (as modelled, no inventory is recorded)" if funnel.modelled else text


def _table(funnel: Funnel, colour: bool) -> Iterator[str]:
    steps = [step for node in funnel.nodes for step in node.steps]
    if not steps:
        return
    named = len({(step.request, step.alternative) for step in steps}) > 1
    constrained = any(step.constrained is not None for step in steps)
    head = ["node", *(["request"] if named else []), "wants", "seen", "class", "capacity", "taints"]
    head += [*(["constraints"] if constrained else []), "result"]
    rows = [head]
    for name, node in _listed(funnel.nodes):
        for number, step in enumerate(node.steps):
            last = _result(node) if not number else ""
            cells = _cells(step, named=named, constrained=constrained)
            rows.append([name if not number else "", *cells, last])
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = f"  {_GAP.join(cells)}".rstrip()
        start = _COLOURS.get(row[-1].partition(":")[0]) if colour else None
        yield line if start is None else f"{line.removesuffix(row[-1])}{start}{row[-1]}{_RESET}"


def _cells(step: Step, *, named: bool, constrained: bool) -> list[str]:
    request = step.request if step.alternative is None else f"{step.request}/{step.alternative}"
    numbers = [step.wanted, step.seen, step.selected[-1], step.capacity, step.untainted]
    cells = [*([request] if named else []), *map(str, numbers)]
    if constrained:
        cells.append("" if step.constrained is None else str(step.constrained))
    return cells


def _result(node: NodeFunnel) -> str:
    return node.result if node.reason is None else f"{node.result}: {node.reason}"


def _listed(nodes: Sequence[NodeFunnel]) -> Iterator[tuple[str, NodeFunnel]]:
    """Each node with its name; `name (4 nodes)` and `name and 37 more` for nodes that are alike."""
    if len(nodes) <= _MOST_ROWS:
        for node in nodes:
            yield node.node if node.count == 1 else f"{node.node} ({node.count:,} nodes)", node
        return
    ordered = sorted(nodes, key=_likeness)
    folded = [list(alike) for _, alike in groupby(ordered, key=_likeness)]
    for alike in sorted(folded, key=lambda group: group[0].node):
        others = sum(node.count for node in alike) - 1
        yield f"{alike[0].node} and {others:,} more" if others else alike[0].node, alike[0]


def _likeness(node: NodeFunnel) -> tuple[str, ...]:
    return (node.result, str(node.reason), *map(repr, node.steps))
