"""Both states behind a plan, as far as somebody asked for them. Knows nothing of what differs."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from dracfg.dataclass import dataclass
from dracfg.diff.pair import Pair


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair with the globs of the clusters and tenants that are shown; all where there are none."""

    pair: Pair
    clusters: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()

    def has_cluster(self, name: str) -> bool:
        return not self.clusters or fits(name, self.clusters)

    def has_tenant(self, name: str) -> bool:
        return not self.tenants or fits(name, self.tenants)


def fits(name: str | None, globs: Iterable[str]) -> bool:
    """Whether some glob fits a name; none fits where there is no name."""
    return name is not None and any(fnmatchcase(name, glob) for glob in globs)
