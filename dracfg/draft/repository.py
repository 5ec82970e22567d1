"""A draft → the files of its repository, path by path; the same bytes for the same record."""

from __future__ import annotations

from dracfg.draft.catalogpages import (
    cluster_documents,
    driver_documents,
    tier_documents,
)
from dracfg.draft.draft import Draft
from dracfg.draft.lines import Document, numbered
from dracfg.draft.page import decisions_page
from dracfg.draft.poolpages import policy_documents, pool_documents, rollout_documents
from dracfg.draft.recording import Recording
from dracfg.draft.tenantpages import tenant_pages

DECISIONS = "DECISIONS.md"


def repository_files(draft: Draft, recording: Recording) -> dict[str, str]:
    """Path -> text, in the order in which they are read: cluster, drivers, hardware, tenants, decisions."""
    pages: dict[str, list[Document]] = {
        "catalog/clusters.yaml": list(cluster_documents(draft)),
        "catalog/drivers.yaml": list(driver_documents(draft)),
        "catalog/tiers.yaml": list(tier_documents(draft)),
        "catalog/policies.yaml": list(policy_documents(draft)),
        "catalog/pools.yaml": list(pool_documents(draft)),
        "catalog/rollouts.yaml": list(rollout_documents(draft)),
        **dict(tenant_pages(draft, recording)),
    }
    files, decisions = numbered({path: one for path, one in pages.items() if one}, draft.open)
    if draft.inventory is not None:
        files[draft.inventory.path] = draft.inventory.text
    return {**files, DECISIONS: decisions_page(draft, decisions)}
