"""Assurances of the plan → the proofs section, what each rests on, and the evidence behind it.

Evidence and grounds are listed once, however many proofs share them.
"""

from __future__ import annotations

from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog
from dracfg.plan.assurance import AnyVerdict, Assurance, assured
from dracfg.plan.basis import Ground as PlanGround
from dracfg.plan.jointassurance import JointAssurance
from dracfg.plan.promises import Market
from dracfg.report.evidence import evidence_of
from dracfg.report.jointproofs import joint_evidence, joint_proof
from dracfg.report.proofdocument import Evidence, Ground, JointProof, Proof
from dracfg.report.section import Word

_WORST: dict[Word, int] = {"refuted": 0, "unknown": 1, "proven": 2}


@dataclass(slots=True)
class Proofs:
    """Proofs as they are found, with the lists that they point into."""

    catalog: Catalog
    proofs: list[Proof] = field(default_factory=list)
    joint: list[JointProof] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    verdicts: dict[str, Word] = field(default_factory=dict)
    """The worst of each tenant's guarantees; what is refuted of a tier as a whole concerns all in it."""
    asked: list[Assurance | JointAssurance] = field(default_factory=list)
    """One of the answers behind each piece of evidence."""
    _in_words: dict[tuple[str, str, str | None], int] = field(default_factory=dict)
    _grounds: dict[Ground, int] = field(default_factory=dict)
    _known: dict[int, tuple[AnyVerdict, int]] = field(default_factory=dict)

    @property
    def grounds(self) -> tuple[Ground, ...]:
        return tuple(self._grounds)

    def add(self, market: Market) -> None:
        """Every guarantee of a market."""
        for found in assured(self.catalog, market):
            self.proofs.append(self._proof(found))
            concerned = market.holdings if found.question == "promised" else (found.holding,)
            for holding in concerned:
                if holding.is_promised:
                    self._note(holding.tenant.name, found.verdict.word)

    def add_joint(self, found: JointAssurance) -> None:
        """An answer about joint claims; it concerns every tenant that is guaranteed some."""
        self.evidence.append(joint_evidence(found))
        self.asked.append(found)
        self.joint.append(joint_proof(found, len(self.evidence) - 1))
        for asker in self.joint[-1].askers:
            self._note(asker.tenant, found.verdict.word)

    def _note(self, tenant: str, word: Word) -> None:
        self.verdicts[tenant] = worst(self.verdicts.get(tenant, word), word)

    def _proof(self, found: Assurance) -> Proof:
        supply = found.market.supply
        return Proof(
            cluster=supply.cluster.name,
            tier=supply.tier.name,
            tenant=found.holding.tenant.name,
            entitlement=found.holding.what,
            guaranteed=found.holding.guaranteed,
            question=found.question,
            devices=found.devices,
            verdict=found.verdict.word,
            after_reclaim=found.reclaimed,
            conditional=found.is_conditional,
            evidence=self._evidence_at(found),
            rests_on=tuple(map(self._ground_at, found.basis)),
        )

    def _evidence_at(self, found: Assurance) -> int:
        """Verdicts that tenants share are one object, and are put into words once."""
        held = self._known.get(id(found.verdict))
        if held is None:
            place = self._listed(found, evidence_of(found))
            # The verdict is kept with its place, so that no other can have its id.
            held = self._known[id(found.verdict)] = (found.verdict, place)
        return held[1]

    def _listed(self, found: Assurance, evidence: Evidence) -> int:
        """Its place in the list; what is told in words alone is listed once."""
        key = (evidence.form, evidence.text, evidence.mend)
        if evidence.devices or key not in self._in_words:
            self.evidence.append(evidence)
            self.asked.append(found)
            place = len(self.evidence) - 1
            return place if evidence.devices else self._in_words.setdefault(key, place)
        return self._in_words[key]

    def _ground_at(self, ground: PlanGround) -> int:
        found = Ground(ground.what, ground.stage, ground.accepted)
        return self._grounds.setdefault(found, len(self._grounds))


def worst(*verdicts: Word) -> Word:
    """The worst of some verdicts; proven of none."""
    return min(verdicts, key=_WORST.__getitem__, default="proven")
