"""One metadata file → what is wrong with it: its place, its bytes, its documents, its owner.

Judges every document of the stream; what a reader would take is the newest that is known.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.metadata.reader import (
    FACTS,
    GROUP,
    MAX_BYTES,
    VERSIONS,
    Fault,
    MetadataError,
    content,
    document_schema,
    documents,
    version_of,
    violations,
)
from dracfg.metafiles.allowlist import beyond_the_list
from dracfg.metafiles.context import Context, Schema
from dracfg.metafiles.locate import Located
from dracfg.metafiles.owners import binding_findings, tier_of

CODES: Mapping[Fault, str] = {
    "absent": "MET030", "unreadable": "MET030", "link": "MET030", "tooLarge": "MET040",
    "empty": "MET032", "halfWritten": "MET033", "encoding": "MET034", "notJSON": "MET034",
    "notAnObject": "MET034", "duplicateKey": "MET035", "tooDeep": "MET036", "number": "MET036",
}  # fmt: skip
_HELP: Mapping[str, str] = {
    "MET030": "only regular files that the driver's library wrote are read; look at the node",
    "MET031": "files have mode 0644 and folders 0755, and belong to root: find out who changed that",
    "MET032": "wait for the driver; where it stays empty, look at the log of the driver on the node",
    "MET033": "read again; where it stays so, its driver died while it wrote: restart it, then the pod",
    "MET034": "whoever wrote this is not the driver's library; make the pod anew",
    "MET035": "whoever wrote this is not the driver's library; make the pod anew",
    "MET036": "whoever wrote this is not the driver's library; make the pod anew",
    "MET037": "upgrade the reader, or set the driver to write an older version as well",
    "MET038": "readers that take the first version they know take an old one; set the driver's list of "
    "versions newest first",
    "MET039": "compare the driver's release with the schema's; compile again where the catalog has moved on",
    "MET040": "raise `deviceMetadata.maxSize` of the tier, or have the driver write less",
    "MET048": "the facts must be the same in each version: restart the driver, then make the pod anew",
    "MET050": "nothing: readers skip it",
}


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """A file, the document that a reader takes (None where there is none), its size, and what is wrong."""

    located: Located
    document: Mapping[str, Any] | None
    size: int
    findings: tuple[Diagnostic, ...]


def judge_file(located: Located, context: Context) -> JudgedFile:
    """Everything about one file that its own bytes, its place and the records can say."""
    found = list(_modes(located))
    data = b""
    try:
        data = content(located.path)
        stream = documents(data)
    except MetadataError as fault:
        code = CODES.get(fault.fault, "MET034")
        found.append(
            _finding(code, _place(located, data, fault.offset), _of(located, fault.detail))
        )
        return JudgedFile(located, None, len(data), tuple(found))
    span = Span(located.path.as_posix())
    found += _versions(located, stream, span)
    known = [one for one in stream if version_of(one) in VERSIONS]
    for one in known:
        found += _document(located, one, context, len(data), span)
    taken = min(known, key=lambda one: VERSIONS.index(str(version_of(one))), default=None)
    if taken is None or any(finding.code == "MET039" for finding in found):
        return JudgedFile(located, None, len(data), tuple(dict.fromkeys(found)))
    found += binding_findings(located, taken, context, span)
    return JudgedFile(located, taken, len(data), tuple(dict.fromkeys(found)))


def _modes(located: Located) -> Iterator[Diagnostic]:
    """MET031: the file or a folder of its claim that group or others may write."""
    for path in (located.path, *located.folders):
        try:
            state = path.lstat()
        except OSError:
            continue
        if not stat.S_ISLNK(state.st_mode) and state.st_mode & 0o022:
            what = "the file" if path == located.path else f"folder {path.name}"
            mode = f"{stat.S_IMODE(state.st_mode):04o}"
            yield _finding(
                "MET031",
                Span(located.path.as_posix()),
                _of(located, f"{what} may be written by others than its owner"),
                found=mode,
            )


def _versions(
    located: Located, stream: Sequence[Mapping[str, Any]], span: Span
) -> Iterator[Diagnostic]:
    versions = [version_of(one) for one in stream]
    known = [version for version in versions if version in VERSIONS]
    if not known:
        said = ", ".join(sorted({str(one or "no version") for one in versions}))
        yield _finding("MET037", span, _of(located, "no version in it is known"), found=said)
    for version in dict.fromkeys(versions):
        if version not in VERSIONS and known:
            named = f"{GROUP}/{version}" if version else "an object of another kind"
            yield _finding("MET050", span, _of(located, f"{named} is skipped"))
    if known != sorted(known, key=VERSIONS.index) or len(set(known)) != len(known):
        yield _finding(
            "MET038",
            span,
            _of(located, "its versions don't stand newest first, once each"),
            found=", ".join(known),
            expected=", ".join(version for version in VERSIONS if version in known),
        )
    facts = [
        {key: value for key, value in one.items() if key != "apiVersion"}
        for one in stream
        if version_of(one) in VERSIONS
    ]
    if any(one != facts[0] for one in facts[1:]):
        keys = sorted(
            {key for one in facts[1:] for key in one if one.get(key) != facts[0].get(key)}
        )
        yield _finding("MET048", span, _of(located, f"its versions differ in {', '.join(keys)}"))


def _document(
    located: Located, document: Mapping[str, Any], context: Context, size: int, span: Span
) -> Iterator[Diagnostic]:
    version = str(version_of(document))
    refused = list(violations(document_schema(version), document))
    driver = _driver(document)
    schemas = context.schemas_for(driver, version, tier_of(located, document, context))
    schema = min(schemas, key=lambda one: sum(1 for _ in violations(one, document)), default=None)
    if schema is not None:
        refused += violations(schema, document)
        most = int(schema[FACTS].get("maxBytes", MAX_BYTES))
        if size > most:
            yield _finding(
                "MET040", span, _of(located, "the file is larger than its tier allows"),
                found=f"{size} bytes", expected=f"at most {most}",
            )  # fmt: skip
    for one in dict.fromkeys(refused):
        yield _finding("MET039", span, _of(located, f"{one} ({version})"))
    if not refused:
        yield from beyond_the_list(
            document, _listed(schema), context.foreign, span, str(located.path.name)
        )


def _listed(schema: Schema | None) -> frozenset[str] | None:
    """The allow-list of a schema; None where there is no schema."""
    part: Any = schema
    for key in ("properties", "requests", "items", "properties", "devices", "items", "properties"):
        part = part.get(key, {}) if isinstance(part, Mapping) else {}
    listed = part.get("attributes", {}).get("properties", {}) if isinstance(part, Mapping) else {}
    return None if schema is None else frozenset(listed)


def _driver(document: Mapping[str, Any]) -> str:
    for request in document.get("requests") or ():
        for device in request.get("devices") or () if isinstance(request, Mapping) else ():
            if isinstance(device, Mapping) and isinstance(device.get("driver"), str):
                return str(device["driver"])
    return ""


def _of(located: Located, message: str) -> str:
    named = {
        "claim": located.claim
        and f"{located.namespace + '/' if located.namespace else ''}{located.claim}",
        "request": located.request,
        "driver": located.driver,
    }
    where = ", ".join(f"{key} {value}" for key, value in named.items() if value)
    return f"{where}: {message}" if where else message


def _place(located: Located, data: bytes, offset: int) -> Span:
    before = data.decode("utf-8", "replace")[:offset]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(located.path.as_posix(), line, column, line, column + 1)


def _finding(
    code: str, span: Span, message: str, *, found: str | None = None, expected: str | None = None
) -> Diagnostic:
    return diagnose(code, span, message, found=found, expected=expected, help=_HELP[code])
