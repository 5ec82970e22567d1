"""SHR019-SHR022: amounts that don't suit the unit of their capacity.

A capacity's unit is the driver's: of its preset, or of its document. Where nothing says it,
nothing is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from dracfg.check.rule import Rule
from dracfg.check.uses import Use, pairs
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Tier
from dracfg.link.driver import Driver
from dracfg.link.parts import sized_capacity
from dracfg.model import kinds
from dracfg.model.base import Spec, at
from dracfg.model.sharing import Consumable, NamedSize, Partitioned
from dracfg.model.tier import Match
from dracfg.source import Scalar, follow

Steps = tuple[str | int, ...]

DISKS = frozenset({"nvme"})
"""Kinds of device whose bytes are sold and published in decimal."""

_WRITTEN = re.compile(r"\+?([0-9.]+)([A-Za-z]*)")
_DECIMAL = ("k", "M", "G", "T", "P", "E")
_WHOLE = {
    "bytes": "a whole number of bytes",
    "bit/s": "a whole number of bits per second",
    "percent": "a whole percent",
    "count": "a whole number",
    "cores": "a whole number of cores",
    "millicores": "a whole number of millicores",
}
_BOUNDS = ("min", "max", "step", "default", "reserve")


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount of a driver's capacity where somebody wrote it."""

    document: Spec
    steps: Steps
    key: str
    value: Quantity
    driver: Driver

    @property
    def span(self) -> Span:
        return at(self.document, *self.steps)

    @property
    def unit(self) -> str | None:
        return self.driver.unit(self.key)

    @property
    def text(self) -> str:
        """As it stands in the file."""
        node, _ = follow(self.document.read_from, self.steps)
        return node.text if isinstance(node, Scalar) else str(self.value)

    @property
    def written(self) -> tuple[str, str]:
        """(number, suffix)."""
        match = _WRITTEN.fullmatch(self.text)
        return (match[1], match[2]) if match else (self.text, "")


