"""Three pools and three tenants walked from device plugin to claims and back, by `dracfg rollout`.

`rollout/repository` is where it starts, and its `out/` the whole tree there. Each folder beside it is one
step of the walk: `changes.diff` is what it makes of the tree before, `runbook.md` the page of where it stands
then. `rollout/a100-to-claims.yaml` is the document after all of them.
`--update-golden` writes them anew; they are reviewed as output.
"""

from __future__ import annotations

import difflib
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.link.steps import reachable, standing
from dracfg.pipeline import Judgement, judge
from dracfg.policytest.requests import Request, authenticated_groups
from dracfg.policytest.world import world_of

GOLDEN = Path(__file__).parent / "rollout"
NAME = "a100-to-claims"
DOCUMENT = "catalog/rollout.yaml"
CLUSTER, MADE = "lab", ("ResourceClaimTemplate", "ResourceClaim")
SHARED = "lab/tenants/vision/"
APPLIER = "system:serviceaccount:argocd:argocd-application-controller"

WALK = (
    ("00-start", "status"),
    ("01-start-fenced", "advance"),
    ("02-canary", "advance"),
    ("03-canary-fenced", "advance"),
    ("04-canary-fenced-halted", "halt"),
    ("05-canary-fenced", "advance"),
    ("06-shared", "advance"),
    ("07-shared-fenced", "advance"),
    ("08-everyone", "advance"),
    ("09-everyone-rollback", "rollback"),
    ("10-shared-rollback", "advance"),
    ("11-canary-rollback", "advance"),
    ("12-start-rollback", "advance"),
)
"""(folder, command): a stage is halted once, and all of it goes back from the end."""

EVIDENCE = {
    "at": "2026-11-29T22:00:00Z",
    "source": "the lab's Prometheus",
    "gates": {"claim to ready p99": "12s", "podsOnFencedNodes": 0, "driverErrors": 0.002},
}
RECORD = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {"kind": kind, "metadata": {"name": "one", "creationTimestamp": "2026-11-29T21:00:00Z"}}
        for kind in ("ResourceClaim", "Pod", "ResourceSlice")
    ],
}

BESIDE = ("dracfg.lock.json", "lab/monitoring/")
LATER = re.compile(r"later\.dracfg\.dev/.*")

Tree = dict[str, str]


@dataclass(frozen=True)
class Stop:
    """Where one step of the walk led."""

    folder: str
    tree: Tree
    told: Tree
    judged: Judgement


def tree(folder: Path) -> Tree:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def differences(before: Tree, after: Tree) -> str:
    """A unified diff of two trees, file by file, but for digests and for what is only watched."""
    found: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        if not path.startswith(BESIDE):
            old, new = before.get(path, ""), after.get(path, "")
            found += difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), path, path, n=2
            )
    return "".join(found)


def walk(root: Path) -> Iterator[Stop]:
    """Every command of the walk, each followed by a compile."""
    evidence, record = (root.parent / name for name in ("evidence.json", "record.json"))
    evidence.write_text(json.dumps(EVIDENCE), encoding="utf-8")
    record.write_text(json.dumps(RECORD), encoding="utf-8")
    given = {"status": (), "advance": ("--evidence", str(evidence))}
    page = root.parent / "runbook.md"
    standing: Tree = {}
    for folder, command in WALK:
        more = given.get(command, ("--record", str(record)))
        with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            done = invoke(
                ["rollout", command, NAME, "-C", str(root), *more, "--runbook", str(page)]
            )
        assert done == 0, said.getvalue()
        assert invoke(["compile", "-q", "-C", str(root)]) == 0
        now = tree(root / "out")
        told = {
            "changes.diff": differences(standing, now) if standing else "",
            "runbook.md": page.read_text(encoding="utf-8"),
        }
        yield Stop(folder, now, told, judge(root))
        standing = now


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("walk") / "repository"
    for name in ("catalog", "tenants"):
        shutil.copytree(GOLDEN / "repository" / name, place / name)
    return place


@pytest.fixture(scope="module")
def stops(root: Path) -> dict[str, Stop]:
    return {stop.folder: stop for stop in walk(root)}


@pytest.mark.parametrize("folder", [folder for folder, _ in WALK])
def test_step(folder: str, stops: dict[str, Stop], request: pytest.FixtureRequest) -> None:
    found = {name: text for name, text in stops[folder].told.items() if text}
    if request.config.getoption("--update-golden"):
        rewrite(GOLDEN / folder, found)
    assert found == tree(GOLDEN / folder)


