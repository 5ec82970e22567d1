"""A compiled repository on a control plane that watches its nodes: what may break, and the audit of it.

The repository is tests/cluster/data/faults: five nodes with one card of 40Gi each, shared by two
tenants. Nodes without cards stand beside them, so that lost nodes are never the larger part: then
Kubernetes would take the network for lost, and evict nobody.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from dracfg.cli.main import invoke
from tests.cluster.client import Client, Object
from tests.cluster.controlplane import ControlPlane, account_of, start
from tests.cluster.drivers import RESOURCE, FakeDriver
from tests.cluster.emitted import Emitted
from tests.cluster.engine import Engine
from tests.cluster.kubelet import claims_of
from tests.cluster.moved import FAULTS, moved
from tests.cluster.nodes import LIFECYCLE_FLAGS, BeatingKubelet, NodesDriver
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for

CLUSTER, DRIVER, TENANT, OTHER = FAULTS.cluster, "card.example.com", "search", "vision"
LABELS = {"node.example.com/pool": "cards"}
CARDS = tuple(f"card-{number}" for number in range(1, 6))
PLAIN = tuple(f"plain-{number}" for number in range(1, 5))
CARD = 40
"""Gi of a card."""
USER, OPERATOR, FENCER = "ann", "ben", "fencer"
"""Of the tenant; cluster-admin, but not one who may break the glass; a node guard."""
PATIENCE = 90
HOUR = timedelta(hours=1)

Finding = dict[str, Any]


@dataclass(frozen=True)
class Audit:
    """What `dracfg audit --live --format json` said."""

    code: int
    document: dict[str, Any]

    @property
    def codes(self) -> set[str]:
        """Of real allocations, and of what could not be read.

        What the record lacks of the catalog is another matter.
        """
        found = {finding["code"] for finding in self.document["findings"]}
        return {
            code for code in found if "LIV001" <= code <= "LIV065" or "LIV082" <= code <= "LIV083"
        }

    def only(self, code: str) -> Finding:
        (found,) = [one for one in self.document["findings"] if one["code"] == code]
        return found

    def about(self, code: str, *objects: str) -> Finding:
        """The finding of this code that is about these objects."""
        found = [
            one
            for one in self.document["findings"]
            if one["code"] == code and set(objects) <= set(one["objects"])
        ]
        assert len(found) == 1, (code, objects, self.document["findings"])
        return found[0]

    def card(self, node: str) -> dict[str, Any]:
        """The ledger's entry of the card of a node."""
        (found,) = [one for one in self.document["ledger"] if one["pool"] == node]
        return found

    def cause(self, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.document["causes"] if one["object"] == f"Pod/{name}"]
        return found


