"""Attributes and file versions that applications count on."""

from pathlib import Path

import pytest

from dracfg.diff.change import change_kinds
from dracfg.diff.metadata import metadata_changes, metadata_steps
from tests.unit.diff.pairs import DRIVERS, SEARCH, TIERS, VISION, Case, Edit, hold, hold_steps

_NIC_TIER = "legacyResource: example.com/nic"
_TRAIN = "- name: train-x8\n"


def _exposed(*keys: str) -> Edit:
    return (
        TIERS,
        _NIC_TIER,
        f"{_NIC_TIER}\n  expose: [{', '.join(keys)}]\n  deviceMetadata: {{fallback: {{to: none}}}}",
    )


_PUBLISHED = "capacity: [bandwidth]"
_WRITTEN: Edit = (
    DRIVERS,
    _PUBLISHED,
    f"{_PUBLISHED}\n  deviceMetadata: true\n  metadataVersions: [v1beta1]",
)
_READ: Edit = (
    VISION,
    _TRAIN,
    f"{_TRAIN}      reads: [{{requests: [nic], optional: [speed, firmware]}}]\n",
)
_BOTH = (_WRITTEN, _exposed("speed", "firmware"), _READ)
_ATTRIBUTE = "metadata attribute {} of cx7-400g"

CASES = (
    Case(
        "what a profile reads is no longer exposed",
        ((TIERS, "expose: [speed, firmware]", "expose: [speed]"),),
        _BOTH,
        told=(("metadata-withdrawn", _ATTRIBUTE.format("firmware"), "version", None),),
        says=("read by vision/train-x8",),
        impact="restrictive",
    ),
    Case(
        "what a profile reads is exposed",
        ((TIERS, "expose: [speed]", "expose: [speed, firmware]"),),
        (_WRITTEN, _exposed("speed"), _READ),
        told=(("metadata-granted", _ATTRIBUTE.format("firmware"), None, "version"),),
        says=("read by vision/train-x8",),
        impact="additive",
    ),
    Case(
        "what nobody reads is no longer exposed",
        ((TIERS, "expose: [speed, rdma]", "expose: [speed]"),),
        (_WRITTEN, _exposed("speed", "rdma"), _READ),
    ),
    Case(
        "what a profile reads has another type",
        ((DRIVERS, "firmware: version", "firmware: string"),),
        _BOTH,
        told=(("metadata-retyped", _ATTRIBUTE.format("firmware"), "version", "string"),),
    ),
    Case(
        "files in another version",
        ((DRIVERS, "metadataVersions: [v1beta1]", "metadataVersions: [v1alpha1]"),),
        (
            *_BOTH,
            (VISION, "optional: [speed, firmware]}", "optional: [speed], versions: [v1beta1]}"),
        ),
        told=(("metadata-versions", "metadata files of cx7-400g", "v1beta1", "v1alpha1"),),
        says=("none of them is understood by vision/train-x8",),
        impact="restrictive",
    ),
    Case(
        "a version more",
        ((DRIVERS, "metadataVersions: [v1beta1]", "metadataVersions: [v1beta1, v1alpha1]"),),
        _BOTH,
        told=(("metadata-versions", "metadata files of cx7-400g", "v1beta1", "v1beta1, v1alpha1"),),
        impact="additive",
    ),
    Case(
        "addresses that a profile reads are no longer exposed",
        ((TIERS, "networkData: true", "networkData: false"),),
        (
            _WRITTEN,
            (
                TIERS,
                _NIC_TIER,
                f"{_NIC_TIER}\n  expose: [speed]\n  deviceMetadata: {{networkData: true}}",
            ),
            (VISION, _TRAIN, f"{_TRAIN}      reads: [{{requests: [nic], networkData: true}}]\n"),
        ),
        told=(("metadata-withdrawn", "network data of cx7-400g", "readable", None),),
        says=("read by vision/train-x8",),
        impact="restrictive",
    ),
    Case("another tenant", ((SEARCH, "guaranteed: 4", "guaranteed: 5"),), _BOTH),
)
FUNCTIONS = (metadata_changes,)

_OLD_READER: Edit = (
    VISION,
    "optional: [speed, firmware]}",
    "optional: [speed], versions: [v1beta1]}",
)
STEPS = (
    Case(
        "files that the only reader no longer understands",
        ((DRIVERS, "metadataVersions: [v1beta1]", "metadataVersions: [v1alpha1]"),),
        (*_BOTH, _OLD_READER),
        told=(("DIF015", "v1beta1 -> v1alpha1"),),
        says=("what vision/train-x8 runs knows v1beta1 alone", "write both versions"),
    ),
    Case(
        "a version more",
        ((DRIVERS, "metadataVersions: [v1beta1]", "metadataVersions: [v1beta1, v1alpha1]"),),
        (*_BOTH, _OLD_READER),
    ),
    Case(
        "a reader that forgets the version that is written",
        ((VISION, "versions: [v1beta1]", "versions: [v1alpha1]"),),
        (*_BOTH, _OLD_READER),
        told=(("DIF015", "v1beta1 -> v1beta1"),),
    ),
    Case(
        "a reader that never understood the files",
        (
            (
                DRIVERS,
                "metadataVersions: [v1beta1]",
                "metadataVersions: [v1beta1]\n  values: {a: b}",
            ),
        ),
        (
            *_BOTH,
            (VISION, "optional: [speed, firmware]}", "optional: [speed], versions: [v1alpha1]}"),
        ),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_metadata(case: Case, tmp_path: Path) -> None:
    hold(case, metadata_changes(case.pair(tmp_path)))


@pytest.mark.parametrize("case", STEPS, ids=str)
def test_steps(case: Case, tmp_path: Path) -> None:
    hold_steps(case, metadata_steps(case.pair(tmp_path)))


def test_a_stand_in_that_needs_permission_is_flagged() -> None:
    assert change_kinds()["metadata-by-permission"].flags == ("privilege",)
