"""LIV038-040: claims under an older policy version, and capacity that drifted under its claims.

A version is the digest of a policy's numbers; a claim keeps the one it was made under, and is
judged by it until it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.heldclaims import Note
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, claims_of, count, device_name, device_object
from dracfg.check.rule import listed
from dracfg.diagnostics import Span
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Policy, Tier
from dracfg.lower.templates import REQUESTS
from dracfg.model.base import at
from dracfg.model.sharing import Consumable, Partitioned


def older_versions(view: View) -> Iterator[LiveFinding]:
    """LIV038, and LIV039 where the policy in force would refuse what is held."""
    if view.catalog is None:
        return
    for held in view.by_claim.values():
        told: set[str] = set()
        for holding in held:
            note = holding.note
            if note is None or note.version == "-" or note.policy in told:
                continue
            policy = view.catalog.policies.get(note.policy)
            if policy is not None and policy.version == note.version:
                continue
            told.add(note.policy)
            yield _older(view, holding, note, policy)


def _older(view: View, holding: Holding, note: Note, policy: Policy | None) -> LiveFinding:
    claim = holding.claim
    place = claim.span("metadata", "annotations", REQUESTS)
    refusal = "it has been removed" if policy is None else _refusal(view, holding, note, policy)
    size = "" if note.size == "-" else f" of {note.size}"
    kept = (
        ", whose numbers are kept on the cluster"
        if (note.policy, note.version) in view.dump.policy_versions
        else ""
    )
    document = policy.document if policy is not None else None
    now = related(at(document, "metadata", "name"), "in force") if document is not None else []
    if refusal is None:
        return live(
            "LIV038",
            "retryable",
            place,
            f"claim {claim.ref} holds a share{size} under version {note.version} of {note.policy}"
            f"{kept}",
            related=now,
            found=note.version,
            expected=policy.version if policy is not None else None,
            step="nothing must be done: it stays lawful until its pod ends, and the next claim is made "
            "under the policy in force",
            objects=[claim_object(claim)],
        )
    return live(
        "LIV039",
        "notRetryable",
        place,
        f"claim {claim.ref} holds a share{size} that {note.policy} would refuse now: {refusal}",
        label=f"made under version {note.version}{kept}",
        related=now,
        found=note.version,
        expected=policy.version if policy is not None and policy.version else None,
        step="tell its owner which sizes there are now; the claim keeps what it has until its pod ends, "
        "and a pod that is made again needs a new size",
        objects=[claim_object(claim)],
    )


def _refusal(view: View, holding: Holding, note: Note, policy: Policy) -> str | None:
    """Why the policy in force would not give what is held; None where it would."""
    if not isinstance(policy.spec, Consumable | Partitioned):
        return None if note.size == "-" else f"it is {policy.spec.mode} now and has no sizes"
    sizes = listed((part.name for part in policy.parts), "or")
    part = policy.part(None if note.size == "-" else note.size)
    if part is None:
        return f"its sizes are {sizes}"
    tier = view.tier(holding)
    if isinstance(policy.spec, Consumable) and tier is not None:
        wanted = _spelled(tier, part.capacity)
        asked = holding.claim.request(holding.result)
        for key, amount in wanted.items():
            had = asked.capacity.get(key) if asked is not None else None
            if had is not None and had != amount:
                return f"{part.name} is {amount} of {key} now, and was {had}"
    return None


def _spelled(tier: Tier, capacity: Mapping[str, Quantity]) -> dict[str, Quantity]:
    return {tier.driver.spelling(key): amount for key, amount in capacity.items()}


def drifted(view: View) -> Iterator[LiveFinding]:
    """LIV040: a device that is held and publishes less than the catalog counts on."""
    for key, held in view.by_device.items():
        device = held[0].device
        tier = next((tier for holding in held if (tier := view.tier(holding)) is not None), None)
        if device is None or tier is None or any(h.note and _partition(view, h) for h in held):
            continue
        for name, modelled in tier.capacity.items():
            fact = device.capacity_fact(name)
            if fact is None or fact.value >= modelled:
                continue
            place: Span = device.origin.span("capacity", name, "value")
            yield live(
                "LIV040",
                "notRetryable",
                place,
                f"{device_name(key)} publishes less {name} than tier {tier.name} counts on, and "
                f"{count(len({h.claim.ref for h in held}), 'claim')} hold it",
                label=claims_of(held),
                related=related(at(tier.document, "spec", "device"), "modelled here"),
                found=str(fact.value),
                expected=str(modelled),
                step="see what the driver has changed on the node; correct the tier's `device.capacity` "
                "if it is right, and compile: the proofs are held against it",
                objects=[device_object(key), *(claim_object(holding.claim) for holding in held)],
            )


def _partition(view: View, holding: Holding) -> bool:
    policy = view.policy(holding)
    return policy is not None and isinstance(policy.spec, Partitioned)


RULES: tuple[LiveRule, ...] = (older_versions, drifted)
