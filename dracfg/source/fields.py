"""Values of recorded objects by their path. What is not of the shape that is asked for is absent.

For what is read in passing from objects that the API server has accepted; a reader that must judge
the shape of what it reads does not use this.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def value(data: Any, *steps: str) -> Any:
    """What stands at the end of a path of keys; None where there is nothing."""
    for step in steps:
        if not isinstance(data, Mapping):
            return None
        data = data.get(step)
    return data


def text(data: Any, *steps: str) -> str | None:
    """The text at the end of a path; None where there is none, or an empty one."""
    found = value(data, *steps)
    return found if isinstance(found, str) and found else None


def flag(data: Any, *steps: str) -> bool:
    """Whether `true` stands at the end of a path."""
    return value(data, *steps) is True


def mapping(data: Any, *steps: str) -> Mapping[str, Any]:
    """The map at the end of a path, an empty one where there is none."""
    found = value(data, *steps)
    return found if isinstance(found, Mapping) else _NOTHING


def texts(data: Any, *steps: str) -> Mapping[str, str]:
    """The map of texts at the end of a path, such as labels; other values are left out."""
    return {key: one for key, one in mapping(data, *steps).items() if isinstance(one, str)}


def maps(data: Any, *steps: str) -> tuple[Mapping[str, Any], ...]:
    """The maps of the list at the end of a path; other items are left out."""
    found = value(data, *steps)
    return (
        tuple(one for one in found if isinstance(one, Mapping)) if isinstance(found, list) else ()
    )
