"""`dracfg diff`: what is compared, what is shown, and the exit code."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dracfg.cli.main import invoke
from dracfg.pipeline import compile_repository
from tests.unit.diff.history import PLATFORM, TEAMS, History, begin, git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

LESS = (TEAMS, ("limit: {5Gi: 10, 10Gi: 8}", "limit: {5Gi: 10, 10Gi: 4}"))


@pytest.fixture
def history(tmp_path: Path) -> History:
    return begin(tmp_path / "repo")


def run(root: Path, *arguments: str) -> int:
    return invoke(["diff", "-C", str(root), *arguments])


def planned(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    run(root, "--format", "json", *arguments)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# -- what is no change -----------------------------------------------------------------------------


def renamed(history: History) -> None:
    (history.root / "tenants/deep").mkdir()
    (history.root / TEAMS).rename(history.root / "tenants/deep/groups.yml")


def split(history: History) -> None:
    first, _, second = history.read(TEAMS).partition("---\n")
    history.write("tenants/notebooks.yaml", first)
    history.write("tenants/search.yaml", f"# apart\n---\n{second}")
    history.remove(TEAMS)


def swapped(history: History) -> None:
    first, _, second = history.read(TEAMS).partition("---\n")
    history.write(TEAMS, f"{second}---\n{first}")


def commented(history: History) -> None:
    history.write(TEAMS, f"# new words\n\n{history.read(TEAMS)}\n# at the end\n")


def reordered(history: History) -> None:
    history.edit(
        TEAMS,
        ("{name: whole, tier: l40s,", "{tier: l40s, name: whole,"),
        ("kind: Tenant\nmetadata: {name: search}", "metadata: {name: search}\nkind: Tenant"),
    )  # fmt: skip


def requantified(history: History) -> None:
    history.edit(
        TEAMS, ("size: 10240Mi", "size: 10Gi"), ("count: 2, to: search", "to: search, count: 2")
    )
    history.edit(
        PLATFORM,
        ("capacity: {memory: 40Gi, cores: 100}", "capacity: {cores: 100, memory: 40960Mi}"),
        (
            "memory: {min: 5Gi, step: 5Gi, max: 40Gi}",
            "memory: {min: 5120Mi, step: 5Gi, max: 40960Mi}",
        ),
        ("sizes: [5Gi, 10Gi, {name: big,", "sizes: [5Gi, 10240Mi, {name: big,"),
        (
            "timeout: 15m}\n---\napiVersion: dracfg.dev/v1alpha1\nkind: SharingPolicy",
            "timeout: 900s}\n---\napiVersion: dracfg.dev/v1alpha1\nkind: SharingPolicy",
        ),
    )


def restyled(history: History) -> None:
    history.edit(
        TEAMS,
        ("  ownClaims: true\n", '  "ownClaims": true\n'),
        ("metadata: {name: notebooks}", 'metadata:\n  name: "notebooks"'),
    )


def untouched(_history: History) -> None:
    """The work tree as it was committed."""


@pytest.mark.parametrize(
    "change", [renamed, split, swapped, commented, reordered, requantified, restyled, untouched]
)
def test_what_means_the_same_is_silence(
    change: Any, history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    change(history)
    assert run(history.root, "HEAD", "--detailed-exitcode", "--fail-on", "none") == 0
    plan = planned(history.root, capsys, "HEAD")
    assert (plan["changes"], plan["capacity"], plan["forbidden"]) == ([], [], [])
    assert plan["maxImpact"] == "none"


# -- exit codes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--detailed-exitcode"], 2),
        (["--fail-on", "restrictive"], 1),
        (["--fail-on", "restrictive", "--detailed-exitcode"], 1),
        (["--fail-on", "additive"], 1),
        (["--fail-on", "disruptive"], 0),
        (["--fail-on", "disruptive", "--detailed-exitcode"], 2),
        (["--tenant", "search", "--fail-on", "restrictive"], 0),
        (["--tenant", "note*", "--fail-on", "restrictive"], 1),
        (["--cluster", "we?t", "--fail-on", "restrictive"], 1),
    ],
)
def test_a_lower_limit(options: list[str], code: int, history: History) -> None:
    history.edit(*LESS)
    assert run(history.root, "HEAD", *options) == code


@pytest.mark.parametrize("level", ["error", "warning", "unknown"])
def test_new_findings_count_by_their_severity(
    level: str, history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.write("tenants/void.yaml", "# nothing\n")
    assert run(history.root, "HEAD", "--fail-on", level) == (1 if level == "warning" else 0)
    (found,) = planned(history.root, capsys, "HEAD")["findings"]
    assert (found["code"], found["side"]) == ("SRC015", "head")


def test_findings_that_only_moved_are_not_new(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.write("tenants/void.yaml", "# nothing\n")
    history.commit()
    (history.root / "tenants/void.yaml").rename(history.root / "tenants/gap.yaml")
    history.edit(
        TEAMS,
        (
            "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: notebooks}",
            "# down\n# we go\napiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: notebooks}",
        ),
    )
    assert planned(history.root, capsys, "HEAD")["findings"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no revision nowhere"),
        (["HEAD", "nowhere"], "there is no revision nowhere"),
        (["HEAD", "--cluster", "wset"], "nothing is named by --cluster wset; did you mean west?"),
        (["HEAD", "--tenant", "serch"], "nothing is named by --tenant serch; did you mean search?"),
        (["--live"], "--live needs a --kubeconfig"),
        (["HEAD", "--against", "."], "--against takes the place of BASE"),
        (["--against", "nowhere"], "does not exist"),
        (["HEAD", "--fail-on", "bad"], "is not one of"),
        (["HEAD", "HEAD", "HEAD"], "unexpected extra argument"),
    ],
)
def test_wrong_use(
    arguments: list[str], said: str, history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(history.root, *arguments) == 3
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_no_repository_here(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("catalog", "tenants"):
        history.remove(folder)
    assert run(history.root, "HEAD") == 3
    assert "no catalog/ in" in capsys.readouterr().err


def test_a_base_without_a_catalog_makes_everything_new(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("catalog", "tenants"):
        (history.root / folder).rename(history.root / f"{folder}.later")
    history.commit()
    for folder in ("catalog", "tenants"):
        (history.root / f"{folder}.later").rename(history.root / folder)
    assert run(history.root, "HEAD", "--detailed-exitcode") == 2
    shown = capsys.readouterr()
    assert "everything is new" in shown.err
    plan = planned(history.root, capsys, "HEAD")
    assert all(found["before"] is None for found in plan["changes"])
    assert not any(found["gone"] for found in plan["changes"])


# -- a side that does not compile ----------------------------------------------------------------------


def test_a_broken_tenant_takes_only_its_own_units_out(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(TEAMS, ("ownClaims: true", "ownClaim: true"))
    assert run(history.root, "HEAD", "--detailed-exitcode") == 1
    plan = planned(history.root, capsys, "HEAD")
    assert plan["verdict"] == "refuted"
    assert (plan["base"]["compiles"], plan["head"]["compiles"]) == (True, False)
    assert [(f["side"], f["code"]) for f in plan["findings"]] == [("head", "MOD004")]
    assert not any(found["gone"] for found in plan["changes"])


def test_a_broken_base_is_told_and_hides_nothing_else(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(TEAMS, ("ownClaims: true", "ownClaim: true"))
    history.commit()
    history.edit(TEAMS, ("ownClaim: true", "ownClaims: true"))
    assert run(history.root, "HEAD") == 1
    plan = planned(history.root, capsys, "HEAD")
    assert (plan["base"]["compiles"], plan["head"]["compiles"]) == (False, True)
    assert {(f["side"], f["code"]) for f in plan["findings"]} >= {("base", "MOD004")}


def test_a_broken_platform_shows_no_change_of_units(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(PLATFORM, ("kind: HardwareTier", "kind: HardwareTire"))
    assert run(history.root, "HEAD") == 1
    plan = planned(history.root, capsys, "HEAD")
    assert plan["findings"]
    assert [found for found in plan["changes"] if found["kind"].startswith("objects")] == []


def test_what_can_not_be_compiled_has_no_change(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    path, (old, new) = LESS
    history.edit(path, (old, new.replace("10Gi: 4", "10Gi: 7")))
    plan = planned(history.root, capsys, "HEAD")
    assert [finding["code"] for finding in plan["findings"]] == ["CAP001"]
    assert [one for one in plan["changes"] if one["tenant"] == "notebooks"] == []
    assert [one for one in plan["changes"] if one["kind"] == "objects-changed"] == []


# -- what stands in the base still stands --------------------------------------------------------------


def test_taking_out_away_hides_no_changed_template(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(PLATFORM, ("templateNames: digest", "templateNames: revision"))
    compile_repository(history.root)
    history.commit()
    history.edit(
        TEAMS,
        ("profile: notebook, namespace", "profile: anything, namespace"),
        (
            "{name: notebook, requests: [{name: gpu, entitlement: slice, size: 10Gi}]}",
            "{name: notebook, requests: [{name: gpu, entitlement: slice, size: 5Gi}]}",
        ),
    )
    assert "OBJ004" in {f["code"] for f in planned(history.root, capsys, "HEAD")["findings"]}
    history.remove("out")
    assert run(history.root, "HEAD") == 1
    assert "OBJ004" in {f["code"] for f in planned(history.root, capsys, "HEAD")["findings"]}
    compile_repository(history.root)
    assert "OBJ004" in {f["code"] for f in planned(history.root, capsys, "HEAD")["findings"]}


def test_what_retires_stays_known_without_out(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_repository(history.root)
    history.commit()
    history.edit(TEAMS, ("profiles: [{name: small,", "profiles: [{name: tiny,"))
    whole = planned(history.root, capsys, "HEAD")
    history.remove("out")
    assert planned(history.root, capsys, "HEAD") == whole


# -- what is written ---------------------------------------------------------------------------------


def test_one_run_feeds_several_files(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    history.edit(*LESS)
    plan = history.root / "deep" / "plan.json"
    assert run(history.root, "HEAD", "-o", f"json={plan}") == 0
    assert json.loads(plan.read_text()) == planned(history.root, capsys, "HEAD")


def test_the_document_names_both_sides(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(*LESS)
    plan = planned(history.root, capsys)
    commit = git(history.root, "rev-parse", "HEAD")
    assert plan["base"] == {"name": "merge base with main", "commit": commit, "compiles": True}
    assert plan["head"] == {"name": "work tree", "commit": None, "compiles": True}
    assert (plan["schemaVersion"], plan["kind"], plan["maxImpact"]) == (
        1,
        "DiffPlan",
        "restrictive",
    )


def test_the_same_diff_is_the_same_bytes(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(*LESS)
    assert planned(history.root, capsys, "HEAD") == planned(history.root, capsys, "HEAD")
    head = history.commit()
    first, second = (planned(history.root, capsys, name, "HEAD") for name in ("HEAD~1", "main~1"))
    assert first["changes"] == second["changes"] != []
    assert second["head"]["commit"] == head


def test_nothing_is_written_or_checked_out(history: History) -> None:
    history.edit(*LESS)
    history.commit()
    history.write("tenants/left.txt", "not added")
    before = git(history.root, "status", "--porcelain", "-z"), git(history.root, "stash", "list")
    assert run(history.root, "HEAD~1", "HEAD") == 0
    assert (
        git(history.root, "status", "--porcelain", "-z"),
        git(history.root, "stash", "list"),
    ) == before


# -- without git, and by objects -----------------------------------------------------------------------


@pytest.fixture
def pair(history: History, tmp_path: Path) -> tuple[Path, Path]:
    """A compiled repository and another of lower limits, compiled as well."""
    compile_repository(history.root)
    other = tmp_path / "other"
    shutil.copytree(history.root, other, ignore=shutil.ignore_patterns(".git"))
    history.edit(*LESS)
    compile_repository(history.root)
    return other, history.root


def test_two_folders(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    other, root = pair
    for arguments in (["--against", str(other)], [str(other)], [str(other), str(root)]):
        assert run(root, *arguments, "--fail-on", "restrictive") == 1
        assert planned(root, capsys, *arguments)["maxImpact"] == "restrictive"
    assert run(root, "--against", str(root), "--detailed-exitcode") == 0


def test_two_trees(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    other, root = pair
    assert run(root, "--against", str(other / "out"), "--detailed-exitcode") == 2
    plan = planned(root, capsys, "--against", str(other / "out"))
    assert {found["kind"] for found in plan["changes"]} == {"object-changed"}
    assert all(found["details"] for found in plan["changes"])
    assert run(root, "--against", str(root / "out"), "--detailed-exitcode") == 0


def test_a_dump(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, root = pair
    dump = tmp_path / "quotas.yaml"
    shutil.copy(other / "out/west/guard/quotas.yaml", dump)
    assert run(root, "--against", str(dump), "--detailed-exitcode") == 2
    assert "not compared" in capsys.readouterr().err
    changes = planned(root, capsys, "--against", str(dump))["changes"]
    assert {found["object"].split()[0] for found in changes} == {"ResourceQuota"}
    shutil.copy(root / "out/west/guard/quotas.yaml", dump)
    assert run(root, "--against", str(dump), "--detailed-exitcode") == 0


def test_a_folder_that_holds_nothing_to_compare(
    history: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert run(history.root, "--against", str(tmp_path / "empty")) == 3
    assert "is no repository" in capsys.readouterr().err


# -- trees that another release compiled ---------------------------------------------------------------


def test_what_another_release_compiles_otherwise_is_told(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_repository(history.root)
    history.commit()
    for path, old, new in (
        ("guard/quotas.yaml", 'slices-big: "0"', 'slices-big: "1"'),
        ("tenants/search/claim-templates.yaml", "# Generated", "# Made"),
    ):
        emit_otherwise(history, path, old, new)
    (found,) = planned(history.root, capsys, "HEAD")["changes"]
    assert (found["kind"], found["object"]) == ("objects-changed", "ResourceQuota (1 changed)")
    assert run(history.root, "HEAD", "--detailed-exitcode") == 2
    history.remove("out")
    assert run(history.root, "HEAD", "--detailed-exitcode") == 0


def test_it_is_told_beside_a_change_of_the_catalog(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_repository(history.root)
    history.commit()
    history.edit(*LESS)
    compile_repository(history.root)
    without = planned(history.root, capsys, "HEAD")["changes"]
    emit_otherwise(
        history, "guard/admission-policies.yaml", "failurePolicy: Fail", "failurePolicy: Ignore"
    )
    more = [one for one in planned(history.root, capsys, "HEAD")["changes"] if one not in without]
    assert [one["object"] for one in more] == ["ValidatingAdmissionPolicy (1 changed)"]


def emit_otherwise(history: History, path: str, old: str, new: str) -> None:
    """The file of the tree with a text replaced where it stands first, as the lock then says too."""
    place, lock = f"out/west/{path}", "out/dracfg.lock.json"
    before = history.read(place)
    assert old in before
    history.write(place, before.replace(old, new, 1))
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (before, history.read(place))]
    history.edit(lock, (digests[0], digests[1]))


def test_full_names_objects_and_fields(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    history.edit(*LESS)
    assert run(history.root, "HEAD", "--full") == 0
    shown = capsys.readouterr().out
    assert "west/guard: ResourceQuota " in shown
    assert "    spec.hard[" in shown
    objects = planned(history.root, capsys, "HEAD", "--full")["objects"]
    assert {one["how"] for one in objects} >= {"changed"}
    assert "objects" not in planned(history.root, capsys, "HEAD")


def test_text_is_cut_whole_and_counted(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    request = "requests: [{name: gpu, entitlement: whole}]"
    lines = "".join(f"    - {{name: p{number}, {request}}}\n" for number in range(40))
    history.edit(TEAMS, ("  profiles:\n", f"  profiles:\n{lines}"))
    assert run(history.root, "HEAD", "--max-bytes", "3000") == 0
    shown = capsys.readouterr().out
    assert len(shown.encode()) <= 3000
    assert "blocks not shown" in shown
    assert shown.splitlines()[-1].endswith("additive.")
