"""Reports of `dracfg audit` and `dracfg test`, and records of trials → what they say of measures.

Each document is about one cluster, or about the whole catalog. What a measure needs and no document
tells is an answer without data. Knows nothing of limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Cluster, Policy
from dracfg.link.driver import Driver
from dracfg.link.gates import AskedGate, clusters_asked, has_moved, namespaces_of, pools_of
from dracfg.link.measures import Documents
from dracfg.link.moves import pools_at, position
from dracfg.model import kinds
from dracfg.model.sharing import Consumable
from dracfg.plan.basis import trial_of
from dracfg.rollout.gates import Answer, both

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial showed: whether a release of a driver holds shares to their amount of a capacity."""

    driver: str | None
    capacity: str
    version: str
    enforced: bool


@dataclass(frozen=True, slots=True)
class Reports:
    """What was recorded: audits by cluster, reports of policy tests, and records of trials."""

    audits: Mapping[str, Mapping[str, Any]]
    tests: tuple[Mapping[str, Any], ...]
    trials: tuple[Trial, ...]


def answer_of(
    catalog: Catalog, rollout: kinds.Rollout, gate: AskedGate, reports: Reports
) -> Answer | None:
    """What the documents say of a gate; None where its measure is none that documents answer."""
    if gate.measure is None or gate.measure.documents is None:
        return None
    try:
        return _answer(catalog, rollout, gate, gate.measure.documents, reports)
    except (AttributeError, KeyError, TypeError, ValueError):
        return Answer(trouble="a report is not as dracfg writes it")


def _answer(
    catalog: Catalog,
    rollout: kinds.Rollout,
    gate: AskedGate,
    told: Documents,
    reports: Reports,
) -> Answer | None:
    """Reads reports as dracfg writes them; what else stands there raises what Python raises."""
    found: Answer | None = None
    if told.tests:
        found = _tests(reports)
    if told.records:
        found = both(found, _records(catalog, rollout, reports))
    if told.audits:
        for cluster in clusters_asked(catalog, rollout.spec, gate):
            found = both(found, _audited(catalog, rollout, cluster, told, reports))
    return found


def reports_on(told: Documents, reports: Reports) -> bool:
    """Whether any of what was named is a document that answers a measure."""
    return bool((told.tests and reports.tests) or (told.audits and reports.audits) or told.records)


def _tests(reports: Reports) -> Answer:
    if not reports.tests:
        return Answer(trouble="no report of `dracfg test --format json` is named")
    results = [one for report in reports.tests for one in report["results"]]
    if not results:
        return Answer(trouble="the report of tests holds no result")
    failed = [str(one["name"]) for one in results if one["passed"] is not True]
    faults = [report for report in reports.tests if report["verdict"] != "proven"]
    if faults and not failed:
        return Answer(trouble=f"the tests are {faults[0]['verdict']}")
    return Answer((float(len(failed)),), note=_few(f"test {name}" for name in failed))


def _audited(
    catalog: Catalog,
    rollout: kinds.Rollout,
    cluster: Cluster,
    told: Documents,
    reports: Reports,
) -> Answer:
    """What an audit says of one cluster. Before a pool has moved there may be nothing to be recorded."""
    audit = reports.audits.get(cluster.name)
    if audit is None:
        return Answer(
            trouble=f"no report of `dracfg audit --format json` on {cluster.name} is named"
        )
    undecided = [one for one in audit["findings"] if one["code"] in told.open]
    if undecided and has_moved(catalog, rollout.spec, cluster):
        return Answer(
            trouble=f"{undecided[0]['code']} on {cluster.name}: {undecided[0]['message']}"
        )
    if told.ledger == "missing":
        return _missing(catalog, rollout, cluster, audit)
    if told.ledger == "fragmented":
        return _fragmented(rollout.spec.tier, audit)
    if told.causes:
        spaces = namespaces_of(catalog, cluster, rollout.spec)
        return _waiting(rollout.spec.tier, spaces, told.causes, audit)
    tier = catalog.tiers[rollout.spec.tier]
    own = f"Device/{tier.driver.name}/"
    counted = [
        one
        for one in audit["findings"]
        if one["code"] in told.findings
        and (not told.of_driver or any(str(name).startswith(own) for name in one["objects"]))
    ]
    return Answer((float(len(counted)),), note=_few(_named(one) for one in counted))


def _named(finding: Mapping[str, Any]) -> str:
    return f"{finding['code']}: {finding['message']}"


