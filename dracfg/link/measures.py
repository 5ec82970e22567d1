"""The built-in measures that gates may name, and which of them are asked where a Rollout has no gate.

The facts lie in data/measures.yaml. What a measure is on one cluster is said by `link/gates.py`; nothing
here knows a rollout.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.model.rollout import Protects, Subject
from dracfg.packaged import read_data
from dracfg.source.times import parse_length

Unit = Literal["ratio", "seconds", "count"]
Asked = Literal["always", "moved", "compared", "fenced"]
Way = Literal["forward", "rollback"]
Figure = Literal["missing", "fragmented"]
Limit = Quantity | str
"""A number, or a length of time such as 30s."""


@dataclass(frozen=True, slots=True)
class Documents:
    """What recorded documents say of a measure.

    `findings` and `causes` are counted in an audit, `ledger` is a figure of its devices; with a code of
    `open` in it an audit decides nothing. `of_driver`: only findings about devices of the driver count.
    """

    findings: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    ledger: Figure | None = None
    tests: bool = False
    records: bool = False
    of_driver: bool = False

    @property
    def audits(self) -> bool:
        """Whether an audit has to be there."""
        return bool(self.findings or self.causes or self.ledger)


@dataclass(frozen=True, slots=True)
class Measure:
    """A built-in measure. `query` has its fragments filled in, and words that each cluster fills.

    At least one of `query` and `documents` is there. `length` is its window as Prometheus writes it,
    `subjects` are those of rollouts that it is picked for, `objective` is the one whose number goes
    before `max` where it is stated.
    """

    id: str
    title: str
    says: str
    like: str
    unit: Unit
    asked: Asked
    query: str | None
    documents: Documents | None
    length: str | None
    max: Limit
    halt: Limit | None
    directions: tuple[Way, ...]
    subjects: tuple[Subject, ...]
    objective: str | None


@dataclass(frozen=True, slots=True)
class Protection:
    """What a rollout that protects something asks, and in which order a pool's steps are taken.

    `must_halt`: every gate of the way forward has a limit that halts.
    """

    gates: tuple[str, ...]
    must_halt: bool
    order: tuple[str, ...]


@cache
def measures() -> Mapping[str, Measure]:
    """Every measure by its id, in the order of the data."""
    return {name: _measure(name, entry) for name, entry in _data()["measures"].items()}


@cache
def protection(protects: Protects) -> Protection:
    """What goes with a word of `protects`."""
    entry = _data()["protects"][protects]
    return Protection(tuple(entry["gates"]), entry["mustHalt"], tuple(entry["order"]))


def unit_of(limit: Limit) -> Literal["seconds", "number"]:
    """What a limit is written in."""
    return "seconds" if isinstance(limit, str) else "number"


def fits(measure: Measure, limit: Limit) -> bool:
    """Whether a limit has the measure's unit."""
    return (unit_of(limit) == "seconds") == (measure.unit == "seconds")


def _measure(name: str, entry: Mapping[str, Any]) -> Measure:
    window = entry.get("window")
    return Measure(
        id=name,
        title=entry["title"],
        says=entry["says"],
        like=entry["like"],
        unit=entry["unit"],
        asked=entry["asked"],
        query=_whole(entry["query"], window) if "query" in entry else None,
        documents=_documents(entry["document"]) if "document" in entry else None,
        length=window,
        max=_limit(entry["max"]),
        halt=_limit(entry["halt"]) if "halt" in entry else None,
        directions=tuple(way for way in get_args(Way) if way in entry["directions"]),
        subjects=tuple(entry.get("subjects", get_args(Subject))),
        objective=entry.get("objective"),
    )


def _documents(entry: Mapping[str, Any]) -> Documents:
    return Documents(
        findings=tuple(entry.get("findings", ())),
        open=tuple(entry.get("open", ())),
        causes=tuple(entry.get("causes", ())),
        ledger=entry.get("ledger"),
        tests=entry.get("tests", False),
        records=entry.get("records", False),
        of_driver=entry.get("of") == "driver",
    )


def _limit(written: str | float) -> Limit:
    return written if isinstance(written, str) else Quantity.parse(str(written))


def _whole(query: str, window: str | None) -> str:
    """The query with its fragments, and theirs, and its window."""
    parts: dict[str, str] = dict(_data()["fragments"])
    if window is not None:
        parts |= {"window": window, "seconds": str(int(parse_length(window).total_seconds()))}
    before = ""
    while before != query:
        before = query
        for word, text in parts.items():
            query = query.replace(f"<{word}>", text)
    return query


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_data("dracfg.link", "data/measures.yaml")
    return data
