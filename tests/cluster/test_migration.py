"""Three pools and three tenants from device plugin to claims and back, on a real control plane.

The plugin is simulated by what nodes have allocatable, the driver by a fake one. What runs is never
touched but by its owners, and a node never has two owners. Then tenants that leave in the wrong order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from dracfg.cli.main import invoke
from tests.cluster.client import Object, Refused
from tests.cluster.controlplane import built_minors
from tests.cluster.fleet import DOCUMENT, LABEL, LEGACY, PATIENCE, POOLS, ROLLOUT, Fleet, open_fleet
from tests.cluster.processes import wait_for
from tests.cluster.yard import HOUR, OPERATOR, cluster_admin, read_audit

TEAMS = "tenants/teams.yaml"
PLUGIN, DRA = {"plugin"}, {"dra"}


@pytest.fixture(scope="module", params=built_minors() or ["none"])
def standing_fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with open_fleet(request.param, tmp_path_factory.mktemp(f"fleet-{request.param}")) as fleet:
        fleet.client.apply(cluster_admin(OPERATOR))
        yield fleet


@pytest.fixture
def fleet(standing_fleet: Fleet) -> Iterator[Fleet]:
    """At the start of its rollout, and there again after the test."""
    kept = {path: path.read_text() for path in standing_fleet.inputs()}
    yield standing_fleet
    standing_fleet.clear()
    for path, text in kept.items():
        path.write_text(text)
    standing_fleet.settle()


def of(pools: dict[str, set[str]]) -> dict[str, set[str]]:
    """Owners by pool → by node."""
    return {node: owners for pool, owners in pools.items() for node in POOLS[pool]}


def step(fleet: Fleet) -> None:
    """The next step holds, and is carried out."""
    assert fleet.advance() == 0
    fleet.settle()


def blocked(fleet: Fleet) -> None:
    """While somebody has a device on a fenced node nothing changes, not even the document."""
    before = (fleet.repository / DOCUMENT).read_bytes()
    assert fleet.on_fenced_nodes()
    assert fleet.advance() == 1
    assert (fleet.repository / DOCUMENT).read_bytes() == before


def test_forward_and_back(fleet: Fleet) -> None:
    assert fleet.owners() == of({"canary": PLUGIN, "east": PLUGIN, "west": PLUGIN})
    old = {name: fleet.by_plugin("sandbox", f"old-{name}", name) for name in ("canary", "west")}
    vision = {name: fleet.by_plugin("vision", f"old-{name}", name) for name in ("east", "west")}
    search = fleet.by_plugin("search", "old", "west")
    for one in (*old.values(), *vision.values(), search):
        fleet.runs(one)
    early = fleet.by_claim("sandbox", "early")
    assert f"comes with stage canary of rollout a100-to-claims, ask for {LEGACY}" in fleet.told(
        early
    )
    fleet.end(early)

    step(fleet)  # canary is fenced
    blocked(fleet)
    late = fleet.by_plugin("vision", "late")
    assert fleet.runs(late) != "canary"
    fleet.end(old["canary"], late)

    step(fleet)  # canary moves
    assert fleet.owners() == of({"canary": DRA, "east": PLUGIN, "west": PLUGIN})
    assert fleet.runs(fleet.by_claim("sandbox", "mine")) == "canary"
    lost = fleet.by_claim("search", "lost")
    assert "comes with stage everyone of rollout a100-to-claims" in fleet.told(lost)
    fleet.end(lost)
    assert fleet.audit().codes == set()

    step(fleet)  # east is fenced, and its tenant may claim already
    assert fleet.runs(fleet.by_claim("vision", "first")) == "canary"
    fleet.turn("halt")
    fleet.settle()
    blocked(fleet)
    fleet.end(vision["east"])
    step(fleet)  # goes on where it was halted
    step(fleet)  # east moves
    assert fleet.owners() == of({"canary": DRA, "east": DRA, "west": PLUGIN})
    assert fleet.runs(fleet.by_claim("vision", "second", "east")) == "east"
    assert fleet.audit().codes == set()

    for name in ("sharing", "sharing-too"):
        assert fleet.runs(fleet.by_claim("vision", name, claim="warm")) in ("canary", "east")

    step(fleet)  # west is fenced, and everybody may claim
    assert fleet.runs(fleet.by_claim("search", "third")) != "west"
    blocked(fleet)
    fleet.end(old["west"], vision["west"], search)
    step(fleet)  # west moves
    assert fleet.owners() == of({"canary": DRA, "east": DRA, "west": DRA})
    last = fleet.by_claim("search", "last", "west")
    assert fleet.runs(last) == "west"
    with pytest.raises(
        Refused, match=f"devices of {LEGACY} have moved to claims, name template/one"
    ):
        fleet.by_plugin("search", "gone")
    assert fleet.audit().codes == set()

    fleet.turn("rollback")
    fleet.settle()  # west is fenced
    blocked(fleet)
    fourth = fleet.by_claim("sandbox", "fourth")
    assert fleet.runs(fourth) != "west"
    fleet.end(last, fourth)
    step(fleet)  # west is given back
    assert fleet.owners() == of({"canary": DRA, "east": DRA, "west": PLUGIN})
    assert fleet.runs(fleet.by_plugin("search", "again")) == "west"
    back = fleet.by_claim("vision", "back")
    assert "is taken back by rollout a100-to-claims" in fleet.told(back)
    fleet.end(back)
    blocked(fleet)
    fleet.end(*fleet.on("east"))
    step(fleet)  # east is given back
    assert fleet.owners() == of({"canary": DRA, "east": PLUGIN, "west": PLUGIN})
    kept = {one["metadata"]["name"] for one in fleet.on("canary")}
    assert kept >= {"mine", "first"}
    assert not kept & {"second"}
    blocked(fleet)
    fleet.end(*fleet.on("canary"))
    step(fleet)  # canary is given back
    assert fleet.owners() == of({"canary": PLUGIN, "east": PLUGIN, "west": PLUGIN})
    assert fleet.runs(fleet.by_plugin("sandbox", "home", "canary")) == "canary"
    assert fleet.rollout("advance") != 0


# A driver that is upgraded, and tenants that leave


@pytest.fixture
def moved_fleet(fleet: Fleet) -> Fleet:
    """Everything on claims, with a pod of vision on one of them."""
    fleet.edit(DOCUMENT, ("stage: start", "stage: everyone"))
    fleet.settle()
    return fleet


def freeze(fleet: Fleet, *pools: str) -> None:
    fleet.edit(
        "catalog/pools.yaml",
        *(
            (
                f"nodeSelector: {{{LABEL}: {pool}}}\n",
                f"nodeSelector: {{{LABEL}: {pool}}}\n  state: frozen\n",
            )
            for pool in pools
        ),
    )
    fleet.settle()


def test_frozen_while_its_driver_is_upgraded(moved_fleet: Fleet) -> None:
    """What runs goes on through the restart; what is new waits, and comes when the pools are open."""
    fleet = moved_fleet
    for pool in POOLS:
        assert fleet.runs(fleet.by_claim("vision", f"on-{pool}", pool)) == pool
    freeze(fleet, *POOLS)
    late = fleet.by_claim("search", "late")
    assert "asks for a100, which is closed; only claims that exist may go on" in fleet.told(late)
    fleet.edit("catalog/platform.yaml", ("version: 0.5.0", "version: 0.4.1"))
    fleet.settle()
    for driver in fleet.drivers.values():
        driver.kill()
        driver.generation += 1
        driver.start()
    fleet.steady()
    assert fleet.audit().codes == set()
    pools = fleet.repository / "catalog/pools.yaml"
    pools.write_text(pools.read_text().replace("  state: frozen\n", ""))
    fleet.settle()
    assert fleet.runs(late) in POOLS


def test_one_pool_frozen(moved_fleet: Fleet) -> None:
    """No claim is refused, and none lands there."""
    fleet = moved_fleet
    freeze(fleet, "canary", "east")
    for number in range(2):
        assert fleet.runs(fleet.by_claim("search", f"late-{number}")) == "west"
    waits = fleet.by_claim("vision", "waits", "east")
    assert fleet.waits(waits)


def state(fleet: Fleet, before: str, after: str) -> None:
    """vision goes from state to state, and that is synced; the active one has no key."""
    keys = [f"  state: {word}\n" if word != "active" else "" for word in (before, after)]
    head = "metadata: {name: vision}\nspec:\n"
    fleet.edit(TEAMS, (head + keys[0], head + keys[1]))
    fleet.settle()


def rights(fleet: Fleet, space: str) -> set[str]:
    """What a namespace may claim by its annotations."""
    notes = fleet.client.get("v1", "Namespace", space)["metadata"]["annotations"]
    return {key for key in notes if key.startswith("classes.dracfg.dev/")}


def test_state_by_state(moved_fleet: Fleet) -> None:
    """As it should be: nothing new, then nothing at all, then no rights, then no document."""
    fleet = moved_fleet
    work = fleet.by_claim("vision", "work")
    fleet.runs(work)
    for before, after in (("active", "frozen"), ("frozen", "draining")):
        state(fleet, before, after)
        late = fleet.by_claim("vision", f"late-{after}")
        assert f"TEN007: tenant vision is {after}" in fleet.told(late)
        fleet.end(late)
        assert rights(fleet, "vision") == {"classes.dracfg.dev/a100"}
        assert fleet.audit().codes == set()
    fleet.end(work)
    state(fleet, "draining", "removed")
    assert rights(fleet, "vision") == set()
    assert quota(fleet, "vision") == {0}
    take_out(fleet)
    assert fleet.audit().codes == set()
    assert fleet.client.get("v1", "Namespace", "vision")["status"]["phase"] == "Active"
    with pytest.raises(Refused, match="forbidden"):
        fleet.by_claim("vision", "never")


def test_removed_at_once(moved_fleet: Fleet) -> None:
    """Its claims stay bound under quota 0; the audit says so until it is led back to draining."""
    fleet = moved_fleet
    work = fleet.by_claim("vision", "work")
    fleet.runs(work)
    state(fleet, "active", "removed")
    assert quota(fleet, "vision") == {0}
    found = fleet.audit().only("LIV046")
    assert "set the state back to draining" in found["help"]
    with pytest.raises(Refused):
        fleet.by_claim("vision", "late")
    state(fleet, "removed", "draining")
    assert fleet.audit().codes == set()
    fleet.end(work)


def test_file_removed_before_draining(moved_fleet: Fleet) -> None:
    """Its people lose access and its namespace keeps what it had; the audit names whom nobody answers for."""
    fleet = moved_fleet
    fleet.runs(fleet.by_claim("vision", "work"))
    kept = {path: path.read_text() for path in fleet.inputs()}
    take_out(fleet)
    assert rights(fleet, "vision") == {"classes.dracfg.dev/a100"}
    with pytest.raises(Refused, match="forbidden"):
        fleet.by_claim("vision", "late")
    found = fleet.audit().only("LIV047")
    assert found["objects"][0] == "Namespace/vision"
    for path, text in kept.items():
        path.write_text(text)
    fleet.settle()
    assert fleet.audit().codes == set()


def test_namespace_deleted_with_live_claims(moved_fleet: Fleet) -> None:
    """Refused to all but who breaks the glass; then pods go first, and claims hold until they are gone."""
    fleet = moved_fleet
    work = fleet.by_claim("vision", "work")
    fleet.runs(work)
    space = fleet.client.get("v1", "Namespace", "vision")
    with pytest.raises(Refused, match="forbidden"):
        fleet.tenant("vision").delete(space)
    with pytest.raises(Refused, match="TEN0"):
        fleet.client.as_user(OPERATOR).delete(space)
    fleet.steady()
    fleet.kubelet.kill()
    fleet.client.delete(space)
    wait_for(partial(is_going, fleet, work), "the pod is being deleted", PATIENCE)
    fleet.steady()
    assert fleet.audit().codes == set()
    late = read_audit(fleet.plane, fleet.repository, ROLLOUT.cluster, 2 * HOUR)
    assert late.codes == {"LIV082", "LIV083"}
    pod, claims = f"Pod/vision/{work['metadata']['name']}", late.only("LIV083")["objects"][1:]
    assert "don't delete it by force" in late.about("LIV082", pod, *claims)["help"]
    assert late.only("LIV083")["objects"][0] == "Namespace/vision"
    assert "don't empty the finalizers" in late.only("LIV083")["help"]
    holders = [one["claim"] for card in late.document["ledger"] for one in card["holders"]]
    assert [name.partition("/")[0] for name in holders] == ["vision"]
    fleet.kept.clear()
    fleet.kubelet.start()
    wait_for(lambda: fleet.client.find(space) is None, "the namespace is gone", PATIENCE)
    assert fleet.audit().codes == set()
    fleet.settle()
    assert rights(fleet, "vision") == {"classes.dracfg.dev/a100"}


def is_going(fleet: Fleet, one: Object) -> bool:
    return "deletionTimestamp" in fleet.client.read(one)["metadata"]


def quota(fleet: Fleet, space: str) -> set[int]:
    """The numbers of devices that a namespace may have."""
    hard = fleet.client.get("v1", "ResourceQuota", "dracfg-devices", space)["spec"]["hard"]
    return {int(number) for key, number in hard.items() if not key.startswith("count/")}


def take_out(fleet: Fleet) -> None:
    """vision's document leaves git, which dracfg refuses as long as the rollout names it."""
    path = fleet.repository / TEAMS
    documents = path.read_text().split("---\n")
    path.write_text("---\n".join(one for one in documents if "{name: vision}" not in one))
    assert invoke(["compile", "-q", "-C", str(fleet.repository)]) == 1
    fleet.edit(
        DOCUMENT,
        ("[sandbox, vision]", "[sandbox]"),
        (", vision: {plugin: 2, dra: 2}", ""),
        (", vision: {plugin: 1, dra: 3}", ""),
    )
    fleet.settle()
