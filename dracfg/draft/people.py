"""RoleBindings of a namespace → who may run work there and who may look, by the roles of Kubernetes itself.

Roles of somebody's making say nothing by their names; they are questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.draft.decisions import Decision
from dracfg.draft.recording import Recording
from dracfg.draft.scalars import flow_map, scalar
from dracfg.source.fields import maps, text
from dracfg.source.records import RecordedObject

_USE = ("admin", "edit")
_VIEW = ("view",)
_EVERYBODY = "system:"
"""How the names of groups and users begin that Kubernetes itself gives out."""


@dataclass(frozen=True, slots=True)
class People:
    """Subjects as the language writes them, in the order of the record. `groups` may run work."""

    use: tuple[str, ...] = ()
    view: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()
    seen: tuple[str, ...] = ()
    questions: tuple[Decision, ...] = ()


def read_people(recording: Recording) -> Mapping[str, People]:
    """By namespace; those without a binding are left out."""
    bindings: dict[str, list[RecordedObject]] = {}
    for item in recording.bindings:
        namespace = text(item.data, "metadata", "namespace")
        if namespace is not None:
            bindings.setdefault(namespace, []).append(item)
    return {namespace: _people(namespace, items) for namespace, items in bindings.items()}


def _people(namespace: str, items: list[RecordedObject]) -> People:
    use: dict[str, None] = {}
    view: dict[str, None] = {}
    groups: set[str] = set()
    seen: list[str] = []
    odd: dict[str, list[str]] = {}
    for item in items:
        kind, role = text(item.data, "roleRef", "kind"), text(item.data, "roleRef", "name") or ""
        known = kind == "ClusterRole" and role in (*_USE, *_VIEW)
        place = str(item.span("metadata", "name"))
        if not known:
            odd.setdefault(f"{kind} {role}", []).append(place)
            continue
        seen.append(place)
        for subject in maps(item.data, "subjects"):
            written = _written(subject, namespace)
            if written is None:
                continue
            (use if role in _USE else view)[written] = None
            if role in _USE and subject.get("kind") == "Group":
                groups.add(str(subject["name"]))
    return People(
        tuple(use),
        tuple(one for one in view if one not in use),
        frozenset(groups),
        tuple(seen),
        tuple(_of_own_making(namespace, odd)),
    )


def _of_own_making(namespace: str, odd: Mapping[str, list[str]]) -> Iterator[Decision]:
    for role, places in odd.items():
        yield Decision(
            f"whether {role} lets people run work in {namespace}",
            "only admin, edit and view of Kubernetes are known by their names; its subjects get no rights",
            tuple(places[:3]),
        )


def _written(subject: Mapping[str, Any], namespace: str) -> str | None:
    """A subject in flow form; None for one that stands for no one in particular."""
    name = text(subject, "name")
    if name is None or name.startswith(_EVERYBODY):
        return None
    match subject.get("kind"):
        case "Group":
            return flow_map({"group": scalar(name)})
        case "User":
            return flow_map({"user": scalar(name)})
        case "ServiceAccount":
            place = text(subject, "namespace") or namespace
            account = flow_map({"namespace": scalar(place), "name": scalar(name)})
            return flow_map({"serviceAccount": account})
        case _:
            return None
