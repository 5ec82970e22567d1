"""Records made of a few words, and the drafts of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.diagnostics import Diagnostic
from dracfg.draft.draft import Draft, draft_of
from dracfg.draft.recording import read_recording
from dracfg.draft.repository import repository_files
from dracfg.pipeline import judge
from dracfg.source.records import Record, parse_record, read_record

DATA = Path(__file__).parents[2] / "data"
PUBLISHED = (*(DATA / "real").glob("legacy-*/*.yaml"), *(DATA / "legacy").glob("*/*.yaml"))


def folders() -> dict[str, list[Path]]:
    """The published files by ecosystem, those of both folders together."""
    found: dict[str, list[Path]] = {}
    for path in sorted(PUBLISHED):
        found.setdefault(path.parent.name, []).append(path)
    return found


def node(
    name: str,
    served: Mapping[str, int],
    labels: Mapping[str, str] | None = None,
    version: str = "v1.36.1",
) -> dict[str, Any]:
    amounts = {key: str(count) for key, count in served.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "nodeInfo": {"kubeletVersion": version},
        },
    }


def deployment(
    name: str,
    limits: Mapping[str, int | str],
    replicas: int = 1,
    namespace: str = "team",
    **spec: Any,
) -> dict[str, Any]:
    container = {"name": "main", "image": "example", "resources": {"limits": dict(limits)}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container], **spec}}},
    }


def record(*objects: Mapping[str, Any], path: str = "dump.yaml") -> Record:
    return parse_record(path, yaml.safe_dump_all(objects, sort_keys=False))[0]


def draft(*objects: Mapping[str, Any], server: str | None = None) -> Draft:
    recording = read_recording([record(*objects)])[0]
    return draft_of(recording, "lab", server)


def files_of(
    records: Sequence[Record], faults: Sequence[Diagnostic] = (), name: str = "lab"
) -> dict[str, str]:
    recording = read_recording(records, faults)[0]
    return repository_files(draft_of(recording, name), recording)


def files(*objects: Mapping[str, Any]) -> dict[str, str]:
    return files_of([record(*objects)])


def read(paths: Sequence[Path]) -> tuple[list[Record], list[Diagnostic]]:
    found = [read_record(path.parent, path.name) for path in paths]
    return [one for one, _ in found], [fault for _, faults in found for fault in faults]


@pytest.fixture
def errors_in(tmp_path: Path) -> Callable[[Mapping[str, str]], list[Diagnostic]]:
    """What `dracfg check` has against a draft."""

    def check(written: Mapping[str, str]) -> list[Diagnostic]:
        for name, text in written.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [finding for finding in judge(tmp_path).findings if finding.is_error]

    return check
