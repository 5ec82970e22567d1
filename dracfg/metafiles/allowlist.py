"""MET044, MET045: attributes of a file beyond the tier's allow-list, and what looks like a secret.

Values are looked at by their patterns and by nothing else; a finding names key, type and length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.check.sensitive import kind_of_name, kind_of_value
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.metadata.reader import FORMS

LEAST_DIGESTED = 16


def beyond_the_list(
    document: Mapping[str, Any],
    listed: frozenset[str] | None,
    foreign: frozenset[str],
    span: Span,
    file: str,
) -> Iterator[Diagnostic]:
    """Findings on each attribute; without a list only what looks like a credential is one."""
    for request, device, key, form in attributes(document):
        kind, value = typed(form)
        where = f"request {request}, driver {device.get('driver')}, device {device.get('name')}"
        looks = kind_of_name(key) or kind_of_value(value, foreign)
        if looks == "credential":
            yield diagnose(
                "MET045",
                span,
                f"{where}: attribute {key} looks like a credential",
                found=described(kind, value),
                help="find out why the driver writes it, change the credential, and take it out of the "
                "driver's attributes",
            )
        elif listed is not None and key not in listed:
            also = f" and looks like a {looks}" if looks else ""
            yield diagnose(
                "MET044",
                span,
                f"{where}: attribute {key} is not on the tier's list{also}; readers ignore it",
                found=described(kind, value),
                help=f"add it to `expose` where applications need it; {file} has it either way, as the list "
                "can't keep a driver from writing more",
            )


def attributes(
    document: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any], str, Any]]:
    """(request, device, key, form) of every attribute of a document that its schema takes."""
    for request in document["requests"]:
        for device in request.get("devices", ()):
            for key, form in device.get("attributes", {}).items():
                yield request["name"], device, key, form


def typed(form: Any) -> tuple[str, object]:
    """(type, value) of an attribute as files have it; what is of no such form has no type."""
    if isinstance(form, Mapping) and len(form) == 1:
        kind, value = next(iter(form.items()))
        return (str(kind), value) if kind in FORMS else ("", form)
    return "", form


def described(kind: str, value: object) -> str:
    """Type and length of a value, and a digest where it is too long to be guessed; never the value."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    told = f"{kind or 'value'} of {len(text)} characters"
    if len(text) < LEAST_DIGESTED:
        return told
    return f"{told}, sha256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}…"
