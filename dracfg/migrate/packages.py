"""What kind of file holds workloads: a manifest that is edited, or a part of a chart or kustomization."""

from __future__ import annotations

import posixpath

from dracfg.diagnostics import Diagnostic
from dracfg.migrate.charts import covered, migrate_template, migrate_values
from dracfg.migrate.kustomize import NAMES, Read, migrate_kustomization
from dracfg.migrate.manifest import normal, read_manifest
from dracfg.migrate.migration import migrate_file
from dracfg.migrate.result import FileResult
from dracfg.migrate.tenancy import Tenancy
from dracfg.source.reader import decode

_CHART = "Chart.yaml"
SUFFIXES = (".yaml", ".yml", ".json")


def migrate_path(path: str, data: bytes, tenancy: Tenancy, read: Read) -> FileResult:
    """What comes of a file, by what it belongs to; `read` gives other files of its folders."""
    if posixpath.basename(path) in NAMES:
        return migrate_kustomization(path, data, tenancy, read)
    raw = decode(data, path)
    if isinstance(raw, Diagnostic):
        return FileResult(path, "left", data, data, (raw,))
    place = _in_chart(path, read)
    if place == _CHART:
        return FileResult(path, "unchanged", data, data)
    if place is not None and place.startswith("values"):
        return migrate_values(path, data, raw, tenancy)
    is_template = place is not None and place.startswith("templates/")
    if "{{" in raw and (is_template or _reads_only_covered(path, raw)):
        return migrate_template(path, data, raw, tenancy)
    return migrate_file(path, data, tenancy)


def _in_chart(path: str, read: Read) -> str | None:
    """The path of a file in the chart that it is of; None where it is of none."""
    folder = path
    while (folder := posixpath.dirname(folder)) not in ("", "/") or folder == "":
        if read(posixpath.join(folder, _CHART)) is not None:
            return posixpath.relpath(path, folder or ".")
        if folder == "":
            return None
    return None


def _reads_only_covered(path: str, raw: str) -> bool:
    """Whether a file is no YAML as it stands, and is some with its actions covered."""
    return not read_manifest(path, normal(raw)).is_sound and bool(
        read_manifest(path, normal(covered(raw))).record.objects
    )
