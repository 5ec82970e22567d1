"""A tier under a consumable policy → a trial of whether shares are held to their size.

Jobs for one node, each with one pod whose containers hold one share each of one device. People run
them one after the other; `dracfg audit` reads what the containers leave as termination messages. What
image and dracfg tell each other is described in docs/trials.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Cluster, Part, Policy, Pool, PoolDevices, Tier
from dracfg.link.classes import class_name
from dracfg.link.driver import Driver
from dracfg.link.parts import digest
from dracfg.lower.artifact import Artifact, make, origin_of
from dracfg.lower.classes import RESOURCE_API
from dracfg.model.driver import TrialLoad
from dracfg.model.sharing import Consumable

TRIAL = "dracfg.dev/trial"
"""A label of the node that the trial runs on, with any value; of its pods, with the phase's name."""
TIER = "dracfg.dev/tier"
POLICY = "dracfg.dev/policy"
VERSION = "dracfg.dev/driver-version"
_MOST_SHARES = 16
_LONGEST_STEM = 32

Phase = Literal["alone", "shared", "exceed", "whole"]


@dataclass(frozen=True, slots=True)
class Share:
    """One container of a run: its request, the class, what it has and what it is to do."""

    name: str
    part: str
    class_name: str
    amounts: Mapping[str, Quantity]
    phase: Phase
    exceeds: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One Job. `name` is unique in a trial."""

    name: str
    shares: tuple[Share, ...]


def trial_artifacts(cluster: Cluster, pool: Pool) -> Iterator[Artifact]:
    """Templates and Jobs of every trial on a pool, each trial in a file of its own."""
    for devices in pool.devices:
        driver = devices.tier.driver
        load = driver.document.spec.trial
        if load is None or pool.owner(driver) != "dra":
            continue
        for policy in devices.policies:
            runs = trial_runs(devices.tier, policy)
            file = f"trial-{devices.tier.name}-{policy.name}.yaml"
            for thing in _objects(pool, devices, policy, load, runs):
                via = (origin_of(driver.document, "spec", "trial"), origin_of(cluster.document))
                yield Artifact(thing, file, origin_of(pool.document, "spec"), via)


def trial_runs(tier: Tier, policy: Policy) -> tuple[Run, ...]:
    """Each size alone, all shares at once, one of them over its size by each capacity, and the most
    that one claim can take. Empty where two shares do not fit on a device."""
    spec = policy.spec
    if not isinstance(spec, Consumable):
        return ()
    parts = _filling(tier, policy, spec.max_shares or _MOST_SHARES)
    if len(parts) < 2:
        return ()
    together = tuple(_share(tier, policy, part, i, "shared") for i, part in enumerate(parts))
    sizes = {part.suffix: part for part in parts}
    first = together[0]
    whole = {
        key: min(bounds.max, tier.capacity[_key(tier, key)])
        for key, bounds in spec.capacity.items()
    }
    return (
        *(
            Run(f"alone-{suffix}", (_share(tier, policy, part, 0, "alone"),))
            for suffix, part in sizes.items()
        ),
        Run("shared", together),
        *(
            Run(
                f"exceed-{_word(key)}",
                (
                    Share(first.name, first.part, first.class_name, first.amounts, "exceed", key),
                    *together[1:],
                ),
            )
            for key, amount in first.amounts.items()
            if amount
        ),
        Run(
            "whole",
            (Share(first.name, "whole", first.class_name, _spelled(tier, whole), "whole"),),
        ),
    )


def _filling(tier: Tier, policy: Policy, most: int) -> list[Part]:
    """Parts that fill one device, small ones first: each size once, then more of the smallest."""
    left = dict(tier.capacity)
    ordered = sorted(policy.parts, key=lambda part: sum(a.nano for a in part.capacity.values()))
    found: list[Part] = []

    def take(part: Part) -> bool:
        amounts = _spelled(tier, part.capacity)
        if len(found) >= min(most, _MOST_SHARES) or any(
            amount > left.get(key, amount - amount) for key, amount in amounts.items()
        ):
            return False
        for key, amount in amounts.items():
            left[key] = left[key] - amount
        found.append(part)
        return True

    for part in ordered:
        take(part)
    while ordered and take(ordered[0]):
        pass
    return sorted(found, key=ordered.index)


def _share(tier: Tier, policy: Policy, part: Part, number: int, phase: Phase) -> Share:
    return Share(
        f"share-{number}",
        part.name,
        class_name(tier.name, policy, part),
        _spelled(tier, part.capacity),
        phase,
    )


def _spelled(tier: Tier, amounts: Mapping[str, Quantity]) -> dict[str, Quantity]:
    return {_key(tier, key): amount for key, amount in sorted(amounts.items())}


def _key(tier: Tier, key: str) -> str:
    return tier.driver.spelling(key)


def _word(key: str) -> str:
    """A capacity as a part of an object's name."""
    return "".join(c if c.isalnum() else "-" for c in key.lower()).strip("-")


