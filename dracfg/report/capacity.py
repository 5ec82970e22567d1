"""Estimates of the plan → the capacity section: from what stands in the racks to what is promised."""

from __future__ import annotations

from dracfg.plan.estimate import Estimate
from dracfg.report.document import Deduction, Figure


def figure(found: Estimate) -> Figure:
    """One key of a market; deductions of nothing are left out."""
    supply, ratio = found.supply, found.overcommit
    return Figure(
        cluster=supply.cluster.name,
        tier=supply.tier.name,
        owner=supply.owner,
        pools=tuple(pool.name for pool in supply.pools),
        key=found.key,
        devices=found.devices,
        a_device=found.show(found.a_device),
        physical=found.show(found.physical),
        deductions=tuple(
            Deduction(one.name, found.show(one.amount), one.why)
            for one in found.deductions
            if one.amount
        ),
        promiseable=found.show(found.promiseable),
        promised=found.show(found.promised),
        limit=found.show(found.limit),
        overcommit=None if ratio is None else f"{float(ratio):.2f}",
    )