def read_audit(
    plane: ControlPlane, repository: Path, cluster: str, later: timedelta = timedelta()
) -> Audit:
    """`dracfg audit --live` of a cluster, now or after a while."""
    arguments = ["audit", "--live", "-q", "--format", "json", "--cluster", cluster]
    arguments += ["--kubeconfig", str(plane.kubeconfig()), "--all-devices"]
    if later:
        arguments += ["--at", f"{datetime.now(UTC) + later:%Y-%m-%dT%H:%M:%SZ}"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = invoke([*arguments, "-C", str(repository)])
    return Audit(code, json.loads(said.getvalue()))


@dataclass
class Yard:
    """The cluster. `operator` may do whatever RBAC can give, and is held by the guard alone."""

    plane: ControlPlane
    repository: Path
    kubelet: BeatingKubelet
    drivers: dict[str, FakeDriver] = field(default_factory=dict)

    @property
    def client(self) -> Client:
        return self.plane.admin

    def tenant(self, namespace: str = TENANT) -> Client:
        """Somebody of the tenant, with the rights that dracfg gives."""
        return self.client.as_user(USER, f"{namespace}-eng")

    @property
    def operator(self) -> Client:
        return self.client.as_user(OPERATOR)

    @property
    def fencer(self) -> Client:
        return self.client.as_user(FENCER)

    # What dracfg says

    def audit(self, later: timedelta = timedelta()) -> Audit:
        """What is found now, or would be after a while; what is given out is summed each time."""
        assert self.over_promised() == {}
        return self.read_audit(later)

    def read_audit(self, later: timedelta = timedelta()) -> Audit:
        return read_audit(self.plane, self.repository, CLUSTER, later)

    def settled(self) -> None:
        """Until the audit finds nothing on any allocation."""
        last: list[set[str]] = []

        def look() -> bool:
            last[:] = [self.audit().codes]
            return not last[0]

        try:
            wait_for(look, "an audit without findings", PATIENCE, pause=0.5)
        except TimeoutError:
            raise AssertionError(f"the audit still finds {sorted(last[0])}") from None

    def compile(self) -> Emitted:
        """Compiles the repository anew."""
        assert invoke(["compile", "-q", "-C", str(self.repository)]) == 0
        return Emitted(self.repository, CLUSTER, self.plane.minor)

    def apply(self, tree: Emitted) -> None:
        Engine(self.client).sync(tree)

    # What stands on the cluster

    def claims(self) -> list[Object]:
        return self.client.list(RESOURCE, "ResourceClaim")

    def over_promised(self) -> dict[str, int]:
        """Cards that claims take more Gi of than a card has, whatever its driver publishes."""
        taken: dict[str, int] = {}
        for claim in self.claims():
            for result in results_of(claim):
                amount = result["consumedCapacity"]["memory"]
                assert amount.endswith("Gi"), amount
                name = f"{result['pool']}/{result['device']}"
                taken[name] = taken.get(name, 0) + int(amount[:-2])
        return {name: amount for name, amount in taken.items() if amount > CARD}

    def pod(
        self, name: str, profile: str, node: str = "", *, tenant: str = TENANT, leaves: bool = False
    ) -> Object:
        """A pod with a claim of its own, kept to a node where one is named.

        With `leaves` it goes a second after its node has been given up, in place of five minutes.
        """
        wanted = pod(tenant, name, template=profile)
        if leaves:
            seconds = {"effect": "NoExecute", "tolerationSeconds": 1}
            unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists"}
            wanted["spec"]["tolerations"] = [unreachable | seconds]
        return self.create(wanted, node)

    def create(self, wanted: Object, node: str = "") -> Object:
        """The pod, made by its tenant."""
        if node:
            wanted["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
        wanted["spec"]["terminationGracePeriodSeconds"] = 1
        return self.tenant(wanted["metadata"]["namespace"]).create(wanted)

    def running(self, one: Object) -> Object:
        def look() -> Object | None:
            found = self.client.read(one)
            return found if found["status"]["phase"] == "Running" else None

        return wait_for(look, f"{one['metadata']['name']} runs", PATIENCE)

    def claim_of(self, one: Object) -> Object:
        """The claim of a pod as it stands."""
        (name,) = claims_of(self.client.read(one))
        return self.client.get(RESOURCE, "ResourceClaim", name, one["metadata"]["namespace"])

    def allocated(self, one: Object) -> Object:
        """The pod's claim once it holds a card."""

        def look() -> Object | None:
            if not claims_of(self.client.read(one)):
                return None
            found = self.claim_of(one)
            return found if results_of(found) else None

        return wait_for(look, f"{one['metadata']['name']} gets a card", PATIENCE)

    def is_held(self, claim: Object) -> bool:
        """Whether the claim still holds what it held."""
        found = self.client.find(claim)
        return found is not None and results_of(found) == results_of(claim)

    def released(self, claim: Object) -> None:
        wait_for(lambda: not self.is_held(claim), f"{ref(claim)} is released", PATIENCE)

    def gone(self, one: Object) -> None:
        wait_for(lambda: self.client.find(one) is None, f"{ref(one)} is gone", PATIENCE)

    def end(self, *pods: Object) -> None:
        """The tenants end their pods; their cards are free afterwards."""
        for one in pods:
            if self.client.find(one) is not None:
                self.client.delete(one)
        for one in pods:
            self.gone(one)

    @contextmanager
    def paused(self, component: str) -> Iterator[None]:
        """A program that hangs: what it does, nobody does meanwhile."""
        self.plane.programs[component].pause()
        try:
            yield
        finally:
            self.plane.programs[component].resume()

    def clear(self) -> None:
        """As it was before a test: all nodes and drivers well, no pod, no card in use."""
        for one in self.client.list("v1", "Pod"):
            self.client.delete(one, grace=0)
        for name, driver in self.drivers.items():
            driver.lies, driver.delay, driver.refuses = (), 0.0, lambda _: None
            driver.kill()
            driver.devices = cards(name)
            driver.generation += 1
            driver.start()
        wait_for(lambda: not any(map(results_of, self.claims())), "no card is in use", PATIENCE)

    def close(self) -> None:
        for driver in self.drivers.values():
            driver.kill()
        self.kubelet.kill()
        self.plane.stop()


def open_yard(minor: str, folder: Path) -> Yard:
    """The repository compiled, applied, and its nodes and drivers up."""
    tree = moved(FAULTS, minor, folder / "repository")
    flags = {name: tuple(given) for name, given in tree.flags().items()}
    controllers = flags.get("kube-controller-manager", ())
    flags["kube-controller-manager"] = (*controllers, *LIFECYCLE_FLAGS)
    plane = start(minor, folder / "plane", flags, node_lifecycle=True)
    try:
        kubelet = BeatingKubelet(plane.admin, [*CARDS, *PLAIN], waits_for=frozenset({DRIVER}))
        yard = Yard(plane, tree.repository, kubelet)
        yard.apply(tree)
        plane.admin.apply(cluster_admin(OPERATOR, FENCER))
        for space in (TENANT, OTHER):
            wait_for(partial(plane.admin.find, account_of(space)), f"the account of {space}")
        kubelet.start()
        for name in CARDS:
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            plane.admin.patch(node, {"metadata": {"labels": LABELS}})
            driver = NodesDriver(plane.admin, DRIVER, name, cards(name), poll=0.3)
            yard.drivers[name] = driver.start()
    except BaseException:
        plane.stop()
        raise
    return yard


def cards(node: str, gi: int = CARD, least: int = 5) -> list[Object]:
    """The one card of a node, shared in steps."""
    sizes = {"min": f"{least}Gi", "step": "5Gi", "max": f"{gi}Gi"}
    policy = {"default": f"{gi}Gi", "validRange": sizes}
    return [
        {
            "name": "card-0",
            "attributes": {"type": {"string": "card"}, "uuid": {"string": f"card-of-{node}"}},
            "allowMultipleAllocations": True,
            "capacity": {"memory": {"value": f"{gi}Gi", "requestPolicy": policy}},
        }
    ]


def results_of(claim: Object) -> Sequence[Object]:
    allocation = claim.get("status", {}).get("allocation") or {}
    found: Sequence[Object] = allocation.get("devices", {}).get("results", ())
    return found


def ref(one: Object) -> str:
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


def about(one: Object) -> str:
    """As findings name objects."""
    return f"{one['kind']}/{ref(one)}"


def cluster_admin(*users: str) -> Object:
    """The binding by which users may do whatever RBAC can give."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "operators"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "apiGroup": group, "name": user} for user in users],
    }
