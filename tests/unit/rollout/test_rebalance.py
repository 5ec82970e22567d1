"""A rebalance: whose work moves, and that devices and guarantees hold at each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity
from dracfg.pipeline import Judgement, judge
from dracfg.rollout.rebalance import CannotPlan, Plan, plan_rebalance
from dracfg.source.records import read_record
from tests.unit.rollout.rebalanced import OLD, Lab, write_repository

IN_FORCE = "ab44fd19"
GI = 2**30
EVERYONE = {"stage: canary": "stage: everyone"}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    return judge(write_repository(tmp_path_factory.mktemp("repository"), EVERYONE))


def planned(judged: Judgement, lab: Lab, folder: Path) -> Plan:
    lab.write(folder / "record.json")
    record, _ = read_record(folder, "record.json")
    rollout = judged.catalog.rollouts["slices-to-8gi"]
    return plan_rebalance(judged.catalog, judged.units, rollout, [record])


def why(plan: Plan) -> list[str]:
    return [one.why for one in plan.waiting]


def test_the_repository_is_without_fault(judged: Judgement) -> None:
    assert judged.findings == ()


def test_a_claim_of_the_version_in_force_is_left_alone(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.work("now", "one-1", size="8Gi", version=IN_FORCE)
    plan = planned(judged, lab, tmp_path)
    assert (plan.steps, plan.blocked, plan.waiting, plan.older) == ((), (), (), {})


def test_all_pods_of_a_controller_end_together(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.work("train", "two-1")
    lab.work("train", "two-2", size="8Gi", version=IN_FORCE, first=1)
    (step,) = planned(judged, lab, tmp_path).steps
    assert [one.pod.name for one in step.work.pods] == ["train-0", "train-1"]
    assert step.work.versions == (OLD,)


def test_the_topmost_controller_is_asked(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.work("night-1", "one-1", kind="Job")
    owner = {"kind": "CronJob", "name": "night", "uid": "c", "controller": True}
    lab.objects.append(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "night-1", "namespace": "ann", "ownerReferences": [owner]},
        }
    )
    (step,) = planned(judged, lab, tmp_path).steps
    assert str(step.work.controller) == "CronJob ann/night"


def alone(lab: Lab) -> None:
    lab.objects[-2]["metadata"].pop("ownerReferences")


def unheld(lab: Lab) -> None:
    lab.objects[-1]["status"]["reservedFor"] = []


def unrecorded(lab: Lab) -> None:
    del lab.objects[-2]
    lab.work("other", "one-1", size="8Gi", version=IN_FORCE)


def handmade(lab: Lab) -> None:
    lab.objects[-1]["metadata"].pop("ownerReferences")


def pending(lab: Lab) -> None:
    lab.objects[-1]["status"] = {}


def leaving(lab: Lab) -> None:
    lab.objects[-1]["metadata"]["deletionTimestamp"] = "2026-11-29T09:00:00Z"


def ended(lab: Lab) -> None:
    lab.objects[-2]["status"]["phase"] = "Succeeded"


def of_no_profile(lab: Lab) -> None:
    lab.objects[-1]["metadata"]["labels"] = {}


def of_a_lost_profile(lab: Lab) -> None:
    lab.objects[-1]["metadata"]["labels"]["dracfg.dev/profile"] = "gone"


def elsewhere(lab: Lab) -> None:
    next(one for one in lab.objects if one["kind"] == "Node")["metadata"]["labels"] = {}


@pytest.mark.parametrize(
    ("bend", "says"),
    [
        (alone, "has no controller"),
        (unheld, "no pod holds it"),
        (unrecorded, "holds it and is not recorded"),
        (handmade, "was not made from a template"),
        (pending, "nothing is allocated to it"),
        (leaving, "is being deleted already"),
        (ended, "comes free by itself"),
        (of_no_profile, "is of no profile"),
        (of_a_lost_profile, "no template for profile gone"),
        (elsewhere, "lies on no recorded node of a pool"),
    ],
)
def test_what_waits_for_a_person(
    judged: Judgement, tmp_path: Path, bend: object, says: str
) -> None:
    lab = Lab()
    lab.work("train", "one-1")
    assert callable(bend)
    bend(lab)
    plan = planned(judged, lab, tmp_path)
    assert (plan.steps, len(plan.waiting)) == ((), 1)
    assert says in why(plan)[0]


def test_a_claim_that_others_share_stays_where_it_is(judged: Judgement, tmp_path: Path) -> None:
    """A pod comes back to the node of the claim that it shares, though others are free."""
    lab = Lab()
    lab.work("train", "two-2")
    pod = lab.objects[-2]
    lab.work("other", "two-2", size="8Gi", version=IN_FORCE)
    shared = lab.objects[-1]
    shared["metadata"].pop("ownerReferences")
    field = {"key": "metadata.name", "operator": "In", "values": ["two-2"]}
    shared["status"]["allocation"]["nodeSelector"] = {
        "nodeSelectorTerms": [{"matchFields": [field]}]
    }
    name = shared["metadata"]["name"]
    pod["spec"]["resourceClaims"].append({"name": "shared", "resourceClaimName": name})
    (step,) = planned(judged, lab, tmp_path).steps
    assert [(one.renewed.held.ref, one.node) for one in step.landings] == [
        ("ann/train-0-gpu", "two-2")
    ]


def test_a_pod_keeps_to_nodes_that_its_selector_names(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.work("train", "two-1")
    lab.objects[-2]["spec"]["nodeSelector"] = {"node.example.com/pool": "two"}
    (step,) = planned(judged, lab, tmp_path).steps
    assert [one.node for one in step.landings] == ["two-1"]


def test_work_that_cannot_begin_anew_keeps_its_claims(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.work("web", "one-1", kind="StatefulSet")
    plan = planned(judged, lab, tmp_path)
    assert plan.steps == ()
    assert why(plan) == ["work of StatefulSet is not known to be retryable"]


def test_no_stage_reaches_it(tmp_path: Path) -> None:
    changes = {'    - {name: everyone, pools: "*", tenants: "*", workloads: retryable}\n': ""}
    lab = Lab()
    lab.work("sweep", "two-1", "large", "20Gi", namespace="bob")
    plan = planned(judge(write_repository(tmp_path, changes)), lab, tmp_path)
    assert why(plan) == ["no stage of slices-to-8gi reaches bob on two"]


def test_a_tenant_that_gets_nothing_new(tmp_path: Path) -> None:
    changes = {"metadata: {name: ann}\nspec:\n": "metadata: {name: ann}\nspec:\n  state: frozen\n"}
    lab = Lab()
    lab.work("train", "one-1")
    plan = planned(judge(write_repository(tmp_path, changes)), lab, tmp_path)
    assert why(plan) == ["tenant ann is frozen, so nothing is made anew"]


@pytest.mark.parametrize("kind", ["ResourceClaim", "Pod", "ResourceSlice"])
def test_a_record_that_lacks_something(judged: Judgement, tmp_path: Path, kind: str) -> None:
    lab = Lab()
    lab.work("train", "one-1")
    lab.objects = [one for one in lab.objects if one["kind"] != kind]
    with pytest.raises(CannotPlan, match=f"the record holds no {kind}"):
        planned(judged, lab, tmp_path)


def test_a_record_of_another_cluster(judged: Judgement, tmp_path: Path) -> None:
    lab = Lab()
    lab.objects = [one for one in lab.objects if one["kind"] != "Node"]
    with pytest.raises(CannotPlan, match="no Node of a pool"):
        planned(judged, lab, tmp_path)


def gibibytes(amount: Quantity) -> int:
    return int(amount.value()) // GI


NODES = ("one-1", "two-1", "two-2")
SIZE = {"small": 8, "large": 20}
GUARANTEED = {("ann", 8): 4, ("ann", 20): 1, ("bob", 20): 2}
"""As the tenants of the repository have it."""


class Devices:
    """The devices by plain sums: who holds how much where."""

    def __init__(self) -> None:
        self.shares: dict[str, tuple[str, str, int, int]] = {}
        """claim -> (tenant, node, amount, the size that it has or comes to)."""

    def hold(self, claim: str, tenant: str, node: str, amount: int, size: int) -> None:
        self.shares[claim] = (tenant, node, amount, size)

    def free(self) -> dict[str, int]:
        left = dict.fromkeys(NODES, 40)
        for _, node, amount, _ in self.shares.values():
            left[node] -= amount
        return left

    def unmet(self) -> list[int]:
        """The sizes that are guaranteed and not held; what is on its way counts as what it comes to."""
        held = Counter((tenant, size) for tenant, _, _, size in self.shares.values())
        return sorted(
            (
                key[1]
                for key, number in GUARANTEED.items()
                for _ in range(max(0, number - held[key]))
            ),
            reverse=True,
        )

    def keeps_every_guarantee(self) -> bool:
        """Whether all that is unmet lies on what is free, tried out."""
        return packs(self.unmet(), list(self.free().values()))


def packs(sizes: Sequence[int], left: list[int]) -> bool:
    if not sizes:
        return True
    return any(
        packs(sizes[1:], [*left[:i], room - sizes[0], *left[i + 1 :]])
        for i, room in enumerate(left)
        if room >= sizes[0]
    )


@st.composite
def clusters(draw: st.DrawFn) -> list[tuple[str, str, str, int, bool]]:
    """(node, tenant, profile, amount, whether it is of an older version), within the devices."""
    left = dict.fromkeys(NODES, 40)
    found = []
    for _ in range(draw(st.integers(1, 9))):
        node = draw(st.sampled_from(NODES))
        tenant, profile = draw(
            st.sampled_from([("ann", "small"), ("ann", "large"), ("bob", "large")])
        )
        old = draw(st.booleans())
        amount = draw(st.sampled_from([4, 6, 10, 16, 20, 24])) if old else SIZE[profile]
        if amount <= left[node]:
            left[node] -= amount
            found.append((node, tenant, profile, amount, old))
    return found


def planned_for(
    judged: Judgement, holders: Sequence[tuple[str, str, str, int, bool]], folder: Path
) -> tuple[Plan, Devices]:
    """The plan for who holds what, and the same by plain sums."""
    lab, devices = Lab(), Devices()
    for number, (node, tenant, profile, amount, old) in enumerate(holders):
        version = OLD if old else IN_FORCE
        name = f"work-{number}"
        lab.work(name, node, profile, f"{amount}Gi", namespace=tenant, version=version)
        devices.hold(f"{tenant}/{name}-0-gpu", tenant, node, amount, SIZE[profile])
    return planned(judged, lab, folder), devices


def states(plan: Plan, devices: Devices) -> Iterator[Devices]:
    """The devices while work is gone and after it has come back, step by step."""
    for step in plan.steps:
        for one in step.landings:
            del devices.shares[one.renewed.held.ref]
        yield devices
        for one in step.landings:
            (result,) = one.after
            amount = gibibytes(result.consumed_capacity["memory"])
            tenant = step.work.controller.namespace
            devices.hold(one.renewed.held.ref, tenant, result.pool, amount, amount)
        yield devices


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(holders=clusters())
@example(
    holders=[
        ("two-1", "ann", "large", 6, True),
        ("one-1", "ann", "large", 16, True),
        ("two-1", "ann", "large", 20, False),
    ]
)
def test_capacity_and_guarantees_hold_at_each_step(
    judged: Judgement, tmp_path: Path, holders: list[tuple[str, str, str, int, bool]]
) -> None:
    plan, devices = planned_for(judged, holders, tmp_path)
    moved = [one for step in plan.steps for one in step.work.renewed]
    assert len(moved) + len(plan.blocked) == sum(old for *_, old in holders)
    assert plan.waiting == ()
    kept = devices.keeps_every_guarantee()
    assert kept or plan.short, "what no arrangement holds is told"
    for here in states(plan, devices):
        assert min(here.free().values()) >= 0
        assert not kept or here.keeps_every_guarantee()


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(holders=clusters())
@example(
    holders=[
        ("one-1", "ann", "small", 10, True),
        ("one-1", "ann", "large", 20, False),
        ("one-1", "ann", "small", 8, False),
        ("two-1", "bob", "large", 20, False),
        *(("two-2", "ann", "small", 8, False) for _ in range(3)),
    ]
)
def test_the_first_step_is_safe_wherever_the_scheduler_puts_it(
    judged: Judgement, tmp_path: Path, holders: list[tuple[str, str, str, int, bool]]
) -> None:
    plan, devices = planned_for(judged, holders, tmp_path)
    if not plan.steps or plan.short:
        return
    for one, node in product(plan.steps[0].landings, NODES):
        tenant, _, _, size = devices.shares.pop(one.renewed.held.ref)
        if devices.free()[node] >= size:
            devices.hold(one.renewed.held.ref, tenant, node, size, size)
            assert devices.keeps_every_guarantee()
        devices.hold(one.renewed.held.ref, tenant, node, 0, size)
