"""What pods of a namespace ask for → profiles, as lines: one for each number, one for what comes together.

A resource that stays with its plugin has no profile; what is asked for beside it is a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.draft.decisions import Decision
from dracfg.draft.draft import Draft
from dracfg.draft.joints import Joint, common_attribute
from dracfg.draft.lines import Line
from dracfg.draft.needs import Need, Offer
from dracfg.draft.scalars import flow_list, label, scalar, unique

Named = Mapping[Offer, tuple[str, Need]]
"""The entitlement of each offer, with the need that it stands for."""


def profile_lines(draft: Draft, namespace: str, named: Sequence[tuple[str, Need]]) -> list[Line]:
    """`profiles` with all that claims are or become the way to; no line where there is none."""
    taken: set[str] = set()
    lines = [line for name, need in named for line in _single(draft, name, need, taken)]
    by_offer: Named = {(need.tier, need.policy): (name, need) for name, need in named}
    questions: list[Decision] = []
    for joint in draft.joints:
        if joint.namespace != namespace:
            continue
        stays = [tier for tier in joint.tiers if not draft.by_claims(tier)]
        if not stays:
            lines += _together(draft, joint, by_offer, taken)
        elif len(stays) < len(joint.tiers):
            questions.append(_apart(joint, stays))
    return [Line("  profiles:", decisions=tuple(questions)), *lines] if lines else []


def _single(draft: Draft, name: str, need: Need, taken: set[str]) -> Iterator[Line]:
    """One for each number that its pods ask for."""
    if draft.by_claims(need.tier):
        for count in need.counts:
            profile = scalar(unique(f"{name}-x{count}", taken))
            request = _request("device", name, count)
            yield Line(f"    - {{name: {profile}, requests: {flow_list([request])}}}")


def _together(draft: Draft, joint: Joint, named: Named, taken: set[str]) -> Iterator[Line]:
    """One claim for all of it, as far as the tenant may have it."""
    if any(offer not in named or count > named[offer][1].limit for offer, count in joint.counts):
        return
    names: set[str] = set()
    asked = [
        (unique(label(_word(draft, tier), "device"), names), named[tier, policy][0], count)
        for (tier, policy), count in joint.counts
    ]
    numbers = "-".join(f"{name}-x{count}" for name, _, count in asked)
    profile = unique(label(numbers, "together"), taken)
    attribute = common_attribute(joint, draft.hardware)
    yield Line(f"    - name: {scalar(profile)}", decisions=(_aligned(joint, attribute),))
    yield Line(f"      requests: {flow_list(_request(*one) for one in asked)}")
    if attribute is not None and joint.is_even:
        requests = flow_list(scalar(name) for name, _, _ in asked)
        yield Line(f"      align: [{{requests: {requests}, by: {attribute}}}]")


def _word(draft: Draft, tier: str) -> str:
    """What a tier is called among the requests of a claim: the last word of its plugin's name."""
    make = next(one.make for one in draft.hardware.tiers if one.name == tier)
    return make.resource.rpartition("/")[2] or tier


def _request(name: str, entitlement: str, count: int) -> str:
    number = f", count: {count}" if count > 1 else ""
    return f"{{name: {scalar(name)}, entitlement: {scalar(entitlement)}{number}}}"


def _aligned(joint: Joint, attribute: str | None) -> Decision:
    tiers = " and ".join(joint.tiers)
    if attribute is None:
        why = "no attribute of their place is known that all of their drivers publish, so nothing is aligned"
    elif not joint.is_even:
        counts = " and ".join(str(count) for _, count in joint.counts)
        why = f"`align` pairs one with one, and it asks for {counts}, so nothing is aligned"
    else:
        why = (
            "plugins gave them without a word on where they lie. With `align` a pod waits until there are "
            f"pairs that agree in {attribute}; without it they may lie anywhere on the node"
        )
    return Decision(
        f"whether {tiers} of {joint.who} must lie close to each other", why, (joint.place,)
    )


def _apart(joint: Joint, stays: Sequence[str]) -> Decision:
    others = " and ".join(tier for tier in joint.tiers if tier not in stays)
    return Decision(
        f"how {joint.who} of {joint.namespace} comes by {' and '.join(stays)} beside {others}",
        f"{others} is had by a claim and the rest of the plugin; both can stand in one pod, and nothing "
        "makes them lie close to each other",
        (joint.place,),
    )