def test_whole_tree_at_the_start(stops: dict[str, Stop], request: pytest.FixtureRequest) -> None:
    found = stops[WALK[0][0]].tree
    if request.config.getoption("--update-golden"):
        rewrite(GOLDEN / "repository" / "out", found)
    assert found == tree(GOLDEN / "repository" / "out")


def test_document_after_the_walk(
    stops: dict[str, Stop], root: Path, request: pytest.FixtureRequest
) -> None:
    """Comments and all else are as they were, and each step left its evidence."""
    assert len(stops) == len(WALK)
    found = (root / DOCUMENT).read_text(encoding="utf-8")
    kept = GOLDEN / f"{NAME}.yaml"
    if request.config.getoption("--update-golden"):
        kept.write_text(found, encoding="utf-8")
    assert found == kept.read_text(encoding="utf-8")


def test_who_goes_back_has_the_bytes_of_the_start(stops: dict[str, Stop]) -> None:
    """But for what tenants are told of claims, and for shared claims, which a person takes out."""
    first, last = stops[WALK[0][0]].tree, stops[WALK[-1][0]].tree
    assert first.keys() <= last.keys()
    changed = {path for path in last if first.get(path) != last[path]}
    assert {path for path in changed if not path.startswith(BESIDE)} == {
        "gitops/snippets/applier-lab.yaml",
        "lab/guard/namespaces.yaml",
        "lab/tenants/vision/kustomization.yaml",
        "lab/tenants/vision/retired/claims.yaml",
    }
    then, now = (LATER.sub("", one["lab/guard/namespaces.yaml"]) for one in (first, last))
    assert now.replace("claim/warm,", "") == then


def test_a_halt_changes_nothing_that_is_compiled(stops: dict[str, Stop]) -> None:
    before, after = (stops[name].tree for name in ("03-canary-fenced", "04-canary-fenced-halted"))
    assert differences(before, after) == ""


def test_no_step_takes_away_what_a_bound_claim_rests_on(stops: dict[str, Stop]) -> None:
    """Classes, templates and namespaces of the start are there at every stop."""
    files = ("claim-templates.yaml", "device-classes.yaml", "namespaces.yaml")
    kinds = {"ResourceClaimTemplate", "DeviceClass", "Namespace"}
    held = [
        {
            (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
            for path, text in stop.tree.items()
            if path.endswith(files)
            for one in yaml.safe_load_all(text)
            if one["kind"] in kinds
        }
        for stop in stops.values()
    ]
    assert len(held[0]) >= 9
    assert all(one == held[0] for one in held)


@pytest.mark.parametrize("folder", [folder for folder, _ in WALK])
def test_templates_and_claims_may_be_applied(folder: str, stops: dict[str, Stop]) -> None:
    """Templates before their class has come as well, by who applies the tree and by nobody else."""
    judged = stops[folder].judged
    world = world_of(judged.catalog, judged.catalog.clusters[CLUSTER], judged.units)
    empty = replace(
        world, objects={key: one for key, one in world.objects.items() if key.kind not in MADE}
    )
    made = [
        artifact.object
        for unit in judged.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") in MADE and not artifact.file.startswith("retired/")
    ]
    assert len(made) >= 4
    for user, answers in ((APPLIER, {"allow"}), ("ann", {"deny"})):
        groups = authenticated_groups(user, ())
        asked = [
            Request(
                "CREATE", user, groups, one, None, world.namespace(one["metadata"]["namespace"])
            )
            for one in made
        ]
        assert {empty.judge(one).answer for one in asked} == answers


def test_a_shared_claim_comes_with_its_stage_and_stays(stops: dict[str, Stop]) -> None:
    """On the way back it is out of use and not out of git, since pods may hold it."""
    active, retired = (
        [
            folder
            for folder, stop in stops.items()
            if "name: warm" in stop.tree.get(SHARED + path, "")
        ]
        for path in ("claims.yaml", "retired/claims.yaml")
    )
    order = list(stops)
    assert active == order[order.index("03-canary-fenced") : order.index("10-shared-rollback")]
    assert retired == order[order.index("10-shared-rollback") :]


def test_every_standing_of_the_way_is_here(stops: dict[str, Stop]) -> None:
    """But for halts, and for ways back from elsewhere than the end, which lead through the same places."""
    walked = {standing(stop.judged.catalog.rollouts[NAME].spec) for stop in stops.values()}
    (spec,) = (one.spec for one in judge(GOLDEN / "repository").catalog.rollouts.values())
    ways = {here for here in reachable(spec) if here.direction != "halted"}
    assert ways <= walked


def rewrite(folder: Path, files: Tree) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
