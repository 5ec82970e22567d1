"""Answers, and why there are none."""

from __future__ import annotations

import socket
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trustme

from dracfg.live.connection import Unanswered
from dracfg.live.outcomes import rights_finding, server_version, unanswered_finding, version_finding
from dracfg.live.refusals import Right
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import Reply, connected, status

if TYPE_CHECKING:
    from dracfg.live.connection import Connection
    from tests.unit.live.conftest import FakeServer, Serving


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def why(connection: Connection) -> tuple[str, str]:
    with pytest.raises(Unanswered) as raised:
        connection.get("/version")
    return raised.value.why, raised.value.detail


def test_an_answer_with_its_warnings(server: FakeServer, connection: Connection) -> None:
    said = (("Warning", '299 - "old \\"field\\""'), ("Warning", '299 - "a\\\\b"'))
    server.say("GET", "/x", Reply(200, {"a": None, "b": 1}, said))
    answer = connection.get("/x", {"limit": "1"})
    assert (answer.status, answer.body) == (200, {"b": 1})
    assert answer.warnings == ('old "field"', "a\\b")
    (request,) = server.requests
    assert request.query == {"limit": "1"}
    assert request.headers["authorization"] == "Bearer secret"


def test_refusals_are_answers(server: FakeServer, connection: Connection) -> None:
    server.say("GET", "/x", status(403, "no", "Forbidden"))
    assert (connection.get("/x").status, connection.get("/x").is_good) == (403, False)
    server.say("GET", "/x", Reply(404, b"404 page not found"))
    assert connection.get("/x").text == "404 page not found"


def test_a_server_that_asks_to_wait_is_asked_again(
    server: FakeServer, connection: Connection
) -> None:
    busy = Reply(429, {}, (("Retry-After", "0"),))
    server.say("GET", "/x", busy, busy, Reply(200, {"a": 1}))
    assert connection.get("/x").body == {"a": 1}
    server.say("GET", "/x", busy)
    assert connection.get("/x").status == 429
    assert len(server.requests) == 3 + 4


def test_unreachable(server: FakeServer, written: Path) -> None:
    server.kubeconfig["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_port()}"
    assert why(connected(server, written)) == ("unreachable", "Connection refused")
    server.kubeconfig["clusters"][0]["cluster"]["server"] = "https://nowhere.invalid"
    reason, detail = why(connected(server, written))
    assert reason == "unreachable"
    assert "nowhere.invalid" not in detail


def test_no_tls(server: FakeServer, written: Path) -> None:
    cluster = server.kubeconfig["clusters"][0]["cluster"]
    cluster["server"] = f"http://127.0.0.1:{server.port}"
    assert why(connected(server, written))[0] == "unreachable"
    cluster["server"] = f"https://127.0.0.1:{server.port}"
    Path(cluster["certificate-authority"]).write_text("nothing", encoding="utf-8")
    assert why(connected(server, written))[0] == "handshake"


def test_slow(server: FakeServer, written: Path) -> None:
    server.say("GET", "/version", Reply(delay=5))
    assert why(connected(server, written, timeout=0.2)) == ("slow", "nothing came within 0.2 s")


def test_an_expired_certificate(serving: Serving, written: Path, past: datetime) -> None:
    fake = serving.start(not_after=past)
    assert why(connected(fake, written)) == ("expired", "certificate has expired")


def test_another_authority(serving: Serving, written: Path) -> None:
    assert why(connected(serving.start(trusted=trustme.CA()), written))[0] == "untrusted"


def test_a_certificate_of_another_server(serving: Serving, written: Path) -> None:
    reason, detail = why(connected(serving.start(names=("example.com",)), written))
    assert reason == "untrusted"
    assert "127.0.0.1" in detail


def test_an_unchecked_certificate_is_as_the_kubeconfig_wants(
    serving: Serving, written: Path, past: datetime, recwarn: pytest.WarningsRecorder
) -> None:
    fake = serving.start(not_after=past)
    cluster = fake.kubeconfig["clusters"][0]["cluster"]
    del cluster["certificate-authority"]
    cluster["insecure-skip-tls-verify"] = True
    assert connected(fake, written).get("/version").is_good
    assert not recwarn.list


def test_refused_credentials(server: FakeServer, connection: Connection) -> None:
    server.say("GET", "/version", status(401, "Unauthorized", "Unauthorized"))
    assert why(connection)[0] == "credentials"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>log in</html>"),
        Reply(200, b""),
        Reply(200, b"[1]"),
        Reply(200, b'{"a": 1, "a": 2}'),
        Reply(200, b'{"a": "\\ud800"}'),
        Reply(200, b"\xff\xfe"),
        Reply(200, b"[" * 100_000),
        Reply(302, b"", (("Location", "https://login.example.com/"),)),
    ],
)
def test_what_is_no_api_server(server: FakeServer, connection: Connection, reply: Reply) -> None:
    server.say("GET", "/version", reply)
    assert why(connection)[0] == "foreign"
    assert len(server.requests) == 1


