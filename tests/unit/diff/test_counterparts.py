"""What is alike on both sides, and the words of changes."""

from pathlib import Path

import pytest

from dracfg.diff.counterparts import alike, changed_tenants, clusters, same_platform, tenants
from dracfg.diff.words import MOST, bounded, few, plural
from tests.unit.diff.pairs import CLUSTERS, POOLS, TIERS, VISION, Case, Edit


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ((1, "a"), (1, "a"), True),
        ((1, "a"), ("a", 1), False),
        ({"a": (1,)}, {"a": (1,)}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        (True, 1, False),
        (None, False, False),
        ((1,), (1, 2), False),
    ],
)
def test_alike(before: object, after: object, same: bool) -> None:
    assert alike(before, after) is same


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ((VISION, "kind: Tenant", "# by hand\nkind: Tenant"), set()),
        ((VISION, "limit: 24", "limit: 0x18"), {"vision", "search"}),
        ((VISION, "guaranteed: 16, limit: 24", "limit: 24, guaranteed: 16"), set()),
        ((VISION, "vision-guests", "vision-visitors"), {"vision", "search"}),
        (("tenants/search.yaml", "guaranteed: 4", "guaranteed: 5"), {"search"}),
    ],
    ids=["a comment", "a value that is refused", "another order of keys", "a giver", "a borrower"],
)
def test_tenants_that_say_something_else(edit: Edit, names: set[str], tmp_path: Path) -> None:
    assert changed_tenants(Case("one", (edit,)).pair(tmp_path)) == names


@pytest.mark.parametrize(
    ("edit", "same"),
    [
        ((CLUSTERS, "kubeadm", "generic"), False),
        ((POOLS, "nodes: 12", "nodes: 13"), False),
        ((TIERS, "legacyResource: example.com/nic", "legacyResource: example.com/card"), False),
        ((VISION, "limit: 24", "limit: 32"), True),
        ((POOLS, "nodes: 12", "nodes: 12 # of them"), True),
    ],
)
def test_the_platform_of_a_cluster(edit: Edit, same: bool, tmp_path: Path) -> None:
    ((before, after),) = clusters(Case("one", (edit,)).pair(tmp_path))
    assert same_platform(before, after) is same


def test_what_did_not_compile_is_left_out(tmp_path: Path) -> None:
    broken = Case("one", ((VISION, "tier: cx7-400g", "tier: cx8-400g"),)).pair(tmp_path)
    assert list(clusters(broken)) == []
    assert "vision" not in {one.name for one, _ in tenants(broken, "prod-east")}


def test_names_are_bounded() -> None:
    names = [f"team/pod-{i:02}" for i in range(MOST + 2)]
    shown, more = bounded(reversed(names))
    assert shown == tuple(names[:MOST])
    assert more == ("and 2 more workloads",)
    assert bounded(["b", "a", "a"]) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("names", "text"), [("abc", "a, b, c"), ("aab", "a, b"), ("abcd", "a, b, c and 1 more")]
)
def test_few_names(names: str, text: str) -> None:
    assert few(names, 3) == text


@pytest.mark.parametrize(
    ("number", "what", "text"),
    [(1, "class", "1 class"), (2, "class", "2 classes"), (1200, "device", "1,200 devices")],
)
def test_plurals(number: int, what: str, text: str) -> None:
    assert plural(number, what) == text
