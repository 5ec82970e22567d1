"""Files, folders and CDI specs judged together, and the same as data. Reads nothing but their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diagnostics.render.document import report
from dracfg.metadata.reader import version_of
from dracfg.metafiles.allowlist import attributes, described, typed
from dracfg.metafiles.context import Context
from dracfg.metafiles.host import driver_folders, leftovers, missing, mounts
from dracfg.metafiles.judge import JudgedFile, judge_file
from dracfg.metafiles.locate import locate

KIND = "MetadataReport"
Verdict = Literal["proven", "refuted", "unknown"]


@dataclass(frozen=True, slots=True)
class MetadataReport:
    """Every file that was found, and every finding in the order of files."""

    files: tuple[JudgedFile, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def verdict(self) -> Verdict:
        """refuted with an error, unknown where there was no file to judge, else proven."""
        if any(finding.is_error for finding in self.findings):
            return "refuted"
        return "proven" if self.files else "unknown"


def judge_files(
    paths: Sequence[Path], context: Context, cdi: Iterable[Path] = ()
) -> MetadataReport:
    """Judges files, folders of containers and of nodes; `cdi` are folders of CDI specs."""
    files = [judge_file(one, context) for path in paths for one in locate(path)]
    found = [finding for file in files for finding in file.findings]
    found += leftovers(files, context)
    drivers = {name for path in paths if path.is_dir() for name in driver_folders(path)}
    found += missing(files, drivers, context)
    for folder in cdi:
        found += mounts(folder, context)
    return MetadataReport(tuple(files), tuple(sorted(set(found), key=sort_key)))


def metadata_document(done: MetadataReport) -> dict[str, Any]:
    """The report as JSON: of attributes their key, type, length and digest."""
    return report(
        KIND, done.verdict, done.findings, files=[file_document(file) for file in done.files]
    )


def file_document(file: JudgedFile) -> dict[str, Any]:
    """What one file says, without any attribute's value."""
    where, document = file.located, file.document
    facts: dict[str, Any] = {
        "file": where.path.as_posix(),
        "bytes": file.size,
        "claim": where.claim,
        "request": where.request,
        "driver": where.driver,
    }
    if document is None:
        return {**facts, "version": None, "generation": None, "devices": []}
    head = document["metadata"]
    return {
        **facts,
        "claim": f"{head['namespace']}/{head['name']}",
        "version": version_of(document),
        "generation": head["generation"],
        "devices": [
            {
                "request": request["name"],
                "driver": device["driver"],
                "pool": device["pool"],
                "device": device["name"],
                "networkData": bool(device.get("networkData")),
                "attributes": {
                    key: described(*typed(form))
                    for _, one, key, form in attributes({"requests": [request]})
                    if one is device
                },
            }
            for request in document["requests"]
            for device in request.get("devices", ())
        ],
    }
