"""A repository with a tier for each device, and manifests put through it in one call."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.link.catalog import Catalog
from dracfg.migrate.packages import migrate_path
from dracfg.migrate.result import FileResult
from dracfg.migrate.tenancy import Tenancy
from dracfg.pipeline import judge

DATA = Path(__file__).parents[2] / "data" / "workloads"
Migrate = Callable[..., FileResult]


@pytest.fixture(scope="session")
def lab() -> Catalog:
    judged = judge(DATA / "lab")
    assert not judged.has_errors
    return judged.catalog


@pytest.fixture
def tenancy(lab: Catalog) -> Tenancy:
    """Everything is of the one tenant; its namespaces go by what manifests say."""
    return Tenancy(lab, tuple(lab.clusters), lab.tenants["team"])


@pytest.fixture
def migrate(tenancy: Tenancy) -> Migrate:
    """`migrate(text)`, with other files of its folder by path."""

    def run(text: str, path: str = "w.yaml", **files: str) -> FileResult:
        def read(name: str) -> bytes | None:
            return files[name].encode() if name in files else None

        return migrate_path(path, text.encode(), tenancy, read)

    return run
