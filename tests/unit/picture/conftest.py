"""Small catalogs that pictures are drawn of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository
from tests.cases.test_cases import CASES, build, read

Linked = Callable[..., Catalog]


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A base of tests/cases with words replaced wherever they stand, linked."""

    def made(base: str, *changes: tuple[str, str]) -> Catalog:
        files = dict(read(CASES / "_base" / f"{base}.yaml")["files"])
        for old, new in changes:
            assert any(old in text for text in files.values()), old
            files = {path: text.replace(old, new) for path, text in files.items()}
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        build({"files": files}, root)
        parsed = parse(read_repository(root).documents)
        assert not parsed.faults, parsed.faults
        named, _ = index(parsed.documents)
        return link(named, parsed.poisoned).catalog

    return made
