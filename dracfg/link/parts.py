"""Sharing policies → the parts they hand out, and the version of their numbers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import WHOLE, AnyPolicy, Part, Policy
from dracfg.model import kinds
from dracfg.model.sharing import Consumable, Exclusive, NamedSize, Partitioned, TimeSliced


def whole_policy() -> Policy:
    """The built-in policy: a device is had alone or not at all."""
    return Policy(WHOLE, None, Exclusive.model_construct(mode="exclusive"), (Part("", "", {}),), "")


def link_policy(document: kinds.SharingPolicy) -> Policy:
    """A policy with its parts in the order of the document."""
    spec = document.spec
    return Policy(document.name, document, spec, tuple(_parts(spec)), policy_version(spec))


def policy_numbers(spec: AnyPolicy) -> dict[str, Any]:
    """The numbers that a claim is judged by: what is left when names and prose are taken away."""
    match spec:
        case Consumable():
            return {
                "mode": spec.mode,
                "capacity": {
                    key: _present(
                        min=bounds.min, max=bounds.max, step=bounds.step, reserve=bounds.reserve
                    )
                    for key, bounds in sorted(spec.capacity.items())
                },
                "sizes": [
                    {key: str(amount) for key, amount in sorted(part.capacity.items())}
                    for part in sorted(_parts(spec), key=_amounts)
                ],
                **({"maxShares": spec.max_shares} if spec.max_shares else {}),
            }
        case Partitioned():
            return {
                "mode": spec.mode,
                "partitions": {
                    partition.name: {
                        key: str(amount) for key, amount in sorted(partition.consumes.items())
                    }
                    for partition in spec.partitions
                },
            }
        case TimeSliced():
            return {"mode": spec.mode, "replicas": spec.replicas}
        case _:
            return {"mode": spec.mode}


def _amounts(part: Part) -> tuple[int, list[tuple[str, int]]]:
    """What sorts sizes: their order in the document means nothing."""
    amounts = sorted((key, amount.nano) for key, amount in part.capacity.items())
    return len(amounts), amounts


def policy_version(spec: AnyPolicy) -> str:
    """First 8 hex digits of SHA-256 over the numbers as canonical JSON."""
    return digest(policy_numbers(spec))


def digest(data: Any) -> str:
    """First 8 hex digits of SHA-256 over canonical JSON: sorted keys, no blanks, UTF-8."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _present(**amounts: Quantity | None) -> dict[str, str]:
    return {key: str(amount) for key, amount in amounts.items() if amount is not None}


def _parts(spec: AnyPolicy) -> list[Part]:
    match spec:
        case Consumable():
            return [_size(spec, size) for size in spec.sizes]
        case Partitioned():
            return [
                Part(p.name, p.name.replace(".", "-"), {}, partition=p) for p in spec.partitions
            ]
        case _:
            return [Part("", "", {})]


def _size(spec: Consumable, size: Quantity | NamedSize) -> Part:
    """One size over every capacity of the policy: what it does not name takes the default."""
    defaults = {key: bounds.default for key, bounds in spec.capacity.items()}
    if isinstance(size, NamedSize):
        amounts = defaults | dict(size.capacity)
        return Part(size.name, size.name, {k: a for k, a in amounts.items() if a is not None})
    amounts = defaults | {sized_capacity(spec): size}
    text = str(size)
    suffix = text.lower().replace(".", "-").replace("+", "")
    return Part(
        text, suffix, {key: amount for key, amount in amounts.items() if amount is not None}
    )


def sized_capacity(spec: Consumable) -> str:
    """The capacity that plain sizes are an amount of."""
    return spec.sized_by if spec.sized_by is not None else next(iter(spec.capacity))