def is_decimal_memory(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR019: 40G of memory is less than the 40Gi that are meant, mostly."""
    for amount in _amounts(catalog):
        number, suffix = amount.written
        preset = amount.driver.preset
        if amount.unit != "bytes" or suffix not in _DECIMAL:
            continue
        if preset is not None and preset.device in DISKS:
            continue
        binary = f"{suffix.upper()}i"
        size = Quantity.parse(f"1{binary}").exact
        yield diagnose(
            "SHR019",
            amount.span,
            f"{amount.text} of {amount.key} is {_rounded(amount.value.exact / size)}{binary}: "
            "memory is counted in binary",
            found=amount.text,
            help=f"write {number}{binary} if that is meant, or the number of bytes in full",
        )


def is_binary_rate(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR020: rates and percents have no binary suffixes; who writes one often counts bytes."""
    for amount in _amounts(catalog):
        number, suffix = amount.written
        if amount.unit not in ("bit/s", "percent") or not suffix.endswith("i"):
            continue
        decimal = suffix.removesuffix("i").replace("K", "k")
        eight = f"{_rounded(Fraction(number) * 8)}{decimal}"
        bits = f"write {number}{decimal} for bits per second; if bytes were meant, {eight}"
        yield diagnose(
            "SHR020",
            amount.span,
            f"{amount.key} of {amount.driver.name} counts {amount.unit}, and {amount.text} is "
            f"{_rounded(amount.value.exact)} of them",
            found=amount.text,
            help=bits if amount.unit == "bit/s" else "write the number without a suffix",
        )


def looks_like_bytes(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR021: two rates of one device, of which one is eight times the other."""
    by_policy: dict[str, list[_Amount]] = {}
    for use in pairs(catalog):
        most = (amount for amount in _of_policy(use) if amount.steps[-1] == "max")
        by_policy.setdefault(use.tier.name, []).extend(most)
    for tier in catalog.tiers.values():
        amounts = (*_of_tier(tier), *by_policy.get(tier.name, ()))
        rates = [amount for amount in amounts if amount.unit == "bit/s"]
        device = [amount for amount in rates if amount.steps[1] == "device"]
        for i, amount in enumerate(rates):
            for other in device[:i]:
                less, more = sorted((amount, other), key=lambda a: a.value)
                is_eighth = less.value and less.value * 8 == more.value
                if is_eighth and _are_comparable(amount, other):
                    yield _eighth(less, more)


def _are_comparable(amount: _Amount, device: _Amount) -> bool:
    """A policy hands out parts of a device, so only what is more than the device is odd."""
    same = amount.driver.spelling(amount.key) == device.driver.spelling(device.key)
    match amount.steps[1]:
        case "device":
            return True
        case "match":
            return same
        case _:
            return same and amount.value > device.value


def _eighth(less: _Amount, more: _Amount) -> Diagnostic:
    return diagnose(
        "SHR021",
        less.span,
        f"{less.text} of {less.key} is an eighth of {more.text}, as bytes are of bits; "
        f"{less.driver.name} counts bits per second",
        found=less.text,
        related=[Related(more.span, f"{more.text} of {more.key}")],
        help=f"write {more.text} if bytes were counted here",
    )


def is_a_fraction(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR022: Kubernetes rounds fractions up, and `m` is a thousandth where `M` was meant."""
    for amount in _amounts(catalog):
        unit = amount.unit
        if unit is None or amount.value.is_whole():
            continue
        number, suffix = amount.written
        above = Quantity.of(amount.value.value())
        is_million = suffix == "m" and unit in ("bytes", "bit/s")
        yield diagnose(
            "SHR022",
            amount.span,
            f"{amount.text} of {amount.key} is not {_WHOLE[unit]}; Kubernetes takes it for {above}",
            found=amount.text,
            help=f"write {number}M for millions" if is_million else f"use {above}",
        )


def _amounts(catalog: Catalog) -> Iterator[_Amount]:
    """Every amount, each once for a place."""
    seen: set[Span] = set()
    tiers, uses = catalog.tiers.values(), pairs(catalog)
    found = (
        *(a for tier in tiers for a in _of_tier(tier)),
        *(a for use in uses for a in _of_policy(use)),
    )
    for amount in found:
        if amount.span not in seen:
            seen.add(amount.span)
            yield amount


def _of_tier(tier: Tier) -> Iterator[_Amount]:
    """The device's own amounts come first."""
    document = tier.document
    for key, value in document.spec.device.capacity.items():
        yield _Amount(document, ("spec", "device", "capacity", key), key, value, tier.driver)
    yield from _of_match(document, ("spec", "match"), document.spec.match, tier.driver)


def _of_match(document: Spec, above: Steps, match: Match, driver: Driver) -> Iterator[_Amount]:
    for key, bounds in match.capacity.items():
        for word, value in (("min", bounds.min), ("max", bounds.max)):
            if value is not None:
                yield _Amount(document, (*above, "capacity", key, word), key, value, driver)


def _of_policy(use: Use) -> Iterator[_Amount]:
    document, spec, driver = use.policy.document, use.policy.spec, use.tier.driver
    if document is not None and isinstance(spec, Consumable):
        yield from _of_consumable(document, spec, driver)
    elif document is not None and isinstance(spec, Partitioned):
        for i, partition in enumerate(spec.partitions):
            yield from _of_match(
                document, ("spec", "partitions", i, "match"), partition.match, driver
            )


def _of_consumable(
    document: kinds.SharingPolicy, spec: Consumable, driver: Driver
) -> Iterator[_Amount]:
    for key, bounds in spec.capacity.items():
        for word in _BOUNDS:
            value: Quantity | None = getattr(bounds, word)
            if value is not None:
                yield _Amount(document, ("spec", "capacity", key, word), key, value, driver)
    for i, size in enumerate(spec.sizes):
        if isinstance(size, NamedSize):
            for key, value in size.capacity.items():
                steps = ("spec", "sizes", i, "capacity", key)
                yield _Amount(document, steps, key, value, driver)
        else:
            yield _Amount(document, ("spec", "sizes", i), sized_capacity(spec), size, driver)


def _rounded(number: Fraction) -> str:
    """At most two decimals, none where there are none."""
    return f"{float(round(number, 2)):.2f}".rstrip("0").rstrip(".")


RULES: tuple[Rule, ...] = (is_decimal_memory, is_binary_rate, looks_like_bytes, is_a_fraction)
