"""The report in sentences: the verdict first, then what it is about."""

from __future__ import annotations

from dracfg.audit.words import count, named
from dracfg.report.document import Report, Summary
from dracfg.report.proofdocument import JointProof

QUESTIONS = {"promised": "all together", "fits": "fits", "nonBlocking": "non-blocking"}
SIGNS = {"proven": "✓", "refuted": "✗", "unknown": "?"}
"""Beside each verdict, for those who don't see colours."""


def askers(proof: JointProof) -> str:
    """`vision pair and search pair`; of many the first few, and how many more there are."""
    return named(f"{one.tenant} {one.profile}" for one in proof.askers)


def joint_claims(proof: JointProof) -> str:
    """`2 claims, each for 1 of a100 and 1 of nic`."""
    each = " for" if proof.claims == 1 else ", each for"
    return f"{count(proof.claims, 'claim')}{each} {proof.asks}"


def headline(report: Report) -> str:
    """The one sentence that decides whether to read on."""
    told = report.summary
    proofs = told.proven + told.refuted + told.unknown
    if told.refuted:
        return f"{told.refuted:,} of {count(proofs, 'proof')} {_are(told.refuted)} refuted"
    if told.errors:
        return (
            f"{count(told.errors, 'error')} {'stands' if told.errors == 1 else 'stand'} in the way"
        )
    if told.unknown:
        return f"{told.unknown:,} of {count(proofs, 'proof')} {_are(told.unknown)} not decided"
    if report.verdict != "proven":
        return "Every guarantee is proven, but not everything is decided"
    return "Every guarantee is proven" if proofs else "Nothing is promised"


def lead(report: Report) -> str:
    """What the verdict is about, and the findings beside it."""
    told = report.summary
    proofs = told.proven + told.refuted + told.unknown
    return (
        f"{count(proofs, 'proof')} for {count(told.tenants, 'tenant')} on "
        f"{count(told.clusters, 'cluster')} with {count(told.devices, 'device')}; {found(told)}."
    )


def found(told: Summary) -> str:
    """`2 errors, 1 warning`, or `no findings`; those that are waived are counted apart."""
    named = [
        count(number, noun)
        for number, noun in (
            (told.errors, "error"),
            (told.warnings, "warning"),
            (told.notes, "note"),
        )
        if number
    ]
    if told.undecided:
        named.insert(1 if told.errors else 0, f"{told.undecided:,} undecided")
    if told.waived:
        named.append(f"{told.waived:,} waived")
    return ", ".join(named) or "no findings"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
