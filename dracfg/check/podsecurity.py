"""MET020: namespaces whose own labels let pods mount what metadata files of other claims lie in.

Host paths reach the kubelet's plugin and pod folders and CDI folders. The pod security standards
`baseline` and `restricted` deny them (KEP-2579); a policy of dracfg's denies them once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.places import key_place
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.writers import writers
from dracfg.lower.rights import BASELINE, POD_SECURITY

STRICT_ENOUGH = (BASELINE, "restricted")


def lets_pods_reach_the_host(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET020: a pod security label that is weaker than baseline."""
    for tenant in writers(catalog, "labels"):
        for i, space in enumerate(tenant.document.spec.namespaces):
            said = space.labels.get(POD_SECURITY)
            if said is None or said in STRICT_ENOUGH:
                continue
            yield diagnose(
                "MET020",
                key_place(tenant.document, "spec", "namespaces", i, "labels", POD_SECURITY),
                f"namespace {space.name} of {tenant.name} lets pods mount folders of the node, where the "
                "metadata files of every claim on it lie",
                found=said,
                expected=" or ".join(STRICT_ENOUGH),
                help="take the label out: dracfg writes baseline; what needs the node's folders runs in an "
                "exempt namespace of the platform",
            )


TENANT_RULES: tuple[Rule, ...] = (lets_pods_reach_the_host,)
