"""Every validation of a cluster's policies with one request that it refuses and one that passes.

The requests are `samples`; which of them stands for which validation is found by asking the policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dracfg.cel import Authorizer
from dracfg.dataclass import dataclass
from dracfg.policytest.admission import Admitted, Policy, Validation, admit, code_of
from dracfg.policytest.requests import Request
from dracfg.policytest.run import Result
from dracfg.policytest.samples import SAMPLES
from dracfg.policytest.scene import Scene
from dracfg.policytest.world import Denial, Verdict, World


@dataclass(frozen=True, slots=True)
class Case:
    """One request that a policy is asked about alone, and what its validation says of it.

    `request` is None where no sample gets that answer. With samples for the policy that means that
    nothing on this cluster can meet the rule (no class is shared, say); without, that they lack.
    """

    validation: Validation
    expect: Literal["allow", "deny"]
    request: Request | None
    message: str = ""
    sampled: bool = True

    @property
    def name(self) -> str:
        code = (self.validation.code or "").lower()
        parts = (self.validation.policy, str(self.validation.index), code, self.expect)
        return "-".join(part for part in parts if part)


def generated_cases(world: World) -> tuple[Case, ...]:
    """Two cases a validation, a denial and an allowance, in the order of the policies."""
    scene = Scene.of(world)
    found: list[Case] = []
    for policy in world.policies:
        found += _cases(
            world, policy, SAMPLES[policy.name](scene) if policy.name in SAMPLES else ()
        )
    return tuple(found)


def run_generated(world: World) -> tuple[Result, ...]:
    """The generated cases as results of tests.

    A case without a request is unknown. It fails only where the policy has no samples at all; that
    the samples meet every validation is held on clusters that have something of everything.
    """
    return tuple(_result(world, case) for case in generated_cases(world))


def _ask(world: World, policy: Policy, request: Request) -> Admitted:
    return admit((policy,), request, world.minor, lambda _: Authorizer())


def _cases(world: World, policy: Policy, samples: Iterable[Request]) -> list[Case]:
    """Both cases of each validation, from the first samples that get the answers.

    A validation refuses a sample where it is the first that fails, as users see the message of that
    one, and where it says so itself: a denial for an error has no code.
    """
    cases: dict[tuple[Validation, str], Case] = {}
    for request in samples:
        if len(cases) == 2 * len(policy.validations):
            break
        said = _ask(world, policy, request)
        if said.failures:
            first = said.failures[0]
            if code_of(first.message) is not None:
                case = Case(first.validation, "deny", request, first.message)
                cases.setdefault((first.validation, "deny"), case)
        elif not said.unknown:
            for validation in said.held:
                cases.setdefault((validation, "allow"), Case(validation, "allow", request))
    found: list[Case] = []
    sampled = policy.name in SAMPLES
    for validation in policy.validations:
        deny = Case(validation, "deny", None, sampled=sampled)
        allow = Case(validation, "allow", None, sampled=sampled)
        found.append(cases.get((validation, "deny"), deny))
        found.append(cases.get((validation, "allow"), allow))
    return found


def _result(world: World, case: Case) -> Result:
    if case.request is None:
        why = "there is no sample"
        if case.sampled:
            why = "nothing on this cluster can get this answer"
        verdict = Verdict("unknown", unknown=(why,))
        return Result(
            case.name, case.sampled, world.name, case.expect, "unknown", None, why, verdict
        )
    denials: tuple[Denial, ...] = ()
    if case.expect == "deny":
        rule = code_of(case.message)
        denials = (Denial(rule, case.message, case.validation),)
    held = (case.validation,) if case.expect == "allow" else ()
    verdict = Verdict(case.expect, denials, held=held)
    rule = denials[0].rule if denials else None
    return Result(
        case.name, True, world.name, case.expect, case.expect, rule, case.message, verdict
    )
