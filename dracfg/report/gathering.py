"""A judged repository and its audits → what is reported; the order of everything is that of the catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.audit import AuditReport
from dracfg.check.jointclaims import joint_features
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.pipeline import Judgement
from dracfg.plan.assurance import markets
from dracfg.plan.estimate import Estimate, estimate
from dracfg.plan.jointassurance import JointAssurance, joint_assurances
from dracfg.plan.jointdemand import joint_demands
from dracfg.plan.promises import Market
from dracfg.report.capacity import figure
from dracfg.report.document import Finding, Report, Summary
from dracfg.report.findings import Lines, finding
from dracfg.report.ledger import PoolEntries, by_pool, pool_ledger
from dracfg.report.proofs import Proofs, worst
from dracfg.report.rollouts import rollout_states
from dracfg.report.section import Word
from dracfg.report.tenants import lendings, rights
from dracfg.report.versions import cluster_versions
from dracfg.source.records import Record


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """What the claims of one cluster show, and the records that tell of them."""

    done: AuditReport
    records: Sequence[Record]
    lines: Lines


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What was found elsewhere, on the clusters that are asked about; `audits` are by cluster."""

    judged: Judgement
    clusters: tuple[Cluster, ...]
    markets: tuple[Market, ...]
    estimates: tuple[Estimate, ...]
    proofs: Proofs
    audits: Mapping[str, Audited]
    pools: tuple[PoolEntries, ...]


def gather(
    judged: Judgement, audits: Mapping[str, Audited], names: Iterable[str] | None = None
) -> Facts:
    """The facts on some clusters, on all unless said."""
    catalog = judged.catalog
    wanted = frozenset(catalog.clusters if names is None else names)
    clusters = tuple(one for name, one in catalog.clusters.items() if name in wanted)
    known = tuple(
        market
        for market in markets(catalog, judged.inventories)
        if market.supply.cluster.name in wanted
    )
    proofs = Proofs(catalog)
    for market in known:
        proofs.add(market)
    for answer in _joint(judged, wanted):
        proofs.add_joint(answer)
    own = {name: audited for name, audited in audits.items() if name in wanted}
    return Facts(
        judged,
        clusters,
        known,
        tuple(found for market in known for found in estimate(market)),
        proofs,
        own,
        tuple(
            entries
            for cluster in clusters
            if (audited := own.get(cluster.name)) is not None
            for entries in by_pool(cluster, audited.done.ledger, audited.records)
        ),
    )


def _joint(judged: Judgement, clusters: frozenset[str]) -> Iterator[JointAssurance]:
    """What is proven of claims for several things at once, on some clusters."""
    catalog = judged.catalog
    demands = [one for one in joint_demands(catalog) if one.cluster.name in clusters]
    if demands:
        features = joint_features(catalog, judged.units)
        yield from joint_assurances(catalog, demands, judged.inventories, features)


def report_of(facts: Facts) -> Report:
    """The report. What concerns no cluster alone (offers, rollouts, findings) is told as a whole."""
    judged = facts.judged
    catalog, names = judged.catalog, frozenset(cluster.name for cluster in facts.clusters)
    found = (rights(tenant, names, facts.proofs.verdicts) for tenant in catalog.tenants.values())
    tenants = tuple(one for one in found if one is not None)
    findings = tuple(_findings(facts))
    held = {name: audited.done.offers for name, audited in facts.audits.items()}
    return Report(
        verdict=_verdict(facts),
        summary=_summary(facts, len(tenants), findings),
        capacity=tuple(map(figure, facts.estimates)),
        ledger=tuple(pool_ledger(one, facts.audits[one.cluster].done.at) for one in facts.pools),
        tenants=tenants,
        proofs=tuple(facts.proofs.proofs),
        joint_proofs=tuple(facts.proofs.joint),
        evidence=tuple(facts.proofs.evidence),
        grounds=facts.proofs.grounds,
        offers=tuple(lendings(catalog, held)),
        rollouts=tuple(rollout_states(catalog)),
        clusters=tuple(cluster_versions(catalog, one, judged.units) for one in facts.clusters),
        findings=findings,
    )


def _findings(facts: Facts) -> Iterator[Finding]:
    """Those of the repository, then those of each record that are not among them."""
    judged = facts.judged
    for found in judged.findings:
        yield finding(found, judged.lines)
    told = set(judged.findings)
    for name, audited in facts.audits.items():
        for live in audited.done.findings:
            if live.diagnostic not in told:
                yield finding(live.diagnostic, audited.lines, cluster=name, handling=live.handling)


def _verdict(facts: Facts) -> Word:
    """The worst of what the repository, the records and the proofs come to."""
    audits = (audited.done.verdict for audited in facts.audits.values())
    return worst(facts.judged.verdict, *audits, *_answers(facts))


def _answers(facts: Facts) -> Iterator[Word]:
    yield from (proof.verdict for proof in facts.proofs.proofs)
    yield from (proof.verdict for proof in facts.proofs.joint)


def _summary(facts: Facts, tenants: int, findings: Sequence[Finding]) -> Summary:
    answers = Counter(_answers(facts))
    severities = Counter(one.severity for one in findings if one.waived is None)
    # A supply has one number of devices, however many capacities they divide.
    devices = {id(one.supply): one.devices for one in facts.estimates}
    return Summary(
        clusters=len(facts.clusters),
        tenants=tenants,
        devices=sum(devices.values()),
        proven=answers["proven"],
        refuted=answers["refuted"],
        unknown=answers["unknown"],
        errors=severities["error"],
        undecided=severities["unknown"],
        warnings=severities["warning"],
        notes=severities["note"],
        waived=sum(one.waived is not None for one in findings),
    )
