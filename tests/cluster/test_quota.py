"""What dracfg charges to a quota is what the API server charges, under every key that there is."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import pytest

from dracfg.kube.features import feature_matrix
from dracfg.kube.quantity import Quantity
from dracfg.kube.quota import IMPLICIT_RESOURCE_PREFIX, counts_by_name
from dracfg.policytest.quota import Quotas
from dracfg.policytest.requests import Request, named_namespace
from tests.cluster.client import Client, Object, Refused
from tests.cluster.conftest import MINORS
from tests.cluster.controlplane import ControlPlane, account_of, start
from tests.cluster.drivers import RESOURCE, FakeDriver
from tests.cluster.emitted import COMPONENTS
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.objects import claim, device_class, pod, template
from tests.cluster.processes import wait_for

GATE = "DRAExtendedResource"
CLASS, DRIVER, EXTENDED = "quota-gpu", "quota.example.com", "example.com/quota-gpu"
IMPLICIT = IMPLICIT_RESOURCE_PREFIX + CLASS
CLAIMS = "count/resourceclaims.resource.k8s.io"
TEMPLATES = "count/resourceclaimtemplates.resource.k8s.io"
DEVICES, BY_NAME, BY_CLASS = (
    f"{CLASS}.deviceclass.resource.k8s.io/devices",
    *(f"requests.{name}" for name in (EXTENDED, IMPLICIT)),
)
KEYS = (CLAIMS, TEMPLATES, DEVICES, BY_NAME, BY_CLASS)
LIMIT = 4
PATIENCE = 10
"""Seconds for what the server learns by watching, and for the scheduler to come back to a pod."""


@dataclass
class Site:
    """A control plane with one class whose devices are asked for in every way that it knows."""

    plane: ControlPlane
    extended: bool
    class_object: Object
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    @property
    def admin(self) -> Client:
        return self.plane.admin

    def account_of(self, hard: dict[str, str]) -> Account:
        """A new namespace with one quota."""
        name = f"quota-{next(self.numbers)}"
        self.admin.create(named_namespace(name))
        wait_for(lambda: self.admin.find(account_of(name)), f"the account of {name}")
        quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": hard}}
        quota["metadata"] = {"name": "limits", "namespace": name}
        self.admin.create(quota)
        quotas = Quotas.of([self.class_object, quota], self.plane.minor, extended=self.extended)
        account = Account(self.admin, name, quota, quotas)
        wait_for(account.status, "a counted quota")
        return account


@dataclass
class Account:
    """A namespace with a quota; `charged` is what dracfg says that was taken of it."""

    client: Client
    namespace: str
    quota: Object
    quotas: Quotas
    charged: Counter[str] = field(default_factory=Counter)

    def status(self) -> Object | None:
        status = self.client.read(self.quota).get("status", {})
        return status if status.get("hard") == self.quota["spec"]["hard"] else None

    def used(self) -> dict[str, int]:
        """By the server's count."""
        found = self.client.read(self.quota)["status"].get("used", {})
        hard = self.quota["spec"]["hard"]
        return {key: int(Quantity.parse(found.get(key, "0")).exact) for key in hard}

    def expected(self) -> dict[str, int]:
        return {key: self.charged[key] for key in self.quota["spec"]["hard"]}

    def refusal(self, thing: Object) -> str | None:
        """What dracfg says of one more."""
        request = Request("CREATE", "ann", (), thing, None, named_namespace(self.namespace))
        return self.quotas.refusal(request, self.charged)

    def charge(self, thing: Object, owner: Object | None = None) -> None:
        for key, amount in self.quotas.charges(thing, owner).items():
            assert amount == Fraction(int(amount))
            self.charged[key] += int(amount)

    def create(self, thing: Object) -> str | None:
        """Makes it where the server lets it; the server's message where it does not.

        First tried until the two say the same: quotas and classes are known to the server by watching.
        """
        said = self.refusal(thing)
        deadline = time.monotonic() + PATIENCE
        while self._try(thing, dry_run=True) != said and time.monotonic() < deadline:
            time.sleep(0.1)
        found = self._try(thing)
        if found is None:
            self.charge(thing)
        return found

    def _try(self, thing: Object, *, dry_run: bool = False) -> str | None:
        try:
            self.client.create(thing, dry_run=dry_run)
        except Refused as refused:
            assert refused.code == 403, refused
            return refused.message.partition("is forbidden: ")[2]
        return None


def _planes() -> list[object]:
    gate = feature_matrix().gates[GATE]
    return [
        pytest.param((minor, value), id=f"{minor}-{'extended' if value else 'plain'}")
        for minor in MINORS
        for value in (False, True)
        if value or not gate.at(minor).locked
    ] or [pytest.param(None, id="none")]


@pytest.fixture(scope="module", params=_planes())
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    minor, extended = request.param
    locked = feature_matrix().gates[GATE].at(minor).locked
    gates = () if locked else (f"--feature-gates={GATE}={str(extended).lower()}",)
    folder = tmp_path_factory.mktemp("quota")
    plane = start(minor, folder, dict.fromkeys(COMPONENTS, gates))
    wanted = device_class(CLASS, DRIVER)
    if extended:
        wanted["spec"]["extendedResourceName"] = EXTENDED
    try:
        plane.admin.create(wanted)
        yield Site(plane, extended, wanted)
    finally:
        plane.stop()


