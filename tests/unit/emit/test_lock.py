"""What a lock is rendered to after an exchange of units: the same bytes as ever, from whatever was known."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.lock import Digests, Lock, read_lock, read_rendered

UNITS: Digests = {
    "b/tenants/one": {"a.yaml": "sha256:1", "z/a.yaml": "sha256:2"},
    "a/guard": {"a.yaml": "sha256:1"},
    "a/guard.2": {"a.yaml": "sha256:1", "ü\n.yaml": "sha256:3"},
    "c": {"a.yaml": "sha256:1"},
}
OTHER = {"a.yaml": "sha256:4", "new.yaml": "sha256:5"}
EXCHANGES: dict[str, Digests] = {
    "nothing": {},
    "the first": {"a/guard": OTHER},
    "the last": {"c": OTHER},
    "one with odd names": {"a/guard.2": OTHER},
    "odd names": {"a/guard": UNITS["a/guard.2"]},
    "several": {"c": OTHER, "a/guard": OTHER, "b/tenants/one": OTHER},
    "the same": {"a/guard": UNITS["a/guard"]},
    "one more": {"a/guard": OTHER, "a/more": OTHER},
    "one less": {"a/guard": OTHER, "c": {}},
    "none that is there": {"d": {}},
    "all": dict.fromkeys(UNITS, OTHER),
    "all go": {path: {} for path in UNITS},
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / LOCK_NAME).write_bytes(Lock(UNITS).render())
    return tmp_path


def known(out: Path) -> Lock:
    content = (out / LOCK_NAME).read_bytes()
    lock = read_rendered(out, hashlib.sha256(content).hexdigest())
    assert lock is not None
    assert lock.render() is lock.rendering
    assert lock.render() == content
    return lock


@pytest.mark.parametrize("exchange", EXCHANGES.values(), ids=EXCHANGES)
def test_an_exchange_is_rendered_alike(exchange: Digests, out: Path) -> None:
    expected = {path: files for path, files in {**UNITS, **exchange}.items() if files}
    for lock in (Lock(UNITS), known(out)):
        found = lock.exchanged(exchange)
        assert found.units == expected
        assert found.render() == Lock(expected).render()
        twice = found.exchanged({"a/guard": OTHER})
        assert twice.render() == Lock({**expected, "a/guard": OTHER}).render()


def test_only_lines_of_units_that_differ_are_rendered(out: Path) -> None:
    lock = known(out)
    assert lock.exchanged({"a/guard": OTHER}).rendering is not None
    assert lock.exchanged({"more": OTHER}).rendering is None
    assert Lock(UNITS).exchanged({"a/guard": OTHER}).rendering is None


def test_a_lock_of_another_digest_is_not_taken_for_rendered(out: Path) -> None:
    assert read_rendered(out, "0" * 64) is None
    (out / LOCK_NAME).write_bytes(b"{}")
    assert read_rendered(out, hashlib.sha256(b"{}").hexdigest()) is None
    (out / LOCK_NAME).unlink()
    assert read_rendered(out, hashlib.sha256(b"").hexdigest()) is None


def test_a_rendering_makes_no_other_lock(out: Path) -> None:
    assert known(out) == read_lock(out).lock == Lock(UNITS)
