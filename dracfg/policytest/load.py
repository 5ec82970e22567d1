"""tests/policy/ → policy tests with their objects, every fault of a file as a finding.

A test's object may lie in a file of its own beside it; such a file is no test.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose, did_you_mean, sort_key
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import K8sObject
from dracfg.model.base import at, at_key
from dracfg.model.kinds import TEST_KINDS, PolicyTest
from dracfg.model.parse import parse_document
from dracfg.source import SourceFile, read_file, read_trees
from dracfg.source.records import Record, read_record

TESTS = "tests/policy"


@dataclass(frozen=True, slots=True)
class LoadedTest:
    """A policy test; `object` and `old` are what it says of them, None where it says nothing."""

    document: PolicyTest
    object: K8sObject | None
    old: K8sObject | None

    @property
    def name(self) -> str:
        return self.document.name


@dataclass(frozen=True, slots=True)
class LoadedTests:
    """The tests that could be understood, what is wrong with others, and the lines of any file."""

    tests: tuple[LoadedTest, ...]
    findings: tuple[Diagnostic, ...]
    lines: Callable[[str], Sequence[str]]


def load_tests(
    root: Path, paths: Iterable[str] = (), catalog: Catalog | None = None
) -> LoadedTests:
    """The tests below tests/policy/ of `root`, or those of the named files, in the order of paths.

    `paths` are relative to `root`. With a catalog, tests of clusters that it lacks are findings.
    """
    named = tuple(paths)
    files: dict[str, SourceFile] = {}
    faults: list[Diagnostic] = []
    if named:
        for path in named:
            file, unread = read_file(root, path)
            faults += unread
            if file is not None:
                files[path] = file
    else:
        sources = read_trees(root, (TESTS,))
        files |= sources.files
        faults += sources.faults
    parsed, wrong = _parse(files.values())
    held = {_beside(test, test.spec.object_file) for test in parsed if test.spec.object_file}
    faults = [
        fault
        for fault in (*faults, *wrong)
        if named or fault.span is None or fault.span.path not in held
    ]
    records: dict[str, Record] = {}
    tests: list[LoadedTest] = []
    names: set[str] = set()
    for document in parsed:
        test, found = _load(root, document, records)
        faults += found
        faults += _twice(document, names)
        if catalog is not None and document.spec.cluster not in catalog.clusters:
            faults.append(_unknown_cluster(document, catalog))
        elif test is not None:
            tests.append(test)
    return LoadedTests(
        tuple(tests), tuple(sorted(set(faults), key=sort_key)), _lines(files, records)
    )


def _parse(files: Iterable[SourceFile]) -> tuple[list[PolicyTest], list[Diagnostic]]:
    tests: list[PolicyTest] = []
    faults: list[Diagnostic] = []
    for file in files:
        for document in file.documents:
            made = parse_document(document, TEST_KINDS)
            if isinstance(made, list):
                faults += made
            else:
                tests.append(made)
    return tests, faults


def _twice(document: PolicyTest, names: set[str]) -> list[Diagnostic]:
    if document.name not in names:
        names.add(document.name)
        return []
    return [
        diagnose(
            "REF002",
            at(document, "metadata", "name"),
            f"there are two PolicyTests {document.name}",
            found=document.name,
        )
    ]


def _unknown_cluster(document: PolicyTest, catalog: Catalog) -> Diagnostic:
    name = document.spec.cluster
    near = did_you_mean(name, catalog.clusters)
    return diagnose(
        "REF001",
        at(document, "spec", "cluster"),
        f"there is no Cluster {name}",
        found=name,
        help=f"did you mean {near}?" if near else None,
        fix=near,
    )


def _load(
    root: Path, document: PolicyTest, records: dict[str, Record]
) -> tuple[LoadedTest | None, list[Diagnostic]]:
    spec = document.spec
    if (spec.object is None) == (spec.object_file is None):
        text = "a test has either object or objectFile"
        return None, [diagnose("MOD005", at_key(document, "spec"), text)]
    if spec.object_file is None:
        thing = _plain(spec.object)
        faults: list[Diagnostic] = []
    else:
        thing, faults = _from_file(root, document, records)
    old = None if spec.old_object is None else _plain(spec.old_object)
    for found, key in ((thing, "object"), (old, "oldObject")):
        if found is not None and not all(
            isinstance(found.get(part), kind)
            for part, kind in (("apiVersion", str), ("kind", str), ("metadata", dict))
        ):
            text = "an object has apiVersion, kind and metadata"
            faults = [*faults, diagnose("MOD005", at_key(document, "spec", key), text)]
    if thing is None or faults:
        return None, faults
    return LoadedTest(document, thing, old), []


def _from_file(
    root: Path, document: PolicyTest, records: dict[str, Record]
) -> tuple[K8sObject | None, list[Diagnostic]]:
    """The one object of the file that the test names."""
    path = _beside(document, document.spec.object_file or "")
    if path not in records:
        record, faults = read_record(root, path)
        if faults:
            place = at(document, "spec", "objectFile")
            return None, [diagnose("SRC001", place, f"{path}: {fault.message}") for fault in faults]
        records[path] = record
    objects = records[path].objects
    if len(objects) != 1:
        text = f"{path} holds {len(objects)} objects, a test sends one"
        return None, [diagnose("MOD006", at(document, "spec", "objectFile"), text)]
    made: K8sObject = _plain(objects[0].data)
    return made, []


def _beside(document: PolicyTest, name: str) -> str:
    folder = posixpath.dirname(document.source_path)
    return posixpath.normpath(posixpath.join(folder, name))


def _plain(value: Any) -> Any:
    """JSON data: lists for tuples, int or float for decimal numbers."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _lines(
    files: Mapping[str, SourceFile], records: Mapping[str, Record]
) -> Callable[[str], Sequence[str]]:
    texts = {path: record.text for path, record in records.items()}
    texts |= {path: file.text for path, file in files.items()}
    return lambda path: texts.get(path, "").split("\n")
