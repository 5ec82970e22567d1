"""Where specs were read from: each remembers its own mapping, however deep it lies and in whatever."""

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from dracfg.model.base import Spec, at, data_of
from dracfg.model.kinds import KINDS, Driver, Tenant
from dracfg.model.parse import parse_document
from dracfg.model.shape import holders
from dracfg.source.composer import compose
from dracfg.source.nodes import Map

FILES = sorted(
    path
    for top in ("catalog", "tenants")
    for path in Path(top).rglob("*.yaml")
    if "inventory" not in path.parts and "templates" not in path.parts
)

TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: &head {name: vision}
spec:
  access:
    use:
    - &who {group: vision-eng}
    view: [*who, {serviceAccount: {namespace: a, name: b}}]
  namespaces:
  - {name: vision-prod, clusters: &all [prod-east]}
  - {name: vision-dev, clusters: *all}
  entitlements:
  - {name: gpu, tier: a100, guaranteed: {1g.5gb: 6}}
"""


def held(value: Any) -> list[Spec]:
    """The specs in a value that no other of them holds."""
    if isinstance(value, Spec):
        return [value]
    if isinstance(value, dict | tuple):
        inner = value.values() if isinstance(value, dict) else value
        return [one for item in inner for one in held(item)]
    return []


def read(text: str) -> list[Any]:
    documents, faults = compose("a.yaml", text)
    assert not faults
    return [parse_document(document, KINDS) for document in documents]


def keys_of(spec: Spec) -> set[str]:
    fields = type(spec).model_fields
    return {fields[name].alias or name for name in spec.model_fields_set}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_every_spec_knows_its_mapping(path: Path) -> None:
    pending = read(path.read_text())
    assert pending
    while pending:
        spec = pending.pop()
        assert set(spec.read_from.entries) == keys_of(spec)
        for name in spec.model_fields_set:
            pending += held(getattr(spec, name))


def test_what_an_alias_repeats_was_read_at_its_anchor() -> None:
    (tenant,) = read(TENANT)
    assert isinstance(tenant, Tenant)
    access = tenant.spec.access
    assert access is not None
    assert access.use[0].read_from is access.view[0].read_from
    assert at(access.view[1], "serviceAccount", "name").line == 8
    assert at(tenant.spec.namespaces[1], "clusters", 0).line == 10
    assert at(tenant.spec.entitlements[0], "guaranteed", "1g.5gb").line == 13


def test_specs_made_by_hand_were_read_nowhere() -> None:
    driver = Driver.model_validate(
        {
            "apiVersion": "dracfg.dev/v1alpha1",
            "kind": "Driver",
            "metadata": {"name": "a.example.com"},
        }
    )
    for one in (driver, driver.metadata, driver.spec):
        with pytest.raises(LookupError, match="was not read from a file"):
            _ = one.read_from


def test_data_is_of_one_shape_with_its_nodes() -> None:
    (document,), _ = compose("a.yaml", TENANT)
    data = data_of(document.root)
    assert isinstance(document.root, Map)
    assert list(data) == list(document.root.entries)
    assert isinstance(data["spec"]["namespaces"], tuple)
    assert data["spec"]["access"]["view"][0] is not data["spec"]["access"]["use"][0]


TWINS = TENANT + "  - {name: gpu, tier: a100, guaranteed: {1g.5gb: 6}}\n"


def test_what_stands_twice_is_two_things() -> None:
    (tenant,) = read(TWINS)
    one, other = tenant.spec.entitlements
    assert repr(one) == repr(other)
    assert one != other
    assert tenant.spec.entitlements.index(other) == 1
    assert [at(twin, "name").line for twin in (one, other)] == [13, 14]
    (again,) = read(TWINS)
    assert again == tenant
    assert again.spec.entitlements[0] == one != again.spec.entitlements[1]


def test_what_is_read_elsewhere_is_another_thing() -> None:
    (tenant,), (moved,) = read(TENANT), read(f"\n{TENANT}")
    assert tenant != moved
    assert tenant.spec.entitlements[0] != moved.spec.entitlements[0]
    assert tenant.spec.entitlements[0] != type(moved.spec.entitlements[0]).model_validate(
        data_of(moved.spec.entitlements[0].read_from)
    )


def test_a_copy_stands_where_the_original_does() -> None:
    (tenant,) = read(TENANT)
    first, second = tenant.spec.namespaces
    renamed = first.model_copy(update={"name": "other"})
    again = renamed.model_copy(update={"name": first.name})
    assert renamed.read_from is again.read_from is first.read_from
    assert renamed.source_path == "a.yaml"
    assert again == first != renamed
    moved = tenant.spec.model_copy(update={"namespaces": (second, renamed)})
    assert [one.read_from for one in moved.namespaces] == [second.read_from, first.read_from]


@pytest.mark.parametrize("again", [deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_documents_that_are_carried_elsewhere_keep_their_places(again: Any) -> None:
    (tenant,) = read(TENANT)
    entitlement = tenant.spec.entitlements[0]
    assert at(entitlement, "tier").line == 13
    carried = again(tenant)
    assert at(carried.spec.entitlements[0], "tier").line == 13
    assert again(entitlement).read_from == entitlement.read_from
    assert carried == tenant


def test_what_is_no_part_of_a_document_has_no_place_in_it() -> None:
    (tenant,) = read(TENANT)
    alien = tenant.spec.namespaces[0].model_copy()
    assert alien.__pydantic_private__ is not None
    del alien.__pydantic_private__["_copied"]
    with pytest.raises(LookupError, match=r"no part of what was read from a\.yaml"):
        _ = alien.read_from


def test_only_fields_that_can_hold_models_are_looked_into() -> None:
    assert dict(holders(Tenant)) == {"metadata": "metadata", "spec": "spec"}
