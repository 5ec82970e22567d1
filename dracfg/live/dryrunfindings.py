"""Outcomes of a dry run → findings at the places in the sources that objects come from.

What concerns many objects is told once, with a count. Knows no server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.objects import ObjectKey
from dracfg.link.catalog import Cluster
from dracfg.live.dryrun import Outcome
from dracfg.live.fieldpaths import Steps, resolve, written
from dracfg.live.outcomes import rights_finding
from dracfg.live.places import Places
from dracfg.live.refusals import Refusal, Right
from dracfg.live.tree import Manifest

_OF_WHO_ASKS = ("TEN02", "TEN036", "TEN037")
"""How refusals begin that look at who writes an object, not at what is in it."""
MOST_FIELDS = 5
"""Fields that one finding names."""


def dry_run_findings(
    outcomes: Sequence[Outcome], cluster: Cluster, places: Places
) -> Iterator[Diagnostic]:
    """Every finding of a dry run, those of single objects first."""
    for outcome in outcomes:
        for refusal in outcome.refusals:
            yield from _of_object(outcome, refusal, cluster, places)
        for text in outcome.warnings:
            yield diagnose(
                "LIV014",
                places.place(outcome.manifest),
                f"the API server warns: {text}",
                label=outcome.manifest.name,
                related=places.related(outcome.manifest),
                help="what is warned of today is often refused by a later minor",
            )
    yield from _rights(outcomes, cluster)
    yield from _not_served(outcomes, cluster, places)
    yield from _waiting(outcomes, cluster, places)


def _of_object(
    outcome: Outcome, refusal: Refusal, cluster: Cluster, places: Places
) -> Iterator[Diagnostic]:
    manifest = outcome.manifest
    match refusal.why:
        case "conflict":
            yield _conflict(manifest, refusal, places)
        case "immutable":
            fields = _fields(manifest, refusal)
            yield _at_field(
                "LIV011",
                manifest,
                fields,
                places,
                f"{manifest.name} can't be changed in place: {_named(fields, refusal)}",
                "give it a new name, or delete the live one when nothing uses it any more",
            )
        case "invalid":
            yield _at_field(
                "LIV010",
                manifest,
                _fields(manifest, refusal),
                places,
                f"the API server refuses {manifest.name}: {_without_head(refusal.message)}",
                "see that the server has the minor and the feature gates that the Cluster says: "
                f"dracfg show cluster/{cluster.name}",
            )
        case "admission":
            yield _denied(outcome, refusal, cluster, places)
        case "grants":
            yield _at_field(
                "LIV009",
                manifest,
                (),
                places,
                f"the user may not write {manifest.name}, which grants what they do not hold",
                f"the role of the applier allows it: gitops/snippets/applier-{cluster.name}.yaml",
            )
        case "undecided":
            yield _at_field(
                "LIV019",
                manifest,
                (),
                places,
                f"{manifest.name} could not be judged: {_without_head(refusal.message)}",
                "try again; a webhook that is down, or knows no dry run, answers like this",
            )


def _denied(outcome: Outcome, refusal: Refusal, cluster: Cluster, places: Places) -> Diagnostic:
    manifest, by = outcome.manifest, refusal.by or "admission"
    if outcome.unsettled is not None:
        return diagnose(
            "LIV017",
            places.place(manifest),
            f"{by} refuses {manifest.name} for now: {refusal.message}",
            label=f"{outcome.unsettled.name} is not live as it stands in out/",
            related=[
                Related(places.place(outcome.unsettled), "what the refusal rests on"),
                *places.related(manifest),
            ],
            help="sync the guards, then verify again",
        )
    return diagnose(
        "LIV012",
        places.place(manifest),
        f"{by} refuses {manifest.name}: {refusal.message}",
        related=places.related(manifest),
        help=f"ask as {_applier(cluster)}, which may"
        if refusal.message.startswith(_OF_WHO_ASKS)
        else "mend what the message names, in the catalog or in the policy",
    )


def _applier(cluster: Cluster) -> str:
    applier = cluster.document.spec.gitops.applier
    if applier is None:
        return "the applier"
    account = applier.service_account
    return f"system:serviceaccount:{account.namespace}:{account.name}"


def _conflict(manifest: Manifest, refusal: Refusal, places: Places) -> Diagnostic:
    managers = dict.fromkeys(cause.manager for cause in refusal.causes)
    fields = _fields(manifest, refusal)
    return _at_field(
        "LIV013",
        manifest,
        fields,
        places,
        f"{_listed(managers)} manages fields of {manifest.name} with other values: "
        f"{_named(fields, refusal)}",
        "take the change back there, or make it in the catalog; the next sync of an engine that "
        "forces conflicts undoes it without a word",
    )


def _at_field(
    code: str,
    manifest: Manifest,
    fields: Sequence[Steps],
    places: Places,
    message: str,
    advice: str,
) -> Diagnostic:
    first = fields[0] if fields else ()
    return diagnose(
        code,
        places.place(manifest, first),
        message,
        related=places.related(manifest, first),
        help=advice,
    )


def _fields(manifest: Manifest, refusal: Refusal) -> tuple[Steps, ...]:
    """The fields that a refusal names, as far as the object has them."""
    found = (resolve(manifest.object, cause.field) for cause in refusal.causes if cause.field)
    return tuple(dict.fromkeys(found))


def _named(fields: Sequence[Steps], refusal: Refusal) -> str:
    names = [written(steps) for steps in fields if steps]
    return listed_fields(names) if names else _without_head(refusal.message)


def listed_fields(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - MOST_FIELDS
    return ", ".join(names[:MOST_FIELDS]) + (f" and {more:,} more" if more > 0 else "")


def _listed(managers: Iterable[str]) -> str:
    return listed_fields(list(managers))


def _without_head(message: str) -> str:
    """A message without the name of the object that it begins with; the finding names it."""
    for mark in (" is invalid: ", " is forbidden: "):
        head, found, rest = message.partition(mark)
        if found and "\n" not in head and len(head) < 300:
            return rest
    return message


def _rights(outcomes: Iterable[Outcome], cluster: Cluster) -> Iterator[Diagnostic]:
    """One finding a verb and resource, whatever the namespaces."""
    lacking: Counter[Right] = Counter()
    spaces: dict[Right, set[str]] = {}
    for outcome in outcomes:
        for refusal in outcome.refusals:
            if refusal.right is not None:
                right = replace(refusal.right, namespace="")
                lacking[right] += 1
                spaces.setdefault(right, set()).add(refusal.right.namespace)
    for right, count in lacking.items():
        inside = spaces[right]
        shown = replace(right, namespace=next(iter(inside))) if len(inside) == 1 else right
        yield rights_finding(cluster, shown, count)


def _not_served(
    outcomes: Iterable[Outcome], cluster: Cluster, places: Places
) -> Iterator[Diagnostic]:
    missing: dict[tuple[str, str], list[Manifest]] = {}
    for outcome in outcomes:
        if not outcome.served:
            key = outcome.manifest.key
            missing.setdefault((key.api_version, key.kind), []).append(outcome.manifest)
    for (api_version, kind), manifests in missing.items():
        yield diagnose(
            "LIV015",
            places.place(manifests[0]),
            f"{_objects(manifests)} not checked: {cluster.name} serves no {kind} of {api_version}",
            label=manifests[0].name,
            related=places.related(manifests[0]),
            help="install what serves it, or have the control plane serve it, and verify again",
        )


def _waiting(outcomes: Sequence[Outcome], cluster: Cluster, places: Places) -> Iterator[Diagnostic]:
    """What names a namespace, or another object, that is not on the cluster yet."""
    in_tree: dict[tuple[str, bool], Manifest] = {}
    for outcome in outcomes:
        key: ObjectKey = outcome.manifest.key
        in_tree.setdefault((key.name, key.kind == "Namespace"), outcome.manifest)
    waiting: dict[tuple[str, bool], list[Manifest]] = {}
    for outcome in outcomes:
        for refusal in outcome.refusals:
            if refusal.why in ("namespace", "missing"):
                what = (refusal.by, refusal.why == "namespace")
                waiting.setdefault(what, []).append(outcome.manifest)
    for (name, is_namespace), manifests in waiting.items():
        thing = f"namespace {name}" if is_namespace else name
        comes = in_tree.get((name, is_namespace))
        span: Span = places.place(comes or manifests[0])
        yield diagnose(
            "LIV016",
            span,
            f"{_objects(manifests)} not checked in full: {thing} is not on {cluster.name} yet",
            label="the first sync makes it" if comes else manifests[0].name,
            related=places.related(comes or manifests[0]),
            help="verify again after the sync of the guards"
            if comes
            else "nothing in out/ makes it; whoever owns it must do so first",
        )


def _objects(manifests: Sequence[Manifest]) -> str:
    count = len(manifests)
    return f"{manifests[0].name} is" if count == 1 else f"{count:,} objects are"
