"""Where specs were read from: each remembers its own mapping, however deep it lies and in whatever."""

from pathlib import Path
from typing import Any

import pytest

from dracfg.model.base import Spec, at, data_of
from dracfg.model.kinds import KINDS, Driver, Tenant
from dracfg.model.parse import parse_document
from dracfg.model.shape import holders
from dracfg.source.composer import compose
from dracfg.source.files import SourceFile
from dracfg.source.nodes import Map, follow

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


def test_data_and_nodes_are_of_one_shape() -> None:
    (document,), _ = compose("a.yaml", TENANT)
    maps: list[Map] = []
    data = data_of(document.root, maps)
    assert maps == list(SourceFile("a.yaml", TENANT).maps)
    assert maps[0] is document.root
    assert list(data) == list(maps[0].entries)
    node, _ = follow(document.root, ("spec", "access", "use", 0))
    assert sum(one is node for one in maps) == 2
    assert isinstance(data["spec"]["namespaces"], tuple)


def test_only_fields_that_can_hold_models_are_looked_into() -> None:
    assert dict(holders(Tenant)) == {"metadata": "metadata", "spec": "spec"}
