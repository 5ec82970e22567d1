"""Claims for several things at once: every device of a claim has its letter, and none is left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dracfg.picture import joint, joint_arrangement
from dracfg.plan.jointassurance import JointAssurance
from dracfg.plan.jointplacement import JointPlacement
from dracfg.plan.jointproofs import Spoiled, TooFew
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words
from tests.unit.plan.test_joint import answers, repository


@pytest.fixture
def proof(tmp_path: Path) -> JointAssurance:
    catalog, _ = repository(tmp_path, "nodes: 3\n  spare: {nodes: 1}", ("vision", 2, 2))
    (found,) = answers(catalog)
    return found


def placement(proof: JointAssurance) -> JointPlacement:
    assert isinstance(proof.verdict, Proven)
    assert isinstance(proof.verdict.certificate, JointPlacement)
    return proof.verdict.certificate


def test_every_device_of_a_claim_has_its_letter(proof: JointAssurance) -> None:
    svg = joint_arrangement(proof, "j")
    assert svg is not None
    assert_sound(svg, "j")
    results = [
        result
        for filling in placement(proof).fillings
        for claim in filling.claims
        for result in claim.results
    ]
    devices = [title.text for title in parsed(svg).findall("rect/title")]
    assert Counter(devices) == Counter(result.device for result in results)
    letters = Counter(one.text for one in labels(svg) if len(one.text) == 1)
    assert letters["A"] == 2 * len(placement(proof).fillings)
    assert parsed(svg).findtext("title") == (
        "fits: proven. 2 claims of profile vision/pair on east"
    )
    assert "Each claim: 1 of big and 1 of card." in said(svg)
    assert "2 nodes like gpus: 1 claim." in said(svg)


def test_nodes_that_may_be_missing_are_told(proof: JointAssurance) -> None:
    spare = replace(placement(proof), spare=1)
    svg = joint_arrangement(replace(proof, verdict=Proven(spare)), "j")
    assert svg is not None
    assert "any 1 node of them may be missing." in said(svg)
    assert "any 1 node of them may be missing" in [one.text for one in labels(svg)]


def test_claims_on_a_node_have_letters_of_their_own(proof: JointAssurance) -> None:
    (first, *_) = placement(proof).fillings
    many = replace(first, nodes=7, claims=first.claims * 40)
    svg = joint_arrangement(replace(proof, verdict=Proven(JointPlacement((many,)))), "j")
    assert svg is not None
    assert_sound(svg, "j")
    assert "7 nodes like" in words(svg)
    shown = Counter(one.text for one in labels(svg) if len(one.text) <= 2)
    assert shown["A"] == shown["Z"] == shown["N1"] == 2


def test_nodes_that_carry_alike_are_drawn_once(proof: JointAssurance) -> None:
    (first, *_) = placement(proof).fillings
    many = tuple(replace(first, node=f"node-{i}", nodes=1) for i in range(40))
    other = replace(first, node="other", nodes=1, claims=first.claims * 2)
    svg = joint_arrangement(replace(proof, verdict=Proven(JointPlacement((*many, other)))), "j")
    assert svg is not None
    titles = [one.text for one in labels(svg) if "node" in one.text or one.text == "other"]
    assert titles == ["40 nodes like node-0", "other"]


def test_many_nodes_are_bounded(proof: JointAssurance) -> None:
    (first, *_) = placement(proof).fillings
    many = tuple(
        replace(first, node=f"node-{i}", nodes=1000, claims=first.claims * (i + 1))
        for i in range(40)
    )
    svg = joint_arrangement(replace(proof, verdict=Proven(JointPlacement(many))), "j")
    assert svg is not None
    assert_sound(svg, "j")
    assert f"and {(40 - joint.MOST_ROWS) * 1000:,} more nodes" in words(svg)


def test_more_claims_than_nodes_hold(proof: JointAssurance) -> None:
    found = Refuted(TooFew(5, 2, "a node has 1 of card"))
    svg = joint_arrangement(replace(proof, verdict=found), "j")
    assert svg is not None
    assert_sound(svg, "j")
    assert "Needed: 5 claims. There is: 2 claims. 3 claims more than there is." in said(svg)
    assert "a node has 1 of card" in words(svg)


@pytest.mark.parametrize("verdict", [Unknown("why", 1), Proven(Spoiled(3, 2))])
def test_what_no_device_shows_is_not_drawn(
    proof: JointAssurance, verdict: Unknown | Proven[Spoiled]
) -> None:
    assert joint_arrangement(replace(proof, verdict=verdict), "j") is None
