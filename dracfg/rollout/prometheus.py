"""Asks a Prometheus server what gates want to know: https://prometheus.io/docs/prometheus/latest/querying/api/.

One request a question: an instant query, or a range query over the time that the gate looks back. What
goes wrong is an answer without data, never an exception. The header that lets dracfg in comes from the
caller. Knows no gates: a question has the name that its answer goes by.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.rollout.gates import Answer
from dracfg.source.times import format_time, parse_length, parse_time

_POINTS = 240
"""Steps of a range: a value that lasts for less than a 240th of it may be missed."""
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    """A query, by the name of whoever wants to know it; `over` is how far back it must have held."""

    name: str
    promql: str
    over: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of a server, the raw bytes for a digest, and the server's own time."""

    by_gate: Mapping[str, Answer]
    raw: bytes
    at: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its address; `headers` go with every request, `timeout` is in seconds."""

    url: str
    headers: Mapping[str, str]
    timeout: float = 30.0

    @property
    def shown(self) -> str:
        """The address without credentials and query."""
        parts = urllib.parse.urlsplit(self.url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        return urllib.parse.urlunsplit((parts.scheme, f"{host}{port}", parts.path, "", ""))


def ask(server: Server, questions: Iterable[Question]) -> Answers:
    """The answers to every question; the first reply's date is the time of all."""
    found: dict[str, Answer] = {}
    raw: list[bytes] = []
    moment: str | None = None
    for question in questions:
        data, date, trouble = _get(server, question, moment)
        moment = moment or date
        raw.append(data)
        found[question.name] = Answer(trouble=trouble) if trouble else _answer(data)
    return Answers(found, b"\n".join(raw), moment, server.shown)


def query(server: Server, promql: str) -> tuple[bytes, str | None]:
    """(the answer to an instant query as it came, what went wrong)."""
    body, _, trouble = _request(server, "query", {"query": promql})
    return body, trouble


def _get(
    server: Server, asked: Question, moment: str | None
) -> tuple[bytes, str | None, str | None]:
    """(body, the server's time, what went wrong) of one request."""
    if asked.over is not None and moment is None:
        _, moment, trouble = _request(server, "query", {"query": "vector(1)"})
        if moment is None:
            return b"", None, trouble or "the server tells no time"
    if asked.over is None:
        return _request(server, "query", {"query": asked.promql})
    assert moment is not None
    end = _unix(moment)
    length = parse_length(asked.over).total_seconds()
    body, date, trouble = _request(
        server,
        "query_range",
        {
            "query": asked.promql,
            "start": f"{end - length:.3f}",
            "end": f"{end:.3f}",
            "step": f"{max(1.0, length / _POINTS):.3f}",
        },
    )
    return body, date or moment, trouble


def _request(
    server: Server, what: str, parameters: Mapping[str, str]
) -> tuple[bytes, str | None, str | None]:
    address = f"{server.url.rstrip('/')}/api/v1/{what}"
    body = urllib.parse.urlencode(parameters).encode()
    request = urllib.request.Request(address, body, dict(server.headers), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=server.timeout) as reply:
            data = reply.read(_MOST_BYTES + 1)
            date = reply.headers.get("Date")
    except urllib.error.HTTPError as refused:
        said = _said(refused.read(_MOST_BYTES))
        return b"", None, f"the server answers {refused.code}{f': {said}' if said else ''}"
    except (OSError, HTTPException, ValueError) as fault:
        reason = getattr(fault, "reason", None) or fault
        return b"", None, f"{server.shown} can't be asked: {reason}"
    if len(data) > _MOST_BYTES:
        return b"", None, f"the answer has more than {_MOST_BYTES:,} bytes"
    stamp = format_time(parsedate_to_datetime(date)) if date else None
    return data, stamp, None


def _said(data: bytes) -> str:
    try:
        return str(json.loads(data)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _answer(data: bytes) -> Answer:
    """Every value of a vector, scalar or matrix."""
    try:
        reply = json.loads(data)
        if reply["status"] != "success":
            return Answer(trouble=str(reply.get("error", "the query failed")))
        return Answer(tuple(_values(reply["data"]["resultType"], reply["data"]["result"])))
    except (ValueError, KeyError, TypeError, RecursionError):
        return Answer(trouble="the answer is not one of Prometheus")


def _values(kind: str, result: Any) -> Iterable[float]:
    match kind:
        case "scalar":
            yield float(result[1])
        case "vector":
            for sample in result:
                yield float(sample["value"][1])
        case "matrix":
            for series in result:
                for point in series["values"]:
                    yield float(point[1])
        case _:
            raise ValueError(kind)


def _unix(stamp: str) -> float:
    moment = parse_time(stamp)
    assert moment is not None
    return moment.timestamp()