def _objects(
    pool: Pool, devices: PoolDevices, policy: Policy, load: TrialLoad, runs: Sequence[Run]
) -> Iterator[dict[str, Any]]:
    tier = devices.tier
    stem = f"{tier.name}-{policy.name}"
    if len(stem) > _LONGEST_STEM:
        stem = f"trial-{digest({'tier': tier.name, 'policy': policy.name})}"
    labels = {TIER: tier.name, POLICY: policy.name}
    annotations = {VERSION: tier.driver.document.spec.version or "unknown"}
    origin = origin_of(pool.document, "spec")
    for run in runs:
        marks = {**labels, TRIAL: run.name}
        name = f"{stem}-{run.name}"
        pod = {
            "metadata": {"labels": marks, "annotations": annotations},
            "spec": _pod(pool, tier.driver, load, name, run),
        }
        job = {
            "suspend": True,
            "backoffLimit": 0,
            "activeDeadlineSeconds": load.seconds * 4 + 600,
            "template": pod,
        }
        for api, kind, spec in (
            (RESOURCE_API, "ResourceClaimTemplate", {"spec": _claim(tier, run)}),
            ("batch/v1", "Job", job),
        ):
            yield make(
                api,
                kind,
                name,
                origin,
                {"spec": spec},
                namespace=load.namespace,
                labels=marks,
                annotations=annotations,
            )


def _claim(tier: Tier, run: Run) -> dict[str, Any]:
    """A request a share, all of one device where the driver publishes what tells devices apart."""
    requests = [
        {
            "name": share.name,
            "exactly": {
                "deviceClassName": share.class_name,
                "allocationMode": "ExactCount",
                "count": 1,
                "capacity": {"requests": {key: str(a) for key, a in share.amounts.items()}},
            },
        }
        for share in run.shares
    ]
    devices: dict[str, Any] = {"requests": requests}
    identity = _identity(tier.driver)
    if identity is not None and len(requests) > 1:
        names = [share.name for share in run.shares]
        devices["constraints"] = [{"requests": names, "matchAttribute": identity}]
    return {"devices": devices}


def _identity(driver: Driver) -> str | None:
    """What every device of the release has to itself, the plainest first."""
    if driver.preset is None:
        return None
    facts = driver.preset.attributes_at(driver.document.spec.version)
    own = [key for key, fact in facts.items() if fact.identity and not fact.device_types]
    for key in sorted(own, key=lambda key: (facts[key].optional, key != "uuid", key)):
        return key if "/" in key else f"{driver.name}/{key}"
    return None


def _pod(pool: Pool, driver: Driver, load: TrialLoad, template: str, run: Run) -> dict[str, Any]:
    selector = {**pool.document.spec.node_selector, TRIAL: "here"}
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": dict(sorted(selector.items())),
        "tolerations": [{"key": TRIAL, "operator": "Exists"}],
        "resourceClaims": [{"name": "trial", "resourceClaimTemplateName": template}],
        "containers": [_container(driver, load, share) for share in run.shares],
    }


def _container(driver: Driver, load: TrialLoad, share: Share) -> dict[str, Any]:
    amounts = {key: plain_number(amount) for key, amount in share.amounts.items()}
    variables = {
        "DRACFG_PHASE": share.phase,
        "DRACFG_SIZE": share.part,
        "DRACFG_AMOUNTS": json.dumps(amounts, sort_keys=True, separators=(",", ":")),
        "DRACFG_CAPACITY": share.exceeds or "",
        "DRACFG_SECONDS": str(load.seconds),
        "DRACFG_DRIVER": driver.name,
    }
    command = {"command": list(load.command)} if load.command else {}
    return {
        "name": share.name,
        "image": load.image,
        **command,
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "resources": {"claims": [{"name": "trial", "request": share.name}]},
        "terminationMessagePolicy": "File",
    }


def plain_number(amount: Quantity) -> int | float:
    """An amount in its base unit: bytes, bit/s, or a count."""
    whole, rest = divmod(amount.nano, 10**9)
    return whole if not rest else amount.nano / 10**9
