"""Which clusters a shard has, and how people name it."""

from __future__ import annotations

import pytest

from dracfg.shards.shard import Shard, parse_shard

NAMES = ["west", "east", "north", "south", "lab"]


@pytest.mark.parametrize("count", range(1, 9))
def test_each_cluster_is_of_one_shard(count: int) -> None:
    dealt = [Shard(index, count).own(NAMES) for index in range(1, count + 1)]
    assert sorted(name for own in dealt for name in own) == sorted(NAMES)
    sizes = [len(own) for own in dealt]
    assert max(sizes) - min(sizes) <= 1


def test_they_are_dealt_out_in_turn_by_name() -> None:
    for names in (NAMES, reversed(NAMES)):
        assert Shard(2, 3).own(names) == ("lab", "west")


@pytest.mark.parametrize(("text", "shard"), [("1/1", Shard(1, 1)), ("3/40", Shard(3, 40))])
def test_a_text_names_a_shard(text: str, shard: Shard) -> None:
    assert parse_shard(text) == shard
    assert str(shard) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not I/N"),
        ("2", "is not I/N"),
        ("1/", "is not I/N"),
        ("/4", "is not I/N"),
        ("1/4/2", "is not I/N"),
        ("-1/4", "is not I/N"),
        ("1 / 4", "is not I/N"),
        ("1/4\n", "is not I/N"),
        ("one/two", "is not I/N"),
        ("0/4", "there is no shard 0/4"),
        ("5/4", "there is no shard 5/4"),
        ("0/0", "there is no shard 0/0"),
    ],
)
def test_other_texts_do_not(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_shard(text)
