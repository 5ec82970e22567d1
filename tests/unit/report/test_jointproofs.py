"""Claims for several things at once in the report: a row each, with the nodes that convince of it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dracfg.picture import joint_arrangement
from dracfg.pipeline import judge
from dracfg.plan.jointassurance import JointAssurance
from dracfg.plan.jointplacement import JointPlacement
from dracfg.plan.jointproofs import Spoiled, TooFew
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from dracfg.report.gathering import Facts, gather, report_of
from dracfg.report.jointproofs import joint_evidence
from dracfg.report.page import page
from dracfg.report.pictures import draw
from dracfg.report.proofs import Proofs
from dracfg.report.tables import csv_text
from dracfg.report.text import report_text
from tests.unit.plan.test_joint import answers, repository
from tests.unit.report.repositories import example, example_report

SPOILED = (
    "others would have to hold a device of each of 3 places for it, and may hold 2 devices and shares "
    "at most"
)


def pairs(root: Path, nodes: str, *tenants: tuple[str, int, int]) -> tuple[JointAssurance, Proofs]:
    catalog, _ = repository(root, nodes, *tenants)
    (found,) = answers(catalog)
    proofs = Proofs(catalog)
    proofs.add_joint(found)
    return found, proofs


def test_every_profile_of_the_example_has_its_row() -> None:
    report = example_report()
    found = {
        f"{asker.tenant}/{asker.profile}": one
        for one in report.joint_proofs
        for asker in one.askers
    }
    assert {"vision/train-x8", "vision/fabric-test"} <= set(found)
    whole = found["vision/train-x8"]
    assert (whole.claims, whole.asks) == (1, "8 of a100-40g and 8 of cx7-400g")
    assert (whole.question, whole.verdict, whole.modelled) == ("fits", "proven", False)
    evidence = report.evidence[whole.evidence]
    assert evidence.form == "placement"
    assert evidence.text == (
        "1 claim has room on 3 nodes, of which any 2 may be missing, beside all else that is "
        "guaranteed"
    )
    assert [len(claim) for node in evidence.nodes for claim in node.claims] == [16, 16, 16]


def test_no_device_of_a_placement_is_given_out_twice() -> None:
    report = example_report()
    (proof,) = [one for one in report.joint_proofs if one.askers[0].profile == "fabric-test"]
    devices = Counter(
        device
        for node in report.evidence[proof.evidence].nodes
        for claim in node.claims
        for device in claim
    )
    assert set(devices.values()) == {1}
    assert len(devices) >= 2 * proof.claims


def test_tenants_that_ask_alike_are_one_row(tmp_path: Path) -> None:
    _, proofs = pairs(tmp_path, "nodes: 4", ("vision", 1, 1), ("search", 2, 2))
    (row,) = proofs.joint
    assert [(one.tenant, one.claims) for one in row.askers] == [("search", 2), ("vision", 1)]
    assert (row.claims, row.verdict, row.modelled) == (3, "proven", True)
    assert proofs.evidence[row.evidence].nodes[0].node == "gpus"
    assert proofs.verdicts == {"search": "proven", "vision": "proven"}


def test_more_claims_than_nodes_hold_are_refuted(tmp_path: Path) -> None:
    found, proofs = pairs(tmp_path, "nodes: 1", ("vision", 1, 1), ("search", 1, 1))
    assert isinstance(found.verdict, Refuted)
    (row,) = proofs.joint
    evidence = proofs.evidence[row.evidence]
    assert (row.verdict, evidence.form) == ("refuted", "bound")
    assert evidence.text.startswith("the described nodes hold 1 of 2 claims at once: ")
    assert proofs.verdicts == {"vision": "refuted", "search": "refuted"}


@pytest.mark.parametrize(
    ("verdict", "form", "text", "mend"),
    [
        (Unknown("why", 1, "do so"), "open", "why", "do so"),
        (Unknown("why", 1), "open", "why", None),
        (
            Proven(Spoiled(3, 2)),
            "bound",
            SPOILED,
            None,
        ),
    ],
)
def test_what_no_node_shows_is_said(
    tmp_path: Path, verdict: Unknown | Proven[Spoiled], form: str, text: str, mend: str | None
) -> None:
    found, _ = pairs(tmp_path, "nodes: 1", ("vision", 1, 1))
    evidence = joint_evidence(replace(found, verdict=verdict))
    assert (evidence.form, evidence.text, evidence.mend) == (form, text, mend)
    assert not evidence.nodes
    assert not evidence.devices


def test_a_table_of_its_own() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(example_report(), "jointproofs"))))
    (row,) = [row for row in rows if row["askers"] == "vision/fabric-test 15"]
    assert row["asks"] == "1 of a100-40g and 1 of cx7-400g"
    assert (row["claims"], row["verdict"], row["form"]) == ("15", "proven", "placement")


def test_its_picture_stands_on_the_page() -> None:
    report = example_report()
    pictures = draw(example(), report)
    text = page(report, pictures)
    for proof in report.joint_proofs:
        asked = example().proofs.asked[proof.evidence]
        assert isinstance(asked, JointAssurance)
        assert isinstance(asked.verdict, Proven)
        assert isinstance(asked.verdict.certificate, JointPlacement)
        svg = joint_arrangement(asked, f"evidence-{proof.evidence}")
        assert svg is not None
        assert pictures.evidence[proof.evidence] == svg
        assert svg in text
    assert "gpu.nvidia.com/a100-east-1/gpu-0, dra.net/a100-east-1/pci-0000-10-1a-0" in text


@pytest.fixture
def refuted(tmp_path: Path) -> Facts:
    """A repository in which two claims have one node."""
    repository(tmp_path, "nodes: 1", ("vision", 1, 1), ("search", 1, 1))
    (tmp_path / "catalog" / "inventory" / "east.yaml").unlink(missing_ok=True)
    return gather(judge(tmp_path), {})


def test_what_is_refuted_is_drawn_first_and_said_in_every_form(refuted: Facts) -> None:
    report = report_of(refuted)
    (proof,) = report.joint_proofs
    assert proof.verdict == report.verdict == "refuted"
    assert {one.name: one.verdict for one in report.tenants} == {
        "vision": "refuted",
        "search": "refuted",
    }
    pictures = draw(refuted, report)
    assert next(iter(pictures.evidence)) == proof.evidence
    text = page(report, pictures)
    assert f'id="evidence-{proof.evidence}' in text
    against = text.partition('<ul class="against">')[2].partition("</ul>")[0]
    said = "2 claims, each for 1 of big and 1 of card"
    assert said in against
    assert report.evidence[proof.evidence].text in against
    assert f"pair, {said}, fits on east: the " in report_text(report)


def test_other_clusters_are_left_out() -> None:
    report = report_of(gather(example().judged, {}, ["prod-west"]))
    assert report.joint_proofs == ()
    assert not any(one.nodes for one in report.evidence)


def test_too_few_says_which_nodes_were_counted(tmp_path: Path) -> None:
    found, _ = pairs(tmp_path, "nodes: 1", ("vision", 1, 1))
    recorded = replace(found, verdict=Refuted(TooFew(5, 2, "1 of card")), modelled=False)
    assert joint_evidence(recorded).text == (
        "the recorded nodes hold 2 of 5 claims at once: 1 of card on the fullest"
    )


def test_devices_that_a_claim_only_watches_are_none_of_it(tmp_path: Path) -> None:
    found, _ = pairs(tmp_path, "nodes: 1", ("vision", 1, 1))
    assert isinstance(found.verdict, Proven)
    placement = found.verdict.certificate
    assert isinstance(placement, JointPlacement)
    (filling,) = placement.fillings
    (claim,) = filling.claims
    first, *rest = claim.results
    watched = replace(claim, results=(replace(first, admin_access=True), *rest))
    changed = replace(placement, fillings=(replace(filling, claims=(watched,)),))
    evidence = joint_evidence(replace(found, verdict=Proven(changed)))
    assert [len(devices) for devices in evidence.nodes[0].claims] == [len(rest)]
