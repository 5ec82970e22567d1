"""An object of Kubernetes in the form in which those of the same meaning are equal.

Where an object comes from, defaults, the notation of quantities, the driver of a bare name and the
order of lists without one are evened out. The facts lie in data/objects.yaml; nothing is known here
of catalogs or of sides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.packaged import read_data

K8sObject = Mapping[str, Any]

_DRIVER = re.compile(r"""device\.driver\s*==\s*(["'])([^"']+)\1""")


@dataclass(frozen=True, slots=True)
class _Default:
    of: frozenset[str]
    where: Mapping[str, Any]
    values: Mapping[str, Any]
    drop: tuple[str, ...]

    def fits(self, thing: Mapping[str, Any]) -> bool:
        return self.of <= thing.keys() and self.where.items() <= thing.items()


@dataclass(frozen=True, slots=True)
class _Facts:
    unsaid: frozenset[str]
    unordered: frozenset[str]
    quantities: frozenset[str]
    qualified: frozenset[str]
    defaults: tuple[_Default, ...]


def drivers_of(classes: Iterable[K8sObject]) -> dict[str, str]:
    """The driver of each DeviceClass whose selectors name exactly one."""
    found = {}
    for thing in classes:
        selectors = thing.get("spec", {}).get("selectors") or ()
        texts = (str(one.get("cel", {}).get("expression", "")) for one in selectors)
        names = {match[2] for text in texts for match in _DRIVER.finditer(text)}
        if len(names) == 1:
            found[thing["metadata"]["name"]] = names.pop()
    return found


def meaning_of(thing: K8sObject, drivers: Mapping[str, str]) -> dict[str, Any]:
    """The object in its plain form; `drivers` gives the driver of a class."""
    plain = _plain(thing, "", _driver(thing, drivers))
    assert isinstance(plain, dict)
    return plain


def _driver(thing: Any, drivers: Mapping[str, str]) -> str | None:
    """The one driver that the classes of a claim lead to."""
    names = {drivers.get(name) for name in _classes(thing)}
    return names.pop() if len(names) == 1 else None


def _classes(thing: Any) -> Iterator[str]:
    if isinstance(thing, Mapping):
        for key, value in thing.items():
            if key == "deviceClassName" and isinstance(value, str):
                yield value
            else:
                yield from _classes(value)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from _classes(value)


def _plain(value: Any, key: str, driver: str | None) -> Any:
    facts = _facts()
    if isinstance(value, Mapping):
        if "opaque" in value:
            return value
        kept = {
            name: plain
            for name, inner in value.items()
            if not (key == "annotations" and name in facts.unsaid)
            and (plain := _plain(inner, str(name), driver)) not in (None, {}, [])
        }
        if key in facts.quantities:
            kept = {name: _amount(inner) for name, inner in kept.items()}
        if key in facts.qualified:
            kept = {_qualified(name, driver): inner for name, inner in kept.items()}
        return _defaulted(kept)
    if isinstance(value, list | tuple):
        listed = [_plain(inner, "", driver) for inner in value]
        if key in facts.unordered:
            listed.sort(key=lambda inner: json.dumps(inner, sort_keys=True, default=str))
        return listed
    if key in facts.quantities:
        return _amount(value)
    if key in facts.qualified and isinstance(value, str):
        return _qualified(value, driver)
    return value


def _defaulted(thing: dict[str, Any]) -> dict[str, Any]:
    for default in _facts().defaults:
        if default.fits(thing):
            thing = {**default.values, **thing}
            thing = {key: value for key, value in thing.items() if key not in default.drop}
    return thing


def _amount(value: Any) -> Any:
    """A quantity in canonical text; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    try:
        return str(Quantity(Quantity.parse(value).nano, "BinarySI"))
    except ValueError:
        return value


def _qualified(name: str, driver: str | None) -> str:
    return name if "/" in name or driver is None else f"{driver}/{name}"


@cache
def _facts() -> _Facts:
    data = read_data("dracfg.diff", "data/objects.yaml")
    return _Facts(
        frozenset(data["unsaid"]),
        frozenset(data["unordered"]),
        frozenset(data["quantities"]),
        frozenset(data["qualified"]),
        tuple(
            _Default(
                frozenset(one["of"]),
                one.get("where", {}),
                one.get("values", {}),
                tuple(one.get("drop", ())),
            )
            for one in data["defaults"]
        ),
    )
