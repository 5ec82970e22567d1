"""A kubeconfig → a connection, through the official client.

The file is read only here and by the client. Knows nothing of what is asked over the connection.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from dracfg.dataclass import dataclass
from dracfg.live.connection import Connection


class NoClient(Exception):
    """The official client is not installed."""

    def __init__(self) -> None:
        super().__init__("this needs the official client: pip install 'dracfg[live]'")


class BadKubeconfig(Exception):
    """A kubeconfig that can't be used; the message says why and names the file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Access:
    """What names a server: a kubeconfig, one of its contexts (else the current one), patience."""

    kubeconfig: Path
    context: str | None = None
    timeout: float = 30.0


def connect(access: Access, cluster: str) -> Connection:
    """A connection to the server that a kubeconfig names; no request is sent yet.

    Proxies come from the kubeconfig alone: the environment of a CI job must not decide where
    credentials go. Raises NoClient and BadKubeconfig.
    """
    try:
        from kubernetes import client, config
    except ImportError:
        raise NoClient from None
    path = access.kubeconfig
    if not path.is_file():
        raise BadKubeconfig(path, "there is no such file")
    if os.pathsep in str(path):
        raise BadKubeconfig(path, f"the client takes {os.pathsep!r} for the end of a path")
    settings = client.Configuration()
    settings.proxy = None
    settings.no_proxy = ""
    with _heard() as said:
        try:
            config.load_kube_config(
                config_file=str(path),
                context=access.context,
                client_configuration=settings,
                persist_config=False,
            )
        except config.ConfigException as fault:
            raise BadKubeconfig(path, _reason(fault)) from None
        except yaml.YAMLError as fault:
            mark = getattr(fault, "problem_mark", None)
            where = f"line {mark.line + 1} is not YAML" if mark is not None else "not YAML"
            raise BadKubeconfig(path, where) from None
        except OSError as fault:
            reason = fault.strerror or type(fault).__name__
            raise BadKubeconfig(path, f"{fault.filename or 'a file it names'}: {reason}") from None
        except (AttributeError, KeyError, TypeError, ValueError):
            # The client takes the form of the file for granted.
            raise BadKubeconfig(path, "it does not have the form of a kubeconfig") from None
    if said:
        raise BadKubeconfig(path, f"its credentials can't be had: {said[0]}")
    if not settings.host.startswith(("https://", "http://")):
        raise BadKubeconfig(path, f"server: {settings.host!r} is no address of a server")
    pool = client.ApiClient(configuration=settings).rest_client.pool_manager
    return Connection(cluster, settings.host.rstrip("/"), settings, pool, access.timeout)


def _reason(fault: Exception) -> str:
    """The client's reason, without the words that each of its messages begins with."""
    text = str(fault)
    for head in ("Invalid kube-config file. ", "Invalid kube-config. "):
        text = text.removeprefix(head)
    return text.rstrip(".") or "it can't be read"


class _Listener(logging.Handler):
    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage().strip().split("\n")[0])


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What the client logs in place of an exception when a credential plugin fails."""
    said: list[str] = []
    root: Any = logging.getLogger()
    listener = _Listener(said)
    root.addHandler(listener)
    try:
        yield said
    finally:
        root.removeHandler(listener)
