"""The report as one self-contained page: no network, styles and script inline, everything escaped.

Without its script the page shows the first rows of each table and every picture; with it, tables are
filtered, sorted and turned page by page. The policy in its head lets nothing be loaded or run but that.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dracfg.kube.quantity import Quantity
from dracfg.packaged import packaged_text
from dracfg.picture import style
from dracfg.picture.figures import parted
from dracfg.report.document import Figure, Finding, Report
from dracfg.report.pagetables import (
    devices_table,
    offers_table,
    proofs_table,
    rights_table,
)
from dracfg.report.pictures import Pictures
from dracfg.report.proofdocument import JointProof, Proof
from dracfg.report.tables import DEDUCTIONS
from dracfg.report.words import QUESTIONS, SIGNS, askers, found, headline, joint_claims, lead

_MOST_FINDINGS, _MOST_ALIKE = 200, 20
_MOST_NAMED, _MOST_NODES = 6, 50
_TURNS = {
    "retryable": "passes by itself",
    "notRetryable": "needs a change in git",
    "needsPerson": "needs a person",
}
_RANK = {"error": 0, "unknown": 1, "warning": 2, "note": 3}


def page(report: Report, pictures: Pictures) -> str:
    """The page as text; the same report gives the same bytes."""
    styles, script = f"{_packaged('page.css')}{style()}", _packaged("page.js")
    standing = [one for one in report.findings if one.waived is None]
    ordered = sorted(standing, key=lambda one: _RANK[one.severity])
    shown = list(_first_of_each(ordered))[:_MOST_FINDINGS]
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            pictures=pictures,
            styles=Markup(styles),
            script=Markup(script),
            policy=_policy(styles, script),
            headline=headline(report),
            lead=lead(report),
            against=list(_against(report)),
            turns=_TURNS,
            found=found(report.summary),
            figures=_figures(report),
            taken=_taken(report),
            rights=rights_table(report),
            proofs=proofs_table(report),
            drawn=_drawn(report, pictures),
            most_nodes=_MOST_NODES,
            offers=offers_table(report),
            devices=devices_table(report),
            findings=shown,
            left_out=Counter(one.code for one in ordered) - Counter(one.code for one in shown),
            standing=len(ordered),
            waived=[one for one in report.findings if one.waived is not None][:_MOST_FINDINGS],
        )
    )


def _first_of_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Of the findings of one code, the first few."""
    seen: Counter[str] = Counter()
    for one in findings:
        seen[one.code] += 1
        if seen[one.code] <= _MOST_ALIKE:
            yield one


def _figures(report: Report) -> list[tuple[Figure, dict[str, str], bool]]:
    """Each with its deductions by name, and whether more is promised than can be."""
    return [
        (
            one,
            {each.name: each.amount for each in one.deductions},
            Quantity.parse(one.promised) > Quantity.parse(one.promiseable),
        )
        for one in report.capacity
    ]


def _taken(report: Report) -> list[str]:
    """The deductions that some tier has."""
    names = {each.name for one in report.capacity for each in one.deductions}
    return [name for name in DEDUCTIONS if name in names]


def _drawn(report: Report, pictures: Pictures) -> list[dict[str, Any]]:
    """Drawn evidence with what it is evidence of."""
    proofs: dict[int, list[Proof | JointProof]] = {}
    every: list[Proof | JointProof] = [*report.proofs, *report.joint_proofs]
    for proof in every:
        proofs.setdefault(proof.evidence, []).append(proof)
    return [
        {
            "evidence": report.evidence[i],
            "svg": svg,
            "first": proofs[i][0],
            "of_what": _of_what(proofs[i][0]),
            "of": [_question(proof) for proof in proofs[i][:_MOST_NAMED]],
            "more": max(0, len(proofs[i]) - _MOST_NAMED),
        }
        for i, svg in pictures.evidence.items()
    ]


def _against(report: Report) -> Iterator[tuple[str, str]]:
    """(who, what) of each proof that is refuted."""
    for one in report.proofs:
        if one.verdict == "refuted":
            what = f"{one.guaranteed:,} {one.entitlement} of {one.tier} on {one.cluster}"
            yield one.tenant, f"{what}: {report.evidence[one.evidence].text}"
    for joint in report.joint_proofs:
        if joint.verdict == "refuted":
            what = f"{joint_claims(joint)} on {joint.cluster}"
            yield askers(joint), f"{what}: {report.evidence[joint.evidence].text}"


def _of_what(proof: Proof | JointProof) -> str:
    return proof.tier if isinstance(proof, Proof) else askers(proof)


def _question(proof: Proof | JointProof) -> str:
    if isinstance(proof, JointProof):
        return f"{joint_claims(proof)}: {QUESTIONS[proof.question]}"
    several = f" × {proof.devices:,}" if proof.devices > 1 else ""
    word = QUESTIONS[proof.question]
    return f"{proof.tenant}, {proof.guaranteed:,} {proof.entitlement}: {word}{several}"


def _policy(styles: str, script: str) -> str:
    """What the page may do: its own styles and its own script, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src '{_digest(styles)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _packaged(name: str) -> str:
    text = packaged_text("dracfg.report", f"templates/{name}")
    assert text is not None
    return text


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dracfg.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["signs"] = SIGNS
    environment.filters["svg"] = Markup
    environment.filters["grouped"] = lambda number: f"{number:,}"
    environment.filters["parted"] = parted
    environment.filters["pieces"] = _pieces
    return environment


def _pieces(line: Any) -> tuple[str, str, str]:
    """An excerpt's line as what stands before the mark, in it and behind it."""
    if line.start is None or line.end is None:
        return line.text, "", ""
    return (
        line.text[: line.start - 1],
        line.text[line.start - 1 : line.end - 1],
        line.text[line.end - 1 :],
    )
