"""Claims for several things at once whose proofs came out otherwise than before.

Which proofs moved is told by the findings of both sides, since only what is not proven has one; they are
made again only for those.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.jointclaims import joint_features, profile_place
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.change import Change, change
from dracfg.diff.pair import Pair, Side
from dracfg.diff.proofs import RANKS, mend
from dracfg.diff.words import few, plural
from dracfg.plan.jointassurance import JointAssurance, joint_assurances
from dracfg.plan.jointdemand import Asker, JointDemand, joint_demands
from dracfg.plan.proofs.verdict import Proven

CODES = ("CAP051", "CAP053")
_MOST = 5

Answers = tuple[JointAssurance, ...]
Key = tuple[str, str, str]
"""Cluster, tenant and profile."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A demand of one side that somebody is guaranteed, and what the side's findings say of it."""

    demand: JointDemand
    said: Diagnostic | None


def joint_proof_changes(pair: Pair) -> Iterator[Change]:
    """Profiles of clusters that stand on both sides; none where a side is not understood whole."""
    for known, before, after in _moved(pair):
        yield _change(known, None if before is None else _word(before), _word(after))


def moved_joint_proofs(pair: Pair) -> Iterator[tuple[JointAssurance | None, JointAssurance]]:
    """(proof before, proof after) of the same question, that which came out worst."""
    for _, before, after in _moved(pair):
        now = min(after, key=lambda answer: RANKS.index(word(answer)), default=None)
        if now is not None:
            yield next((one for one in before or () if one.question == now.question), None), now


def word(answer: JointAssurance) -> str:
    """refuted, unknown or proven."""
    return "proven" if isinstance(answer.verdict, Proven) else answer.verdict.word


def _moved(pair: Pair) -> Iterator[tuple[_Known, Answers | None, Answers]]:
    """A demand of the later side, and what became of it on both; None where nobody had it before."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    if before.poisoned or after.poisoned:
        return
    was, now = _known(pair.base), _known(pair.head)
    reported: set[int] = set()
    for key in sorted(now):
        cluster = key[0]
        first, second = was.get(key), now[key]
        if cluster not in before.clusters or id(second.demand) in reported:
            continue
        reported.add(id(second.demand))
        if _code(first) == _code(second) and first is not None:
            continue
        old = None if first is None else _answers(pair.base, first)
        new = _answers(pair.head, second)
        old_word, new_word = None if old is None else _word(old), _word(new)
        if old_word != new_word and not (old_word is None and new_word == "proven"):
            yield second, old, new


def _known(side: Side) -> dict[Key, _Known]:
    findings = {
        finding.span: finding for finding in side.judgement.findings if finding.code in CODES
    }
    found: dict[Key, _Known] = {}
    for demand in joint_demands(side.judgement.catalog):
        if not demand.claims:
            continue
        said = findings.get(profile_place(demand.largest))
        for asker in demand.askers:
            if asker.claims:
                key = demand.cluster.name, asker.tenant.name, asker.profile.name
                found[key] = _Known(demand, said)
    return found


def _code(known: _Known | None) -> str | None:
    return known.said.code if known is not None and known.said is not None else None


def _answers(side: Side, known: _Known) -> Answers:
    judged = side.judgement
    return tuple(
        joint_assurances(
            judged.catalog,
            [known.demand],
            judged.inventories,
            joint_features(judged.catalog, judged.units),
        )
    )


def _word(answers: Answers) -> str:
    """The worst of the questions; unknown where none can be put."""
    return min(map(word, answers), key=RANKS.index, default="unknown")


def _change(known: _Known, before: str | None, after: str) -> Change:
    demand = known.demand
    kind = "proof-gained"
    if before is None:
        kind = "proof-missing"
    elif RANKS.index(after) < RANKS.index(before):
        kind = "proof-lost"
    askers = [asker for asker in demand.askers if asker.claims]
    tenants = list(dict.fromkeys(asker.tenant.name for asker in askers))
    return change(
        kind,
        f"proof of profile {demand.largest.profile.name}: its claims have a place",
        before,
        after,
        cluster=demand.cluster.name,
        tenant=tenants[0] if len(tenants) == 1 else None,
        namespaces=dict.fromkeys(_namespaces(demand, askers)),
        span=profile_place(demand.largest),
        details=(
            f"{plural(demand.claims, 'claim')} of {few([_whose(one) for one in askers], _MOST)}",
            *mend(known.said),
        ),
    )


def _whose(asker: Asker) -> str:
    return f"{asker.tenant.name} {asker.profile.name}"


def _namespaces(demand: JointDemand, askers: list[Asker]) -> Iterator[str]:
    for asker in askers:
        yield from (place.name for place in asker.tenant.places_on(demand.cluster.name))
