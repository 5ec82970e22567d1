"""Two states of a small repository: a base of tests/cases, and the same with a few words replaced."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dracfg.diagnostics import Diagnostic
from dracfg.diff.change import Change
from dracfg.diff.pair import Pair, Side
from dracfg.pipeline import Judgement, compile_repository, judge
from dracfg.scope import blocked_units
from dracfg.source.records import parse_record
from tests.cases.test_cases import build

Edit = tuple[str, str, str]
"""(file, text that stands in it once, what stands there instead)."""

CLUSTERS, DRIVERS, TIERS = "catalog/clusters.yaml", "catalog/drivers.yaml", "catalog/tiers.yaml"
POLICIES, POOLS = "catalog/policies.yaml", "catalog/pools.yaml"
VISION, SEARCH = "tenants/vision.yaml", "tenants/search.yaml"

NIC_UNUSED: tuple[Edit, ...] = (
    (VISION, "        - {name: nic, entitlement: nic, count: 8}\n", ""),
    (VISION, "requests: [gpu, nic], by", "requests: [gpu], by"),
    (VISION, "      distinct: [{requests: [nic], by: nic.example.com/subnet}]\n", ""),
)
"""No profile asks for a NIC, so that their pool can have any owner."""

_SOUND: Mapping[str, Edit] = {
    "platform": (
        POLICIES,
        "isolation: driver",
        "isolation: driver\n  acceptsDeclared: the limiter was seen to hold",
    )
}
"""What a base lacks to be free of errors that the cases of other families leave out."""


@dataclass(frozen=True)
class Case:
    """A step from `before` to `after`, both laid over a base, and what is told of it.

    `files` are laid over both sides and `head` over the later one, whose `removed` are taken out; what
    the earlier one compiles to stands in both where `compiled`;
    `recorded` is a dump of pods and claims of the cluster `on`, known to the later side. `told` holds
    (kind, object, before, after) of each change or (code, found) of each finding, `says` parts of
    details.
    """

    name: str
    after: tuple[Edit, ...] = ()
    before: tuple[Edit, ...] = ()
    base: str = "platform"
    files: Mapping[str, str] = field(default_factory=dict)
    head: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    compiled: bool = False
    recorded: str = ""
    on: str = "prod-east"
    told: tuple[tuple[str | None, ...], ...] = ()
    says: tuple[str, ...] = ()
    impact: str = ""
    workloads: tuple[str, ...] = ()

    def pair(self, root: Path) -> Pair:
        first, second = root / "before", root / "after"
        _write(first, self.base, self.before, self.files)
        _write(second, self.base, (*self.before, *self.after), {**self.files, **self.head})
        for path in self.removed:
            (second / path).unlink()
        if self.compiled:
            compile_repository(first)
            shutil.copytree(first / "out", second / "out")
        later = judge(second)
        if self.recorded:
            record, faults = parse_record("dump.yaml", self.recorded)
            assert not faults
            later = replace(later, records={self.on: (record,)})
        sides = Side("before", judge(first)), Side("after", later)
        tests = [_blocked(side.judgement) for side in sides]
        return Pair(*sides, lambda path: any(test(path) for test in tests))

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def hold(case: Case, found: Iterable[Change]) -> None:
    """The changes are those that the case tells, with the details, impact and workloads it names."""
    changes = list(found)
    told = sorted(
        (one.kind.name, one.object, one.before or "-", one.after or "-") for one in changes
    )
    assert told == sorted(tuple(word or "-" for word in row) for row in case.told)
    details = "\n".join(line for one in changes for line in one.details)
    for part in case.says:
        assert part in details, details
    if case.impact:
        assert {one.impact.word for one in changes} == {case.impact}
    assert {name for one in changes for name in one.workloads} == set(case.workloads)


def hold_steps(case: Case, found: Iterable[Diagnostic]) -> None:
    """The findings are those that the case tells, each with a place, a help and what was expected."""
    findings = list(found)
    assert [(one.code, one.found) for one in findings] == list(case.told)
    for one in findings:
        assert one.span is not None
        assert one.help
    helps = "\n".join(f"{one.message}\n{one.help}" for one in findings)
    for part in case.says:
        assert part in helps, helps


def kinds_of(tables: Iterable[Iterable[Case]]) -> Iterator[str]:
    """Every kind of change that some case tells."""
    for table in tables:
        for case in table:
            yield from (str(row[0]) for row in case.told)


def _write(root: Path, base: str, edits: Iterable[Edit], files: Mapping[str, str]) -> None:
    build({"base": base}, root)
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for path, old, new in (*((_SOUND[base],) if base in _SOUND else ()), *edits):
        place = root / path
        text = place.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in {path}, not once")
        place.write_text(text.replace(old, new), encoding="utf-8")


def _blocked(judged: Judgement) -> Callable[[str], bool]:
    return blocked_units(
        judged.catalog,
        judged.documents,
        judged.findings,
        judged.poisoned,
        judged.sources,
    )
