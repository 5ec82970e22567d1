"""Paths of fields as API servers write them → steps into an object.

Two notations: `spec.requests[0].name`, `metadata.labels[a/b]` of validation
(kubernetes/apimachinery@v0.36.3:pkg/util/validation/field/path.go), and `.spec.rules[name="a"].x`
of field managers (sigs.k8s.io/structured-merge-diff@v6:fieldpath/element.go). Neither escapes a dot
within a name, so the object itself has to say where a name ends.
"""

from __future__ import annotations

import json
import re
from typing import Any

Steps = tuple[str | int, ...]

_BRACKET = re.compile(r'\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]')
_PAIR = re.compile(r'([A-Za-z0-9_]+)=("(?:[^"\\]|\\.)*"|[^,\]]+)')


def resolve(value: Any, path: str) -> Steps:
    """The steps of a path as far as they exist in the object."""
    steps: list[str | int] = []
    left = path
    while left:
        found = _step(value, left)
        if found is None:
            break
        step, left = found
        steps.append(step)
        value = value[step]
    return tuple(steps)


def written(steps: Steps) -> str:
    """Steps as people write them: `spec.hard.x`, `spec.devices.requests[0]`, `labels[a/b]`."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z0-9_-]+", step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def _step(value: Any, path: str) -> tuple[str | int, str] | None:
    """The first step of a path and what is left of it; None where the object has no such step."""
    if path.startswith("["):
        found = _BRACKET.match(path)
        step = None if found is None else _in_brackets(value, found[1])
        return None if found is None or step is None else (step, path[found.end() :])
    name = path.removeprefix(".")
    if not isinstance(value, dict):
        return None
    fitting = [key for key in value if name == key or name.startswith((f"{key}.", f"{key}["))]
    if not fitting:
        return None
    longest = max(fitting, key=len)
    return longest, name[len(longest) :]


def _in_brackets(value: Any, inner: str) -> str | int | None:
    """An index, a key of a map, or the keys or the value by which a list knows its items."""
    if isinstance(value, dict):
        return inner if inner in value else None
    if not isinstance(value, list):
        return None
    if inner.isdecimal():
        return int(inner) if int(inner) < len(value) else None
    if inner.startswith("="):
        wanted = _json(inner[1:])
        return value.index(wanted) if wanted in value else None
    keys = {name: _json(text) for name, text in _PAIR.findall(inner)}
    for position, item in enumerate(value):
        if isinstance(item, dict) and keys and keys.items() <= item.items():
            return position
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
