"""Whether requests of one claim can be met together: which devices, under which constraints.

Exact, by search over kinds of devices: devices that qualify for the same requests, have the same
values of the constrained attributes and as much left are one kind, so that what failed once is not
tried again with their like. Follows kubernetes/dynamic-resource-allocation@v0.36.3: devices of one
request are different ones, two requests may share a shareable device, a device without a
constrained attribute is not eligible, list attributes match in a common element (KEP-5491). Knows
neither classes nor the order in which the scheduler would try devices, and weighs no counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from dracfg.allocate.devices import Attribute, Device
from dracfg.dataclass import dataclass
from dracfg.link.claims import Constraint

BUDGET = 200_000
"""States that are looked at before the search gives up."""

Value = tuple[str, int | bool | str]
Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One way to meet a request: `count` different devices of those in `takes`.

    `takes` says, by the device's number, what of each capacity is consumed; None for devices that
    are had alone.
    """

    count: int
    takes: Mapping[int, Amounts | None]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A request and the ways to meet it."""

    name: str
    choices: tuple[Choice, ...]


def can_be_met(
    devices: Sequence[Device],
    wanted: Sequence[Wanted],
    constraints: Sequence[Constraint],
    budget: int = BUDGET,
    *,
    compares_distinct: bool = True,
) -> bool | None:
    """Whether the requests can be met together; None where the budget ends before that is known.

    Without `compares_distinct`, devices need only have a distinct attribute.
    """
    order = _linked_order(wanted, constraints)
    search = _Search(devices, order, constraints, budget, compares_distinct)
    try:
        return search.run()
    except _BudgetSpent:
        return None


def values(device: Device, attribute: str) -> frozenset[Value]:
    """The typed values that a constraint compares, one for a scalar; empty without the attribute."""
    found = device.attribute(attribute)
    return frozenset() if found is None else frozenset(_typed(found))


def _typed(attribute: Attribute) -> Iterator[Value]:
    kind = attribute.type.removesuffix("s")
    for value in attribute.value if isinstance(attribute.value, tuple) else (attribute.value,):
        yield kind, value


class _BudgetSpent(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Kind:
    """Devices that are interchangeable. `left` is what a shareable one has, None for others."""

    takes: tuple[tuple[int, tuple[tuple[str, int], ...] | None], ...]
    values: tuple[frozenset[Value], ...]
    left: tuple[tuple[str, int], ...] | None


_Stock = tuple[tuple[int, int], ...]
"""(kind, number of devices), in the order of the kinds."""
_State = tuple[frozenset[Value] | None, ...]
"""For each constraint the common (match) or the used (distinct) values; None before and after."""


@dataclass(slots=True)
class _Search:
    devices: Sequence[Device]
    wanted: Sequence[Wanted]
    constraints: Sequence[Constraint]
    budget: int
    compares_distinct: bool
    kinds: list[_Kind] = field(default_factory=list)
    numbers: dict[_Kind, int] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    failed: set[tuple[object, ...]] = field(default_factory=set)

    def run(self) -> bool:
        for one in self.wanted:
            self.choices += [choice for choice in one.choices if choice not in self.choices]
        names = [one.name for one in self.wanted]
        self.last = [
            max((names.index(name) for name in constraint.requests if name in names), default=-1)
            for constraint in self.constraints
        ]
        counts: dict[int, int] = {}
        for number, device in enumerate(self.devices):
            kind = self._kind(number, device)
            if kind.takes:
                index = self._number(kind)
                counts[index] = counts.get(index, 0) + 1
        return self._request(0, tuple(sorted(counts.items())), (None,) * len(self.constraints))

    def _kind(self, number: int, device: Device) -> _Kind:
        takes = tuple(
            (index, None if amounts is None else tuple(sorted(amounts.items())))
            for index, choice in enumerate(self.choices)
            for amounts in ([choice.takes[number]] if number in choice.takes else [])
        )
        left = None
        if device.allow_multiple_allocations:
            left = tuple(sorted((key, fact.value.nano) for key, fact in device.capacity.items()))
        compared = tuple(values(device, constraint.attribute) for constraint in self.constraints)
        return _Kind(takes, compared, left)

    def _number(self, kind: _Kind) -> int:
        if kind not in self.numbers:
            self.numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self.numbers[kind]

    def _request(self, position: int, stock: _Stock, state: _State) -> bool:
        """Whether the requests from `position` on can be met from what is left."""
        if position == len(self.wanted):
            return True
        key = (position, stock, state)
        if key in self.failed:
            return False
        for choice in self.wanted[position].choices:
            if choice.count <= len(choice.takes) and self._take(
                position, choice, choice.count, 0, stock, {}, state
            ):
                return True
        self.failed.add(key)
        return False

    def _take(
        self,
        position: int,
        choice: Choice,
        missing: int,
        least: int,
        stock: _Stock,
        shared: dict[int, int],
        state: _State,
    ) -> bool:
        """Takes the missing devices, kinds in ascending order; `shared` returns after the request."""
        if not missing:
            return self._request(position + 1, _added(stock, shared), self._ended(position, state))
        index = self.choices.index(choice)
        key = (position, index, missing, least, stock, tuple(sorted(shared.items())), state)
        if key in self.failed:
            return False
        self.budget -= 1
        if self.budget < 0:
            raise _BudgetSpent
        for number, _ in stock:
            kind = self.kinds[number]
            takes = dict(kind.takes)
            if number < least or index not in takes:
                continue
            after = self._constrained(position, kind, state)
            rest = _rest(kind, takes[index])
            if after is None or rest is False:
                continue
            returned = shared
            if isinstance(rest, _Kind):
                lesser = self._number(rest)
                returned = {**shared, lesser: shared.get(lesser, 0) + 1}
            less = _added(stock, {number: -1})
            if self._take(position, choice, missing - 1, number, less, returned, after):
                return True
        self.failed.add(key)
        return False

    def _constrained(self, position: int, kind: _Kind, state: _State) -> _State | None:
        """The constraints after one more device of the kind; None where it breaks one."""
        name = self.wanted[position].name
        after = list(state)
        for number, constraint in enumerate(self.constraints):
            if name not in constraint.requests:
                continue
            own, before = kind.values[number], state[number]
            if constraint.distinct:
                after[number] = own | (before or frozenset())
                allowed = not (self.compares_distinct and own & (before or frozenset()))
            else:
                after[number] = own if before is None else own & before
                allowed = bool(after[number])
            if not own or not allowed:
                return None
        return tuple(after)

    def _ended(self, position: int, state: _State) -> _State:
        """The state without constraints that no later request takes part in."""
        return tuple(
            None if self.last[number] <= position else value for number, value in enumerate(state)
        )


def _rest(kind: _Kind, taken: tuple[tuple[str, int], ...] | None) -> _Kind | bool:
    """The kind that a shared device becomes, False where too little is left, True if taken whole."""
    if kind.left is None or taken is None:
        return True
    amounts = dict(taken)
    left = tuple((key, amount - amounts.get(key, 0)) for key, amount in kind.left)
    if any(amount < 0 for _, amount in left):
        return False
    return _Kind(kind.takes, kind.values, left)


def _added(stock: _Stock, more: Mapping[int, int]) -> _Stock:
    if not more:
        return stock
    counts = dict(stock)
    for number, count in more.items():
        counts[number] = counts.get(number, 0) + count
    return tuple(sorted((number, count) for number, count in counts.items() if count))


def _linked_order(wanted: Sequence[Wanted], constraints: Sequence[Constraint]) -> list[Wanted]:
    """The requests such that those that must match follow each other."""
    by_name = {one.name: one for one in wanted}
    order: dict[str, None] = {}
    for one in wanted:
        order.setdefault(one.name)
        for constraint in constraints:
            if not constraint.distinct and one.name in constraint.requests:
                order.update(dict.fromkeys(n for n in constraint.requests if n in by_name))
    return [by_name[name] for name in order]
