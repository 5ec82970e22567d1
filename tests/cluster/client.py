"""A small client of the Kubernetes API: what a test asks, and all that the server answers.

It speaks HTTP itself, so that a test sees warnings, status codes and managed fields as they come.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

Object = dict[str, Any]
Connection = http.client.HTTPSConnection

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"
MANAGER = "contract"
SECONDS = 60
CLOSED = (
    http.client.RemoteDisconnected,
    BrokenPipeError,
    ConnectionResetError,
    ssl.SSLEOFError,
)
"""The server has closed an idle connection."""
AWAY = (OSError, http.client.HTTPException)
"""Nobody answers."""
STARTING = (429, 500, 503, 504)
"""What a server answers that is not ready yet, whoever asks."""


class Refused(Exception):
    """An answer of 400 or more. `reason` is the word of metav1.Status, `code` the HTTP status."""

    def __init__(self, code: int, body: Any) -> None:
        status = body if isinstance(body, dict) else {"message": str(body)}
        self.code = code
        self.reason: str = status.get("reason") or ""
        self.message: str = status.get("message") or ""
        self.status: Object = status
        super().__init__(f"{code} {self.reason}: {self.message}")


@contextmanager
def unless_away() -> Iterator[None]:
    """For who looks again and again, as whatever runs on a node: without a ready server it passes."""
    try:
        yield
    except AWAY:
        pass
    except Refused as refused:
        if refused.code not in STARTING:
            raise


@dataclass(frozen=True, slots=True)
class Answer:
    body: Any
    code: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """How a kind is served: its path segment and scope."""

    plural: str
    namespaced: bool


@dataclass(frozen=True)
class Client:
    """One user of one API server; threads may share it.

    `user`, `groups` and `extra` impersonate. Methods raise Refused for every error of the server.
    """

    host: str
    port: int
    authority: Path
    token: str | None = None
    certificate: tuple[Path, Path] | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    _state: _State = field(default_factory=lambda: _State(), repr=False, compare=False)

    def as_user(self, user: str, *groups: str, **extra: str) -> Client:
        """The same server, seen by someone else; a service account gets the groups it has anyway."""
        if user.startswith("system:serviceaccount:"):
            namespace = user.split(":")[2]
            groups = (*groups, "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        everyone = (*groups, "system:authenticated")
        return replace(self, user=user, groups=everyone, extra=extra, _state=_State())

    def with_token(self, token: str) -> Client:
        return replace(self, token=token, user=None, groups=(), extra={}, _state=_State())

    def apply(
        self, obj: Object, manager: str = MANAGER, *, force: bool = False, subresource: str = ""
    ) -> Answer:
        """Server-side apply."""
        options = {"fieldManager": manager, "force": str(force).lower()}
        return self.call("PATCH", self.path_of(obj, subresource), obj, options, APPLY)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        options = {"fieldManager": MANAGER} | ({"dryRun": "All"} if dry_run else {})
        path = self.path(obj["apiVersion"], obj["kind"], _metadata(obj, "namespace"))
        created: Object = self.call("POST", path, obj, options).body
        return created

    def update(self, obj: Object, subresource: str = "") -> Object:
        """Replaces the object; the resourceVersion in it must be the newest."""
        updated: Object = self.call("PUT", self.path_of(obj, subresource), obj).body
        return updated

    def patch(self, obj: Object, change: Object, subresource: str = "") -> Object:
        """A JSON merge patch on the object that has this name."""
        path = self.path_of(obj, subresource)
        patched: Object = self.call("PATCH", path, change, {"fieldManager": MANAGER}, MERGE).body
        return patched

    def read(self, obj: Object) -> Object:
        """The object of this name as it stands now."""
        found: Object = self.call("GET", self.path_of(obj)).body
        return found

    def find(self, obj: Object) -> Object | None:
        """As `read`, None where it does not exist."""
        try:
            return self.read(obj)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object:
        found: Object = self.call("GET", self.path(api_version, kind, namespace, name)).body
        return found

    def list(
        self, api_version: str, kind: str, namespace: str = "", **selectors: str
    ) -> list[Object]:
        """Of one namespace, or of all; selectors are `labelSelector` and `fieldSelector`."""
        answer = self.call("GET", self.path(api_version, kind, namespace), options=selectors)
        items: list[Object] = answer.body["items"]
        return [{"apiVersion": api_version, "kind": kind} | item for item in items]

    def delete(self, obj: Object, *, grace: int | None = None) -> Answer:
        options = {} if grace is None else {"gracePeriodSeconds": str(grace)}
        return self.call("DELETE", self.path_of(obj), options=options)

    def watch(
        self, api_version: str, kind: str, seconds: int, namespace: str = "", **options: str
    ) -> Iterator[tuple[str, Object]]:
        """Pairs (ADDED | MODIFIED | DELETED | ERROR, object) for so many seconds."""
        query = options | {"watch": "true", "timeoutSeconds": str(seconds)}
        target = f"{self.path(api_version, kind, namespace)}?{urlencode(query)}"
        connection = self._connect()
        try:
            response = self._send(connection, "GET", target, b"", JSON)
            if response.status >= 400:
                raise Refused(response.status, json.loads(response.read()))
            for line in iter(response.readline, b""):
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()

    def path_of(self, obj: Object, subresource: str = "") -> str:
        namespace, name = _metadata(obj, "namespace"), _metadata(obj, "name")
        path = self.path(obj["apiVersion"], obj["kind"], namespace, name)
        return f"{path}/{subresource}" if subresource else path

    def path(self, api_version: str, kind: str, namespace: str = "", name: str = "") -> str:
        resource = self.resources(api_version).get(kind)
        if resource is None:
            raise Refused(404, {"message": f"{api_version} {kind} is not served"})
        parts = [_root(api_version)]
        if resource.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [resource.plural, quote(name)] if name else [resource.plural]
        return "/".join(parts)

    def serves(self, api_version: str, kind: str) -> bool:
        return kind in self.resources(api_version)

    def resources(self, api_version: str) -> Mapping[str, Resource]:
        """Kind -> how this group and version has it; empty where it is not served."""
        if api_version not in self._state.served:
            try:
                found = self.call("GET", _root(api_version)).body["resources"]
            except Refused as refused:
                if refused.code != 404:
                    raise
                return {}
            self._state.served[api_version] = {
                one["kind"]: Resource(one["name"], one["namespaced"])
                for one in found
                if "/" not in one["name"]
            }
        return self._state.served[api_version]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        options: Mapping[str, str] | None = None,
        content_type: str = JSON,
    ) -> Answer:
        """Any request. An idle connection that the server has closed is opened once more."""
        target = f"{path}?{urlencode(options)}" if options else path
        content = b"" if body is None else json.dumps(body).encode()
        for fresh in (False, True):
            connection = self._connection(fresh)
            try:
                response = self._send(connection, method, target, content, content_type)
                text = response.read()
                break
            except CLOSED:
                self._forget()
                if fresh:
                    raise
            except AWAY:
                self._forget()
                raise
        is_json = (response.getheader("Content-Type") or "").startswith(JSON)
        parsed = json.loads(text) if is_json else text.decode()
        if response.status >= 400:
            raise Refused(response.status, parsed)
        warnings = tuple(response.headers.get_all("Warning") or ())
        return Answer(parsed, response.status, warnings)

    def _send(
        self, connection: Connection, method: str, target: str, content: bytes, content_type: str
    ) -> http.client.HTTPResponse:
        connection.putrequest(method, target)
        headers = {"Content-Type": content_type, "Accept": JSON, "Content-Length": len(content)}
        for name, value in headers.items():
            connection.putheader(name, str(value))
        if self.token is not None:
            connection.putheader("Authorization", f"Bearer {self.token}")
        if self.user is not None:
            connection.putheader("Impersonate-User", self.user)
            for group in self.groups:
                connection.putheader("Impersonate-Group", group)
            for key, text in self.extra.items():
                connection.putheader(f"Impersonate-Extra-{key}", text)
        connection.endheaders(content)
        return connection.getresponse()

    def _connection(self, fresh: bool) -> Connection:
        standing: Connection | None = getattr(self._state.local, "connection", None)
        if standing is None or fresh:
            if standing is not None:
                standing.close()
            standing = self._state.local.connection = self._connect()
        return standing

    def _forget(self) -> None:
        """What has failed once answers no further request."""
        connection: Connection | None = getattr(self._state.local, "connection", None)
        if connection is not None:
            connection.close()
            self._state.local.connection = None

    def _connect(self) -> Connection:
        context = ssl.create_default_context(cafile=str(self.authority))
        if self.certificate is not None:
            context.load_cert_chain(*self.certificate)
        return Connection(self.host, self.port, timeout=SECONDS, context=context)


class _State:
    """What clients keep between calls: a connection a thread, and what the server serves."""

    def __init__(self) -> None:
        self.local = threading.local()
        self.served: dict[str, Mapping[str, Resource]] = {}


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _metadata(obj: Object, key: str) -> str:
    value: str = obj.get("metadata", {}).get(key) or ""
    return value
