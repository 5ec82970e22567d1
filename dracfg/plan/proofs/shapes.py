"""What is packed onto what: kinds of shares, groups of equal nodes, claims.

Amounts are integers in one unit of each key; where they come from is not known here. A device's
content is how many shares of each kind it carries, as a tuple in the order of the kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.dataclass import dataclass

Counts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """What one share takes of one device.

    `size` goes by the keys of the pool, after the driver's rounding. A `whole` share has its device
    alone, whatever that offers; its size is empty.
    """

    name: str
    size: Counts = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ShareBound:
    """The most shares on one device, and what keeps them to that; nothing else counts as a bound."""

    most: int
    carried_by: str


@dataclass(frozen=True, slots=True)
class Group:
    """Equal nodes: `nodes` of them with `per_node` devices of the same published `capacity`.

    `admits` names the kinds that these devices are handed out as, None for all. Nodes kept spare
    are not among the nodes.
    """

    name: str
    nodes: int
    per_node: int
    capacity: Counts = ()
    shares: ShareBound | None = None
    admits: frozenset[str] | None = None

    @property
    def devices(self) -> int:
        return self.nodes * self.per_node

    def takes(self, kind: Kind) -> bool:
        return self.admits is None or kind.name in self.admits

    def holds(self, kinds: Sequence[Kind], content: Sequence[int]) -> bool:
        """The device bound: whether one device carries this content."""
        total = sum(content)
        if total == 0:
            return True
        if self.shares is not None and total > self.shares.most:
            return False
        used = [0] * len(self.capacity)
        for kind, count in zip(kinds, content, strict=True):
            if not count:
                continue
            if not self.takes(kind) or (kind.whole and total > 1):
                return False
            for i, amount in enumerate(kind.size):
                used[i] += amount * count
        return all(amount <= most for amount, most in zip(used, self.capacity, strict=True))

    def room(self, kinds: Sequence[Kind], content: Sequence[int], kind: Kind, most: int) -> int:
        """How many more shares of a kind a device with this content takes, `most` at most.

        The content is taken to keep to the device bound.
        """
        total = sum(content)
        if not self.takes(kind) or most <= 0:
            return 0
        if any(held.whole for held, count in zip(kinds, content, strict=True) if count):
            return 0
        if kind.whole:
            return 0 if total else min(1, most, self.shares.most if self.shares else 1)
        if self.shares is not None:
            most = min(most, self.shares.most - total)
        for i, amount in enumerate(kind.size):
            if amount:
                used = sum(
                    held.size[i] * count
                    for held, count in zip(kinds, content, strict=True)
                    if count
                )
                most = min(most, (self.capacity[i] - used) // amount)
        return max(0, most)

    def refuses(self, kinds: Sequence[Kind], content: Sequence[int], kind: Kind) -> bool:
        """Whether a device with this content has no room for one more share."""
        return self.room(kinds, content, kind, 1) == 0


@dataclass(frozen=True, slots=True)
class Pool:
    """Everything that one kind of claim may land on. `keys` names the amounts, for reasons."""

    groups: tuple[Group, ...]
    keys: tuple[str, ...] = ()

    @property
    def devices(self) -> int:
        return sum(group.devices for group in self.groups)

    def taking(self, kind: Kind) -> tuple[Group, ...]:
        return tuple(group for group in self.groups if group.takes(kind) and group.devices)


@dataclass(frozen=True, slots=True)
class Claims:
    """`count` claims, each for `devices` shares of one kind on different devices of one node."""

    kind: Kind
    count: int
    devices: int = 1

    @property
    def shares(self) -> int:
        return self.count * self.devices


@dataclass(frozen=True, slots=True)
class Others:
    """The most shares of each kind that enforced bounds let anybody else hold."""

    kinds: tuple[Kind, ...]
    counts: Counts

    @classmethod
    def of(cls, *held: tuple[Kind, int]) -> Others:
        return cls(tuple(kind for kind, _ in held), tuple(count for _, count in held))
