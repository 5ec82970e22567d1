"""Drivers' own admission webhooks → ValidatingWebhookConfigurations, where no chart installs them.

Knows where a webhook is served and which requests it must see; what it tests is the driver's.
"""

from __future__ import annotations

from typing import Any

from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.driver import Driver
from dracfg.lower.admission import ADMISSION_API, claim_rule, left_out
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.lower.sync import make_synced
from dracfg.model.driver import Webhook

FILE = "webhooks.yaml"
TIMEOUT_SECONDS = 10
"""The API server's own default; it waits so long for an answer at most."""
INJECT_CA = "cert-manager.io/inject-ca-from"


def webhooks(catalog: Catalog, cluster: Cluster) -> tuple[Artifact, ...]:
    """One configuration for each driver with a webhook whose devices DRA hands out here, by name.

    None where the driver's chart installs it, by its default or by the values that the Driver
    document sets. Every field that the API server would default is written, as Argo CD takes a
    missing one for drift (argo-cd issue 17643: a rule without `scope`). The namespaces kube-system
    and the webhook's own are left out, so that a webhook that is down can't hold up its own start.
    `caBundle` is left to cert-manager where it injects it.
    """
    return tuple(
        _configuration(cluster, driver, driver.document.spec.webhook)
        for driver in catalog.drivers.values()
        if driver.document.spec.webhook is not None
        and _is_used(driver, cluster)
        and not chart_installs(driver)
    )


def chart_installs(driver: Driver) -> bool:
    """Whether the driver's own chart brings the validating webhook, with the values in force."""
    if driver.preset is None:
        return False
    fact = driver.preset.webhook
    if fact.ships not in ("yes", "optional") or fact.kind != "validating":
        return False
    said = _value(driver.document.spec.values, fact.value_path)
    return said if isinstance(said, bool) else fact.default is True


def _is_used(driver: Driver, cluster: Cluster) -> bool:
    """The webhook runs beside the DRA driver, so pools that a device plugin serves don't count."""
    return any(
        devices.tier.driver is driver and pool.owner(driver) == "dra"
        for pool, devices in cluster.offers()
    )


def _configuration(cluster: Cluster, driver: Driver, webhook: Webhook) -> Artifact:
    origin = origin_of(driver.document, "spec", "webhook")
    annotations = {INJECT_CA: webhook.cert_manager} if webhook.cert_manager is not None else {}
    made = make_synced(
        cluster,
        ADMISSION_API,
        "ValidatingWebhookConfiguration",
        f"dracfg-{driver.name}",
        origin,
        {"webhooks": [_webhook(driver, webhook)]},
        annotations=annotations,
    )
    return Artifact(made, FILE, origin)


def _webhook(driver: Driver, webhook: Webhook) -> dict[str, Any]:
    client: dict[str, Any] = {
        "service": {
            "namespace": webhook.service.namespace,
            "name": webhook.service.name,
            "path": webhook.path,
            "port": webhook.port,
        }
    }
    if webhook.ca_bundle is not None:
        client["caBundle"] = webhook.ca_bundle
    return {
        # The API server asks for at least three parts, which not every driver's name has.
        "name": f"{driver.name}.webhooks.dracfg.dev",
        "clientConfig": client,
        "rules": [claim_rule()],
        "failurePolicy": webhook.failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": left_out(["kube-system", webhook.service.namespace]),
        "objectSelector": {},
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }


def _value(values: Any, path: str | None) -> Any:
    """The Helm value at a dotted path, or None."""
    if path is None:
        return None
    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return values
