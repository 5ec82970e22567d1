"""Assurances of joint claims → their rows in the proofs section, and the evidence behind each."""

from __future__ import annotations

from dracfg.audit.words import count
from dracfg.picture.joint import asked_of_each
from dracfg.plan.jointassurance import JointAssurance
from dracfg.plan.jointplacement import Filling, JointPlacement
from dracfg.plan.jointproofs import Spoiled
from dracfg.plan.proofs.verdict import Refuted, Unknown
from dracfg.report.proofdocument import Evidence, FilledNode, JointAsker, JointProof


def joint_proof(found: JointAssurance, evidence: int) -> JointProof:
    """The row; tenants that are guaranteed no such claim are left out, and the largest comes first."""
    demand = found.demand
    asking = [asker for asker in demand.askers if asker.claims]
    return JointProof(
        cluster=demand.cluster.name,
        asks=asked_of_each(found),
        claims=demand.claims,
        askers=tuple(
            JointAsker(asker.tenant.name, asker.profile.name, asker.claims)
            for asker in sorted(asking, key=lambda asker: -asker.claims)
        ),
        question=found.question,
        verdict=found.verdict.word,
        modelled=found.modelled,
        evidence=evidence,
    )


def joint_evidence(found: JointAssurance) -> Evidence:
    """What convinces of the answer: nodes as they were filled, or what was counted."""
    verdict = found.verdict
    if isinstance(verdict, Unknown):
        return Evidence("open", verdict.why, verdict.mend or None)
    if isinstance(verdict, Refuted):
        reason = verdict.reason
        nodes = "described" if found.modelled else "recorded"
        return Evidence(
            "bound",
            f"the {nodes} nodes hold {reason.most:,} of {count(reason.needed, 'claim')} at once: "
            f"{reason.why} on the fullest",
            None,
        )
    if isinstance(verdict.certificate, Spoiled):
        return Evidence("bound", _spoiled(verdict.certificate), None)
    placement = verdict.certificate
    return Evidence(
        "placement", _placed(found, placement), None, nodes=tuple(map(_filled, placement.fillings))
    )


def _spoiled(found: Spoiled) -> str:
    return (
        f"others would have to hold a device of each of {count(found.places, 'place')} for it, and may "
        f"hold {found.others:,} devices and shares at most"
    )


def _placed(found: JointAssurance, placement: JointPlacement) -> str:
    claims, nodes = found.demand.claims, sum(one.nodes for one in placement.fillings)
    spare = f", of which any {placement.spare:,} may be missing," if placement.spare else ""
    return (
        f"{count(claims, 'claim')} {'has' if claims == 1 else 'have'} room on {count(nodes, 'node')}"
        f"{spare} beside all else that is guaranteed"
    )


def _filled(one: Filling) -> FilledNode:
    return FilledNode(
        one.node,
        one.nodes,
        tuple(
            tuple("/".join(r.device_id) for r in claim.results if not r.admin_access)
            for claim in one.claims
        ),
    )
