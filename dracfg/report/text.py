"""The report for a terminal: the verdict, capacity tier by tier, and what is not proven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.diagnostics.render.ink import VERDICTS, ink
from dracfg.diagnostics.render.plain import plain
from dracfg.report.document import Figure, Report
from dracfg.report.proofdocument import JointProof, Proof
from dracfg.report.words import QUESTIONS, askers, headline, joint_claims, lead

_MOST_ROWS = 40
_GAP = "  "


def report_text(report: Report, *, colour: bool = False) -> str:
    """A summary; ends in a newline. Everything else is in the other forms.

    In colour, the verdict and each proof that does not hold are in its tone.
    """
    blocks = [[headline(report), lead(report)], _capacity(report), _open(report)]
    blocks += [_offers(report), _rollouts(report)]
    told = [[plain(line) for line in block] for block in blocks if block]
    told[0][0] = ink(told[0][0], VERDICTS[report.verdict], colour=colour)
    return "\n".join("".join(f"{_toned(line, colour)}\n" for line in block) for block in told)


def _toned(line: str, colour: bool) -> str:
    """A line that begins with a verdict has that word in its tone."""
    word, colon, rest = line.partition(":")
    tone = VERDICTS.get(word) if colon else None
    return f"{ink(word, tone, colour=colour)}{colon}{rest}"


def _capacity(report: Report) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("tier", "cluster", "of", "physical", "promiseable", "promised", "limit", "")
    ]
    rows += [_figure(one) for one in report.capacity[:_MOST_ROWS]]
    return [*_aligned(rows), *_more(len(report.capacity))] if report.capacity else []


def _figure(one: Figure) -> tuple[str, ...]:
    ratio = f"{one.overcommit}x" if one.overcommit is not None else ""
    return (
        one.tier,
        one.cluster,
        one.key,
        one.physical,
        one.promiseable,
        one.promised,
        one.limit,
        ratio,
    )


def _open(report: Report) -> list[str]:
    """What is refuted, then what is not decided, each with its reason."""
    proofs: list[Proof | JointProof] = [*report.proofs, *report.joint_proofs]
    listed = [one for one in proofs if one.verdict == "refuted"]
    listed += [one for one in proofs if one.verdict == "unknown"]
    lines = [
        _joint_proof(report, one) if isinstance(one, JointProof) else _proof(report, one)
        for one in listed[:_MOST_ROWS]
    ]
    return [*lines, *_more(len(listed))]


def _proof(report: Report, one: Proof) -> str:
    evidence = report.evidence[one.evidence]
    several = f" x {one.devices:,}" if one.devices > 1 else ""
    return (
        f"{one.verdict}: {one.tenant}, {one.guaranteed:,} {one.entitlement}, "
        f"{QUESTIONS[one.question]}{several} on {one.cluster}: {evidence.text}"
    )


def _joint_proof(report: Report, one: JointProof) -> str:
    return (
        f"{one.verdict}: {askers(one)}, {joint_claims(one)}, "
        f"{QUESTIONS[one.question]} on {one.cluster}: {report.evidence[one.evidence].text}"
    )


def _offers(report: Report) -> list[str]:
    """Offers on which both sides don't agree."""
    return [
        f"{one.giver} offers {one.offered:,} of {one.entitlement} to {one.taker}, "
        f"which accepts {one.accepted:,}"
        for one in report.offers[:_MOST_ROWS]
        if one.offered != one.accepted
    ]


def _rollouts(report: Report) -> list[str]:
    return [
        f"{one.name}: {one.tier}, {one.subject}, at {one.stage}"
        f"{', next pools fenced' if one.phase == 'fenced' else ''}"
        f"{f', {one.direction}' if one.direction != 'forward' else ''}"
        for one in report.rollouts
    ]


def _more(number: int) -> Iterator[str]:
    if number > _MOST_ROWS:
        yield f"and {number - _MOST_ROWS:,} more"


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns with amounts to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield _GAP.join(cells).rstrip()
