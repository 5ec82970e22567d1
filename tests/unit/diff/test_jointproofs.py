"""Claims for several things whose proofs come out otherwise than before."""

from pathlib import Path

import pytest
import yaml

from dracfg.diff.jointproofs import joint_proof_changes
from tests.unit.diff.pairs import Case, Edit, hold

_CASES = Path(__file__).parents[2] / "cases" / "cap"
_FILES = yaml.safe_load((_CASES / "joint-proven.yaml").read_text(encoding="utf-8"))["files"]
_TENANT, _SLICES = "tenants/vision.yaml", "catalog/inventory/east.yaml"
_TWO: Edit = (
    "catalog/platform.yaml",
    "{tier: big, perNode: 1}, {tier: card, perNode: 1}",
    "{tier: big, perNode: 2}, {tier: card, perNode: 2}",
)
_ROOT = "card-1\n      attributes: {speed: {int: 400}, resource.kubernetes.io/pcieRoot: {string: pci0000:%s}}"
_APART: Edit = (_SLICES, _ROOT % "00", _ROOT % "17")
_TOGETHER: Edit = (_SLICES, _ROOT % "17", _ROOT % "00")
_PLACE = "proof of profile pair: its claims have a place"
_ALONE = "requests: [{name: gpu, entitlement: gpu}]"
_PAIRED = (
    "requests: [{name: gpu, entitlement: gpu}, {name: nic, entitlement: nic}]\n"
    "      align: [{requests: [gpu, nic], by: resource.kubernetes.io/pcieRoot}]"
)

CASES = (
    Case(
        "a card moves to another root",
        (_APART,),
        (_TWO,),
        base="recorded",
        files=_FILES,
        told=(("proof-lost", _PLACE, "proven", "refuted"),),
        says=("2 claims of vision pair", "CAP053"),
        impact="restrictive",
    ),
    Case(
        "it comes back",
        (_TOGETHER,),
        (_TWO, _APART),
        base="recorded",
        files=_FILES,
        told=(("proof-gained", _PLACE, "refuted", "proven"),),
        impact="additive",
    ),
    Case(
        "a profile comes whose claims have no place",
        ((_TENANT, _ALONE, _PAIRED),),
        (_TWO, _APART, (_TENANT, _PAIRED, _ALONE)),
        base="recorded",
        files=_FILES,
        told=(("proof-missing", _PLACE, None, "refuted"),),
        impact="none",
    ),
    Case(
        "nothing that matters to the proof",
        ((_TENANT, "{group: support}", "{group: guests}"),),
        (_TWO,),
        base="recorded",
        files=_FILES,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_joint_proofs(case: Case, tmp_path: Path) -> None:
    hold(case, joint_proof_changes(case.pair(tmp_path)))
