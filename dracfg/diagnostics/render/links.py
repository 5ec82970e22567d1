"""Text of a terminal that leads somewhere: OSC 8, as terminals agreed on it.

Where a place or a rule leads is told from outside; nothing of a terminal is asked here.
Source: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
"""

from __future__ import annotations

from collections.abc import Callable

from dracfg.dataclass import dataclass
from dracfg.diagnostics.render.plain import plain
from dracfg.diagnostics.span import Span

_START, _END = "\x1b]8;;", "\x1b\\"


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of places in files and of the pages of rules; None where there is none."""

    of_span: Callable[[Span], str | None]
    of_rule: Callable[[str], str | None]

    def span(self, span: Span) -> str:
        return linked(plain(str(span)), self.of_span(span))

    def rule(self, code: str) -> str:
        return linked(code, self.of_rule(code))


def linked(text: str, address: str | None) -> str:
    """Text that leads to an address, or the text alone; an address holds printable ASCII only."""
    if address is None:
        return text
    if not (address.isascii() and address.isprintable()):
        raise ValueError(f"an address with characters that end it: {address!r}")
    return f"{_START}{address}{_END}{text}{_START}{_END}"


NO_LINKS = Links(lambda _span: None, lambda _code: None)
