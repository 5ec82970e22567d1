"""The dry run of a tree: each object is sent as if it were applied, and nothing is kept.

A server-side apply with `dryRun=All`, not forced: what another manager holds is a conflict, unless
that is the cluster's own engine, which will write it. Knows what is asked, not how it is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.objects import ObjectKey
from dracfg.link.catalog import Cluster
from dracfg.live.comparison import differences
from dracfg.live.connection import Answer, Connection
from dracfg.live.discovery import Discovery, Refused, Resource
from dracfg.live.managers import engine_managers
from dracfg.live.refusals import Refusal, read_refusal
from dracfg.live.tree import Manifest

FIELD_MANAGER = "dracfg"

_APPLY = "application/apply-patch+yaml"
_POLICY_KINDS = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
_QUOTA_SAYS = "exceeded quota"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a server says to one object: accepted where it is served and nothing is refused.

    `unsettled` is an object under `out/` that the refusal rests on and that is not on the cluster
    as it would be after a sync.
    """

    manifest: Manifest
    served: bool = True
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    unsettled: Manifest | None = None

    @property
    def is_accepted(self) -> bool:
        return self.served and not self.refusals


def dry_run(
    discovery: Discovery, cluster: Cluster, manifests: Sequence[Manifest], manager: str
) -> Iterator[Outcome]:
    """The outcome of each object in the order given. Raises Unanswered."""
    connection = discovery.connection
    guards = _Guards(discovery, {manifest.key: manifest for manifest in manifests})
    friends = engine_managers(cluster.document.spec.gitops.engine) | {manager}
    for manifest in manifests:
        try:
            resource = discovery.resource(manifest.key.api_version, manifest.key.kind)
        except Refused as refused:
            yield Outcome(manifest, refusals=(read_refusal(refused.answer),))
            continue
        if resource is None:
            yield Outcome(manifest, served=False)
            continue
        outcome = _applied(connection, resource, manifest, manager, friends)
        denials = [one for one in outcome.refusals if one.why == "admission"]
        unsettled = guards.unsettled(manifest, denials[0]) if denials else None
        yield replace(outcome, unsettled=unsettled)


def _applied(
    connection: Connection,
    resource: Resource,
    manifest: Manifest,
    manager: str,
    friends: frozenset[str],
) -> Outcome:
    """One object, asked once more by force where fields conflict: admission comes after that."""
    answer = _apply(connection, resource, manifest, manager, force=False)
    said = dict.fromkeys(answer.warnings)
    refusals: list[Refusal] = []
    if not answer.is_good:
        refusal = read_refusal(answer)
        if refusal.why == "conflict":
            foreign = tuple(cause for cause in refusal.causes if cause.manager not in friends)
            if foreign:
                refusals.append(replace(refusal, causes=foreign))
            answer = _apply(connection, resource, manifest, manager, force=True)
            said |= dict.fromkeys(answer.warnings)
        if not answer.is_good:
            refusals.append(read_refusal(answer))
    return Outcome(manifest, refusals=tuple(refusals), warnings=tuple(said))


def _apply(
    connection: Connection, resource: Resource, manifest: Manifest, manager: str, *, force: bool
) -> Answer:
    key = manifest.key
    return connection.ask(
        "PATCH",
        resource.path(key.namespace, key.name),
        query={
            "dryRun": "All",
            "fieldManager": manager,
            "fieldValidation": "Strict",
            "force": str(force).lower(),
        },
        # Every JSON document is a YAML document.
        body=json.dumps(manifest.object, default=float).encode(),
        content_type=_APPLY,
    )


def live_object(
    connection: Connection, resource: Resource, key: ObjectKey
) -> Mapping[str, Any] | None:
    """The object as it stands on the cluster, None where it does not. Raises Refused, Unanswered."""
    answer = connection.get(resource.path(key.namespace, key.name))
    if answer.status == 404:
        return None
    if not answer.is_good or not isinstance(answer.body.get("metadata"), dict):
        raise Refused(answer)
    return answer.body


class _Guards:
    """Tells whether what a denial rests on is live as it stands under `out/`.

    Admission judges by the live Namespace, quota and policies. Where the same sync changes those
    first, a denial before it says nothing of what comes after.
    """

    def __init__(self, discovery: Discovery, manifests: Mapping[ObjectKey, Manifest]) -> None:
        self._discovery = discovery
        self._manifests = manifests
        self._settled: dict[ObjectKey, bool] = {}

    def unsettled(self, manifest: Manifest, denial: Refusal) -> Manifest | None:
        """The first guard behind a denial that is not live as it will be."""
        about_quota = _QUOTA_SAYS in denial.message

        def guards(key: ObjectKey) -> bool:
            if key.kind in _POLICY_KINDS:
                return denial.by in (key.name, self._manifests[key].object.get("policyName"))
            if key.kind == "ResourceQuota":
                return about_quota and key.namespace == manifest.key.namespace
            return key.kind == "Namespace" and key.name == manifest.key.namespace

        return self._first(guards, manifest.key)

    def _first(self, guards: Callable[[ObjectKey], bool], own: ObjectKey) -> Manifest | None:
        for key, manifest in self._manifests.items():
            if key != own and guards(key) and not self._is_settled(manifest):
                return manifest
        return None

    def _is_settled(self, manifest: Manifest) -> bool:
        if manifest.key not in self._settled:
            self._settled[manifest.key] = self._compare(manifest)
        return self._settled[manifest.key]

    def _compare(self, manifest: Manifest) -> bool:
        key = manifest.key
        try:
            resource = self._discovery.resource(key.api_version, key.kind)
            if resource is None:
                return True
            live = live_object(self._discovery.connection, resource, key)
        except Refused:
            return True
        return live is not None and not differences(manifest.object, live)
