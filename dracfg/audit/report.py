"""Records of one cluster → everything that the live level has to say of it, and its JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from dracfg.audit.causes import PendingCause, pending_causes, pending_findings
from dracfg.audit.dump import read_dump
from dracfg.audit.finding import Handling, LiveFinding
from dracfg.audit.ledger import Amount, Entry, Ledger, Share, Total, build_ledger
from dracfg.audit.offers import Lent, lent, lent_document
from dracfg.audit.rules import RULES
from dracfg.audit.rules.trials import recorded_trials
from dracfg.audit.trials import Trial, trial_document
from dracfg.audit.view import view_of
from dracfg.check.driftplaces import drifted_objects
from dracfg.check.inventory import check_inventory
from dracfg.check.reconciled import cluster_nodes
from dracfg.check.recordednodes import check_recorded_nodes
from dracfg.check.schedulers import check_pod_schedulers
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diagnostics.render.document import finding_document, report
from dracfg.link.catalog import Catalog, Cluster
from dracfg.source.records import Record
from dracfg.source.times import format_time

KIND = "AuditReport"
Verdict = Literal["proven", "refuted", "unknown"]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What was found. `at` is the moment that everything was judged at; None where none is recorded.

    `verdict` is refuted with an error, unknown with something undecided or nothing to look at, else
    proven: every bound holds on what was recorded. What could not be read (`unread`) refutes nothing.
    """

    cluster: str | None
    at: datetime | None
    findings: tuple[LiveFinding, ...]
    ledger: Ledger
    causes: tuple[PendingCause, ...]
    unread: frozenset[Diagnostic] = frozenset()
    trials: tuple[Trial, ...] = ()
    offers: tuple[Lent, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings without whose turn it is."""
        return tuple(finding.diagnostic for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        decisive = [finding for finding in self.diagnostics if finding not in self.unread]
        if any(finding.is_error for finding in decisive):
            return "refuted"
        is_open = any(finding.severity in ("error", "unknown") for finding in self.diagnostics)
        return "unknown" if is_open else "proven"

    def handled(self, handling: Handling) -> int:
        """How many findings are of that class."""
        return sum(finding.handling == handling for finding in self.findings)


def audit(
    catalog: Catalog | None,
    cluster: Cluster | None,
    records: Iterable[Record],
    *,
    minor: str | None = None,
    at: datetime | None = None,
    kinds: Iterable[str] = (),
    unread: Iterable[Diagnostic] = (),
) -> AuditReport:
    """Judges what is recorded of one cluster by every rule that it gives data for.

    `cluster` is the catalog's name for where it was recorded; without one only the rules that need
    no catalog run, and `minor` may say how objects are to be read. `kinds` are those of which all
    objects were asked for, so that none means none; from dumps nothing is known of a kind that is
    absent. `unread` tells what could not be read. Without `at` the newest moment that the records
    tell of stands for now. Nothing is changed, and nothing is released.
    """
    records = tuple(records)
    dump, faults = read_dump(records, cluster.minor if cluster is not None else minor, at, kinds)
    view = view_of(dump, catalog, cluster)
    causes = pending_causes(view)
    found = [finding for rule in RULES for finding in rule(view)]
    found += pending_findings(view, causes)
    lost = tuple(unread)
    judged = [*lost, *faults]
    if catalog is not None and cluster is not None:
        nodes = cluster_nodes(cluster, dump.inventory, records)
        judged += check_inventory(catalog, {cluster.name: dump.inventory}, {cluster.name: nodes})
        judged += check_recorded_nodes(cluster, nodes)
        judged += check_pod_schedulers(catalog, {cluster.name: records})
    listed = [*found, *(_needing(catalog, fault) for fault in dict.fromkeys(judged))]
    ordered = tuple(sorted(listed, key=lambda finding: sort_key(finding.diagnostic)))
    name = cluster.name if cluster is not None else None
    ledger, trials = build_ledger(view), recorded_trials(view)
    offers = lent(catalog, cluster, ledger)
    return AuditReport(name, dump.at, ordered, ledger, causes, frozenset(lost), trials, offers)


def _needing(catalog: Catalog | None, fault: Diagnostic) -> LiveFinding:
    """What a person must see to; drift with the pools and tiers that it is of."""
    objects = () if catalog is None else drifted_objects(catalog, fault)
    return LiveFinding(fault, "needsPerson", objects)


def audit_document(done: AuditReport) -> dict[str, Any]:
    """The report as JSON: amounts as quantities, absent values null."""
    document = report(
        KIND,
        done.verdict,
        (),
        cluster=done.cluster,
        at=None if done.at is None else format_time(done.at),
    )
    document["findings"] = [
        {
            **finding_document(finding.diagnostic),
            "handling": finding.handling,
            "objects": list(finding.objects),
        }
        for finding in done.findings
    ]
    document["ledger"] = [_entry(entry) for entry in done.ledger.entries]
    document["causes"] = [_cause(cause) for cause in done.causes]
    document["trials"] = [trial_document(trial) for trial in done.trials]
    document["offers"] = [lent_document(one) for one in done.offers]
    document["totals"] = [_total(total) for total in done.ledger.totals]
    return document


def _entry(entry: Entry) -> dict[str, Any]:
    driver, pool, device = entry.id
    return {
        "driver": driver,
        "pool": pool,
        "device": device,
        "node": entry.node,
        "tier": entry.tier,
        "state": entry.state,
        "shareable": entry.shareable,
        "reason": entry.reason,
        "capacity": _capacity(entry.capacity),
        "holders": [_share(share) for share in entry.shares],
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "claim": share.claim,
        "claimUID": share.claim_uid,
        "request": share.request,
        "deviceClass": share.device_class,
        "tenant": share.tenant,
        "pods": list(share.pods),
        "shareID": share.share_id,
        "consumedCapacity": {key: str(amount) for key, amount in share.consumed.items()},
        "policy": share.policy,
        "policyVersion": share.version,
        "adminAccess": share.admin_access,
    }


def _capacity(amounts: Mapping[str, Amount]) -> dict[str, Any]:
    return {
        key: {
            "total": str(amount.total),
            "used": str(amount.used),
            "unknown": str(amount.unknown),
            "free": str(amount.free),
            "fragmented": str(amount.fragmented),
        }
        for key, amount in amounts.items()
    }


def _total(total: Total) -> dict[str, Any]:
    return {
        "name": total.name,
        "driver": total.driver,
        "devices": total.devices,
        "states": dict(total.states),
        "holders": total.shares,
        "capacity": _capacity(total.capacity),
    }


def _cause(cause: PendingCause) -> dict[str, Any]:
    return {
        "object": cause.subject,
        "claims": list(cause.claims),
        "cause": cause.cause,
        "text": cause.text,
        "source": cause.source,
        "since": None if cause.since is None else format_time(cause.since),
        "step": cause.step,
    }
