"""A part is read as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.building import Building, build_all, shared
from dracfg.checking import Checked
from dracfg.pipeline import judge
from dracfg.shards.errors import PartError
from dracfg.shards.part import Part, from_json, part_of, to_json
from dracfg.shards.shard import Shard
from dracfg.terms import Means

ROOT = Path(__file__).parents[3]
RELEASE = "1.0.0 (this one)"


@pytest.fixture(scope="module")
def made() -> tuple[Part, object]:
    """The part of every cluster of the example, and the catalog."""
    builds: list = []

    def builder(catalog, standing, form):
        builds.extend(build_all(catalog, standing, form).results())
        return Building(lambda: builds)

    judged = judge(ROOT, by=Means(form="files", builder=builder))
    inputs = ((("read", "catalog/a.yaml", "1"), "digest"),)
    return part_of(Shard(1, 1), None, inputs, judged.checked, builds), (judged.catalog, builds)


def test_what_is_written_is_read(made) -> None:
    part, (catalog, builds) = made
    body = to_json(part, RELEASE)
    again = from_json(body, RELEASE)
    assert to_json(again, RELEASE) == body
    assert again.inputs == part.inputs
    assert again.checked == part.checked
    for new, old in zip(again.builds, builds, strict=True):
        assert new.plan == old.plan
        assert new.engine == old.engine
        assert new.findings == old.findings
        assert new.departures == old.departures
        assert new.clashes == old.clashes
        assert new.rendered.files == old.rendered.files
        assert new.rendered.sizes == old.rendered.sizes
    assert shared(catalog, again.builds) == shared(catalog, builds)


def test_it_is_plain_json(made) -> None:
    entry = json.loads(to_json(made[0], RELEASE))
    assert entry["schemaVersion"] == 1
    assert entry["part"]["shard"] == {"index": 1, "count": 1}
    files = entry["part"]["clusters"][0]["build"]["rendered"]["files"]
    assert any("kind: DeviceClass\n" in text for unit in files for text in unit["files"].values())


def change(**changes: object) -> Callable[[dict], object]:
    return lambda entry: entry.update(changes)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (change(release="1.0.0 (another)"), r"is of dracfg 1.0.0 \(another\), and this is 1.0.0"),
        (change(schemaVersion=2), "has schemaVersion 2, and only 1 is known"),
        (change(part=None), "is no part"),
        (lambda entry: entry.pop("part"), "is no part"),
        (lambda entry: entry.pop("release"), "is no part"),
        (lambda entry: entry["part"].pop("clusters"), "is no part"),
        (lambda entry: entry["part"].update(shard={"index": "first", "count": 1}), "is no part"),
        (lambda entry: entry["part"].update(clusters=[{}]), "is no part"),
    ],
)
def test_what_is_no_part(spoil: Callable[[dict], object], reason: str) -> None:
    entry = json.loads(to_json(Part(Shard(1, 1), None, (), Checked((), ()), ()), RELEASE))
    assert from_json(json.dumps(entry).encode(), RELEASE).shard == Shard(1, 1)
    spoil(entry)
    with pytest.raises(PartError, match=reason):
        from_json(json.dumps(entry).encode(), RELEASE)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"\x80\x04K\x01.", b"[" * 100_000])
def test_what_is_no_json(body: bytes) -> None:
    with pytest.raises(PartError, match="is no part"):
        from_json(body, RELEASE)
