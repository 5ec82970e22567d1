"""How much of a shareable device's capacity one request consumes.

The rules of `DeviceCapacity.requestPolicy` (KEP-5075; kubernetes/dynamic-resource-allocation
v0.36.3, structured/.../consumable_capacity.go). It may not know of claims, classes or what other
claims hold already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import NANO_PER_MILLI, NANO_PER_UNIT, Quantity

__all__ = ["RequestPolicy", "ValidRange", "consumed"]


@dataclass(frozen=True, slots=True)
class ValidRange:
    """Amounts from `min` to `max`; with `step`, only min + n*step. Raises ValueError otherwise."""

    min: Quantity
    max: Quantity | None = None
    step: Quantity | None = None

    def __post_init__(self) -> None:
        if self.min.nano < 0:
            raise ValueError(f"min must not be negative, it is {self.min}")
        if self.max is not None and self.max < self.min:
            raise ValueError(f"max {self.max} is below min {self.min}")
        if self.step is not None and self.step.nano <= 0:
            raise ValueError(f"step must be positive, it is {self.step}")


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """A request policy as a driver publishes it; at most one of values and range is set."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: ValidRange | None = None

    def __post_init__(self) -> None:
        if self.valid_values and self.valid_range is not None:
            raise ValueError("validValues and validRange must not both be set")

    @classmethod
    def from_object(cls, policy: Mapping[str, Any]) -> RequestPolicy:
        """Read `requestPolicy` of a ResourceSlice; ValueError for a policy that cannot hold."""
        bounds = policy.get("validRange")
        if bounds is not None and "min" not in bounds:
            raise ValueError("validRange needs min")
        return cls(
            default=_optional(policy.get("default")),
            valid_values=tuple(Quantity.parse(value) for value in policy.get("validValues") or ()),
            valid_range=None
            if bounds is None
            else ValidRange(
                min=Quantity.parse(bounds["min"]),
                max=_optional(bounds.get("max")),
                step=_optional(bounds.get("step")),
            ),
        )


def consumed(
    requested: Quantity | None,
    policy: RequestPolicy | None,
    capacity_value: Quantity,
    *,
    fractional_range: bool = False,
) -> Quantity | None:
    """The amount that a request takes from an unused device; None where the device is not eligible.

    `requested` is None when the claim does not name the capacity: the policy's default is taken,
    or the whole value where there is none. `fractional_range` says whether
    DRAFractionalCapacityRange is on: without it, steps are counted in whole units, each bound
    rounded up.
    """
    amount = _amount(requested, policy, capacity_value, fractional_range)
    if amount is None or amount > capacity_value:
        return None
    return amount


def _amount(
    requested: Quantity | None,
    policy: RequestPolicy | None,
    capacity_value: Quantity,
    fractional_range: bool,
) -> Quantity | None:
    if requested is None:
        default = policy.default if policy is not None else None
        return capacity_value if default is None else default
    if policy is None:
        return requested
    if policy.valid_values:
        return min((value for value in policy.valid_values if value >= requested), default=None)
    if policy.valid_range is None:
        return requested
    amount = _round_up(requested, policy.valid_range, fractional_range)
    largest = policy.valid_range.max
    return None if largest is not None and amount > largest else amount


def _round_up(requested: Quantity, bounds: ValidRange, fractional_range: bool) -> Quantity:
    """The next amount of the range, at least min, in the notation that the scheduler records."""
    if requested < bounds.min:
        return bounds.min
    if bounds.step is None:
        return requested
    limits = (bounds.min, bounds.max, bounds.step)
    fine = fractional_range and any(q is not None and not q.is_whole() for q in limits)
    unit = NANO_PER_MILLI if fine else NANO_PER_UNIT
    asked, least, step = (
        q.milli() if fine else q.value() for q in (requested, bounds.min, bounds.step)
    )
    steps = -(-(asked - least) // step)
    return Quantity((least + steps * step) * unit, bounds.step.format if fine else "BinarySI")


def _optional(text: str | int | None) -> Quantity | None:
    return None if text is None else Quantity.parse(text)
