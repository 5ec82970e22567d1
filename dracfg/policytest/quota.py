"""What an object is charged against the ResourceQuotas of its namespace, and whether it fits.

Source: kubernetes/kubernetes@v1.36.3: pkg/quota/v1/evaluator/core/resource_claims.go and pods.go;
kubernetes/apiserver pkg/admission/plugin/resourcequota (the words of a refusal). Objects of
generated claims are charged when they are made, not with the pod or the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.kube.quota import IMPLICIT_RESOURCE_PREFIX, counts_by_name, quota_keys
from dracfg.lower.artifact import K8sObject
from dracfg.policytest.requests import Request
from dracfg.policytest.versions import converted

ALL_DEVICES = 32
"""What `allocationMode: All` counts as (AllocationResultsMaxSize, resource/v1/types.go)."""

Charges = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Quotas:
    """The quotas of one cluster. `extended_names` are by class; `extended` is DRAExtendedResource."""

    objects: tuple[K8sObject, ...]
    extended_names: Mapping[str, str]
    minor: str
    extended: bool

    @classmethod
    def of(cls, objects: Iterable[K8sObject], minor: str, *, extended: bool) -> Quotas:
        """The quotas and the classes' names among objects."""
        listed = tuple(objects)
        names = {
            thing["metadata"]["name"]: thing["spec"]["extendedResourceName"]
            for thing in listed
            if thing["kind"] == "DeviceClass" and "extendedResourceName" in thing["spec"]
        }
        quotas = tuple(thing for thing in listed if thing["kind"] == "ResourceQuota")
        return cls(quotas, names, minor, extended)

    def refusal(self, request: Request, used: Mapping[str, int]) -> str | None:
        """The first quota that a new object exceeds, in the API server's words; None where it fits.

        `used` is what the namespace holds before, by key; what is not named is 0.
        """
        if request.operation != "CREATE" or request.namespace is None or request.subresource:
            return None
        thing = request.subject
        charges = self.charges(thing)
        for quota in self.objects:
            if quota["metadata"]["namespace"] != request.namespace_name or not _covers(
                quota, thing
            ):
                continue
            hard = {
                key: Quantity.parse(text).exact
                for key, text in quota["spec"].get("hard", {}).items()
            }
            over = [
                key
                for key in sorted(hard)
                if charges.get(key, 0) and charges[key] + used.get(key, 0) > hard[key]
            ]
            if over:
                asked = _listed({key: charges[key] for key in over})
                held = _listed({key: Fraction(used.get(key, 0)) for key in over})
                limits = _listed({key: hard[key] for key in over})
                return (
                    f"exceeded quota: {quota['metadata']['name']}, requested: {asked}, "
                    f"used: {held}, limited: {limits}"
                )
        return None

    def charges(self, thing: K8sObject, owner: K8sObject | None = None) -> Charges:
        """What an object is charged, by quota key.

        `owner` is the pod that the scheduler makes a claim for: what the pod pays for under the
        name of an extended resource, its claim does not pay for again under that name.
        """
        match thing["kind"]:
            case "ResourceClaim":
                devices = self._devices(converted(thing, "v1"))
                paid = {} if owner is None else self._pod(owner)
                left = {key: amount - paid.get(key, 0) for key, amount in devices.items()}
                claims = {"count/resourceclaims.resource.k8s.io": Fraction(1)}
                return claims | {key: amount for key, amount in left.items() if amount > 0}
            case "ResourceClaimTemplate":
                return {"count/resourceclaimtemplates.resource.k8s.io": Fraction(1)}
            case "Pod":
                return self._pod(thing)
        return {}

    def _devices(self, claim: K8sObject) -> dict[str, Fraction]:
        found: Counter[str] = Counter()
        for request in claim.get("spec", {}).get("devices", {}).get("requests", ()):
            most: dict[str, int] = {}
            asks = (
                [request["exactly"]] if "exactly" in request else request.get("firstAvailable", ())
            )
            for ask in asks:
                name = str(ask.get("deviceClassName", ""))
                most[name] = max(most.get(name, 0), _count(ask))
            by_name = self.extended and counts_by_name(self.minor)
            for name, number in most.items():
                for key in quota_keys(name, self.extended_names.get(name), self.minor, by_name):
                    found[key] += number
        return {key: Fraction(number) for key, number in found.items()}

    def _pod(self, pod: K8sObject) -> dict[str, Fraction]:
        """A pod counts as one, and with the larger of what runs together and the largest single start."""
        spec = pod.get("spec", {})
        running: Counter[str] = Counter()
        for container in spec.get("containers", ()):
            running.update(_requests(container))
        first: dict[str, Fraction] = {}
        for container in spec.get("initContainers", ()):
            asked = _requests(container)
            if container.get("restartPolicy") == "Always":
                running.update(asked)
            for name, amount in asked.items():
                first[name] = max(first.get(name, Fraction(0)), amount)
        totals = {
            name: max(Fraction(running.get(name, 0)), first.get(name, Fraction(0)))
            for name in {*running, *first}
        }
        found = {
            f"requests.{name}": amount
            for name, amount in totals.items()
            if counts_by_name(self.minor) or not name.startswith(IMPLICIT_RESOURCE_PREFIX)
        }
        return {"pods": Fraction(1), "count/pods": Fraction(1), **found}


def _count(ask: Mapping[str, Any]) -> int:
    return ALL_DEVICES if ask.get("allocationMode") == "All" else int(ask.get("count", 1))


def _requests(container: Mapping[str, Any]) -> dict[str, Fraction]:
    asked = (container.get("resources") or {}).get("requests") or {}
    return {name: Quantity.parse(str(amount)).exact for name, amount in asked.items()}


def _covers(quota: K8sObject, thing: K8sObject) -> bool:
    """Whether the quota's scopes take the object in; only those of priority classes are followed."""
    terms = list(_terms(quota))
    if not terms:
        return True
    name = thing.get("spec", {}).get("priorityClassName") if thing["kind"] == "Pod" else None
    return all(_meets(term, name) for term in terms)


def _terms(quota: K8sObject) -> Iterator[Mapping[str, Any]]:
    spec = quota["spec"]
    yield from ({"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes", ()))
    yield from spec.get("scopeSelector", {}).get("matchExpressions", ())


def _meets(term: Mapping[str, Any], priority: str | None) -> bool:
    if term["scopeName"] != "PriorityClass":
        return False
    match term["operator"]:
        case "In":
            return priority in term.get("values", ())
        case "NotIn":
            return priority is not None and priority not in term.get("values", ())
        case "DoesNotExist":
            return priority is None
        case _:
            return priority is not None


def _listed(amounts: Mapping[str, Fraction]) -> str:
    return ",".join(f"{key}={_text(amounts[key])}" for key in sorted(amounts))


def _text(amount: Fraction) -> str:
    return str(Quantity(int(amount * 10**9)))