def _missing(
    catalog: Catalog, rollout: kinds.Rollout, cluster: Cluster, audit: Mapping[str, Any]
) -> Answer:
    """Devices that the pools which have moved should have, less those of the ledger.

    A node counts for at most the devices that a node of the tier has, so that partitions of one device
    never stand for another that is missing.
    """
    spec = rollout.spec
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    moved = pools_at(spec, position(spec), documents)
    expected, most = 0, 0
    for pool in pools_of(catalog, spec):
        if pool.name in moved and pool.cluster == cluster.name:
            here = sum(d.per_node for d in pool.devices if d.tier.name == spec.tier)
            expected += here * pool.document.spec.nodes
            most = max(most, here)
    by_node: dict[Any, int] = {}
    for entry in audit["ledger"]:
        if entry["tier"] == spec.tier and entry["state"] != "unpublished":
            by_node[entry["node"]] = by_node.get(entry["node"], 0) + 1
    published = sum(min(number, most) for number in by_node.values())
    note = f"{published} of {expected} published on {cluster.name}"
    return Answer((float(max(0, expected - published)),), note=note)


def _fragmented(tier: str, audit: Mapping[str, Any]) -> Answer:
    totals = [one for one in audit["totals"] if one["name"] == tier]
    if not totals:
        return Answer(trouble=f"the audit of {audit['cluster']} knows no device of {tier}")
    worst, name = 0.0, None
    for total in totals:
        for key, amount in total["capacity"].items():
            free = Quantity.parse(amount["free"]).nano
            part = Quantity.parse(amount["fragmented"]).nano / free if free else 0.0
            if part > worst:
                worst, name = part, key
    return Answer((worst,), note=None if name is None else f"of {name} on {audit['cluster']}")


def _waiting(
    tier: str, spaces: tuple[str, ...], causes: tuple[str, ...], audit: Mapping[str, Any]
) -> Answer:
    """Pods of tenants with a right to the tier that wait for some causes, of those and the holders."""
    refused = {
        one["object"]
        for one in audit["causes"]
        if one["cause"] in causes
        and str(one["object"]).split("/")[1:2] in [[name] for name in spaces]
    }
    holding = {
        (share["tenant"], pod)
        for entry in audit["ledger"]
        if entry["tier"] == tier
        for share in entry["holders"]
        for pod in share["pods"]
    }
    if not refused and not holding:
        return Answer(
            trouble=f"no pod on {audit['cluster']} waits for devices of {tier} or holds one"
        )
    value = len(refused) / (len(refused) + len(holding))
    return Answer((value,), note=_few(sorted(map(str, refused))))


def _records(catalog: Catalog, rollout: kinds.Rollout, reports: Reports) -> Answer:
    """Capacities that policies of the tier divide and nothing shows to be held."""
    tier = catalog.tiers[rollout.spec.tier]
    open_: list[str] = []
    refuted: list[str] = []
    for policy, key in _divided(catalog, rollout):
        shown = _shown(tier.driver, key, reports.trials)
        if not shown:
            open_.append(f"{key} of {policy}: no record of {_release(tier.driver)}")
        elif not all(shown):
            refuted.append(f"{key} of {policy}: shown not to be held")
    return Answer((float(len(open_) + len(refuted)),), note=_few([*refuted, *open_]))


def _divided(catalog: Catalog, rollout: kinds.Rollout) -> Iterator[tuple[str, str]]:
    """(policy, capacity) of every consumable policy of the pools that have moved, or move next."""
    spec = rollout.spec
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    place = min(position(spec) + 1, len(spec.stages) - 1)
    reached = pools_at(spec, place, documents)
    policies: dict[str, Policy] = {}
    for pool in pools_of(catalog, spec):
        for devices in pool.devices if pool.name in reached else ():
            if devices.tier.name == spec.tier:
                policies |= {policy.name: policy for policy in devices.policies}
    coming = catalog.policies.get(spec.sharing or "") if spec.subject == "sharing" else None
    if coming is not None:
        policies[coming.name] = coming
    for name, policy in sorted(policies.items()):
        if isinstance(policy.spec, Consumable):
            yield from ((name, key) for key in policy.spec.capacity)


def _shown(driver: Driver, capacity: str, trials: Iterable[Trial]) -> list[bool]:
    """What records of the release in use say: the catalog's latest one, and those that were named."""
    cited = trial_of(driver, capacity)
    version, key = driver.document.spec.version, driver.spelling(capacity)
    named = [
        trial.enforced
        for trial in trials
        if trial.driver in (None, driver.name)
        and trial.version == version
        and driver.spelling(trial.capacity) == key
    ]
    return [*([] if cited is None else [cited.enforced]), *named]


def _release(driver: Driver) -> str:
    version = driver.document.spec.version
    return f"{driver.name} {version}" if version else f"{driver.name}, which names no version"


def _few(names: Iterable[str]) -> str | None:
    """The first few of some names, and how many more there are; None for none."""
    listed = list(names)
    more = len(listed) - _MOST_NAMES
    shown = "; ".join(listed[:_MOST_NAMES])
    return (f"{shown}; and {more} more" if more > 0 else shown) or None
