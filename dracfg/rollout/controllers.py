"""Recorded objects → who made them, and whether whoever did begins ended work anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data
from dracfg.source.fields import maps, text
from dracfg.source.records import RecordedObject

_DEEPEST = 8
"""Controllers of controllers that are followed; an owner that owns itself ends there."""


@dataclass(frozen=True, slots=True, order=True)
class Controller:
    """An object by which others are made, as their ownerReferences name it."""

    namespace: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def is_retryable(self) -> bool:
        """Whether it makes its pods anew, and they are made for that."""
        return self.kind in retryable_kinds()


@cache
def retryable_kinds() -> frozenset[str]:
    """Kinds of controllers whose work can be ended and is begun anew."""
    return frozenset(read_data("dracfg.rollout", "data/work.yaml")["retryable"])


def controller_of(data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Kind and name of the object that made this one."""
    for owner in maps(data, "metadata", "ownerReferences"):
        if owner.get("controller") is True:
            return str(owner.get("kind")), str(owner.get("name"))
    return None


@dataclass(frozen=True, slots=True)
class Controllers:
    """Who made what is recorded; what is not recorded ends the way up."""

    _makers: Mapping[Controller, tuple[str, str]]

    @classmethod
    def of(cls, objects: Iterable[RecordedObject]) -> Controllers:
        """The makers of all objects that have a namespace."""
        found: dict[Controller, tuple[str, str]] = {}
        for item in objects:
            maker = controller_of(item.data)
            name = text(item.data, "metadata", "name")
            namespace = text(item.data, "metadata", "namespace")
            if maker is not None and name is not None and namespace is not None:
                found[Controller(namespace, str(item.data["kind"]), name)] = maker
        return cls(found)

    def root(self, namespace: str, kind: str, name: str) -> Controller | None:
        """The topmost maker of an object; None for one that nothing made."""
        here = Controller(namespace, kind, name)
        for _ in range(_DEEPEST):
            maker = self._makers.get(here)
            if maker is None:
                break
            here = Controller(namespace, *maker)
        return None if (here.kind, here.name) == (kind, name) else here