@pytest.mark.parametrize("key", KEYS)
def test_claims_and_templates(site: Site, key: str) -> None:
    """Up to the limit and one more; keys that a minor or a gate lacks charge nothing."""
    account = site.account_of({key: str(LIMIT)})
    at = account.namespace
    one_of: Object = claim(at, "one-of", CLASS)
    ways = [
        {"name": name, "deviceClassName": CLASS, "count": n} for name, n in (("a", 2), ("b", 1))
    ]
    one_of["spec"]["devices"]["requests"] = [{"name": "gpu", "firstAvailable": ways}]
    things = [
        claim(at, "one", CLASS),
        template(at, "template", CLASS, count=8),
        one_of,
        claim(at, "all", CLASS, allocationMode="All"),
        claim(at, "two", CLASS, count=2),
        claim(at, "last", CLASS),
        claim(at, "more", CLASS),
        claim(at, "most", CLASS),
        *(template(at, f"template-{number}", CLASS) for number in range(LIMIT)),
        {**claim(at, "nothing", CLASS), "spec": {}},
    ]
    for thing in things:
        said = account.refusal(thing)
        assert account.create(thing) == said, thing["metadata"]["name"]
        assert account.used() == account.expected()
    by_name = site.extended and counts_by_name(site.plane.minor)
    assert account.expected()[key] == (LIMIT if by_name or key not in (BY_NAME, BY_CLASS) else 0)


@pytest.mark.parametrize("name", [EXTENDED, IMPLICIT])
@pytest.mark.parametrize("key", [BY_NAME, BY_CLASS, DEVICES])
def test_pods(site: Site, name: str, key: str) -> None:
    """A pod pays for the names that it asks for, however its devices come."""
    account = site.account_of({key: str(LIMIT)})
    for number, amount in enumerate((1, 2, 2, 1, 1)):
        thing = asking(account.namespace, f"pod-{number}", name, amount)
        thing["spec"]["nodeSelector"] = {"nowhere": "at-all"}
        said = account.refusal(thing)
        assert account.create(thing) == said
        assert account.used() == account.expected()


def test_claims_of_templates(site: Site) -> None:
    """Made by the controller as long as there is room; afterwards the pod has an event instead."""
    account = site.account_of({DEVICES: "1", CLAIMS: "8"})
    admin, at = site.admin, account.namespace
    made = template(at, "template", CLASS)
    assert account.create(made) is None
    assert account.create(pod(at, "first", template="template")) is None
    found = wait_for(
        lambda: admin.list(RESOURCE, "ResourceClaim", at), "the claim of the first pod"
    )
    assert account.refusal(found[0]) is None
    account.charge(found[0])
    assert account.create(pod(at, "second", template="template")) is None
    said = account.refusal(claim(at, "second", CLASS))
    assert said is not None
    wait_for(lambda: _has_event(admin, at, "FailedResourceClaimCreation", said), said, PATIENCE)
    assert len(admin.list(RESOURCE, "ResourceClaim", at)) == 1
    assert account.used() == account.expected()


@pytest.mark.parametrize("name", [EXTENDED, IMPLICIT])
def test_claims_of_the_scheduler(
    site: Site,
    name: str,
    kubelets: Callable[..., FakeKubelet],
    drivers: Callable[..., FakeDriver],
) -> None:
    """Made for pods that ask by name as long as there is room; then the pod waits, and says why."""
    if not site.extended:
        pytest.skip("without the gate the scheduler makes no claims")
    if name == IMPLICIT and not counts_by_name(site.plane.minor):
        pytest.skip("the scheduler of 1.34 knows implicit names only of classes without another")
    admin = site.admin
    kubelets(admin, "quota-node", waits_for=frozenset({DRIVER}))
    drivers(admin, DRIVER, "quota-node", [{"name": f"gpu-{number}"} for number in range(8)])
    account = site.account_of({DEVICES: "2", BY_NAME: "8", BY_CLASS: "8", CLAIMS: "8"})
    at = account.namespace
    for number in range(2):
        asked = asking(at, f"pod-{number}", name, 1)
        assert account.create(asked) is None
        made = wait_for(partial(_claim_of, admin, asked), "the scheduler's claim", 60)
        account.charge(made, asked)
        wait_for(lambda: account.used() == account.expected(), f"{account.expected()}", PATIENCE)
    asked = asking(at, "more", name, 1)
    assert account.create(asked) is None
    said = account.refusal(made)
    assert said is not None
    wait_for(lambda: _has_event(admin, at, "FailedScheduling", said), said, 30)
    assert len(admin.list(RESOURCE, "ResourceClaim", at)) == 2
    assert account.used() == account.expected()


def asking(namespace: str, name: str, resource: str, amount: int) -> Object:
    """A pod whose container asks by name, with all that the server would fill in."""
    asked = pod(namespace, name)
    amounts = {resource: str(amount)}
    asked["spec"]["containers"][0]["resources"] = {"limits": amounts, "requests": amounts}
    return asked


def _claim_of(client: Client, asked: Object) -> Object | None:
    status = client.read(asked)["status"].get("extendedResourceClaimStatus")
    if status is None:
        return None
    namespace = asked["metadata"]["namespace"]
    return client.get(RESOURCE, "ResourceClaim", status["resourceClaimName"], namespace)


def _has_event(client: Client, namespace: str, reason: str, text: str) -> bool:
    events = client.list("v1", "Event", namespace, fieldSelector=f"reason={reason}")
    return any(text in one.get("message", "") for one in events)
