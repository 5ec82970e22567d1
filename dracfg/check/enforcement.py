"""SHR004, SHR007, SHR008, SHR009, SHR017: promises of a policy that nothing holds on its devices."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.check.sizes import legal, written_amounts
from dracfg.check.uses import Use, pairs
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy
from dracfg.link.catalog import Catalog
from dracfg.link.linker import applies
from dracfg.link.parts import sized_capacity
from dracfg.link.published import Consumption, consumption
from dracfg.model import kinds
from dracfg.model.base import at, at_key
from dracfg.model.sharing import Consumable, TimeSliced

_STRENGTH = {"none": 0, "driver": 1, "hardware": 2}


def _shared(catalog: Catalog) -> Iterator[tuple[Use, kinds.SharingPolicy, Consumable]]:
    """Every consumable policy on each tier whose devices have what it divides."""
    for use in pairs(catalog):
        spec, document = use.policy.spec, use.policy.document
        if not isinstance(spec, Consumable) or document is None:
            continue
        if sized_capacity(spec) in spec.capacity and applies(use.policy, use.tier):
            yield use, document, spec


def is_rounded_by_the_driver(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR004: a size consumes exactly itself, or every sum over sizes is wrong."""
    for use, document, spec in _shared(catalog):
        amounts = [*written_amounts(document, spec), *_defaults(document, spec)]
        for size, key, amount, place in amounts:
            if key not in spec.capacity or not legal(amount, spec.capacity[key]):
                continue  # a finding of its own
            spelled = use.tier.driver.spelling(key)
            value = use.tier.capacity[spelled]
            taken = consumption(use.tier, spelled, amount)
            named = size if size == str(amount) else f"{size} ({amount} of {key})"
            if amount > value:
                yield _too_large(use, named, amount, value, place)
            elif taken is not None and taken.amount != amount:
                yield _rounded(use, named, amount, taken, place)


def _defaults(
    document: kinds.SharingPolicy, spec: Consumable
) -> Iterator[tuple[str, str, Quantity, Span]]:
    for key, bounds in spec.capacity.items():
        if bounds.default is not None:
            yield "default", key, bounds.default, at(document, "spec", "capacity", key, "default")


def _too_large(use: Use, size: str, amount: Quantity, value: Quantity, place: Span) -> Diagnostic:
    device = at_key(use.tier.document, "spec", "device", "capacity")
    return diagnose(
        "SHR004",
        place,
        f"size {size} fits no device of {use.tier.name}",
        related=[Related(device, f"devices have {value}"), Related(use.place, "in force here")],
        found=str(amount),
        expected=f"at most {value}",
        help=f"use {value} or less, or keep {use.policy.name} off {use.tier.name}",
    )


def _rounded(use: Use, size: str, amount: Quantity, taken: Consumption, place: Span) -> Diagnostic:
    driver = use.tier.driver.name
    if taken.amount is None:
        message = f"{driver} refuses size {size} on {use.tier.name}"
        help_ = f"use {_allowed(taken.policy)}, which is what its request policy allows"
    else:
        message = f"size {size} consumes {taken.amount} on {use.tier.name}"
        help_ = f"use {taken.amount}, or have {driver} publish a smaller step"
    return diagnose(
        "SHR004",
        place,
        message,
        label="not an amount of the driver's request policy",
        related=[Related(use.place, "in force here")],
        found=str(amount),
        expected=str(taken.amount) if taken.amount is not None else _allowed(taken.policy),
        help=help_,
        fix=str(taken.amount) if taken.amount is not None else None,
    )


def _allowed(policy: RequestPolicy | None) -> str:
    """The amounts of a request policy in words."""
    if policy is not None and policy.valid_values:
        return listed((str(value) for value in policy.valid_values), "or")
    if policy is not None and policy.valid_range is not None:
        bounds = policy.valid_range
        most = f" to {bounds.max}" if bounds.max is not None else " or more"
        return f"{bounds.min}{most}"
    return "another amount"