def test_proxies_come_from_the_kubeconfig_alone(
    server: FakeServer, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("HTTPS_PROXY", nowhere)
    assert connected(server, written).get("/version").is_good
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.kubeconfig["clusters"][0]["cluster"]["proxy-url"] = nowhere
    assert why(connected(server, written)) == ("unreachable", "by its proxy: Connection refused")


@pytest.mark.parametrize(
    ("told", "minor"),
    [
        ({"major": "1", "minor": "36", "gitVersion": "v1.36.3"}, "1.36"),
        ({"major": "1", "minor": "34+", "gitVersion": "v1.34.1-gke.1"}, "1.34"),
    ],
)
def test_minors(
    server: FakeServer, connection: Connection, told: dict[str, str], minor: str
) -> None:
    server.say("GET", "/version", Reply(200, told))
    version = server_version(connection)
    assert version is not None
    assert (version.minor, version.full) == (minor, told["gitVersion"])


def test_no_minor(server: FakeServer, connection: Connection) -> None:
    server.say("GET", "/version", Reply(200, {"version": "3"}))
    with pytest.raises(Unanswered):
        server_version(connection)
    server.say("GET", "/version", status(403, "forbidden", "Forbidden"))
    assert server_version(connection) is None


def test_findings_stand_in_the_cluster_document(
    judged: Judgement, server: FakeServer, connection: Connection
) -> None:
    cluster = judged.catalog.clusters["prod-west"]
    server.minor = "1.30"
    finding = version_finding(cluster, server_version(connection))
    assert finding is not None
    assert finding.span is not None
    line = judged.lines(finding.span.path)[finding.span.line - 1]
    assert "kubernetes:" in line
    assert (finding.code, finding.found) == ("LIV007", "v1.30.2")
    server.minor = cluster.document.spec.kubernetes
    assert version_finding(cluster, server_version(connection)) is None
    other = unanswered_finding(cluster, "https://x", Unanswered("slow", "nothing came"))
    assert other.span is not None
    assert "prod-west" in judged.lines(other.span.path)[other.span.line - 1]


@pytest.mark.parametrize(
    ("verb", "group", "resource", "role"),
    [
        ("list", "resource.k8s.io", "resourceslices", "dracfg-pr-bot"),
        ("get", "", "configmaps", "dracfg-pr-bot-records"),
        ("watch", "", "nodes", "dracfg-monitoring"),
        ("patch", "resource.k8s.io", "deviceclasses", "gitops/snippets/applier-prod-west.yaml"),
        ("impersonate", "", "users", "no role that dracfg emits"),
    ],
)
def test_lacking_rights_name_the_role(
    judged: Judgement, verb: str, group: str, resource: str, role: str
) -> None:
    cluster = judged.catalog.clusters["prod-west"]
    finding = rights_finding(cluster, Right("ann", verb, group, resource, "team"), 3)
    assert finding.code == "LIV009"
    assert f"ann may not {verb} {resource}" in finding.message
    assert "in team" in finding.message
    assert finding.help is not None
    assert role in finding.help
