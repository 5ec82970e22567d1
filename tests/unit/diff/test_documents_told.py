"""What a change of a document says, and which documents are left out."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.diff.change import Change, Impact
from dracfg.diff.documents import compare_documents
from dracfg.diff.pair import Pair, Side
from dracfg.diff.plan import COMPARISONS
from tests.unit.diff.written import (
    Data,
    base,
    document,
    filed,
    pair_of_documents,
    put,
    texts,
    understood,
)


def _only(before: list[Data], after: list[Data]) -> Change:
    (found,) = compare_documents(pair_of_documents(before, after))
    return found


def _told(kind: str, name: str, at: str, value: Any) -> Change:
    after = base()
    put(document(after, kind, name), at.split("."), value)
    return _only(base(), after)


def test_numbers_are_shown_as_parts_of_the_pool() -> None:
    found = _told("Tenant", "vision", "spec.entitlements.0.guaranteed", 20)
    assert found.object == "entitlement gpu / guaranteed"
    assert found.before == "16 devices (20 % of card-40g on east)"
    assert found.after == "20 devices (25 % of card-40g on east)"
    assert (found.tenant, found.cluster) == ("vision", "east")
    assert found.namespaces == ("vision-notebooks", "vision-train")
    assert found.flags == ("capacity",)


def test_shares_are_counted_in_devices() -> None:
    found = _told("Tenant", "vision", "spec.entitlements.1.guaranteed.10Gi", 8)
    assert found.object == "entitlement slice / guaranteed / 10Gi"
    assert found.before == "4 x 10Gi (1 % of card-40g on east)"
    assert found.after == "8 x 10Gi (2 % of card-40g on east)"


def test_a_limit_that_follows_is_a_detail() -> None:
    found = _told("Tenant", "vision", "spec.entitlements.2.guaranteed", 8)
    assert found.kind.name == "guaranteed-raised"
    assert found.flags == ("capacity", "quota")
    assert "limit 4 -> 8, as much as is guaranteed" in found.details


def test_on_several_clusters_the_parts_are_details() -> None:
    found = _told("Tenant", "search", "spec.entitlements.0.guaranteed", 6)
    assert found.cluster is None
    assert (found.before, found.after) == ("4 devices", "6 devices")
    assert found.details[:2] == ("30 % of card-80g on east", "75 % of card-80g on west")


def test_nodes_are_shown_with_their_devices() -> None:
    found = _told("NodePool", "cards", "spec.nodes", 12)
    assert found.object == "NodePool cards / nodes"
    assert found.before == "11 nodes (88 of card-40g, 22 of card-80g)"
    assert found.after == "12 nodes (96 of card-40g, 24 of card-80g)"
    assert (found.tenant, found.cluster, found.namespaces) == (None, "east", ())


def test_a_change_of_a_profile_names_its_namespaces_and_its_revision() -> None:
    after = base()
    profile = document(after, "Tenant", "vision")["spec"]["profiles"][0]
    profile["revision"] = 2
    profile["requests"][0]["count"] = 4
    found = _only(base(), after)
    assert found.kind.name == "template-changed"
    assert found.object == "profile train / request gpu / count"
    assert (found.before, found.after) == ("8 devices", "4 devices")
    assert found.details == ("revision 1 -> 2",)
    assert found.namespaces == ("vision-train",)


def test_the_place_is_in_the_later_state() -> None:
    found = _told("Tenant", "vision", "spec.entitlements.0.limit", 25)
    assert found.span is not None
    assert not found.gone
    written = texts(filed([document(base(), "Tenant", "vision")]))["tenants/tenant-vision.yaml"]
    assert found.span.path == "tenants/tenant-vision.yaml"
    assert written.split("\n")[found.span.line - 1].strip() == "limit: 24"


def test_what_is_gone_is_shown_where_it_was() -> None:
    found = _told("Tenant", "vision", "spec.entitlements.2", None)
    assert found.gone
    assert found.span is not None
    written = texts(filed([document(base(), "Tenant", "vision")]))["tenants/tenant-vision.yaml"]
    assert written.split("\n")[found.span.line - 1].strip() == "- name: spare"
    assert found.object == "entitlement spare"
    assert (found.before, found.after) == ("card-80g, whole: guaranteed 4", None)


def test_a_new_document_is_one_change() -> None:
    after = base()
    before = [one for one in after if one["metadata"]["name"] != "vision"]
    found = _only(before, after)
    assert found.kind.name == "tenant-added"
    assert found.object == "Tenant vision"
    assert found.tenant == "vision"
    assert found.after == (
        "namespace vision-train, namespace vision-notebooks, "
        "entitlement gpu, entitlement slice, entitlement spare"
    )


def test_a_tenant_may_leave_once_it_is_off_boarded() -> None:
    before = base()
    document(before, "Tenant", "search")["spec"]["state"] = "removed"
    after = [one for one in before if one["metadata"]["name"] != "search"]
    found = _only(before, after)
    assert (found.kind.name, found.impact) == ("tenant-cleared", Impact.NONE)
    assert found.gone


def test_a_rollout_at_its_start_moves_nothing() -> None:
    after = base()
    document(after, "Rollout")["spec"]["stage"] = "start"
    before = [one for one in after if one["kind"] != "Rollout"]
    assert _only(before, after).kind.name == "rollout-planned"


def test_a_cluster_that_several_share_is_not_named() -> None:
    assert (
        _told("HardwareTier", "card-80g", "spec.legacyResource", "example.com/big").cluster is None
    )
    assert (
        _told("HardwareTier", "card-40g", "spec.legacyResource", "example.com/x").cluster == "east"
    )
    assert _told("Tenant", "search", "spec.namespaces.0.clusters", ["east"]).cluster == "west"


def test_free_form_data_is_told_leaf_by_leaf() -> None:
    found = _told("Driver", "card.example.com", "spec.values.kubeletPlugin.replicas", 2)
    assert found.object == "Driver card.example.com / values / kubeletPlugin.replicas"
    assert (found.before, found.after) == ("1", "2")


def test_long_values_are_cut() -> None:
    found = _told("Cluster", "east", "metadata.description", "long " * 100)
    assert found.after is not None
    assert len(found.after) == 120
    assert found.after.endswith("…")


# -- what is left out ------------------------------------------------------------------------------


def test_a_document_that_one_side_does_not_understand_is_neither_new_nor_gone() -> None:
    before, after = texts(filed(base())), texts(filed(base()))
    after["tenants/tenant-search.yaml"] = after["tenants/tenant-search.yaml"].replace(
        "entitlements:", "entitlement:"
    )
    sides = [Side(name, understood(one)[0]) for name, one in (("a", before), ("b", after))]
    for pair in (Pair(*sides, _open), Pair(*reversed(sides), _open)):
        assert list(compare_documents(pair)) == []


@pytest.mark.parametrize(
    ("kind", "at", "value", "unit"),
    [
        ("Tenant", "spec.ownClaims", True, "east/tenants/vision"),
        ("NodePool", "spec.nodes", 12, "east/platform"),
        ("Cluster", "spec.contact", "somebody else", "east/platform"),
    ],
)
def test_blocked_units_are_left_out(kind: str, at: str, value: Any, unit: str) -> None:
    after = base()
    put(document(after, kind), at.split("."), value)
    pair = pair_of_documents(base(), after)
    assert len(list(compare_documents(pair))) == 1
    blocked = Pair(pair.base, pair.head, lambda path: path == unit)
    assert list(compare_documents(blocked)) == []


def test_what_all_share_is_told_while_any_cluster_compiles() -> None:
    after = base()
    document(after, "SharingPolicy")["spec"]["maxShares"] = 9
    pair = pair_of_documents(base(), after)
    east = Pair(pair.base, pair.head, lambda path: path.startswith("east/"))
    assert [one.kind.name for one in compare_documents(east)] == ["shares-raised"]
    assert list(compare_documents(Pair(pair.base, pair.head, lambda _path: True))) == []


def test_documents_are_compared_in_every_diff() -> None:
    assert compare_documents in COMPARISONS


def _open(_path: str) -> bool:
    return False
