"""OBJ023, TEN017, TEN018: tolerations against the rules of Kubernetes, and those that undo a fence.

Source: kubernetes/api@v0.36.3 resource/v1/types.go, DeviceToleration: without a key the operator
must be Exists, and Exists takes no value.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.writers import writers
from dracfg.model.base import at, at_key

FENCE_DOMAINS = ("dracfg.dev",)
"""Domains of the taints by which dracfg keeps work away."""


def contradicts_itself(catalog: Catalog) -> Iterator[Diagnostic]:
    """OBJ023."""
    for tenant in writers(catalog, "tolerations"):
        for i, profile in enumerate(tenant.document.spec.profiles):
            for j, request in enumerate(profile.requests):
                for k, toleration in enumerate(request.tolerations):
                    place = ("spec", "profiles", i, "requests", j, "tolerations", k)
                    if toleration.operator == "Equal" and toleration.key is None:
                        yield diagnose(
                            "OBJ023",
                            at_key(tenant.document, *place[:-1]),
                            "a toleration without a key must have the operator Exists",
                            found=f"operator: {toleration.operator}",
                            expected="operator: Exists, or a key",
                            help="name the key of the taint; `operator: Exists` alone tolerates every "
                            "taint, quarantine included",
                        )
                    elif toleration.operator == "Exists" and toleration.value is not None:
                        yield diagnose(
                            "OBJ023",
                            at(tenant.document, *place, "value"),
                            "a toleration with the operator Exists has no value",
                            found=toleration.value,
                            help="remove the value, or write `operator: Equal`",
                        )


def undoes_a_fence(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN017, TEN018: what keeps a device away from new work must keep every tenant away."""
    for tenant in writers(catalog, "tolerations"):
        for i, profile in enumerate(tenant.document.spec.profiles):
            for j, request in enumerate(profile.requests):
                for k, toleration in enumerate(request.tolerations):
                    place = ("spec", "profiles", i, "requests", j, "tolerations", k)
                    key = toleration.key or ""
                    if key.partition("/")[0] in FENCE_DOMAINS:
                        yield diagnose(
                            "TEN017",
                            at(tenant.document, *place, "key"),
                            f"profile {profile.name} tolerates {key}, which fences devices off",
                            found=key,
                            help="remove the toleration; quarantine and fences hold for every tenant",
                        )
                    elif not key and toleration.operator == "Exists":
                        yield diagnose(
                            "TEN018",
                            at_key(tenant.document, *place[:-1]),
                            f"profile {profile.name} tolerates every taint, quarantine included",
                            help="name the keys of the taints that it may run with",
                        )


TENANT_RULES: tuple[Rule, ...] = (contradicts_itself, undoes_a_fence)
