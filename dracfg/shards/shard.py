"""One of several shards, and which clusters are its own. Knows names only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dracfg.dataclass import dataclass

_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """The shard `index` of `count`, counted from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @property
    def name(self) -> str:
        """What its part is called."""
        return f"{self.index}-of-{self.count}"

    def own(self, clusters: Iterable[str]) -> tuple[str, ...]:
        """Its clusters: they are dealt out in turn, by name."""
        return tuple(sorted(clusters)[self.index - 1 :: self.count])


def parse_shard(text: str) -> Shard:
    """The shard that a person names as `I/N`. Raises ValueError."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(f"{text!r} is not I/N, such as 1/4")
    shard = Shard(int(form[1]), int(form[2]))
    if not 1 <= shard.index <= shard.count:
        raise ValueError(f"there is no shard {text}: the first is 1/N, the last N/N")
    return shard
