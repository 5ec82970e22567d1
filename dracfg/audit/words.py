"""How findings of the live level name claims, pods and devices, so that all of them do it alike."""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.audit.heldclaims import HeldClaim
from dracfg.audit.pods import Pod
from dracfg.audit.view import DeviceId, Holding
from dracfg.check.rule import listed

_MOST = 5


def claim_object(claim: HeldClaim) -> str:
    return f"ResourceClaim/{claim.ref}"


def pod_object(pod: Pod) -> str:
    return f"Pod/{pod.ref}"


def device_object(device: DeviceId) -> str:
    """`Device/<driver>/<pool>/<device>`; pools may have slashes of their own."""
    return f"Device/{'/'.join(device)}"


def device_name(device: DeviceId) -> str:
    """`gpu-0 of pool node-a (gpu.nvidia.com)`."""
    driver, pool, name = device
    return f"{name} of pool {pool} ({driver})"


def named(names: Iterable[str]) -> str:
    """`a, b and c`; of many the first few, and how many more there are."""
    words = list(dict.fromkeys(names))
    if len(words) > _MOST:
        words = [*words[: _MOST - 1], f"{len(words) - _MOST + 1} more"]
    return listed(words)


def claims_of(holdings: Iterable[Holding]) -> str:
    """The claims of some holdings, each once."""
    return named(holding.claim.ref for holding in holdings)


def count(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def evidence(holding: Holding) -> str:
    """What a person needs in order to find the share on the node: claim uid, ShareID, version."""
    parts = [f"claim uid {holding.claim.claim.uid or 'not recorded'}"]
    if holding.result.share_id is not None:
        parts.append(f"ShareID {holding.result.share_id}")
    if holding.note is not None and holding.note.version != "-":
        parts.append(f"policy {holding.note.policy} version {holding.note.version}")
    return ", ".join(parts)
