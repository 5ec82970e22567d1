"""Conditions on devices → CEL text for the selectors of classes and requests.

Each expression tests the driver first and guards every attribute and capacity it reads: reading
one that a device lacks would stop the scheduling of the pod for devices of all drivers. Equal
meaning gives equal text, as the scheduler caches few compiled expressions.
Source: kubernetes/dynamic-resource-allocation@v0.36.3 cel/compile.go, cel/cache.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Tier
from dracfg.link.claims import Ask
from dracfg.link.classes import ClassPlan
from dracfg.link.driver import Driver
from dracfg.model.tier import AttributeRange, CapacityRange, Match

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(
    (
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "namespace",
        "null",
        "package",
        "return",
        "true",
        "var",
        "void",
        "while",
    )
)
_VERSION = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.\d+)*([-+].*)?")


def class_selectors(plan: ClassPlan) -> list[str]:
    """The expressions of a class, all of which must hold: the structured one, then raw ones."""
    match = effective_match(plan)
    structured = expression(plan.tier.driver, match, plan.sharing_test)
    return [structured, *match.cel]


def request_selectors(ask: Ask) -> list[str]:
    """The expressions of a request beside those of its class: what it chose of the tier's parameters."""
    return [] if ask.chosen is None else [expression(ask.plan.tier.driver, ask.chosen)]


def effective_match(plan: ClassPlan) -> Match:
    """The tier's match; a partition's keys replace the tier's, its capacity bounds replace all."""
    match = plan.tier.document.spec.match
    partition = plan.part.partition
    if partition is None:
        return match
    return match.model_copy(
        update={
            "attributes": {**match.attributes, **partition.match.attributes},
            "capacity": partition.match.capacity,
            "cel": (*match.cel, *partition.match.cel),
        }
    )


def expression(driver: Driver, match: Match, sharing_test: str | None = None) -> str:
    """One expression for the structured conditions of a match."""
    terms = [f'device.driver == "{driver.name}"']
    if sharing_test == "shareable":
        terms.append("device.allowMultipleAllocations")
    elif sharing_test == "exclusive":
        terms.append("!device.allowMultipleAllocations")
    for key, wanted in sorted(_by_spelling(driver, match.attributes).items()):
        terms += _attribute_terms(driver, key, wanted)
    for key, bounds in sorted(_by_spelling(driver, match.capacity).items()):
        terms += _capacity_terms(driver, key, bounds)
    return " &&\n".join(terms)


def guarded(root: str, domain: str, name: str) -> tuple[str, str]:
    """(guard, value) of an entry of `device.attributes` or `device.capacity`."""
    holder = f'device.{root}["{domain}"]'
    if _IDENTIFIER.fullmatch(name) and name not in _RESERVED:
        return f"has({holder}.{name})", f"{holder}.{name}"
    return f'"{name}" in {holder}', f'{holder}["{name}"]'


def normalised_version(text: str | int) -> str:
    """A version as semver 2.0.0 has it: three parts, no leading zeros, no `v`, further parts dropped.

    Raises ValueError for text that holds no version.
    """
    match = _VERSION.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text} is not a version")
    major, minor, patch, rest = match.groups()
    return f"{int(major)}.{int(minor or 0)}.{int(patch or 0)}{rest or ''}"


def _semver(text: str | int) -> str:
    """A version as CEL has it; text that is no version, which a rule refuses, stays as it is."""
    try:
        return f'semver("{normalised_version(text)}")'
    except ValueError:
        return f"semver({_literal(text)})"


def _by_spelling(driver: Driver, conditions: Mapping[str, object]) -> dict[str, object]:
    return {driver.spelling(key): wanted for key, wanted in conditions.items()}


def _reference(driver: Driver, root: str, key: str) -> tuple[str, str]:
    """(guard, value) of `device.attributes` or `device.capacity` for a key as published."""
    domain, _, name = key.rpartition("/")
    return guarded(root, domain or driver.name, name)


def _attribute_terms(driver: Driver, key: str, wanted: object) -> list[str]:
    guard, value = _reference(driver, "attributes", key)
    kind = driver.attributes.get(key)
    if not isinstance(wanted, AttributeRange):
        return [guard, _equals(value, wanted, kind)]
    terms = [] if wanted.exists is False else [guard]
    if wanted.exists is False:
        terms.append(f"!({guard})" if guard.startswith('"') else f"!{guard}")
    if wanted.min is not None:
        terms.append(_at_least(value, wanted.min, kind))
    if wanted.max is not None:
        terms.append(_at_most(value, wanted.max, kind))
    if wanted.one_of is not None:
        if kind == "version":
            options = [_equals(value, option, kind) for option in wanted.one_of]
            terms.append(options[0] if len(options) == 1 else f"({' || '.join(options)})")
        else:
            terms.append(f"{value} in [{', '.join(_literal(o) for o in wanted.one_of)}]")
    return terms


def _equals(value: str, wanted: object, kind: str | None) -> str:
    if kind == "version" and isinstance(wanted, str):
        return f"{value}.compareTo({_semver(wanted)}) == 0"
    return f"{value} == {_literal(wanted)}"


def _at_least(value: str, least: str | int, kind: str | None) -> str:
    if isinstance(least, int) and kind != "version":
        return f"{value} >= {least}"
    return f"{value}.compareTo({_semver(least)}) >= 0"


def _at_most(value: str, most: str | int, kind: str | None) -> str:
    if isinstance(most, int) and kind != "version":
        return f"{value} <= {most}"
    return f"{value}.compareTo({_semver(most)}) <= 0"


def _capacity_terms(driver: Driver, key: str, bounds: object) -> list[str]:
    if not isinstance(bounds, CapacityRange):
        return []
    guard, value = _reference(driver, "capacity", key)
    terms = [guard]
    if bounds.min is not None:
        terms.append(f'{value}.compareTo(quantity("{_text(bounds.min)}")) >= 0')
    if bounds.max is not None:
        terms.append(f'{value}.compareTo(quantity("{_text(bounds.max)}")) <= 0')
    return terms


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False)


def _text(amount: Quantity) -> str:
    return str(amount)


def tier_expression(tier: Tier) -> str:
    """The condition of the tier itself, whatever policy its devices are handed out under."""
    return expression(tier.driver, tier.document.spec.match)
