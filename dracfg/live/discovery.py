"""What a server serves: the resource of each kind, asked once a group and version.

Knows no kind by heart; where several versions of a group are served, the server's order decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import quote

from dracfg.dataclass import dataclass
from dracfg.live.connection import Answer, Connection


class Refused(Exception):
    """The server answered, and not with what was asked for."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.status}")
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as a server serves it; `plural` is its word in paths and in roles."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of one object, or without a name of all; without a namespace of all namespaces."""
        parts = [base_path(self.api_version)]
        if self.namespaced and namespace:
            parts.append(f"namespaces/{quote(namespace, safe='')}")
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        return "/".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """The kinds of one server, remembered once they were asked for."""

    connection: Connection
    _versions: dict[str, Mapping[str, Resource]] = field(default_factory=dict, repr=False)

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """The resource of a kind, None where it is not served. Raises Refused and Unanswered."""
        return self._served(api_version).get(kind)

    def preferred(self, group: str, kind: str) -> Resource | None:
        """The same in the version of the group that the server puts first among those with the kind."""
        if not group:
            return self.resource("v1", kind)
        answer = self.connection.get(f"/apis/{quote(group, safe='')}")
        for version in _listed(answer, "versions"):
            found = self.resource(str(version.get("groupVersion", "")), kind)
            if found is not None:
                return found
        return None

    def _served(self, api_version: str) -> Mapping[str, Resource]:
        if api_version not in self._versions:
            answer = self.connection.get(base_path(api_version))
            self._versions[api_version] = {
                str(entry["kind"]): Resource(
                    api_version,
                    str(entry["kind"]),
                    str(entry["name"]),
                    entry.get("namespaced") is True,
                )
                for entry in _listed(answer, "resources")
                if isinstance(entry.get("name"), str)
                and isinstance(entry.get("kind"), str)
                and "/" not in entry["name"]
            }
        return self._versions[api_version]


def base_path(api_version: str) -> str:
    """Where the resources of a version lie: `/api/v1`, `/apis/resource.k8s.io/v1`."""
    root = "/apis" if "/" in api_version else "/api"
    return f"{root}/{quote(api_version)}"


def _listed(answer: Answer, key: str) -> list[dict[str, Any]]:
    """A list of a discovery document; empty where the server does not serve what was asked for."""
    if answer.status == 404:
        return []
    if not answer.is_good:
        raise Refused(answer)
    found = answer.body.get(key)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
