"""One server and how it is asked: a request in, an answer out, or why there is none.

Knows HTTP and TLS as the official client sets them up; knows no kind and no cluster of the catalog.
"""

from __future__ import annotations

import ssl
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import urlencode

from dracfg.dataclass import dataclass
from dracfg.source.records import decode_json

Why = Literal["unreachable", "slow", "expired", "untrusted", "handshake", "credentials", "foreign"]

JSON = "application/json"
_MOST_WAITS = 3
_LONGEST_WAIT = 10.0
_MAX_TEXT = 300

# OpenSSL's X509_V_ERR_* (openssl/x509_vfy.h): not yet valid, has expired.
_OUT_OF_DATE = {9, 10}


class Unanswered(Exception):
    """The server gave no answer that says anything; `detail` is a clause for people."""

    def __init__(self, why: Why, detail: str) -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered. `body` is a JSON object, empty where it sent something else.

    `moment` is when, by the server's own clock (the Date header); None where it does not tell.
    """

    status: int
    body: Mapping[str, Any]
    text: str = field(default="", repr=False)
    warnings: tuple[str, ...] = ()
    moment: datetime | None = None

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """A server that can be asked. `cluster` names it in spans, `address` in messages.

    `configuration` and `pool` are the official client's; `timeout` is in seconds and bounds both
    the connection and each wait for bytes.
    """

    cluster: str
    address: str
    configuration: Any = field(repr=False)
    pool: Any = field(repr=False)
    timeout: float = 30.0

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """GET of a path that starts with `/`. Raises Unanswered."""
        return self.ask("GET", path, query=query)

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> Answer:
        """One request; a server that asks to wait is asked again a few times.

        Raises Unanswered, also for refused credentials (401) and for what is no API server. All
        other answers are returned, whatever their status.
        """
        url = self.address + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": JSON, "User-Agent": "dracfg"}
        if body is not None:
            headers["Content-Type"] = content_type
        for last in (*[False] * _MOST_WAITS, True):
            for setting in self.configuration.auth_settings().values():
                headers[setting["key"]] = setting["value"]
            response = self._send(method, url, headers, body)
            wait = _wait(response.headers)
            if response.status not in (429, 503) or wait is None or last:
                break
            time.sleep(min(wait, _LONGEST_WAIT))
        return _answer(response)

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Any:
        from urllib3 import exceptions

        try:
            with warnings.catch_warnings():
                # The kubeconfig says whether certificates are checked; the client would print it.
                warnings.simplefilter("ignore", exceptions.InsecureRequestWarning)
                return self.pool.request(
                    method,
                    url,
                    headers=headers,
                    body=body,
                    timeout=self.timeout,
                    retries=False,
                    redirect=False,
                )
        except exceptions.SSLError as fault:
            raise _unsafe(fault) from None
        except exceptions.ProxyError as fault:
            raise Unanswered("unreachable", f"by its proxy: {_plain(fault)}") from None
        except exceptions.NewConnectionError as fault:
            raise Unanswered("unreachable", _plain(fault)) from None
        except exceptions.TimeoutError:
            detail = f"nothing came within {self.timeout:g} s"
            raise Unanswered("slow", detail) from None
        except (exceptions.HTTPError, OSError) as fault:
            raise Unanswered("unreachable", _plain(fault)) from None


def _unsafe(fault: Exception) -> Unanswered:
    """Why no TLS connection came about: dates, trust, or the handshake itself."""
    inner = fault.args[0] if fault.args else fault
    if isinstance(inner, ssl.SSLCertVerificationError):
        why: Why = "expired" if inner.verify_code in _OUT_OF_DATE else "untrusted"
        return Unanswered(why, inner.verify_message.rstrip("."))
    if isinstance(inner, ssl.SSLError) and "_ALERT_" in (inner.reason or ""):
        return Unanswered("credentials", "the client certificate is refused")
    return Unanswered("handshake", _plain(fault))


def _plain(fault: BaseException) -> str:
    """What lies at the bottom of an error of the client: `Connection refused`."""
    inner: BaseException | None = fault
    while inner is not None:
        fault = inner
        wrapped = (one for one in fault.args if isinstance(one, BaseException))
        inner = fault.__cause__ or next(wrapped, None)
    said = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
    return str(said)[:_MAX_TEXT]


def _wait(headers: Any) -> float | None:
    """Seconds of Retry-After; None where there are none, or a date stands there."""
    value = headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def _answer(response: Any) -> Answer:
    said = tuple(_warning(value) for value in response.headers.getlist("Warning"))
    text = response.data.decode("utf-8", errors="replace")
    if response.status == 401:
        raise Unanswered("credentials", "the server answers 401 Unauthorized")
    if 300 <= response.status < 400:
        raise Unanswered("foreign", f"it answers {response.status} and points elsewhere")
    try:
        body = decode_json(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        if response.status < 300:
            raise Unanswered("foreign", f"it answers with {_shown(text)}, which is no JSON object")
        body = {}
    moment = _moment(response.headers.get("Date", ""))
    return Answer(response.status, body, text[:_MAX_TEXT].strip(), said, moment)


def _moment(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value).astimezone(UTC)
    except ValueError:
        return None


def _shown(text: str) -> str:
    first = text.strip().split("\n", 1)[0][:40]
    return f"{first!r}" if first else "nothing"


def _warning(value: str) -> str:
    """The text of a Warning header: `299 - "text"` (RFC 9110's predecessor, RFC 7234, 5.5)."""
    start, end = value.find('"'), value.rfind('"')
    quoted = value[start + 1 : end] if 0 <= start < end else value
    return _unescaped(quoted)


def _unescaped(quoted: str) -> str:
    parts: Sequence[str] = quoted.split("\\\\")
    return "\\".join(part.replace("\\", "") for part in parts)
