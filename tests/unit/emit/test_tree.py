"""The plan of a tree: what is compared with what, and whose a file is."""

import json
import os
import pickle

import pytest

from dracfg.emit.apply import apply
from dracfg.emit.errors import TreeError
from dracfg.emit.layout import LOCK_NAME, is_synced, stays_inside, unit_of
from dracfg.emit.lock import Lock, digest, read_lock
from dracfg.emit.ownership import HEADER, HEADER_TEXT, bears_mark
from dracfg.emit.tree import Conflict, Stray, UnitFiles, plan

LABELLED = b"kind: A\nmetadata:\n  labels:\n    app.kubernetes.io/managed-by: dracfg\n"
GUARD, VISION = "prod-east/guard", "prod-east/tenants/vision"
UNITS = [
    UnitFiles(GUARD, {"quotas.yaml": LABELLED, "kustomization.yaml": HEADER.encode()}),
    UnitFiles(VISION, {"a.yaml": LABELLED, "retired/b.yaml": LABELLED + b"---\n" + LABELLED}),
    UnitFiles("prod-west/metadata", {"a100.json": f'{{"$comment": "{HEADER_TEXT}"}}'.encode()}),
]


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    apply(plan(folder, UNITS))
    return folder


def unit(planned, path):
    return next(unit for unit in planned.units if unit.path == path)


def statuses(planned):
    return {unit.path: unit.status for unit in planned.units}


def write(out, path, content=b"mine\n"):
    (out / path).parent.mkdir(parents=True, exist_ok=True)
    (out / path).write_bytes(content)


def test_all_is_new_where_nothing_stands(tmp_path):
    planned = plan(tmp_path / "out", UNITS)
    assert set(statuses(planned).values()) == {"new"}
    assert unit(planned, VISION).created == ("a.yaml", "retired/b.yaml")
    assert planned.stale
    assert planned.lock_fault is None
    assert not (tmp_path / "out").exists()


def test_nothing_is_stale_where_all_stands(out):
    planned = plan(out, UNITS)
    assert set(statuses(planned).values()) == {"unchanged"}
    assert not planned.stale
    assert (planned.strays, planned.conflicts, planned.lock_fault) == ((), (), None)


def test_each_file_is_told_apart(out):
    (out / VISION / "retired/b.yaml").unlink()
    wanted = [UNITS[0], UnitFiles(VISION, {"a.yaml": b"new", "c.yaml": b"c"})]
    planned = plan(out, wanted)
    vision = unit(planned, VISION)
    assert (vision.created, vision.changed, vision.removed) == (("c.yaml",), ("a.yaml",), ())
    assert statuses(planned) == {
        GUARD: "unchanged",
        VISION: "changed",
        "prod-west/metadata": "removed",
    }
    assert unit(planned, "prod-west/metadata").removed == ("a100.json",)


def test_a_file_of_ours_edited_by_hand_is_changed_back(out):
    write(out, f"{GUARD}/quotas.yaml")
    assert unit(plan(out, UNITS), GUARD).changed == ("quotas.yaml",)


def test_a_missing_file_of_ours_is_created_again(out):
    (out / GUARD / "quotas.yaml").unlink()
    planned = plan(out, UNITS)
    assert unit(planned, GUARD).created == ("quotas.yaml",)
    assert planned.stale


def test_foreign_files_are_strays_and_worse_in_synced_folders(out):
    write(out, "README.md")
    write(out, f"{GUARD}/own.yaml")
    write(out, "prod-east/nodes/pool/note.txt")
    planned = plan(out, UNITS)
    assert planned.strays == (
        Stray("README.md", False),
        Stray(f"{GUARD}/own.yaml", True),
        Stray("prod-east/nodes/pool/note.txt", False),
    )
    assert not planned.stale


def test_a_copy_of_ours_that_the_lock_does_not_name_is_a_stray(out):
    write(out, f"{GUARD}/copy.yaml", LABELLED)
    planned = plan(out, UNITS)
    assert planned.strays == (Stray(f"{GUARD}/copy.yaml", True),)
    assert not planned.stale


def test_a_foreign_file_on_a_wanted_path_is_a_conflict(out):
    write(out, f"{GUARD}/new.yaml")
    wanted = UnitFiles(GUARD, {**UNITS[0].files, "new.yaml": LABELLED})
    planned = plan(out, [wanted])
    assert [conflict.path for conflict in planned.conflicts] == [f"{GUARD}/new.yaml"]
    assert planned.strays == ()
    with pytest.raises(TreeError, match=r"new\.yaml: a file that dracfg did not write"):
        apply(planned)
    assert (out / GUARD / "new.yaml").read_bytes() == b"mine\n"


@pytest.mark.parametrize("content", [b"wanted", LABELLED])
def test_a_file_that_is_equal_or_bears_our_mark_is_no_conflict(out, content):
    write(out, f"{GUARD}/new.yaml", content)
    planned = plan(out, [UnitFiles(GUARD, {**UNITS[0].files, "new.yaml": b"wanted"})])
    assert planned.conflicts == ()
    assert planned.stale


