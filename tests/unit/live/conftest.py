"""An API server that answers what a test tells it to, over TLS with certificates of its own."""

from __future__ import annotations

import json
import shutil
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import trustme
import yaml

from dracfg.live.connection import Connection
from dracfg.live.kubeconfig import Access, connect
from dracfg.pipeline import Judgement, compile_repository
from dracfg.terms import Means

ROOT = Path(__file__).parents[3]
KINDS = {
    "v1": {
        "namespaces": "Namespace",
        "nodes": "Node",
        "-configmaps": "ConfigMap",
        "-events": "Event",
        "-pods": "Pod",
        "-pods/status": "Pod",
        "-resourcequotas": "ResourceQuota",
    },
    "admissionregistration.k8s.io/v1": {
        "validatingadmissionpolicies": "ValidatingAdmissionPolicy",
        "validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding",
    },
    "rbac.authorization.k8s.io/v1": {
        "clusterroles": "ClusterRole",
        "clusterrolebindings": "ClusterRoleBinding",
        "-roles": "Role",
        "-rolebindings": "RoleBinding",
    },
    "coordination.k8s.io/v1": {"-leases": "Lease"},
    "resource.k8s.io/v1beta2": {"devicetaintrules": "DeviceTaintRule"},
    "resource.k8s.io/v1": {
        "deviceclasses": "DeviceClass",
        "resourceslices": "ResourceSlice",
        "-resourceclaims": "ResourceClaim",
        "-resourceclaimtemplates": "ResourceClaimTemplate",
    },
    "scheduling.k8s.io/v1": {"priorityclasses": "PriorityClass"},
    "monitoring.coreos.com/v1": {"-prometheusrules": "PrometheusRule"},
}
"""What the server serves; a leading dash says that objects lie in namespaces."""


@dataclass
class Reply:
    """One answer; a `body` that is a mapping goes out as JSON."""

    status: int = 200
    body: Mapping[str, Any] | bytes = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def status(code: int, message: str, reason: str = "", **details: Any) -> Reply:
    """A Status as the API server makes it."""
    return Reply(
        code,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": details,
            "code": code,
        },
    )


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class FakeServer:
    """Objects that stand on the cluster by path, and answers to single requests.

    A list of replies is used up one by one, the last one stays.
    """

    minor: str = "1.36"
    date: str = "Sun, 29 Nov 2026 12:00:00 GMT"
    live: dict[str, dict[str, Any]] = field(default_factory=dict)
    replies: dict[tuple[str, str], list[Reply]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    served: dict[str, dict[str, str]] = field(default_factory=lambda: dict(KINDS))
    port: int = 0
    kubeconfig: dict[str, Any] = field(default_factory=dict)

    def say(self, method: str, path: str, *replies: Reply) -> None:
        self.replies[method, path] = list(replies)

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        given = self.replies.get((request.method, request.path))
        if given:
            return given.pop(0) if len(given) > 1 else given[0]
        if request.path == "/version":
            major, minor = self.minor.split(".")
            told = {"major": major, "minor": minor, "gitVersion": f"v{self.minor}.2"}
            return Reply(body=told)
        if (found := self._discovered(request.path)) is not None:
            return Reply(body=found)
        if request.method == "PATCH":
            return Reply(body=request.body)
        if request.path in self.live:
            return Reply(body=self.live[request.path])
        return status(404, "not found", "NotFound")

    def _discovered(self, path: str) -> dict[str, Any] | None:
        for api_version, kinds in self.served.items():
            root = "/apis/" if "/" in api_version else "/api/"
            if path == root + api_version:
                resources = [
                    {"name": name.lstrip("-"), "namespaced": name[0] == "-", "kind": kind}
                    for name, kind in kinds.items()
                ]
                return {"kind": "APIResourceList", "resources": resources}
        group = path.removeprefix("/apis/")
        versions = [{"groupVersion": one} for one in self.served if one.startswith(f"{group}/")]
        return {"kind": "APIGroup", "versions": versions} if versions else None

    def asked(self, method: str) -> list[str]:
        return [request.path for request in self.requests if request.method == method]


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer
    protocol_version = "HTTP/1.1"
    # Else each answer waits for the client's delayed acknowledgement.
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        query = dict(parse_qsl(url.query))
        request = Request(self.command, url.path, query, dict(self.headers), body)
        reply = self.fake.answer(request)
        time.sleep(reply.delay)
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    do_GET = do_PATCH = do_POST = _handle  # noqa: N815

    def date_time_string(self, *_: Any) -> str:
        return self.fake.date

    def log_message(self, *_: Any) -> None:
        """Quiet."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: Any) -> None:
        """Handshakes that a client breaks off are what some tests are about."""


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@dataclass
class Serving:
    """Starts servers with certificates of one authority; `trusted` is the one clients are told of."""

    folder: Path
    authority: trustme.CA
    running: list[ThreadingHTTPServer] = field(default_factory=list)

    def start(
        self,
        *,
        names: tuple[str, ...] = ("127.0.0.1",),
        not_after: datetime | None = None,
        trusted: trustme.CA | None = None,
    ) -> FakeServer:
        fake = FakeServer()
        handler = type("Handler", (_Handler,), {"fake": fake})
        listener = _Listener(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        start = None if not_after is None else not_after - timedelta(days=7)
        certificate = self.authority.issue_cert(*names, not_before=start, not_after=not_after)
        certificate.configure_cert(context)
        listener.socket = context.wrap_socket(
            listener.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
        self.running.append(listener)
        fake.port = listener.server_address[1]
        file = self.folder / f"ca-{fake.port}.pem"
        (trusted or self.authority).cert_pem.write_to_path(str(file))
        fake.kubeconfig = kubeconfig(f"https://127.0.0.1:{fake.port}", str(file))
        return fake


def kubeconfig(server: str, authority: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "c", "cluster": {"server": server, "certificate-authority": authority}}
        ],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


@pytest.fixture
def serving(tmp_path: Path, authority: trustme.CA) -> Iterator[Serving]:
    started = Serving(tmp_path, authority)
    yield started
    for listener in started.running:
        listener.shutdown()
        listener.server_close()


@pytest.fixture
def server(serving: Serving) -> FakeServer:
    return serving.start()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A place for a kubeconfig."""
    return tmp_path / "kubeconfig"


def connected(fake: FakeServer, file: Path, timeout: float = 10.0) -> Connection:
    file.write_text(yaml.safe_dump(fake.kubeconfig), encoding="utf-8")
    return connect(Access(file, timeout=timeout), "prod-west")


@pytest.fixture
def connection(server: FakeServer, written: Path) -> Connection:
    return connected(server, written)


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    """The example, compiled into a folder of its own."""
    root = tmp_path_factory.mktemp("example")
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, root / folder)
    done = compile_repository(root, by=Means(form="both"))
    assert done.applied is not None
    return done.judgement


@pytest.fixture
def past() -> datetime:
    return datetime.now(UTC) - timedelta(days=1)
