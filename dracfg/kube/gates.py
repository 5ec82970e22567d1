"""Find the feature gates that Kubernetes objects depend on.

The mapping from fields to gates lies in data/gated-fields.yaml; it is compiled once a minor into
one tree of steps per kind, so that an object is walked once whatever the number of gated fields.
It may not know what a cluster's gates are set to: it says what an object uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache, lru_cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.kube.pointers import escape
from dracfg.packaged import read_data

__all__ = ["GateUse", "derive", "is_gated", "runtime_config"]

STEP = re.compile(r"\[\]|[^.\[\]]+")
STRING_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
OUTCOMES = {
    "dropped": "the API server drops it without a message",
    "dropped-then-rejected": "the API server drops it and rejects the rest as incomplete",
    "rejected": "the API server rejects it",
    "ineffective": "the API server stores it and nothing acts on it",
}


@dataclass(frozen=True, slots=True)
class GateUse:
    """One place in one object that a gate guards.

    `object_ref` is "Kind/name" or "Kind/namespace/name", `pointer` a JSON pointer (RFC 6901) into
    the object, "" for the object itself. `reason` says what it is and what becomes of it while
    the gate is off. `when_off` is the word for the latter, a key of `OUTCOMES`; "" where the use
    stands in no object.
    """

    gate: str
    reason: str
    object_ref: str
    pointer: str
    when_off: str = ""


@dataclass(frozen=True, slots=True)
class _Rule:
    gate: str
    reason: str
    when_off: str
    key: re.Pattern[str] | None
    cel: re.Pattern[str] | None

    def applies(self, key: str, value: Any) -> bool:
        if self.key is not None and not self.key.fullmatch(key):
            return False
        if value is None or value is False or value in ("", [], {}):
            return False
        return self.cel is None or bool(self.cel.search(STRING_LITERAL.sub('""', str(value))))


_Path = tuple[str | int, ...]
_Found = tuple[_Rule, str]
"""A rule that applies, and the pointer to what it applies to."""


@dataclass(slots=True)
class _Step:
    """A node of the tree; `following` is keyed by a field name, "[]" or "*"."""

    rules: list[_Rule] = field(default_factory=list)
    following: dict[str, _Step] = field(default_factory=dict)

    def below(self, path: str) -> _Step:
        step = self
        for name in STEP.findall(path):
            step = step.following.setdefault(name, _Step())
        return step


@dataclass(frozen=True, slots=True)
class _Root:
    """The part of a kind's objects that all gated fields lie in, and the tree of the steps below it."""

    path: tuple[str, ...]
    step: _Step

    def part(self, obj: Any) -> Any:
        for name in self.path:
            obj = obj.get(name) if isinstance(obj, dict) else None
        return obj

    def uses(self, part: Any) -> list[_Found]:
        """The rules that apply to the part and below it, each with its pointer into the object."""
        found: list[tuple[_Rule, _Path]] = []
        _walk(self.step, part, self.path[-1] if self.path else "", self.path, found)
        return [(rule, _pointer(path)) for rule, path in found]


def derive(objects: Iterable[Mapping[str, Any]], minor: str) -> tuple[GateUse, ...]:
    """Every gated use in the objects, in the order of the objects and of their fields.

    Gates are named whatever their default is; `features.to_write` keeps what a flag must say.
    """
    roots = _roots(minor)
    alike: dict[tuple[str, str], list[_Found]] = {}
    uses: list[GateUse] = []
    for obj in objects:
        kind = _group_kind(obj.get("apiVersion") or "", obj.get("kind") or "")
        root = roots.get(kind)
        if root is None:
            continue
        part = root.part(obj)
        # Of a fleet's thousands of claims a few dozen differ in what they ask for.
        text = repr(part)
        found = alike.get((kind, text))
        if found is None:
            found = alike[kind, text] = root.uses(part)
        if found:
            reference = _reference(obj)
            uses += [
                GateUse(rule.gate, rule.reason, reference, pointer, rule.when_off)
                for rule, pointer in found
            ]
    return tuple(uses)


def is_gated(api_version: str, kind: str, minor: str) -> bool:
    """Whether objects of a kind can have gated uses at all."""
    return _group_kind(api_version, kind) in _roots(minor)


def runtime_config(
    objects: Iterable[Mapping[str, Any]], uses: Iterable[GateUse], minor: str
) -> tuple[str, ...]:
    """The `group/version`s that kube-apiserver must be told to serve for these objects, sorted.

    Those that an object stands in itself, and those that components watch for a gate among the
    objects' `uses` (1.36 reads DeviceTaintRules through v1beta2, whichever version they were
    written in).
    """
    matrix = feature_matrix()
    kinds = {(obj.get("apiVersion", ""), obj.get("kind", "")) for obj in objects}
    needed = {version for version, kind in kinds if matrix.served(version, kind, minor) == "flag"}
    for name in {use.gate for use in uses}:
        needed.update(matrix.gates[name].runtime_config(minor))
    return tuple(sorted(needed))


@cache
def _steps(minor: str) -> Mapping[str, _Step]:
    """Kind.group -> the tree of the gated paths of that kind in one minor."""
    document = _document()
    roots: dict[str, _Step] = {}
    for use in document["uses"]:
        gate = use["gate"] if isinstance(use["gate"], str) else use["gate"].get(minor)
        if gate is None:
            continue
        said = use["whenOff"]
        when_off = said if isinstance(said, str) else said[minor]
        rule = _Rule(
            gate=gate,
            reason=f"{use['what']} needs {gate}; while it is off, {OUTCOMES[when_off]}",
            when_off=when_off,
            key=re.compile(use["key"]) if "key" in use else None,
            cel=re.compile(use["cel"]) if "cel" in use else None,
        )
        for kind, paths in document["places"][use["place"]].items():
            for path in paths:
                step = roots.setdefault(kind, _Step()).below(path).below(use.get("path", ""))
                step.rules.append(rule)
    return roots


@cache
def _roots(minor: str) -> Mapping[str, _Root]:
    """Kind.group -> the deepest part that holds every gated field of that kind in one minor."""
    roots: dict[str, _Root] = {}
    for kind, step in _steps(minor).items():
        path: tuple[str, ...] = ()
        while (
            not step.rules and len(step.following) == 1 and not {"*", "[]"} & step.following.keys()
        ):
            ((name, step),) = step.following.items()
            path = (*path, name)
        roots[kind] = _Root(path, step)
    return roots


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.kube", "data/gated-fields.yaml")
    return document


def _walk(step: _Step, value: Any, key: str, path: _Path, found: list[tuple[_Rule, _Path]]) -> None:
    if step.rules:
        found += [(rule, path) for rule in step.rules if rule.applies(key, value)]
    following = step.following
    if not following:
        return
    if isinstance(value, dict):
        every = following.get("*")
        for name, part in value.items():
            if (below := following.get(name, every)) is not None:
                _walk(below, part, name, (*path, name), found)
    elif isinstance(value, list) and (below := following.get("[]")) is not None:
        for index, part in enumerate(value):
            _walk(below, part, key, (*path, index), found)


def _pointer(path: _Path) -> str:
    return "".join(f"/{escape(step)}" for step in path)


@lru_cache(maxsize=1024)
def _group_kind(api_version: str, kind: str) -> str:
    """Such as "DeviceClass.resource.k8s.io"; the kind alone for the core group."""
    group, slash, _ = api_version.rpartition("/")
    return f"{kind}.{group}" if slash else kind


def _reference(obj: Mapping[str, Any]) -> str:
    metadata = obj.get("metadata") or {}
    parts = (obj.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return "/".join(part for part in parts if part)
