"""Why a node can't hold a claim of a profile, in the words of the funnel. Knows no pod in use."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.allocate.funnel import NodeFunnel, funnel
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.nodes import Node
from dracfg.allocate.restrictions import Restrictions
from dracfg.allocate.selection import Selection
from dracfg.link.claims import ClaimPlan
from dracfg.plan.demand import Demand
from dracfg.plan.library import ObjectName
from dracfg.plan.site import Doubt, Site
from dracfg.plan.workloads import PodGroup


class Funnels:
    """The funnels of a site's profiles, each worked out when it is first asked for."""

    def __init__(
        self, site: Site, plans: Mapping[ObjectName, ClaimPlan], *, fractional: bool
    ) -> None:
        self._plans = plans
        self._ground = Ground(
            site.cluster.name,
            site.cluster.minor,
            site.inventory,
            Selection(site.cluster.minor, modelled=site.modelled),
            Restrictions(site.kept_out),
            fractional=fractional,
        )
        self._rows: dict[ObjectName, Mapping[str, NodeFunnel]] = {}

    def doubt(self, group: PodGroup, wanted: Demand, node: Node) -> Doubt | None:
        """What the funnel says of the one profile that a pod uses; None where it says nothing."""
        templates = [used.template for used in group.claims if used.template is not None]
        if len(templates) != 1 or len(wanted.pending) != 1:
            return None
        rows = self._of((group.namespace, templates[0]))
        if rows is None:
            return None
        row = rows.get(node.name)
        if row is None:
            return "no", "no device of its drivers is there"
        if row.result == "yes" or row.reason is None:
            return None
        return row.result, row.reason

    def _of(self, template: ObjectName) -> Mapping[str, NodeFunnel] | None:
        plan = self._plans.get(template)
        if plan is None:
            return None
        if template not in self._rows:
            found = funnel(plan, self._ground)
            self._rows[template] = {row.node: row for row in found.nodes}
        return self._rows[template]
