"""What one request takes of one device's capacity, as the allocator reckons it.

Follows consumable_capacity.go of kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2
(structured/internal). `dracfg.kube.requestpolicy` says what the API promises; this module keeps
to the allocator's arithmetic: 64 bits, whole units or thousandths. Knows no search.
"""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.allocate.devices import CapacityFact
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import NANO_PER_MILLI, NANO_PER_UNIT, Quantity
from dracfg.kube.requestpolicy import RequestPolicy, ValidRange

LARGEST = 2**63 - 1
_DIGITS = 18

Amounts = Mapping[str, Quantity]
"""Capacity key → amount."""


@dataclass(frozen=True, slots=True)
class CapacityFailure:
    """An amount that can't be reckoned with; it ends the allocation in an error."""

    reason: str


@dataclass(frozen=True, slots=True)
class Demand:
    """What a device must have left in each of its capacities, in billionths of the unit.

    `largest` are the device's own values in the same order as `taken`.
    """

    amounts: Amounts
    taken: tuple[tuple[str, int, int], ...]

    def fits(self, *consumed: Mapping[str, int]) -> bool:
        """Whether it still goes into the device beside what is consumed already."""
        return all(
            amount + sum(held.get(name, 0) for held in consumed) <= largest
            for name, amount, largest in self.taken
        )


def demand(
    requested: Amounts,
    capacity: Mapping[str, CapacityFact],
    *,
    fractional: bool,
    errors: bool,
) -> Demand | CapacityFailure | None:
    """What a request takes of a device; None where the device is not eligible for it.

    `fractional` is DRAFractionalCapacityRange; `errors` says whether the minor takes amounts
    that it can't represent, or negative ones, for errors.
    """
    if any(name not in capacity for name in requested):
        return None
    amounts: dict[str, Quantity] = {}
    for name, fact in capacity.items():
        amount = _amount(requested.get(name), fact, fractional, errors)
        if isinstance(amount, CapacityFailure):
            return CapacityFailure(f"capacity {name}: {amount.reason}")
        if errors and amount.nano < 0:
            return CapacityFailure(f"capacity {name}: the amount {amount} is negative")
        amounts[name] = amount
    for name, amount in amounts.items():
        policy = capacity[name].request_policy
        if policy is not None and name in requested and _violates(amount, policy, fractional):
            return None
    taken = tuple((name, amounts[name].nano, fact.value.nano) for name, fact in capacity.items())
    return Demand(amounts, taken)


def _amount(
    requested: Quantity | None, fact: CapacityFact, fractional: bool, errors: bool
) -> Quantity | CapacityFailure:
    policy = fact.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return fact.value if default is None else default
    if policy is None:
        return requested
    if policy.valid_range is not None:
        return _round_up(requested, policy.valid_range, fractional, errors)
    return next((value for value in policy.valid_values if requested <= value), requested)


def _round_up(
    requested: Quantity, bounds: ValidRange, fractional: bool, errors: bool
) -> Quantity | CapacityFailure:
    """The next amount of the range; the notation of the step from 1.37 on, binary before."""
    if requested < bounds.min:
        return bounds.min
    if bounds.step is None:
        return requested
    fine = fractional and all(map(_is_fine, _given(bounds)))
    if errors and fine and not _is_fine(requested):
        return CapacityFailure(f"{requested} is no number of thousandths that goes into 64 bits")
    if errors and not fine and requested.nano > LARGEST * NANO_PER_UNIT:
        return CapacityFailure(f"{requested} does not go into 64 bits")
    asked, least, step = (_count(one, fine) for one in (requested, bounds.min, bounds.step))
    if not step:
        return CapacityFailure(f"step {bounds.step} does not go into 64 bits")
    distance = _wrapped(asked - least)
    steps, rest = divmod(abs(distance), step)
    # Below min only where 64 bits ran over; Go divides towards zero then.
    total = least + step * ((steps if distance >= 0 else -steps) + bool(rest))
    if errors and total > LARGEST:
        return CapacityFailure(f"{requested} rounded up to the next step leaves 64 bits")
    total = _low_bits(total)
    notation = bounds.step.format if errors else "BinarySI"
    unit = NANO_PER_MILLI if fine else NANO_PER_UNIT
    return Quantity(_wrapped(total) * unit, notation)


def _violates(amount: Quantity, policy: RequestPolicy, fractional: bool) -> bool:
    bounds = policy.valid_range
    if bounds is None:
        return bool(policy.valid_values) and amount not in policy.valid_values
    if bounds.max is not None and amount > bounds.max:
        return True
    if bounds.step is None:
        return False
    fine = fractional and all(map(_is_fine, _given(bounds)))
    if fine and not _is_fine(amount):
        return True
    step = _count(bounds.step, fine)
    return bool(step and _wrapped(_count(amount, fine) - _count(bounds.min, fine)) % step)


def _given(bounds: ValidRange) -> list[Quantity]:
    return [one for one in (bounds.min, bounds.max, bounds.step) if one is not None]


def _is_fine(amount: Quantity) -> bool:
    """Whether it is a whole number of thousandths that goes into 64 bits."""
    whole = amount.nano % NANO_PER_MILLI == 0
    return whole and abs(amount.nano) <= LARGEST * NANO_PER_MILLI


def _count(amount: Quantity, fine: bool) -> int:
    """Thousandths or units as Go reads them: what does not go into 64 bits is 0, or its low bits.

    `resource.Quantity` of k8s.io/apimachinery keeps up to 18 digits and an exponent, and reads 0
    where these run over; of longer numbers it reads the low 64 bits.
    """
    value = amount.milli() if fine else amount.value()
    if abs(value) <= LARGEST:
        return value
    if len(str(abs(value)).rstrip("0")) <= _DIGITS:
        return 0
    return _low_bits(value)


def _low_bits(value: int) -> int:
    """What Go keeps of a number in 64 bits; most numbers stay what they are."""
    return _wrapped(value)


def _wrapped(value: int) -> int:
    """The number as 64 bits hold it."""
    return (value + LARGEST + 1) % 2**64 - LARGEST - 1
