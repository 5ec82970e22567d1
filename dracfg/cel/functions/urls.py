"""The URL library (kubernetes/apiserver: pkg/cel/library/urls.go).

Go's `url.ParseRequestURI` decides what is a URL: absolute, or a path that starts with "/". The
rules checked here are those a manifest meets; a host in brackets that is no IPv6 address and other
rarities are Unmodelled.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from dracfg.cel.outcomes import Unmodelled
from dracfg.dataclass import dataclass

__all__ = ["GLOBALS", "MEMBERS", "Url"]

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
PORT = re.compile(r"[0-9]*", re.ASCII)
UNESCAPED_PATH = "/%!$&'()*+,;=:@-._~[]"


@dataclass(frozen=True, slots=True)
class Url:
    """A URL that Go accepts; equality is that of the text."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Url:
        """Read a URL; raises ValueError."""
        if not text or CONTROL.search(text) or BAD_ESCAPE.search(text):
            raise ValueError(f"URL parse error during conversion from string: {text!r}")
        scheme = SCHEME.match(text)
        rest = text[scheme.end() :] if scheme else text
        if not rest.startswith("/"):
            if scheme and rest:
                # "mailto:x" is opaque, which ParseRequestURI takes as an invalid request URI.
                raise ValueError(f"parse {text!r}: invalid URI for request")
            raise ValueError(f"parse {text!r}: invalid URI for request")
        if not scheme and rest.startswith("//") and not rest.startswith("///"):
            raise Unmodelled("a network-path reference is read differently by Go's two parsers")
        if rest.startswith("//"):
            _check_authority(re.split("[/?#]", rest[2:], maxsplit=1)[0])
        return cls(text)

    @property
    def parts(self) -> SplitResult:
        """The parts as written."""
        return urlsplit(self.text)

    @property
    def host(self) -> str:
        """Host and port as written, without the user."""
        return self.parts.netloc.rpartition("@")[2]

    @property
    def hostname(self) -> str:
        """The host alone, an IPv6 address without its brackets."""
        if self.host.startswith("["):
            return self.host[1:].partition("]")[0]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        """The port, "" where none is written."""
        return self.host.rpartition("]")[2].partition(":")[2]

    def __str__(self) -> str:
        return self.text


def _check_authority(authority: str) -> None:
    host = authority.rpartition("@")[2]
    name, bracket, after = host.rpartition("]")
    if bracket:
        try:
            ipaddress.IPv6Address(name.lstrip("[").partition("%")[0])
        except ValueError as error:
            raise Unmodelled("a host in brackets that is no IPv6 address") from error
        port = after.removeprefix(":")
        bad = after != "" and not after.startswith(":")
    else:
        name, _, port = host.partition(":")
        bad = any(letter in name for letter in ' "<>\\^`{|}')
    if bad or not PORT.fullmatch(port):
        raise ValueError(f"parse error: {authority!r} is not a host with an optional port")


def is_url(text: str) -> bool:
    """Whether `url` succeeds."""
    try:
        Url.parse(text)
    except ValueError:
        return False
    return True


def escaped_path(url: Url) -> str:
    """The path with its escapes, those added that Go adds."""
    return quote(url.parts.path, safe=UNESCAPED_PATH)


def query(url: Url) -> dict[str, list[str]]:
    """The parameters of the query, each with all its values."""
    if ";" in url.parts.query:
        raise Unmodelled("a semicolon in a query")
    return parse_qs(url.parts.query, keep_blank_values=True)


GLOBALS: Mapping[str, Callable[..., Any]] = {"url": Url.parse, "isURL": is_url}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "getScheme": lambda url: url.parts.scheme,
    "getHost": lambda url: url.host,
    "getHostname": lambda url: url.hostname,
    "getPort": lambda url: url.port,
    "getEscapedPath": escaped_path,
    "getQuery": query,
}
