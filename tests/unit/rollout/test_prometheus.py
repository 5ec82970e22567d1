"""What a Prometheus server answers, and everything that it may answer instead."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from dracfg.rollout.gates import Answer
from dracfg.rollout.prometheus import Question, Server, ask

VECTOR = {
    "status": "success",
    "data": {
        "resultType": "vector",
        "result": [
            {"metric": {}, "value": [1, "0.5"]},
            {"metric": {"a": "b"}, "value": [1, "NaN"]},
        ],
    },
}
MATRIX = {
    "status": "success",
    "data": {
        "resultType": "matrix",
        "result": [{"metric": {}, "values": [[1, "1"], [2, "3"]]}],
    },
}
SCALAR = {"status": "success", "data": {"resultType": "scalar", "result": [1, "7"]}}


class Handler(BaseHTTPRequestHandler):
    reply: bytes = b""
    code = 200
    asked: list[tuple[str, dict[str, list[str]], str | None]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append((self.path, parse_qs(body), self.headers.get("Authorization")))
        self.send_response(self.code)
        self.end_headers()
        self.wfile.write(self.reply)

    def date_time_string(self, timestamp: float | None = None) -> str:  # noqa: ARG002
        return "Sun, 29 Nov 2026 22:00:00 GMT"

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[tuple[str, Any]]:
    class Here(Handler):
        asked = []  # noqa: RUF012  one list a test

    running = HTTPServer(("127.0.0.1", 0), Here)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}", Here
    running.shutdown()
    running.server_close()


def question(over: str | None = None) -> Question:
    return Question("errors", "sum(errors)", over)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (SCALAR, Answer((7.0,))),
        (MATRIX, Answer((1.0, 3.0))),
        ({"status": "success", "data": {"resultType": "vector", "result": []}}, Answer()),
        ({"status": "error", "error": "parse error"}, Answer(trouble="parse error")),
        ({"status": "success"}, Answer(trouble="the answer is not one of Prometheus")),
        ([], Answer(trouble="the answer is not one of Prometheus")),
        ({"status": "success", "data": {"resultType": "string", "result": [1, "x"]}},
         Answer(trouble="the answer is not one of Prometheus")),
    ],
)  # fmt: skip
def test_answers(server: tuple[str, Any], reply: object, answer: Answer) -> None:
    url, handler = server
    handler.reply = json.dumps(reply).encode()
    found = ask(Server(url, {}), [question()])
    assert found.by_gate["errors"] == answer
    assert found.at == "2026-11-29T22:00:00Z"


def test_not_json(server: tuple[str, Any]) -> None:
    url, handler = server
    handler.reply = b"<html>"
    assert ask(Server(url, {}), [question()]).by_gate["errors"].trouble is not None


def test_a_refusal_is_told_in_the_servers_words(server: tuple[str, Any]) -> None:
    url, handler = server
    handler.code, handler.reply = 401, json.dumps({"error": "who are you"}).encode()
    found = ask(Server(url, {}), [question()])
    assert found.by_gate["errors"] == Answer(trouble="the server answers 401: who are you")


def test_nobody_there() -> None:
    found = ask(Server("http://127.0.0.1:9", {}, timeout=2), [question()])
    assert "can't be asked" in str(found.by_gate["errors"].trouble)
    assert found.at is None


def test_the_header_goes_with_the_request(server: tuple[str, Any]) -> None:
    url, handler = server
    handler.reply = json.dumps(SCALAR).encode()
    ask(Server(url, {"Authorization": "Bearer t"}), [question()])
    assert handler.asked[0][2] == "Bearer t"


def test_a_gate_that_looks_back_asks_for_a_range(server: tuple[str, Any]) -> None:
    url, handler = server
    handler.reply = json.dumps(SCALAR).encode()
    ask(Server(url, {}), [question("24h")])
    path, asked, _ = handler.asked[-1]
    assert path == "/api/v1/query_range"
    assert float(asked["end"][0]) - float(asked["start"][0]) == 86400
    assert asked["step"] == ["360.000"]


def test_credentials_are_not_shown() -> None:
    assert Server("https://u:p@prom.example.com:9090/x?token=1", {}).shown == (
        "https://prom.example.com:9090/x"
    )
