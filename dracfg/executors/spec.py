"""What a person names to run portions of work: `process`, `thread` or `dask://HOST:PORT`."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from dracfg.dataclass import dataclass

Kind = Literal["process", "thread", "dask"]

_ALLOWED = "process, thread or dask://HOST:PORT"


@dataclass(frozen=True, slots=True)
class ExecutorSpec:
    """A way to run portions; `address` is `host:port` of Dask's scheduler, else empty."""

    kind: Kind = "process"
    address: str = ""

    def __str__(self) -> str:
        return f"{self.kind}://{self.address}" if self.address else self.kind


def parse_executor(text: str) -> ExecutorSpec:
    """The executor that a text names. Raises ValueError, which says what is allowed."""
    if text == "process":
        return ExecutorSpec("process")
    if text == "thread":
        return ExecutorSpec("thread")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{text!r} is no executor, {error}: {_ALLOWED}") from None
    if scheme != "dask":
        raise ValueError(f"{text!r} is no executor: {_ALLOWED}")
    if not host or not port:
        missing = "host" if not host else "port"
        raise ValueError(f"{text!r} names no {missing} of a scheduler: {_ALLOWED}")
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if parts.netloc.lower() != address:
        raise ValueError(f"{text!r} holds more than a host and a port: {_ALLOWED}")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"{text!r} holds more than a host and a port: {_ALLOWED}")
    return ExecutorSpec("dask", address)
