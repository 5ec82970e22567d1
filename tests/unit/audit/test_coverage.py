"""LIV058 and INV047: what is not recorded, and what is old; and the moment that all is judged at."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from dracfg.audit import audit

Audited = Callable[..., Any]


@pytest.mark.parametrize("kind", ["ResourceSlice", "ResourceClaim", "Pod", "Node"])
def test_a_kind_that_is_missing(world: Any, audited: Audited, kind: str) -> None:
    world.held("a", ["gpu-0"])
    world.objects = [thing for thing in world.objects if thing["kind"] != kind]
    told = [f.message for f in audited(world).diagnostics if f.code == "LIV058"]
    assert [message.split()[1] for message in told] == [kind]
    assert audited(world).verdict in ("unknown", "refuted")


def test_namespaces_are_not_needed_beside_a_catalog(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    world.objects = [thing for thing in world.objects if thing["kind"] != "Namespace"]
    assert audited(world).diagnostics == ()
    assert [f.code for f in audited(world, None).diagnostics] == ["LIV058"]


def test_a_kind_that_was_asked_for_and_has_none(world: Any) -> None:
    record = world.record()
    assert [f.code for f in audit(None, None, [record]).diagnostics] == ["LIV058", "LIV058"]
    assert audit(None, None, [record], kinds=("Pod", "ResourceClaim")).diagnostics == ()


@pytest.mark.parametrize(("day", "old"), [(30, False), (1, True)])
def test_an_old_record(world: Any, day: int, old: bool) -> None:
    world.held("a", ["gpu-0"])
    at = datetime(2026, 11 if day == 30 else 12, day, 12, tzinfo=UTC)
    found = [f.code for f in audit(None, None, [world.record()], at=at).diagnostics]
    assert ("INV047" in found) == old


def test_now_is_the_newest_moment_of_the_record(world: Any, audited: Audited) -> None:
    assert audited(world).at == datetime(2026, 11, 29, 12, tzinfo=UTC)
    world.find("Node", "gpus-1")["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z"
    assert audited(world).at == datetime(2026, 11, 29, 12, tzinfo=UTC)
