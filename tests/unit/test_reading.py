"""What is read is the same, whoever reads it, and whenever they began."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dracfg import aside
from dracfg.model.kept import parse_files
from dracfg.reading import begin, read
from dracfg.source.seen import Seen
from dracfg.source.tree import DiskTree

TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {{name: t{0}}}
spec:
  namespaces: [{{name: t{0}-a, clusters: [east]}}]
  entitlements: [{{name: gpu, tier: a100, guaranteed: 1}}]
"""
FAULTS = {7: "a: [\n", 70: "!!map {a: 1}\n", 130: "\ufeffa: 1\n", 150: "a:\r\n  b\r\n"}


@pytest.fixture
def tree(tmp_path: Path) -> DiskTree:
    folder = tmp_path / "tenants"
    folder.mkdir()
    for i in range(200):
        (folder / f"{i:03}.yaml").write_text(FAULTS.get(i, TENANT.format(i)), newline="")
    return DiskTree(tmp_path)


def _same(tree: DiskTree, begun_by: int | None) -> None:
    alone, shared = Seen(), Seen()
    expected = read(tree, alone)
    begun = None if begun_by is None else begin(tree, Seen(), begun_by)
    found = read(tree, shared, 3, begun)
    assert list(found.files) == list(expected.files)
    assert found.faults == expected.faults
    assert len(found.faults) >= len(FAULTS) - 1
    assert [file.kept for file in found.files.values()] == [
        file.kept for file in expected.files.values()
    ]
    models = parse_files(found.files.values(), shared)
    assert models == parse_files(expected.files.values(), alone)
    assert models.documents


@pytest.mark.parametrize("begun_by", [None, 1, 2, 4])
def test_files_read_by_several_processes_are_the_same(tree: DiskTree, begun_by: int | None) -> None:
    _same(tree, begun_by)


def test_files_of_a_process_that_ends_are_read_here(
    tree: DiskTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, serve = os.getpid(), aside.Shared._done

    def done(self: object, number: int) -> object:
        if os.getpid() != pid and number > 20:
            os._exit(9)
        return serve(self, number)  # type: ignore[arg-type]

    monkeypatch.setattr(aside.Shared, "_done", done)
    _same(tree, 2)


def test_models_are_made_of_what_others_read(tree: DiskTree) -> None:
    seen = Seen()
    read(tree, seen, 2)
    assert len(seen.made) == 200 - len(FAULTS)
