"""Which validations the tests have seen refuse, and which they have seen let something through."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.policytest.admission import Validation
from dracfg.policytest.run import Result
from dracfg.policytest.world import World


@dataclass(frozen=True, slots=True)
class Covered:
    """One validation of a policy, and how many passing tests it refused and let through.

    Policies of one name hold the same validations on every cluster, so clusters count together.
    What a policy was not asked about, or what it let through while another policy refused it, is no
    allowance.
    """

    validation: Validation
    denials: int
    allowances: int

    @property
    def is_full(self) -> bool:
        return self.denials > 0 and self.allowances > 0


def coverage(worlds: Mapping[str, World], results: Iterable[Result]) -> tuple[Covered, ...]:
    """Every validation of the clusters, in the order of their policies."""
    denied: dict[Validation, int] = {}
    allowed: dict[Validation, int] = {}
    for result in results:
        if not result.passed:
            continue
        verdict = result.verdict
        for denial in (*verdict.denials, *verdict.warnings):
            if denial.validation is not None:
                denied[denial.validation] = denied.get(denial.validation, 0) + 1
        if verdict.answer == "allow":
            for validation in verdict.held:
                allowed[validation] = allowed.get(validation, 0) + 1
    every = dict.fromkeys(
        validation
        for world in worlds.values()
        for policy in world.policies
        for validation in policy.validations
    )
    return tuple(
        Covered(validation, denied.get(validation, 0), allowed.get(validation, 0))
        for validation in every
    )


def coverage_document(covered: Iterable[Covered]) -> list[dict[str, Any]]:
    """The part of the TestReport."""
    return [
        {
            "policy": one.validation.policy,
            "validation": one.validation.index,
            "rule": one.validation.code,
            "denials": one.denials,
            "allowances": one.allowances,
        }
        for one in covered
    ]
