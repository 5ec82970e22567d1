"""Names of retired templates become current ones, and nothing else changes."""

import pytest

from dracfg.lower.artifact import Artifact, Origin, Unit
from dracfg.migrate.bump import Names, bump_file, template_names
from dracfg.migrate.migration import migrate_file, reverse_file
from dracfg.migrate.tenancy import Tenancy


def unit(*templates: tuple[str, str, str, str]) -> Unit:
    """(file, namespace, profile, name) of each template."""
    return Unit(
        "lab/tenants/team",
        tuple(
            Artifact(
                {
                    "kind": "ResourceClaimTemplate",
                    "metadata": {
                        "namespace": namespace,
                        "name": name,
                        "labels": {"dracfg.dev/profile": profile, "dracfg.dev/tenant": "team"},
                    },
                },
                file,
                Origin("t.yaml", "Tenant", "team"),
            )
            for file, namespace, profile, name in templates
        ),
    )


NAMES = template_names(
    [
        unit(
            ("claim-templates.yaml", "team", "x1", "x1-v4"),
            ("retired/claim-templates.yaml", "team", "x1", "x1-v3"),
            ("claim-templates.yaml", "team", "x2", "x2-1234abcd"),
            ("retired/claim-templates.yaml", "team", "x2", "x2-00ff00ff"),
            ("claim-templates.yaml", "other", "x1", "x1"),
        )
    ]
)


@pytest.mark.parametrize(
    ("namespace", "name", "current"),
    [
        ("team", "x1", {"x1-v4"}),
        ("team", "x1-v2", {"x1-v4"}),
        ("team", "x1-v3", {"x1-v4"}),
        ("team", "x1-v4", set()),
        ("team", "x1-v5", set()),
        ("team", "x2-00ff00ff", {"x2-1234abcd"}),
        ("other", "x1", set()),
        (None, "x1-v2", {"x1-v4"}),
        ("nowhere", "x1", set()),
    ],
)
def test_what_follows_a_name(namespace: str | None, name: str, current: set[str]) -> None:
    assert NAMES.follows(namespace, name) == current


MANIFEST = """\
apiVersion: v1\r
kind: Pod\r
metadata: {name: p, namespace: team}\r
spec:\r
  resourceClaims:\r
  - name: a   # ours\r
    resourceClaimTemplateName: "x1" # old\r
  - {name: b, resourceClaimTemplateName: x2-00ff00ff}\r
  - {name: c, resourceClaimName: x1}\r
  containers: [{name: main, env: [{name: A, value: x1}]}]"""


def test_names_alone_change() -> None:
    done = bump_file("w.yaml", ("\ufeff" + MANIFEST).encode(), NAMES, None)
    expected = MANIFEST.replace('"x1" # old', '"x1-v4" # old').replace("x2-00ff00ff", "x2-1234abcd")
    assert done.after.decode() == "\ufeff" + expected
    assert bump_file("w.yaml", done.after, NAMES, None).outcome == "unchanged"


def test_json_is_bumped_as_well() -> None:
    text = (
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "team"}, "spec": '
        '{"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "x1"}], "containers": [{}]}}'
    )
    done = bump_file("w.json", text.encode(), NAMES, None)
    assert done.after.decode() == text.replace('"x1"', '"x1-v4"')


def test_what_was_migrated_still_leads_back(tenancy: Tenancy) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\nspec:\n"
        "  containers:\n  - name: a\n    resources:\n      limits:\n        nvidia.com/gpu: 2\n"
    )
    done = migrate_file("w.yaml", text.encode(), tenancy)
    names = Names(
        {"team": frozenset({"gpu-x2-v2"})}, {"team": {"gpu-x2": frozenset({"gpu-x2-v2"})}}
    )
    bumped = bump_file("w.yaml", done.after, names, None)
    assert b"resourceClaimTemplateName: gpu-x2-v2 # dracfg: added" in bumped.after
    assert reverse_file("w.yaml", bumped.after).after == text.encode()
