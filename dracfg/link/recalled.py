"""Tenants of which a run before this one left the outlines: the rest is linked once somebody asks for it.

Whoever recalls a tenant answers for it that its document, those of its partners and of the platform, and
the names of all tenants are what they were, and that all of it was sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dracfg.link.catalog import Catalog, Tenant
from dracfg.link.grants import link_tenant
from dracfg.model import kinds

_LEFT = ("document", "places", "grants")


class RecalledTenant(Tenant):
    """A tenant that `link` makes when more than its outlines is asked for."""

    def __init__(self, name: str, outlines: dict[str, Any], link: Callable[[str], Tenant]) -> None:
        vars(self).update(name=name, outlines=outlines, _link=link)

    def __getattr__(self, attribute: str) -> Any:
        if attribute not in _LEFT:
            raise AttributeError(attribute)
        linked = vars(self)["_link"](self.name)
        vars(self).update({left: getattr(linked, left) for left in _LEFT})
        return vars(self)[attribute]


class RecalledDocuments(Mapping[str, kinds.Tenant]):
    """Documents of tenants by name: those that are at hand, and others that are `read` at need."""

    def __init__(
        self,
        known: Mapping[str, kinds.Tenant],
        others: Mapping[str, object],
        read: Callable[[str], kinds.Tenant],
    ) -> None:
        self._known = dict(known)
        self._names = dict.fromkeys(sorted({*known, *others}))
        self._read = read

    def __getitem__(self, name: str) -> kinds.Tenant:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._read(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def recalled_tenants(
    outlines: Mapping[str, dict[str, Any]], documents: Mapping[str, kinds.Tenant], platform: Catalog
) -> dict[str, Tenant]:
    """The tenants of these outlines by name; `documents` has those of all tenants."""

    def link(name: str) -> Tenant:
        return link_tenant(name, documents, platform)

    return {name: RecalledTenant(name, known, link) for name, known in outlines.items()}
