"""A cluster on which everything holds gets no finding, and its ledger adds up."""

from collections.abc import Callable
from typing import Any


def test_nothing_is_found(world: Any, audited: Callable[..., Any]) -> None:
    world.held("train", ["gpu-0"])
    pod = world.pod("notebook", "cuts-1")
    world.share("notebook", "10Gi", pods=[pod])
    done = audited(world)
    assert done.diagnostics == ()
    assert done.verdict == "proven"


def test_without_a_catalog(world: Any, audited: Callable[..., Any]) -> None:
    world.held("train", ["gpu-0"])
    done = audited(world, None)
    assert done.diagnostics == ()
    assert done.cluster is None
