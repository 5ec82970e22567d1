"""Control planes for tests; see README.md beside this file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.client import Client, Object
from tests.cluster.controlplane import ControlPlane, account_of, built_minors, reason_to_skip, start
from tests.cluster.drivers import FakeDriver
from tests.cluster.emitted import Emitted, emitted_trees
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.moved import FAULTS, moved
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import GATES, Scheduling, flags_with, gates_on
from tests.cluster.table import Table, minor_of, write
from tests.cluster.yard import Yard, open_yard

HERE = Path(__file__).parent
SKIPPED = reason_to_skip()
MINORS = built_minors()


TABLE = Table()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        if SKIPPED is not None:
            item.add_marker(pytest.mark.skip(reason=SKIPPED))
        params = (
            item.callspec.params
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
            else {}
        )
        minor = minor_of(params, MINORS)
        if minor is not None:
            item.user_properties.append(("minor", minor))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    TABLE.add(report)


def pytest_sessionfinish() -> None:
    write(TABLE)


def _trees() -> list[object]:
    """Every emitted tree, those apart whose minor is not built, and one of each minor without any."""
    trees = emitted_trees()
    lacking = [minor for minor in MINORS if minor not in {tree.minor for tree in trees}]
    return [
        *(
            pytest.param(
                tree,
                id=str(tree),
                marks=() if tree.minor in MINORS else pytest.mark.skip(f"{tree.minor} not built"),
            )
            for tree in trees
        ),
        *(pytest.param(replace(FAULTS, minor=minor), id=f"faults-{minor}") for minor in lacking),
    ]


@pytest.fixture(scope="session", params=MINORS or ["none"])
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Each built minor as it comes, without flags."""
    plane = start(request.param, tmp_path_factory.mktemp(f"plane-{request.param}"))
    yield plane
    plane.stop()


@pytest.fixture(scope="session", params=MINORS or ["none"])
def bare_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The API server of each built minor alone: nothing acts on what a test writes."""
    plane = start(request.param, tmp_path_factory.mktemp("bare"), components=())
    yield plane
    plane.stop()


@pytest.fixture(scope="session", params=MINORS or ["none"])
def scheduling(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scheduling]:
    """Each built minor with every gate that bears on what pods get."""
    flags = flags_with(request.param, GATES)
    plane = start(request.param, tmp_path_factory.mktemp(f"gated-{request.param}"), flags)
    yield Scheduling(plane.admin, plane.minor, gates_on(plane.minor, flags))
    plane.stop()


@pytest.fixture(scope="session", params=_trees())
def emitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Emitted:
    """Each emitted tree: the example's clusters, those of the golden repositories, `data/faults`."""
    tree: Emitted = request.param
    if tree.folder.is_dir():
        return tree
    return moved(FAULTS, tree.minor, tmp_path_factory.mktemp(f"faults-{tree.minor}") / "repository")


@pytest.fixture(scope="session")
def emitted_plane(
    emitted: Emitted, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane with the flags and the audit policy of the tree, its objects not yet applied."""
    folder = tmp_path_factory.mktemp(f"plane-{emitted}")
    plane = start(emitted.minor, folder, emitted.flags(), emitted.audit_policy())
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def applier(emitted: Emitted, emitted_plane: ControlPlane) -> Client:
    """Who applies the tree, with the rights for it."""
    return emitted.entered(emitted_plane.admin)


@pytest.fixture(scope="session")
def applied(emitted: Emitted, applier: Client) -> list[Object]:
    """What the server answered to each object of the tree, applied in the emitted order."""
    return [applier.apply(obj).body for obj in emitted.objects()]


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of this test, gone after it."""
    obj: Object = {"apiVersion": "v1", "kind": "Namespace"}
    obj["metadata"] = {"generateName": "test-"}
    made = control_plane.admin.create(obj)
    name: str = made["metadata"]["name"]
    wait_for(lambda: control_plane.admin.find(account_of(name)), f"the account of {name}")
    yield name
    control_plane.admin.delete(made)


@pytest.fixture
def kubelets() -> Iterator[Callable[..., FakeKubelet]]:
    """Starts fake kubelets: FakeKubelet's arguments; they and their nodes go after the test."""
    started: list[FakeKubelet] = []

    def begin(client: Client, *nodes: str, **options: object) -> FakeKubelet:
        started.append(FakeKubelet(client, nodes, **options).start())  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for one in started:
        one.stop()


@pytest.fixture
def drivers() -> Iterator[Callable[..., FakeDriver]]:
    """Starts fake drivers: FakeDriver's arguments; they and their slices go after the test."""
    started: list[FakeDriver] = []

    def begin(*arguments: object, **options: object) -> FakeDriver:
        started.append(FakeDriver(*arguments, **options).start())  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for one in started:
        one.stop()


@pytest.fixture(scope="session", params=MINORS or ["none"])
def standing_yard(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Yard]:
    """The repository of the faults on each built minor."""
    yard = open_yard(request.param, tmp_path_factory.mktemp(f"yard-{request.param}"))
    yield yard
    yard.close()


@pytest.fixture
def yard(standing_yard: Yard) -> Iterator[Yard]:
    """It again, with everything well after the test."""
    yield standing_yard
    standing_yard.clear()
