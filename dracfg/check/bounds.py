"""SHR011, SHR012, SHR014: policies that contradict themselves, whatever devices they are used on."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed, suggestion
from dracfg.check.sizes import consumables, legal, nearest
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.parts import sized_capacity
from dracfg.model import kinds
from dracfg.model.base import at, at_key
from dracfg.model.sharing import CapacityPolicy, Consumable, NamedSize, Partitioned


def sizes_leave_a_capacity_open(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR011: every size must come to an amount of every capacity."""
    for document, spec, _ in consumables(catalog):
        plain = [i for i, size in enumerate(spec.sizes) if not isinstance(size, NamedSize)]
        if spec.sized_by is not None and spec.sized_by not in spec.capacity:
            help_, fix = suggestion(spec.sized_by, spec.capacity)
            yield diagnose(
                "SHR011",
                at(document, "spec", "sizedBy"),
                f"{spec.sized_by} is no capacity of this policy",
                found=spec.sized_by,
                help=help_,
                fix=fix,
            )
        elif spec.sized_by is None and len(spec.capacity) > 1 and plain:
            yield diagnose(
                "SHR011",
                at(document, "spec", "sizes", plain[0]),
                "several capacities stand in this policy, and nothing says which one sizes are of",
                related=[Related(at_key(document, "spec", "capacity"), listed(spec.capacity))],
                help=f"add `sizedBy: {next(iter(spec.capacity))}`",
            )
        else:
            yield from _open_capacities(document, spec)


def _open_capacities(document: kinds.SharingPolicy, spec: Consumable) -> Iterator[Diagnostic]:
    for i, size in enumerate(spec.sizes):
        stated = set(size.capacity) if isinstance(size, NamedSize) else {sized_capacity(spec)}
        for key, bounds in spec.capacity.items():
            if key not in stated and bounds.default is None:
                named = isinstance(size, NamedSize)
                yield diagnose(
                    "SHR011",
                    at(document, "spec", "sizes", i, *(("name",) if named else ())),
                    f"size {size.name if isinstance(size, NamedSize) else size} "
                    f"leaves {key} open, which has no default",
                    related=[Related(at_key(document, "spec", "capacity", key), "no default")],
                    help=f"give {key} a default, such as `default: {bounds.min}`",
                )


def bounds_are_impossible(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR012."""
    for document, spec, _ in consumables(catalog):
        for key, bounds in spec.capacity.items():
            yield from _bounds(document, key, bounds)


def _bounds(
    document: kinds.SharingPolicy, key: str, bounds: CapacityPolicy
) -> Iterator[Diagnostic]:
    def place(word: str) -> Span:
        return at(document, "spec", "capacity", key, word)

    if bounds.min > bounds.max:
        yield diagnose(
            "SHR012",
            place("min"),
            f"min of {key} is above max",
            related=[Related(place("max"), f"max is {bounds.max}")],
            found=str(bounds.min),
            expected=f"at most {bounds.max}",
            help=f"swap them: min {bounds.max}, max {bounds.min}",
        )
        return
    if bounds.step is not None and not bounds.step:
        yield diagnose(
            "SHR012",
            place("step"),
            f"a step of 0 of {key} leads nowhere",
            help="leave `step` out to allow any amount",
        )
        return
    if bounds.step and (bounds.max.nano - bounds.min.nano) % bounds.step.nano:
        below = nearest(bounds.max, bounds)[0]
        yield diagnose(
            "SHR012",
            place("max"),
            f"no number of steps leads from min to max of {key}",
            related=[
                Related(place("step"), f"the step is {bounds.step}"),
                Related(place("min"), f"counted from {bounds.min}"),
            ],
            found=str(bounds.max),
            expected=f"{bounds.min} plus a multiple of {bounds.step}",
            help=f"use {below} or {below + bounds.step}",
        )
        return
    if bounds.default is not None and not legal(bounds.default, bounds):
        near = nearest(bounds.default, bounds)
        yield diagnose(
            "SHR012",
            place("default"),
            f"the default of {key} is not an amount that the policy allows",
            related=[Related(at_key(document, "spec", "capacity", key), "the bounds")],
            found=str(bounds.default),
            expected=f"{bounds.min} to {bounds.max}",
            help=f"use {listed((str(amount) for amount in near), 'or')}",
        )


def parts_share_a_class(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR014: class names are in lower case and without dots, so `1M` and `1m` are one name."""
    for policy in catalog.policies.values():
        if policy.document is None:
            continue
        first: dict[str, int] = {}
        for i, part in enumerate(policy.parts):
            other = first.setdefault(part.suffix, i)
            if policy.parts[other].name != part.name:
                yield diagnose(
                    "SHR014",
                    part_place(policy.document, i),
                    f"{part.name} and {policy.parts[other].name} would be one class, "
                    f"…-{policy.name}-{part.suffix}",
                    related=[Related(part_place(policy.document, other), "the other one")],
                    help="rename one of the two, or keep them in two policies",
                )


def part_place(document: kinds.SharingPolicy, position: int) -> Span:
    """Where a part of a policy has its name."""
    spec = document.spec
    if isinstance(spec, Partitioned):
        return at(document, "spec", "partitions", position, "name")
    named = isinstance(spec, Consumable) and isinstance(spec.sizes[position], NamedSize)
    return at(document, "spec", "sizes", position, *(("name",) if named else ()))


RULES: tuple[Rule, ...] = (sizes_leave_a_capacity_open, bounds_are_impossible, parts_share_a_class)
