"""Changes that follow from another: one cause is one line, which tells and takes over the others."""

import pytest

from dracfg.diff.causes import consequences, folded
from dracfg.diff.change import Change, Impact, change, change_kinds

FIELD = change(
    "template-changed",
    "profile train / request gpu / count",
    "2 devices",
    "4 devices",
    tenant="vision",
    details=("revision 1 -> 2",),
)
REVISED = change(
    "template-revised",
    "template of profile train",
    "train",
    "train-v2",
    cluster="east",
    tenant="vision",
    workloads=("vision/run-0",),
)


def test_a_follower_is_a_detail_of_its_cause() -> None:
    (found,) = folded([FIELD, REVISED])
    assert found.kind.name == "template-revised"
    assert found.details == (
        "profile train / request gpu / count: 2 devices -> 4 devices",
        "revision 1 -> 2",
    )
    assert found.workloads == ("vision/run-0",)


def test_it_is_told_with_each_of_several_causes() -> None:
    west = change(
        "template-revised", REVISED.object, "train", "train-v2", cluster="west", tenant="vision"
    )
    found = folded([FIELD, REVISED, west])
    assert [one.cluster for one in found] == ["east", "west"]
    assert all("revision 1 -> 2" in one.details for one in found)


@pytest.mark.parametrize(
    ("kind", "thing", "over"),
    [
        ("template-revised", "template of profile train", {"tenant": "search"}),
        ("template-revised", "template of profile train-x8", {"tenant": "vision"}),
        ("template-gone", "retired template train", {"tenant": "vision"}),
    ],
)
def test_what_follows_from_nothing_stays(kind: str, thing: str, over: dict[str, str]) -> None:
    other = change(kind, thing, "a", "b", **over)  # type: ignore[arg-type]  # keywords of text
    assert folded([FIELD, other]) == (FIELD, other)


def test_clusters_are_held_apart() -> None:
    field = change("cluster-gate", "Cluster east / featureGates / G", "true", None, cluster="east")
    flipped = [
        change("gate-flipped", "gate G", "on", "off", cluster=one) for one in ("east", "west")
    ]
    found = folded([field, *flipped])
    assert [(one.cluster, len(one.details)) for one in found] == [("east", 1), ("west", 0)]


def test_the_worst_of_both_holds() -> None:
    lent = change(
        "limit-lent", "entitlement slice 10Gi", "limit 6", "limit 4", tenant="vision",
        impact=Impact.DESTRUCTIVE,
    )  # fmt: skip
    offer = change("offer-raised", "offer to search of slice 10Gi", None, "2", tenant="vision")
    (found,) = folded([lent, offer])
    assert found.impact == Impact.DESTRUCTIVE
    assert set(found.flags) == {"privilege", "quota"}


SIZES = (
    ("size-added", "SharingPolicy slices / sizes", None, "40Gi", "class-added"),
    ("size-removed", "SharingPolicy slices / sizes", "40Gi", None, "class-removed"),
)


@pytest.mark.parametrize(("kind", "thing", "before", "after", "cause"), SIZES)
def test_a_size_is_its_class(
    kind: str, thing: str, before: str | None, after: str | None, cause: str
) -> None:
    size = change(kind, thing, before, after)
    own = change(cause, "class card-40g-slices-40gi", before, after, cluster="east")
    other = change(cause, "class card-40g-slices-4gi", before, after, cluster="west")
    found: list[Change] = list(folded([size, own, other]))
    assert [(one.cluster, bool(one.details)) for one in found] == [("east", True), ("west", False)]


def test_rows_name_kinds() -> None:
    for row in consequences():
        assert row.follower | row.cause <= change_kinds().keys()
        assert not row.follower & row.cause
