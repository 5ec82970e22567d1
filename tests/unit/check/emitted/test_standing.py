"""Templates and shared claims that can't change under their names."""

import pytest
import yaml

from dracfg.check.standing import Change, clash_findings, clashes, first_change
from dracfg.source.standing import Standing

COUNT = ("{name: gpu, entitlement: gpu, count: 2}", "{name: gpu, entitlement: gpu, count: 4}")
DIGEST = ("gitops: {engine: plain}", "gitops: {engine: plain, templateNames: digest}")


def check_standing(catalog, units, standing):
    """The findings of all clusters, as a compile puts them together."""
    found = [clashes(catalog, of, units, standing) for of in catalog.clusters.values()]
    return clash_findings(catalog, (clash for of in found for clash in of))


def fixed(repository, finding):
    """The tenants' file with the fix put in."""
    span = finding.span
    lines = (repository.root / span.path).read_text().split("\n")
    line = lines[span.line - 1]
    lines[span.line - 1] = line[: span.column - 1] + finding.fix + line[span.end_column - 1 :]
    return yaml.safe_load("\n".join(lines))


def test_an_unchanged_tree_stands(build):
    repository = build()
    assert check_standing(repository.catalog, repository.units, repository.standing) == ()


def test_nothing_stands_yet(build):
    repository = build()
    assert check_standing(repository.catalog, repository.units, Standing()) == ()


def test_a_changed_template_needs_a_revision(build, only):
    before = build().standing
    repository = build(COUNT, standing=before)
    found = only(check_standing(repository.catalog, repository.units, before), "OBJ004")
    assert "spec.devices.requests[0].exactly.count: 2 → 4" in found.message
    assert (found.found, found.expected) == ("revision: 1", "revision: 2")
    profiles = fixed(repository, found)["spec"]["profiles"]
    assert [p.get("revision") for p in profiles] == [2, None]
    assert list(profiles[0]) == ["name", "revision", "requests"]


def test_the_fix_in_a_flow_map(build, only):
    before = build().standing
    repository = build(("size: 8Gi}]", "size: 16Gi}]"), standing=before)
    found = only(check_standing(repository.catalog, repository.units, before), "OBJ004")
    profiles = fixed(repository, found)["spec"]["profiles"]
    assert [p.get("revision") for p in profiles] == [None, 2]


def test_the_fix_of_a_revision_that_is_written(build, only):
    revised = ("    - name: train\n", "    - name: train\n      revision: 3 # why\n")
    before = build(revised).standing
    repository = build(revised, COUNT, standing=before)
    found = only(check_standing(repository.catalog, repository.units, before), "OBJ004")
    assert repository.text(found.span) == "3"
    assert found.fix == "4"


def test_a_raised_revision_is_no_finding(build):
    before = build().standing
    revised = ("    - name: train\n", "    - name: train\n      revision: 2\n")
    repository = build(revised, COUNT, standing=before)
    assert check_standing(repository.catalog, repository.units, before) == ()


def test_a_name_in_retired_is_taken_too(build, only):
    first = build().standing
    revised = ("    - name: train\n", "    - name: train\n      revision: 2\n")
    second = build(revised, COUNT, standing=first).standing
    back = (COUNT[0], COUNT[0].replace("2}", "3}"))
    repository = build(back, standing=second)
    found = only(check_standing(repository.catalog, repository.units, second), "OBJ004")
    assert "count: 2 → 3" in found.message
    assert found.expected == "revision: 3"


def test_going_back_to_a_retired_template_is_no_finding(build):
    first = build().standing
    revised = ("    - name: train\n", "    - name: train\n      revision: 2\n")
    second = build(revised, COUNT, standing=first).standing
    repository = build(standing=second)
    assert check_standing(repository.catalog, repository.units, second) == ()


def test_names_by_digest_never_collide(build):
    before = build(DIGEST).standing
    repository = build(DIGEST, COUNT, standing=before)
    assert check_standing(repository.catalog, repository.units, before) == ()


def test_marks_of_engines_do_not_count(build):
    standing = build().standing
    marked = Standing(
        {
            path: tuple(
                {
                    **thing,
                    "metadata": {
                        **thing["metadata"],
                        "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"},
                    },
                }
                for thing in objects
            )
            for path, objects in standing.files.items()
        }
    )
    repository = build()
    assert check_standing(repository.catalog, repository.units, marked) == ()


SHARED = (
    "  profiles:\n",
    (
        "  sharedClaims: [{name: one, profile: train, namespace: vision-train, pods: 2}]\n"
        "  profiles:\n"
    ),
)


def test_a_changed_shared_claim_needs_a_new_name(build, only):
    before = build(SHARED).standing
    revised = ("    - name: train\n", "    - name: train\n      revision: 2\n")
    repository = build(SHARED, revised, COUNT, standing=before)
    found = only(check_standing(repository.catalog, repository.units, before), "OBJ005")
    assert repository.text(found.span) == "one"
    assert "new name" in found.help


def test_more_pods_leave_a_shared_claim_as_it_is(build):
    before = build(SHARED).standing
    repository = build(SHARED, ("pods: 2", "pods: 9"), standing=before)
    assert check_standing(repository.catalog, repository.units, before) == ()


def test_one_finding_for_all_namespaces(build, only):
    two = (
        "    - {name: vision-train, clusters: [east]}\n",
        "    - {name: vision-train, clusters: [east]}\n    - {name: vision-b, clusters: [east]}\n",
    )
    before = build(two).standing
    repository = build(two, COUNT, standing=before)
    only(check_standing(repository.catalog, repository.units, before), "OBJ004")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {}, Change("a", 1, None)),
        ({}, {"a": {"b": 2}}, Change("a", None, {"b": 2})),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, Change("a[1].b", 2, 3)),
        ([1], [1, 2], Change("[1]", None, 2)),
        ([1, 2], [1], Change("[1]", 2, None)),
        ({"a": True}, {"a": 1}, Change("a", True, 1)),
    ],
)
def test_the_first_change(before, after, change):
    assert first_change(before, after) == change


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, [{"operator": "Exists"}], 'a: nothing → [{"operator": "Exists"}]'),
        ("x", True, "a: x → true"),
        ({"b": 1}, 2, 'a: {"b": 1} → 2'),
    ],
)
def test_a_change_says_both_sides(before, after, said):
    assert str(Change("a", before, after)) == said


def test_a_long_side_of_a_change_is_cut():
    assert len(str(Change("a", "x" * 500, None))) < 200
