"""All metadata files of a node beside recorded claims: what is left over, what is missing, how it is mounted.

A claim's files are written when it is prepared and removed when it is unprepared, so both differences
are faults of the driver on the node (KEP-5304).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.metadata.reader import MetadataError, content, documents
from dracfg.metafiles.context import Context
from dracfg.metafiles.judge import JudgedFile
from dracfg.metafiles.owners import STALE

MOUNTED_AT = "/var/run/kubernetes.io/dra-device-attributes/"


def leftovers(files: Sequence[JudgedFile], context: Context) -> Iterator[Diagnostic]:
    """MET046: files that can't be read, below the folder of a claim that is gone."""
    for file in files:
        where = file.located
        if context.claims is None or file.document is not None or where.namespace is None:
            continue
        if where.claim is not None and (where.namespace, where.claim) not in context.claims:
            yield diagnose(
                "MET046",
                Span(where.path.as_posix()),
                f"claim {where.namespace}/{where.claim} does not exist, and a file of it is still there",
                help=STALE,
            )


def missing(
    files: Sequence[JudgedFile], drivers: Iterable[str], context: Context
) -> Iterator[Diagnostic]:
    """MET047: claims that are in use on the node, with devices of a driver that writes files there."""
    if context.claims is None or context.node is None:
        return
    there = {
        (one.located.namespace, one.located.claim, one.located.request, one.located.driver)
        for one in files
    }
    listed = frozenset(drivers)
    said: set[tuple[str, str, str]] = set()
    for (namespace, name), claim in sorted(context.claims.items()):
        if not claim.claim.reserved_for:
            continue
        for result in claim.results:
            driver, request = result.driver, result.request.partition("/")[0]
            key = (claim.ref, request, driver)
            on_node = context.node_of(result.device_id) == context.node
            if driver not in listed or not on_node or key in said:
                continue
            said.add(key)
            if (namespace, name, request, driver) not in there:
                origin = claim.span("metadata", "name")
                yield diagnose(
                    "MET047",
                    origin,
                    f"claim {claim.ref} is in use on {context.node}, and {driver} has no file for request "
                    f"{request}",
                    help="its containers see no metadata until the pod is made anew; look at the driver's "
                    "log from when the claim was prepared",
                )


def driver_folders(path: Path) -> tuple[str, ...]:
    """The drivers that have a folder of metadata files below a plugin folder, or that it is the folder of."""
    if path.name == "dra-device-metadata":
        return (path.absolute().parent.name,)
    return tuple(sorted(one.parent.name for one in path.absolute().rglob("dra-device-metadata")))


def mounts(folder: Path, context: Context) -> Iterator[Diagnostic]:
    """MET049 for mounts that containers could write, MET046 for those of claims that are gone.

    `folder` holds CDI specs; those of other kinds than `<driver>/metadata` are passed over.
    """
    uids = {one.claim.uid for one in (context.claims or {}).values()}
    for path in sorted(folder.glob("*.json")):
        span = Span(path.as_posix())
        try:
            (spec,) = documents(content(path)) or [{}]
        except (MetadataError, ValueError):
            if "metadata" in path.name:
                yield diagnose(
                    "MET030", span, f"CDI spec {path.name} can't be read",
                    help="restart the driver on the node; it writes its specs anew",
                )  # fmt: skip
            continue
        if not str(spec.get("kind", "")).endswith("/metadata"):
            continue
        for device in _maps(spec, "devices"):
            uid, _, request = str(device.get("name", "")).partition("_")
            if context.claims is not None and uid not in uids:
                yield diagnose(
                    "MET046", span, f"CDI device {uid}_{request} is of a claim that does not exist",
                    help=STALE,
                )  # fmt: skip
            for mount in _maps(device.get("containerEdits", {}), "mounts"):
                options = mount.get("options")
                at = str(mount.get("containerPath", ""))
                if not isinstance(options, list) or "ro" not in options or "rw" in options:
                    yield diagnose(
                        "MET049",
                        span,
                        f"CDI device {uid}_{request} mounts its file so that containers may write it",
                        found=json.dumps(options),
                        expected='["ro", "bind"]',
                        help="upgrade the driver: its library mounts files read-only",
                    )
                if not at.startswith(MOUNTED_AT):
                    yield diagnose(
                        "MET049",
                        span,
                        f"CDI device {uid}_{request} mounts its file where readers don't look",
                        found=at,
                        expected=f"below {MOUNTED_AT}",
                        help="upgrade the driver: the path moved between alpha and beta",
                    )


def _maps(data: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    listed = data.get(key) if isinstance(data, Mapping) else None
    if isinstance(listed, list):
        yield from (one for one in listed if isinstance(one, Mapping))