@pytest.mark.parametrize(
    ("foreign", "wanted", "conflict"),
    [
        ("prod-north", "prod-north/guard", "prod-north"),
        ("prod-north/guard/x", "prod-north/guard", "prod-north/guard/x"),
        ("prod-north/guard/x/y/deep", "prod-north/guard", "prod-north/guard/x/y"),
    ],
)
def test_a_foreign_file_or_folder_in_the_way_is_a_conflict(out, foreign, wanted, conflict):
    write(out, foreign)
    planned = plan(out, [*UNITS, UnitFiles(wanted, {"x/y": b"new"})])
    assert [found.path for found in planned.conflicts] == [conflict]


def test_a_file_of_ours_may_become_a_folder_and_back(out):
    for files in ({"x": b"1"}, {"x/y": b"2", "x/z": b"2"}, {"x": b"3"}):
        planned = plan(out, [UnitFiles(GUARD, files)])
        assert planned.conflicts == ()
        apply(planned)
        found = {path for path in (out / GUARD).rglob("*") if path.is_file()}
        assert found == {out / GUARD / name for name in files}


@pytest.mark.parametrize("link", ["prod-east", GUARD, f"{GUARD}/quotas.yaml", LOCK_NAME])
def test_a_symbolic_link_is_a_conflict_and_nothing_is_written_through_it(out, tmp_path, link):
    aside = tmp_path / "aside"
    (out / link).rename(aside)
    (out / link).symlink_to(aside)
    edited = UnitFiles(GUARD, {"quotas.yaml": b"new", "kustomization.yaml": b"new"})
    planned = plan(out, [edited, *UNITS[1:]])
    assert Conflict(link, "a symbolic link or special file stands here") in planned.conflicts
    with pytest.raises(TreeError, match="symbolic link"):
        apply(planned)
    assert (out / link).is_symlink()
    assert b"new" not in (out / GUARD / "quotas.yaml").read_bytes()


def test_a_symbolic_link_elsewhere_is_a_stray_and_is_not_followed(out, tmp_path):
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside/file").touch()
    (out / GUARD / "link").symlink_to(tmp_path / "aside")
    assert plan(out, UNITS).strays == (Stray(f"{GUARD}/link", True),)


def test_a_named_pipe_does_not_hold_the_run(out):
    (out / LOCK_NAME).unlink()
    os.mkfifo(out / LOCK_NAME)
    assert plan(out, UNITS).conflicts


def test_what_is_out_of_scope_stays_on_disk_and_in_the_lock(out):
    write(out, f"{VISION}/stray.yaml")
    write(out, f"{VISION}/a.yaml")
    planned = plan(out, [UnitFiles(GUARD, {"x": b"x"})], scope=lambda path: path == GUARD)
    assert statuses(planned) == {GUARD: "changed"}
    assert planned.strays == ()
    assert planned.lock.units.keys() == {GUARD, VISION, "prod-west/metadata"}
    assert planned.lock.units[VISION] == planned.standing.units[VISION]
    apply(planned)
    assert (out / VISION / "a.yaml").read_bytes() == b"mine\n"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "the lock is missing"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> b\n", "merge conflict"),
        (b'{\n "a": 1,\n<<<<<<< HEAD\n}\n', "merge conflict"),
        (b"", "damaged"),
        (b"\xff\xfe", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b"[]", "schemaVersion None"),
        (b'{"schemaVersion": 2, "units": {}}', "schemaVersion 2"),
        (b'{"schemaVersion": 1}', "not of its form"),
        (b'{"schemaVersion": 1, "units": {"../x": {"files": {"y": ""}}}}', "not of its form"),
        (b'{"schemaVersion": 1, "units": {"x": {"files": {"/y": ""}}}}', "not of its form"),
        (b'{"schemaVersion": 1, "units": {"x": {"files": {"y": 1}}}}', "not of its form"),
    ],
)
@pytest.mark.parametrize("narrow", [False, True])
def test_a_lock_that_does_not_serve_is_rebuilt_from_the_files(out, content, fault, narrow):
    before = (out / LOCK_NAME).read_bytes()
    (out / LOCK_NAME).unlink()
    if content is not None:
        (out / LOCK_NAME).write_bytes(content)
    write(out, f"{GUARD}/own.yaml", b"kind: A\n")
    planned = plan(out, UNITS, scope=lambda path: not narrow or path == GUARD)
    assert fault in planned.lock_fault
    assert planned.stale
    assert planned.strays == (Stray(f"{GUARD}/own.yaml", True),)
    apply(planned)
    assert (out / LOCK_NAME).read_bytes() == before


def test_a_rebuilt_lock_knows_units_that_are_no_longer_wanted(out):
    (out / LOCK_NAME).unlink()
    write(out, f"{VISION}/own.yaml")
    apply(plan(out, UNITS[:1]))
    assert not (out / "prod-west").exists()
    assert [path.name for path in (out / VISION).iterdir()] == ["own.yaml"]


