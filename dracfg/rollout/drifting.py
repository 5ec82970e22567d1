"""What drifted on the pools of a rollout's next step: catalog, slices and nodes must agree before it.

Looked for in what the catalog's own records show, and in reports of `dracfg audit`. Judges no gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.check.driftplaces import DRIFT, drifted_objects
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.link.moves import fenced_pools, pools_at, position
from dracfg.link.steps import Step, at
from dracfg.model import kinds
from dracfg.rollout.documents import Reports


def drift_before(
    catalog: Catalog,
    rollout: kinds.Rollout,
    taken: Step,
    findings: Iterable[Diagnostic],
    reports: Reports | None,
) -> tuple[str, ...]:
    """What blocks a step forward, a line each; nothing blocks the way back. Waived findings don't count."""
    if taken.asks != "forward":
        return ()
    concerned = _concerned(catalog, rollout, taken)
    found = [
        f"{one.code} {one.span}: {one.message}"
        for one in findings
        if one.waived is None and concerned.by(one.code, drifted_objects(catalog, one))
    ]
    for audit in reports.audits.values() if reports is not None else ():
        found += _audited(audit, concerned)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Concerned:
    """The tier and its pools that have moved; `coming` are those that the step fences or moves."""

    moved: frozenset[str]
    coming: frozenset[str]

    def by(self, code: str, objects: Iterable[str]) -> bool:
        """Whether a finding about some objects blocks the step.

        Nodes that are not recorded are missed where their pool has moved: a record that is taken for
        those may lack the others.
        """
        here = self.moved if code == "INV040" else self.moved | self.coming
        return code in DRIFT and not here.isdisjoint(objects)


def _concerned(catalog: Catalog, rollout: kinds.Rollout, taken: Step) -> _Concerned:
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    after = at(rollout.spec, taken.after)
    moved = pools_at(rollout.spec, position(rollout.spec), documents)
    coming = pools_at(after, position(after), documents) | fenced_pools(after, documents)
    return _Concerned(
        frozenset({f"HardwareTier/{rollout.spec.tier}", *(f"NodePool/{name}" for name in moved)}),
        frozenset(f"NodePool/{name}" for name in coming),
    )


def _audited(audit: Mapping[str, Any], concerned: _Concerned) -> Iterator[str]:
    for one in audit["findings"]:
        if not isinstance(one, dict) or one.get("waived"):
            continue
        code, objects = str(one.get("code")), one.get("objects")
        if isinstance(objects, list) and concerned.by(code, map(str, objects)):
            yield f"{code} on {audit['cluster']}: {one.get('message')}"
