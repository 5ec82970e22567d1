"""Where findings about emitted objects point."""

import pytest

from dracfg.check.places import key_place, profile_of, request_origin, span_of
from dracfg.lower.artifact import Origin


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 0)), "train"),
        (Origin("tenants/vision.yaml", "Tenant", "vision", ("spec",)), "vision"),
        (Origin("tenants/vision.yaml", "Tenant", "vision"), "vision"),
        (
            Origin(
                "tenants/vision.yaml",
                "Tenant",
                "vision",
                ("spec", "profiles", 0, "requests", 0, "count"),
            ),
            "2",
        ),
        (Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles")), "train"),
        (Origin("catalog/all.yaml", "Cluster", "east", ("spec", "kubernetes")), '"1.36"'),
        (Origin("catalog/all.yaml", "HardwareTier", "a100", ("spec", "match")), "attributes"),
        (Origin("catalog/all.yaml", "SharingPolicy", "slices", ("spec", "mode")), "consumable"),
        (Origin("catalog/all.yaml", "NodePool", "gpus", ("spec", "nodes")), "4"),
        (Origin("catalog/all.yaml", "Driver", "gpu.nvidia.com", ("spec", "version")), "0.5.0"),
    ],
)
def test_an_origin_is_shown_at_one_word(build, origin, text):
    repository = build()
    assert repository.text(span_of(repository.catalog, origin)) == text


def test_a_missing_value_is_shown_at_what_holds_it(build):
    repository = build()
    origin = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 1, "revision"))
    assert repository.text(span_of(repository.catalog, origin)) == "infer"


@pytest.mark.parametrize(
    "origin",
    [
        Origin("tenants/other.yaml", "Tenant", "other", ("spec",)),
        Origin("tenants/other.yaml", "SharingPolicy", "whole", ("spec",)),
        Origin("tenants/other.yaml", "Whatever", "vision", ("spec",)),
    ],
)
def test_an_unknown_document_is_shown_at_the_start_of_its_file(build, origin):
    span = span_of(build().catalog, origin)
    assert (str(span), span.end_line) == ("tenants/other.yaml:1:1", 1)


def test_a_key_is_shown_where_it_stands_and_else_where_it_would(build):
    repository = build()
    document = repository.catalog.clusters["east"].document
    assert repository.text(key_place(document, "spec", "gitops")) == "gitops"
    assert repository.text(key_place(document, "spec", "featureGates", "X")) == "east"


def test_templates_and_shared_claims_lead_to_their_profile(build):
    repository = build(
        (
            "  profiles:\n",
            (
                "  sharedClaims: [{name: one, profile: infer, namespace: vision-train, pods: 2}]\n"
                "  profiles:\n"
            ),
        )
    )
    shared = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "sharedClaims", 0))
    found = profile_of(repository.catalog, shared)
    assert found is not None
    assert found[0].pointer == ("spec", "profiles", 1)
    assert found[1].name == "infer"
    assert profile_of(repository.catalog, shared.at("name")) is None


def test_a_generated_request_leads_to_the_one_that_was_written(build):
    repository = build()
    origin = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 0))
    profile = repository.catalog.tenants["vision"].document.spec.profiles[0]
    assert request_origin(origin, profile, "gpu-7") == origin.at("requests", 0)
    assert request_origin(origin, profile, "gpu-x") == origin