def test_foreign_files_alone_make_no_fault_of_a_missing_lock(tmp_path):
    write(tmp_path, "README.md")
    assert plan(tmp_path, UNITS).lock_fault is None


@pytest.mark.parametrize(
    "units",
    [
        [UnitFiles("a", {"x": b""}), UnitFiles("a/b", {"x": b""})],
        [UnitFiles("a/b", {"x": b""}), UnitFiles("a/b", {"y": b""})],
        [UnitFiles("../a", {"x": b""})],
        [UnitFiles("/a", {"x": b""})],
        [UnitFiles("a", {"b/../../x": b""})],
        [UnitFiles("a", {"": b""})],
        [UnitFiles(".dracfg-stage-7", {"x": b""})],
    ],
)
def test_units_that_are_no_folders_of_their_own_are_refused(tmp_path, units):
    with pytest.raises(ValueError, match="unit"):
        plan(tmp_path, units)


def test_the_lock_is_sorted_json_that_reads_back(out):
    content = (out / LOCK_NAME).read_bytes()
    document = json.loads(content)
    assert content.endswith(b"}\n")
    assert list(document) == ["schemaVersion", "units"]
    assert list(document["units"]) == sorted(unit.path for unit in UNITS)
    assert document["units"][GUARD] == {
        "files": {
            "kustomization.yaml": digest(HEADER.encode()),
            "quotas.yaml": digest(LABELLED),
        }
    }
    assert read_lock(out).lock.render() == content
    assert json.loads(Lock({}).render()) == {"schemaVersion": 1, "units": {}}
    mixed = Lock({"b": {'"': "x", "a": "y"}, "a": {"ü": "z"}}).render()
    assert json.loads(mixed)["units"] == {
        "a": {"files": {"ü": "z"}},
        "b": {"files": {"a": "y", '"': "x"}},
    }


@pytest.mark.parametrize(
    ("name", "content", "ours"),
    [
        ("a.sh", HEADER.encode() + b"x", True),
        ("a.yaml", b"# Generated by dracfg\nkind: A\n", True),
        ("a.yaml", b"kind: A\n# Generated by dracfg\n", False),
        ("a.yaml", LABELLED + b"---\n" + LABELLED, True),
        ("a.yaml", LABELLED + b"---\nkind: B\n", False),
        ("a.yaml", LABELLED.replace(b"dracfg", b"helm"), False),
        ("a.yaml", b"# app.kubernetes.io/managed-by: dracfg\n", False),
        ("a.yaml", b"app.kubernetes.io/managed-by: [dracfg\n", False),
        ("a.yaml", b"metadata: app.kubernetes.io/managed-by\n", False),
        ("a.txt", LABELLED, False),
        ("a.json", f'{{"$comment": "{HEADER_TEXT}", "x": 1}}'.encode(), True),
        ("a.json", b'{"$comment": "by hand"}', False),
        ("a.json", b"[]", False),
        ("a.json", b"{", False),
        ("a.yaml", b"\xff", False),
        ("a.yaml", b"", False),
    ],
)
def test_whose_a_file_is(name, content, ours):
    assert bears_mark(name, content) is ours


@pytest.mark.parametrize(
    ("path", "unit", "synced"),
    [
        ("README.md", "", False),
        ("prod/README.md", "", False),
        ("prod/guard/x.yaml", "prod/guard", True),
        ("prod/guard.2/x.yaml", "prod/guard.2", True),
        ("prod/guardian/x.yaml", "prod/guardian", False),
        ("prod/platform/x.yaml", "prod/platform", True),
        ("prod/tenants/x.yaml", "", False),
        ("prod/tenants/vision/retired/x.yaml", "prod/tenants/vision", True),
        ("prod/nodes/pool/x.yaml", "prod/nodes/pool", False),
        ("gitops/argocd/x.yaml", "", False),
        ("gitops/argocd/prod/x.yaml", "gitops/argocd/prod", True),
        ("gitops/flux/prod/x.yaml", "gitops/flux/prod", True),
        ("gitops/snippets/x.yaml", "gitops/snippets", False),
        ("known/x/y", "known", False),
    ],
)
def test_the_layout(path, unit, synced):
    assert unit_of(path, {"known"}) == unit
    assert is_synced(path) is synced


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", ".", "a/../b", "a\\b", "c:/x", "a\0b"])
def test_a_path_that_leads_elsewhere_is_told(path):
    assert not stays_inside(path)


def test_one_obstacle_is_one_conflict(out, tmp_path):
    (out / GUARD).rename(tmp_path / "elsewhere")
    (out / GUARD).symlink_to(tmp_path / "elsewhere")
    assert [conflict.path for conflict in plan(out, UNITS).conflicts] == [GUARD]


def test_files_are_sent_with_their_digests() -> None:
    unit = UnitFiles("east/tenants/a", {"a.yaml": b"a\n", "b.yaml": b"b\n"})
    sent = pickle.loads(pickle.dumps(unit))
    assert sent == unit
    assert vars(sent)["digests"] == {name: digest(unit.files[name]) for name in unit.files}
