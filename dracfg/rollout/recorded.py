"""Evidence from files: values of gates by name, reports of dracfg's own commands, records of trials.

    {at, source, gates: {<gate>: value or values}}   what was measured, however it was
    {kind: AuditReport, cluster, at, …}              `dracfg audit --format json` on one cluster
    {kind: TestReport, results}                      `dracfg test --format json`
    {at, driver, trials: [{capacity, version, enforced, …}]}   records as a Driver cites them

A value is a number, or a length of time such as `12s`; null says that there was no data. Where a file
tells of a moment, it is the file's; the evidence is as old as the oldest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.rollout.documents import Reports, Trial
from dracfg.rollout.gates import Answer
from dracfg.source.times import parse_length, parse_time

_NEEDED: Mapping[str, Mapping[str, type]] = {
    "AuditReport": {
        "findings": list,
        "ledger": list,
        "totals": list,
        "causes": list,
        "trials": list,
    },
    "TestReport": {"results": list, "verdict": str},
}


class NotEvidence(Exception):
    """What a file lacks to be evidence."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What files say: values by the name of a gate, reports, and the oldest moment that one tells of."""

    by_gate: Mapping[str, Answer]
    reports: Reports
    at: str | None
    raw: bytes
    source: str


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file as it was read, by the name that people gave it."""

    path: str
    raw: bytes
    data: Any


def read_evidence(files: Iterable[EvidenceFile]) -> Recorded:
    """Everything that some files hold. Raises NotEvidence for one that holds none of it."""
    by_gate: dict[str, Answer] = {}
    audits: dict[str, Mapping[str, Any]] = {}
    tests: list[Mapping[str, Any]] = []
    trials: list[Trial] = []
    moments: list[str] = []
    sources: list[str] = []
    listed = tuple(files)
    for file in listed:
        source = file.path
        match _form(file):
            case "AuditReport":
                cluster = file.data.get("cluster")
                if not isinstance(cluster, str):
                    raise NotEvidence(f"the audit in {file.path} is of no cluster of the catalog")
                audits[cluster] = file.data
                trials += _audited(file.data)
            case "TestReport":
                tests.append(file.data)
            case "trials":
                trials += _trials(file)
            case "gates":
                by_gate |= _gates(file)
                source = file.data.get("source", file.path)
                if not isinstance(source, str):
                    raise NotEvidence(f"`source` of {file.path} is not text")
        sources.append(source)
        moments += _moment(file)
    return Recorded(
        by_gate,
        Reports(audits, tuple(tests), tuple(trials)),
        min(moments, default=None),
        b"\n".join(file.raw for file in listed),
        ", ".join(sources),
    )


def _form(file: EvidenceFile) -> str:
    data = file.data
    if isinstance(data, dict):
        kind = data.get("kind")
        if isinstance(kind, str) and kind in _NEEDED:
            wrong = [key for key, t in _NEEDED[kind].items() if not isinstance(data.get(key), t)]
            if wrong:
                raise NotEvidence(f"the {kind} in {file.path} has no `{wrong[0]}`")
            return kind
        for form, shape in (("gates", dict), ("trials", list)):
            if isinstance(data.get(form), shape):
                return form
    raise NotEvidence(
        f"{file.path} has no map `gates` with a value for each gate, and is no report of dracfg audit "
        "or test, nor a list of `trials`"
    )


def _moment(file: EvidenceFile) -> Iterator[str]:
    """When a file was taken. A report of tests is of the catalog, which has no moment."""
    at = file.data.get("at")
    if file.data.get("kind") == "TestReport" and at is None:
        return
    if not isinstance(at, str) or parse_time(at) is None:
        raise NotEvidence(
            f"{file.path} doesn't say when it was taken: write `at: 2026-11-29T22:00:00Z`"
        )
    yield at


def _gates(file: EvidenceFile) -> dict[str, Answer]:
    gates: Mapping[Any, Any] = file.data["gates"]
    if not all(isinstance(name, str) for name in gates):
        raise NotEvidence(f"a gate in {file.path} has a name that is not text")
    return {name: _answer(value) for name, value in gates.items()}


def _trials(file: EvidenceFile) -> Iterator[Trial]:
    driver = file.data.get("driver")
    if driver is not None and not isinstance(driver, str):
        raise NotEvidence(f"`driver` of {file.path} is not text")
    for record in file.data["trials"]:
        made = _trial(driver, record)
        if made is None:
            raise NotEvidence(
                f"a trial in {file.path} lacks capacity, version or enforced, as a Driver cites them"
            )
        yield made


def _audited(audit: Mapping[str, Any]) -> Iterator[Trial]:
    """The trials that an audit found decided."""
    for trial in _maps(audit["trials"]):
        for judged in _maps(trial.get("capacities")):
            made = _trial(trial.get("driver"), judged.get("record"))
            if made is not None:
                yield made


def _maps(value: Any) -> Iterator[Mapping[str, Any]]:
    """The maps of a list; nothing where it is none."""
    yield from (one for one in (value if isinstance(value, list) else ()) if isinstance(one, dict))


def _trial(driver: Any, record: Any) -> Trial | None:
    if not isinstance(record, dict) or not isinstance(driver, str | None):
        return None
    capacity, version, held = (record.get(key) for key in ("capacity", "version", "enforced"))
    if isinstance(capacity, str) and isinstance(version, str) and isinstance(held, bool):
        return Trial(driver, capacity, version, held)
    return None


def _answer(value: Any) -> Answer:
    if value is None:
        return Answer()
    values = value if isinstance(value, list) else [value]
    try:
        return Answer(tuple(map(_number, values)))
    except ValueError:
        return Answer(trouble=f"{value!r} is neither a number nor a length of time")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(value)
    if isinstance(value, str) and value[-1:] in ("s", "m", "h", "d"):
        length = parse_length(value).total_seconds()
        if not length and not value.startswith("0"):
            raise ValueError(value)
        return length
    return float(value)
