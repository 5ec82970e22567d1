"""SHR015, SHR016: what becomes of stuck allocations, and whether Kubernetes can do that.

The table lies in data/reclaim.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.alias_generators import to_snake

from dracfg.check.rule import Rule, listed
from dracfg.check.uses import pairs
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.reclaim import Reclaim
from dracfg.packaged import read_data


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = read_data("dracfg.check", "data/reclaim.yaml")
    return table


def is_silent(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR015: whole devices are judged by their tier, everything else by its policy."""
    seen: set[str] = set()
    for use in pairs(catalog):
        document = use.policy.document or use.tier.document
        if document.spec.reclaim is not None or f"{document.kind}/{document.name}" in seen:
            continue
        seen.add(f"{document.kind}/{document.name}")
        yield diagnose(
            "SHR015",
            at(document, "metadata", "name"),
            f"{document.name} doesn't say what becomes of allocations when pods, nodes or drivers fail",
            related=[Related(use.place, "in force here")],
            help="write `reclaim: {timeout: 15m}`, which leaves the rest to Kubernetes",
        )


def is_impossible(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR016."""
    for tier in catalog.tiers.values():
        if tier.document.spec.reclaim is not None:
            yield from _actions(tier.document, tier.document.spec.reclaim)
    for policy in catalog.policies.values():
        if policy.document is not None and policy.spec.reclaim is not None:
            yield from _actions(policy.document, policy.spec.reclaim)


def _actions(
    document: kinds.HardwareTier | kinds.SharingPolicy, reclaim: Reclaim
) -> Iterator[Diagnostic]:
    for key, row in _table().items():
        action = getattr(reclaim, to_snake(key))
        if action not in row["actions"]:
            yield diagnose(
                "SHR016",
                at(document, "spec", "reclaim", key),
                f"{key} can't be {action}: {row['because']}",
                found=action,
                expected=", ".join(row["actions"]),
                help=f"write {listed(row['actions'], 'or')}",
                fix=row["actions"][0] if len(row["actions"]) == 1 else None,
            )
        elif action in row.get("fenced", ()) and reclaim.fencing == "none":
            yield diagnose(
                "SHR016",
                at(document, "spec", "reclaim", "fencing"),
                f"{key} is {action}, and without fencing nothing proves that the node is done",
                found="fencing: none",
                expected="fencing: nodeLease or outOfServiceTaint",
                help="write `fencing: nodeLease` (or outOfServiceTaint), or `onUnknownNode: release`",
            )


RULES: tuple[Rule, ...] = (is_silent, is_impossible)
