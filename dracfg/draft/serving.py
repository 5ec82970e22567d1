"""A server → the record that a draft is made of, and what of it could not be read.

What is not served has no objects. Of ConfigMaps only those of device plugins' namespaces are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from dracfg.draft.facts import facts
from dracfg.live.connection import Connection
from dracfg.live.discovery import Discovery, Refused
from dracfg.live.outcomes import server_version
from dracfg.live.reading import CONFIG_MAPS, list_objects
from dracfg.live.refusals import read_refusal
from dracfg.source.records import Record, served_record

_NOT_FOUND = 404


class Served(NamedTuple):
    """What was read. `version` is the server's, as it writes it; `unread` are clauses for people."""

    record: Record
    version: str | None
    unread: tuple[str, ...]


def read_served(connection: Connection) -> Served:
    """All objects of all kinds that the draft looks at. Raises Unanswered where the server is silent."""
    told, discovery = server_version(connection), Discovery(connection)
    objects: list[dict[str, Any]] = []
    unread: list[str] = []
    for kind, query in _queries():
        try:
            resource = discovery.preferred(*kind)
            if resource is not None:
                objects += list_objects(connection, resource, query)
        except Refused as refused:
            if refused.answer.status != _NOT_FOUND:
                unread.append(f"{kind[1]}: {read_refusal(refused.answer).message}")
    version = told.minor if told is not None else None
    return Served(served_record(connection.cluster, objects), version, tuple(unread))


def _queries() -> Iterator[tuple[tuple[str, str], dict[str, str]]]:
    yield from ((kind, {}) for kind in facts().kinds)
    for namespace in facts().config_namespaces:
        yield CONFIG_MAPS, {"fieldSelector": f"metadata.namespace={namespace}"}
