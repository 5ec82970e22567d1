"""The IP and CIDR libraries (kubernetes/apiserver: pkg/cel/library/{ip,cidr}.go).

Addresses with a zone and IPv4-mapped IPv6 addresses are refused, as there.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any

from dracfg.dataclass import dataclass

__all__ = ["GLOBALS", "MEMBERS", "Address", "Block"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
PREFIX = re.compile(r"(.+)/(0|[1-9][0-9]{0,2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Block:
    """An address with a prefix length; the bits after the prefix may be set."""

    address: Address
    length: int

    @classmethod
    def parse(cls, text: str) -> Block:
        """Read `address/length`; raises ValueError."""
        match = PREFIX.fullmatch(text)
        if match is None:
            raise ValueError(f"network address parse error: {text!r} has no prefix length")
        address, length = parse_address(match[1]), int(match[2])
        if length > address.max_prefixlen:
            raise ValueError(f"network address parse error: /{length} is too long")
        return cls(address, length)

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The block without the bits after the prefix."""
        return ipaddress.ip_network(f"{self.address}/{self.length}", strict=False)

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


def parse_address(text: str) -> Address:
    """Read an address; raises ValueError."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            raise ValueError(f"IP address {text!r} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise ValueError(f"IPv4-mapped IPv6 address {text!r} is not allowed")
    return address


def is_link_local_multicast(address: Address) -> bool:
    """224.0.0.0/24, or any IPv6 multicast address of link-local scope."""
    packed = address.packed
    if len(packed) == 4:
        return packed[:3] == b"\xe0\x00\x00"
    return packed[0] == 0xFF and packed[1] & 0x0F == 2


def is_global_unicast(address: Address) -> bool:
    """All unicast addresses but the special ones; private ranges count (Go: netip)."""
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or address == ipaddress.IPv4Address("255.255.255.255")
    )


def contains_ip(block: Block, address: Address | str) -> bool:
    """Whether the address lies in the block."""
    inner = parse_address(address) if isinstance(address, str) else address
    return inner.version == block.address.version and inner in block.network


def contains_cidr(block: Block, other: Block | str) -> bool:
    """Whether all of the other block lies in this one."""
    inner = Block.parse(other) if isinstance(other, str) else other
    same = inner.address.version == block.address.version
    return same and block.length <= inner.length and inner.address in block.network


def to_text(value: Address | Block) -> str:
    """`string()` of an address or a block."""
    return str(value)


def _succeeds(parse: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "ip": parse_address,
    "isIP": _succeeds(parse_address),
    "ip.isCanonical": lambda text: str(parse_address(text)) == text,
    "cidr": Block.parse,
    "isCIDR": _succeeds(Block.parse),
    "string": to_text,
}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "family": lambda address: address.version,
    "isUnspecified": lambda address: address.is_unspecified,
    "isLoopback": lambda address: address.is_loopback,
    "isLinkLocalMulticast": is_link_local_multicast,
    "isLinkLocalUnicast": lambda address: address.is_link_local,
    "isGlobalUnicast": is_global_unicast,
    "containsIP": contains_ip,
    "containsCIDR": contains_cidr,
    "ip": lambda block: block.address,
    "prefixLength": lambda block: block.length,
    "masked": lambda block: Block(block.network.network_address, block.length),
}
