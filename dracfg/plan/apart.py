"""Whether two device classes can ever take one device: proven from their conditions alone.

Sound, not complete: False says that nothing was proven. Knows no inventory.
"""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.dataclass import dataclass
from dracfg.link.classes import ClassPlan
from dracfg.lower.selectors import effective_match, normalised_version
from dracfg.model.tier import AttributeMatch, AttributeRange, CapacityRange

_SHARING = {"shareable": "exclusive", "exclusive": "shareable"}
_Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A condition in one form: any of some values, within bounds; `absent` where there must be none."""

    values: tuple[str | int, ...] | None = None
    least: str | int | None = None
    most: str | int | None = None
    absent: bool = False


def apart(one: ClassPlan, other: ClassPlan) -> str | None:
    """What tells the devices of two classes apart, in words; None where nothing is proven to.

    `different drivers`, `productName`, `memory`, or whether devices are shareable.
    """
    driver = one.tier.driver
    if driver is not other.tier.driver:
        return "different drivers"
    if one.sharing_test is not None and other.sharing_test == _SHARING[one.sharing_test]:
        return "whether a device is shareable"
    mine, theirs = effective_match(one), effective_match(other)
    wanted = {driver.spelling(key): value for key, value in mine.attributes.items()}
    for key, value in theirs.attributes.items():
        spelled = driver.spelling(key)
        if spelled in wanted and excludes(driver.attributes.get(spelled), wanted[spelled], value):
            return spelled
    bounds = {driver.spelling(key): value for key, value in mine.capacity.items()}
    for key, capacity in theirs.capacity.items():
        spelled = driver.spelling(key)
        if spelled in bounds and _excluded_amounts(bounds[spelled], capacity):
            return spelled
    return None


def excludes(kind: str | None, one: AttributeMatch, other: AttributeMatch) -> bool:
    """Whether no value of an attribute of this type meets both conditions."""
    if kind is not None and kind.endswith("s"):
        return False
    first, second = _wanted(one), _wanted(other)
    if first.absent or second.absent:
        return first.absent is not second.absent
    for listed, bounds in ((first, second), (second, first)):
        if listed.values is not None:
            return not any(_may_be(kind, value, bounds) for value in listed.values)
    return _beyond(kind, first, second) or _beyond(kind, second, first)


def _wanted(condition: AttributeMatch) -> _Wanted:
    """A single value is a list of one; booleans are told from numbers by their text."""
    if isinstance(condition, AttributeRange):
        values, exists = condition.one_of, condition.exists
        return _Wanted(values, condition.min, condition.max, exists is False)
    return _Wanted((str(condition).lower() if isinstance(condition, bool) else condition,))


def _may_be(kind: str | None, value: str | int, bounds: _Wanted) -> bool:
    if bounds.values is not None and not any(_same(kind, value, one) for one in bounds.values):
        return False
    key = _key(kind, value)
    if key is None:
        return True
    least, most = _key(kind, bounds.least), _key(kind, bounds.most)
    return not ((least is not None and key < least) or (most is not None and key > most))


def _same(kind: str | None, one: str | int, other: str | int) -> bool:
    """Whether two literals may mean one value; versions are compared as versions are."""
    if kind == "version":
        texts = [_normalised(one), _normalised(other)]
        return None in texts or texts[0] == texts[1]
    return (isinstance(one, int), one) == (isinstance(other, int), other)


def _beyond(kind: str | None, low: _Wanted, high: _Wanted) -> bool:
    most, least = _key(kind, low.most), _key(kind, high.least)
    return most is not None and least is not None and most < least


def _key(kind: str | None, value: str | int | None) -> _Key | None:
    """What orders a bound; None where there is none, or where text before a release orders it."""
    if value is None:
        return None
    if isinstance(value, int) and kind != "version":
        return (value,)
    text = _normalised(value)
    if text is None or not _numbers(text.split(".")):
        return None
    return tuple(int(part) for part in text.split("."))


def _normalised(value: str | int) -> str | None:
    try:
        return normalised_version(value)
    except ValueError:
        return None


def _numbers(parts: Iterable[str]) -> bool:
    return all(part.isdigit() for part in parts)


def _excluded_amounts(one: CapacityRange, other: CapacityRange) -> bool:
    return any(
        low.max is not None and high.min is not None and low.max < high.min
        for low, high in ((one, other), (other, one))
    )