def is_held_too_weakly(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR007, and SHR017 where nobody knows what holds a share to its amount."""
    for use in pairs(catalog):
        document = use.policy.document
        if isinstance(use.policy.spec, TimeSliced) and use.policy.spec.isolation == "hardware":
            yield diagnose(
                "SHR007",
                at(document or use.tier.document, "spec", "isolation"),
                "claims that take turns on a device are not kept apart by hardware",
                found="hardware",
                expected="none or driver",
                help="use a partitioned policy, or whole devices",
            )
    for use, document, spec in _shared(catalog):
        driver, needed = use.tier.driver, spec.isolation
        for key in spec.capacity:
            how = driver.enforcement(key)
            stated = "isolation" in spec.model_fields_set
            place = (
                at(document, "spec", "isolation")
                if stated
                else at_key(document, "spec", "capacity", key)
            )
            related = [Related(use.place, f"on {use.tier.name}, by {driver.name}")]
            if how not in _STRENGTH:
                if needed != "none":
                    yield diagnose(
                        "SHR017",
                        place,
                        f"it is not known what holds shares of {key} on {use.tier.name}",
                        related=related,
                        expected=f"{needed} or more",
                        help=f"write `enforces: {{{key}: hardware}}` (or driver, or none) "
                        f"in the driver {driver.name}",
                    )
            elif _STRENGTH[how] < _STRENGTH[needed]:
                yield diagnose(
                    "SHR007",
                    place,
                    f"{document.name} needs {key} held by {needed}, "
                    f"on {use.tier.name} it is held by {_holder(how)}",
                    related=related,
                    found=how,
                    expected=f"{needed} or more",
                    help="fall back to a partitioned policy or to whole devices, use a driver whose "
                    f"limiter holds {key}, or accept it with `isolation: {how}`",
                )


def _holder(how: str) -> str:
    return "nothing" if how == "none" else f"the {how}" if how == "driver" else how


def has_more_shares_than_it_says(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR008: Kubernetes has no field for maxShares, so some capacity must bound the shares."""
    for use, document, spec in _shared(catalog):
        if spec.max_shares is None:
            continue
        bounds = []
        for key in spec.capacity:
            value = use.tier.capacity.get(use.tier.driver.spelling(key))
            least = min(
                (part.capacity[key].nano for part in use.policy.parts if key in part.capacity),
                default=0,
            )
            if value is not None and least > 0:
                bounds.append((value.nano // least, key, value, Quantity(least, value.format)))
        if not bounds or min(bounds)[0] <= spec.max_shares:
            continue
        shares, key, value, least_amount = min(bounds)
        yield diagnose(
            "SHR008",
            at(document, "spec", "maxShares"),
            f"{shares} shares fit on a device of {use.tier.name}, and nothing stops at {spec.max_shares}",
            related=[Related(use.place, f"{value} of {key} a device, {least_amount} the least")],
            found=str(spec.max_shares),
            expected=f"{shares} or more",
            help=f"write {shares}, or divide a capacity that counts shares, where the driver "
            f"publishes one{_fewer(use, key, value, spec.max_shares)}",
            fix=str(shares),
        )


def _fewer(use: Use, key: str, value: Quantity, shares: int) -> str:
    """The sizes whose removal would leave no more than so many shares, where that is some of them."""
    large = [
        part.name
        for part in use.policy.parts
        if key in part.capacity and value.nano // part.capacity[key].nano <= shares
    ]
    return f"; with {listed(large)} alone no more would fit" if large else ""


def reserves_what_is_published(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR009: Kubernetes has no field for reserve, so the driver must publish that much less.

    The most that a policy allows is taken for what the device has: published must be what is left
    of it.
    """
    for use, document, spec in _shared(catalog):
        for key, bounds in spec.capacity.items():
            value = use.tier.capacity.get(use.tier.driver.spelling(key))
            if not bounds.reserve or value is None:
                continue
            left = bounds.max - bounds.reserve
            if value > left:
                yield diagnose(
                    "SHR009",
                    at(document, "spec", "capacity", key, "reserve"),
                    f"{use.tier.name} publishes {value} of {key}, the reserve included, "
                    "and nothing keeps claims out of it",
                    related=[
                        Related(
                            at_key(use.tier.document, "spec", "device", "capacity"), f"{value} here"
                        ),
                        Related(at(document, "spec", "capacity", key, "max"), f"of {bounds.max}"),
                    ],
                    found=str(bounds.reserve),
                    expected=f"{left} published",
                    help=f"have {use.tier.driver.name} publish {left} and write that in the tier, "
                    "or remove the reserve",
                )


RULES: tuple[Rule, ...] = (
    is_rounded_by_the_driver,
    is_held_too_weakly,
    has_more_shares_than_it_says,
    reserves_what_is_published,
)
