"""Guarantees that `dracfg capacity` proves non-blocking, on the real scheduler under random tenants.

Each tenant makes and ends pods as chance has it, within its limits. Whoever stays within what is
guaranteed gets its card, wherever the others lie. The limits of the repository are the largest for
which the proof holds: with one 5Gi more it is refuted.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from dracfg.cli.main import invoke
from tests.cluster.client import Object
from tests.cluster.kubelet import claims_of
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for
from tests.cluster.yard import OTHER, PATIENCE, TENANT, Yard, results_of

SEED, STEPS, LEAVING = 8, 60, 0.3
LIMITS = {TENANT: {"small": 4, "medium": 6, "large": 3}, OTHER: {"medium": 2}}
"""What the tenants may hold by tests/cluster/data/faults, beside the shared claim, which is large."""
GUARANTEED = {TENANT: {"small": 4, "medium": 2, "large": 1}, OTHER: {"medium": 2}}


@dataclass
class Crowd:
    """The pods of all tenants; a pod is of a tenant and a profile."""

    yard: Yard
    chance: random.Random
    pods: list[tuple[str, str, Object]] = field(default_factory=list)
    placed: Counter[str] = field(default_factory=Counter)

    def arrive(self, number: int) -> None:
        """One pod more, within the limits; where the tenant is guaranteed it, it must be placed."""
        held = Counter((tenant, profile) for tenant, profile, _ in self.pods)
        may = [
            (tenant, profile)
            for tenant, limits in LIMITS.items()
            for profile, most in limits.items()
            if held[tenant, profile] < most
        ]
        if not may:
            self.leave()
            return
        tenant, profile = self.chance.choice(may)
        one = self.yard.pod(f"pod-{number}", profile, tenant=tenant)
        self.pods.append((tenant, profile, one))
        is_guaranteed = held[tenant, profile] < GUARANTEED[tenant][profile]
        if is_guaranteed:
            assert results_of(self.yard.allocated(one))
        self.placed["guaranteed" if is_guaranteed else "beyond"] += 1

    def holds(self, pods: list[Object], number: int) -> bool:
        """Whether so many of the pods have a card."""
        claimed = [one for one in pods if claims_of(self.yard.client.read(one))]
        return sum(bool(results_of(self.yard.claim_of(one))) for one in claimed) >= number

    def leave(self) -> None:
        """Any pod goes, whether it has a card or waits for one."""
        _, _, one = self.pods.pop(self.chance.randrange(len(self.pods)))
        self.yard.client.delete(one)
        self.yard.gone(one)


def test_guaranteed_claims_are_placed(yard: Yard) -> None:
    proofs = verdicts(yard)
    assert proofs[f"{OTHER} slice 10Gi nonBlocking"] == "proven"
    assert set(proofs.values()) == {"proven"}
    crowd = Crowd(yard, random.Random(SEED))
    yard.running(yard.create(pod(TENANT, "always", claim="shared")))
    for number in range(STEPS):
        if crowd.pods and crowd.chance.random() < LEAVING:
            crowd.leave()
        else:
            crowd.arrive(number)
        assert yard.over_promised() == {}
    assert crowd.placed["guaranteed"] >= 20
    assert crowd.placed["beyond"] >= 10
    for tenant, profiles in GUARANTEED.items():
        for profile, number in profiles.items():
            held = [one for who, what, one in crowd.pods if (who, what) == (tenant, profile)]
            due = min(number, len(held))
            wait_for(partial(crowd.holds, held, due), f"{due} {profile} of {tenant}", PATIENCE)


def verdicts(yard: Yard) -> dict[str, str]:
    """Tenant, size and question → what the proof says."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        invoke(["capacity", "--format", "json", "-C", str(yard.repository)])
    return {
        f"{one['tenant']} {one['entitlement']} {one['question']}": one["verdict"]
        for tier in json.loads(said.getvalue())["tiers"]
        for one in tier["proofs"]
    }
