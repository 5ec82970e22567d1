"""What objects have in common is one object that nobody changes, so readers may know it by identity."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest

from dracfg.building import render
from dracfg.kube.gates import derive
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, K8sObject, Unit, in_order
from dracfg.lower.sync import with_engine
from dracfg.lower.units import gate_plan, lower
from dracfg.source.standing import Standing

ENGINES = {
    "flux": "{engine: flux, applier: {serviceAccount: {namespace: flux-system, name: controller}}}",
    "argocd": "{engine: argocd, repoURL: 'https://git.example.org/fleet', revision: main,"
    " destination: {name: east}, applier: {serviceAccount: {namespace: argocd, name: controller}}}",
    "plain": "{engine: plain}",
}
MORE = """\
    - {name: vision-dev, clusters: [east]}
    - {name: vision-batch, clusters: [east]}
"""


@pytest.fixture(params=ENGINES)
def catalog(request: Any, catalog_of: Any, platform: str, vision: str) -> Catalog:
    """Two tenants that ask for the same, each with two namespaces that differ in nothing but their names."""
    head, _, rest = platform.partition("  gitops:\n")
    rest = rest[rest.index("---") :]
    gitops = f"  gitops: {ENGINES[request.param]}\n  addons: {{prometheusOperator: true}}\n"
    more = vision.replace("    - {name: vision-monitor", f"{MORE}    - {{name: vision-monitor")
    made: Catalog = catalog_of(
        head.replace("---", "") + gitops + rest, more, more.replace("vision", "speech")
    )
    assert made.tenants.keys() == {"vision", "speech"}
    return made


def artifacts(units: Iterable[Unit]) -> list[Artifact]:
    return [
        a for unit in units if unit.synced and "gitops" not in unit.path for a in unit.artifacts
    ]


def of_kind(units: Iterable[Unit], kind: str, name: str) -> dict[str, K8sObject]:
    """By namespace."""
    things = (artifact.object for artifact in artifacts(units))
    return {
        thing["metadata"]["namespace"]: thing
        for thing in things
        if thing["kind"] == kind and thing["metadata"]["name"] == name
    }


@pytest.mark.parametrize(
    ("kind", "name", "of_metadata", "body"),
    [
        ("ResourceClaimTemplate", "train", ("labels", "annotations"), ("spec",)),
        ("RoleBinding", "dracfg-tenant-use", ("labels", "annotations"), ("subjects", "roleRef")),
        ("PrometheusRule", "dracfg-tenant", ("labels", "annotations"), ()),
        ("ResourceQuota", "dracfg-devices", (), ("spec",)),
    ],
)
def test_namespaces_of_a_tenant_share_what_is_the_same(
    catalog: Catalog, kind: str, name: str, of_metadata: tuple[str, ...], body: tuple[str, ...]
) -> None:
    found = of_kind(lower(catalog, Standing()), kind, name)
    first, second = found["vision-dev"], found["vision-batch"]
    assert first["metadata"] is not second["metadata"]
    for key in of_metadata:
        assert first["metadata"][key] is second["metadata"][key]
    for key in body:
        assert first[key] is second[key]


def test_profiles_that_ask_for_the_same_share_their_claim(catalog: Catalog) -> None:
    found = of_kind(lower(catalog, Standing()), "ResourceClaimTemplate", "train")
    specs = [found[f"{tenant}-dev"]["spec"] for tenant in ("vision", "speech")]
    assert specs[0]["spec"] is specs[1]["spec"]
    assert specs[0]["metadata"]["annotations"] is specs[1]["metadata"]["annotations"]
    assert specs[0]["metadata"]["labels"] != specs[1]["metadata"]["labels"]


def test_artifacts_that_are_alike_differ_in_their_namespace_alone(catalog: Catalog) -> None:
    found = [one for one in artifacts(lower(catalog, Standing())) if one.like is not None]
    assert {one.object["kind"] for one in found} >= {"ResourceClaimTemplate", "RoleBinding"}
    for one in found:
        first = one.like
        assert first is not None
        assert first.like is None
        assert (one.file, one.origin) == (first.file, first.origin)
        namespace = first.object["metadata"]["namespace"]
        assert one.object["metadata"]["namespace"] != namespace
        moved = {**one.object["metadata"], "namespace": namespace}
        assert repr({**one.object, "metadata": moved}) == repr(first.object)


def test_a_claim_that_asks_for_more_is_its_own(catalog_of: Any, platform: str, vision: str) -> None:
    """Two claims that differ anywhere, be it in what is written beside the spec, are two."""
    profile = "    - {name: train, requests: [{name: gpu, entitlement: gpu, count: 8}]}\n"
    assert profile in vision
    others = (
        profile.replace("train", "more").replace("count: 8", "count: 4"),
        profile.replace("train", "other").replace("entitlement: gpu", "entitlement: extra"),
        profile.replace("train", "named").replace("{name: gpu,", "{name: card,"),
        profile.replace("train", "patient").replace(
            "count: 8", "count: 8, tolerations: [{operator: Exists}]"
        ),
        profile.replace("train", "same"),
    )
    catalog = catalog_of(platform, vision.replace(profile, profile + "".join(others)))
    units = lower(catalog, Standing())

    def spec(name: str) -> Any:
        return of_kind(units, "ResourceClaimTemplate", name)["vision-train"]["spec"]

    train = spec("train")
    assert spec("same")["spec"] is train["spec"]
    assert "tolerations" in str(spec("patient"))
    for name in ("more", "named", "patient"):
        assert spec(name)["spec"] != train["spec"]
    assert spec("other")["spec"] == train["spec"]
    assert spec("other")["metadata"]["annotations"] != train["metadata"]["annotations"]


def test_nothing_changes_what_is_shared(catalog: Catalog) -> None:
    """Neither rendering it nor to make the next tree from it, in which all of it retires."""
    units = lower(catalog, Standing())
    before = copy.deepcopy(units)
    render(units, remembered=True)
    files: dict[str, list[K8sObject]] = {}
    for unit in units:
        for artifact in unit.artifacts:
            files.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
    standing = Standing({path: tuple(things) for path, things in files.items()})
    gone = Catalog(
        catalog.clusters, catalog.drivers, catalog.tiers, catalog.policies, catalog.pools, {}, {}
    )
    lower(gone, standing)
    lower(catalog, standing)
    assert units == before


def test_objects_are_made_as_their_engine_sees_them(catalog: Catalog) -> None:
    """None is left out: what an engine is told can be added again without a change."""
    cluster = catalog.clusters["east"]
    found = artifacts(lower(catalog, Standing()))
    assert {artifact.object["kind"] for artifact in found} > {"Namespace", "DeviceClass"}
    for artifact in found:
        assert with_engine(cluster, artifact.object) == artifact.object


@pytest.mark.parametrize(
    ("minor", "kinds"),
    [("1.34", {"ResourceClaimTemplate"}), ("1.36", {"ResourceClaimTemplate", "ResourceQuota"})],
)
def test_gates_are_those_of_every_object(
    catalog_of: Any, platform: str, vision: str, minor: str, kinds: set[str]
) -> None:
    older = platform.replace('kubernetes: "1.36"', f'kubernetes: "{minor}"')
    extended = older.replace(
        "match: {attributes: {model: A100}}\n",
        "match: {attributes: {model: A100}}\n  legacyResource: example.org/gpu\n"
        "  takesOverLegacyName: true\n",
    )
    catalog = catalog_of(extended, vision, vision.replace("vision", "speech"))
    units = lower(catalog, Standing())
    things = [artifact.object for artifact in artifacts(units)]
    wanted = derive(things, minor)
    uses = gate_plan(catalog.clusters["east"], units).uses
    assert uses[: len(wanted)] == wanted
    assert {use.object_ref.partition("/")[0] for use in wanted} == {"DeviceClass", *kinds}
    assert not any(use.object_ref.startswith("Resource") for use in uses[len(wanted) :])


@pytest.mark.parametrize("keys", ["ba", "ab", "", "cab", "bac"])
def test_labels_are_in_the_order_of_their_keys(keys: str) -> None:
    entries = {key: key.upper() for key in keys}
    assert list(in_order(entries).items()) == sorted(entries.items())
