"""What a run of these suites showed: minor × suite × passed and time, as a page.

Run: DRACFG_CLUSTER_TABLE=docs/control-plane.md python -m pytest tests/cluster.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FILE = "DRACFG_CLUSTER_TABLE"

SUITES: Mapping[str, str] = {
    "test_contract": "contract",
    "test_lifecycle": "states and deletion",
    "test_claim_states": "states and deletion",
    "test_pool_states": "states and deletion",
    "test_things_in_use": "states and deletion",
    "test_admission": "admission, rights, quota",
    "test_quota": "admission, rights, quota",
    "test_auditlog": "audit log",
    "test_scheduling": "scheduling",
    "test_scheduling_features": "scheduling",
    "test_scheduling_filling": "scheduling",
    "test_scheduling_refusals": "scheduling",
    "test_gates": "gates",
    "test_gated_fields": "gates",
    "test_verify": "verify",
    "test_faults": "faults and audit",
    "test_lost_nodes": "faults and audit",
    "test_policy_change": "faults and audit",
    "test_guarantees_hold": "guarantees",
}
"""Module → the suite it belongs to; others go by their own name."""

INTRODUCTION = """\
# Held against Kubernetes

What runs of `tests/cluster` showed: the programs of Kubernetes' own releases on one machine, with
fake drivers and kubelets, and dracfg's output and answers beside them. A run writes the rows of the
minors and suites that it ran; all of them are given by

```text
make control-plane MINOR=1.34      # and 1.35, 1.36, 1.37
DRACFG_CLUSTER_TABLE=docs/control-plane.md .venv/bin/python -m pytest tests/cluster
```

Seconds are those of the tests with their set-up.

"""

HEAD = ("| Kubernetes | suite | passed | failed | skipped | seconds |", "|---|---|--:|--:|--:|--:|")
ROW = re.compile(r"^\| v(1\.\d+)\.\S+ \| (.+?) \|(?: \d+ \|){4}$", re.MULTILINE)
BLOCK = re.compile(rf"^{re.escape(HEAD[0])}\n(?:\|.*\n)*", re.MULTILINE)
MEASURED = re.compile(r"^Measured with .*\n", re.MULTILINE)


@dataclass(slots=True)
class Row:
    """Numbers of tests by outcome, and seconds with set-up, of one suite on one minor."""

    outcomes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        return self.outcomes.get(outcome, 0)


class Table:
    """Gathers the reports of a run."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Row] = {}

    def add(self, report: pytest.TestReport) -> None:
        minor = dict(report.user_properties).get("minor")
        if minor is None:
            return
        module = report.location[0].rpartition("/")[2].removesuffix(".py")
        suite = SUITES.get(module, module.removeprefix("test_"))
        row = self.rows.setdefault((str(minor), suite), Row())
        row.seconds += report.duration
        # A skip or a failure of the set-up is all that is heard of a test's outcome.
        if report.when == "call" or report.outcome != "passed":
            row.outcomes[report.outcome] = row.outcomes.get(report.outcome, 0) + 1

    def page(self, standing: str = "") -> str:
        """The page in Markdown. Of one that stands, its words and the rows of other runs are kept."""
        rows = {(row[1], row[2]): row[0] for row in ROW.finditer(standing)}
        rows |= {key: _line(*key, row) for key, row in self.rows.items()}
        block = "\n".join([*HEAD, *(rows[key] for key in sorted(rows))]) + "\n"
        measured = f"Measured with {os.cpu_count()} cores, Python {platform.python_version()}.\n"
        if not BLOCK.search(standing):
            return f"{INTRODUCTION}{block}\n{measured}"
        return MEASURED.sub(lambda _: measured, BLOCK.sub(lambda _: block, standing))


def _line(minor: str, suite: str, row: Row) -> str:
    counts = " | ".join(str(row.count(outcome)) for outcome in ("passed", "failed", "skipped"))
    return f"| {release(minor)} | {suite} | {counts} | {row.seconds:.0f} |"


def minor_of(params: Mapping[str, object], known: Iterable[str]) -> str | None:
    """The minor that a parametrised test runs on; None where it runs on none.

    A parameter is the minor, or has it as an attribute or among its parts.
    """
    listed = set(known)
    for value in params.values():
        for part in value if isinstance(value, tuple) else (value,):
            minor = str(getattr(part, "minor", part))
            if minor in listed:
                return minor
    return None


def release(minor: str) -> str:
    """The release of Kubernetes that stands for a minor, as its module file says."""
    text = (Path(__file__).parent / "go" / minor / "go.mod").read_text()
    return re.search(r"k8s\.io/kubernetes (v\S+)", text)[1]  # type: ignore[index]


def write(table: Table) -> None:
    """Writes the page where the environment names a file."""
    target = os.environ.get(FILE)
    if target and table.rows:
        page = Path(target)
        standing = page.read_text(encoding="utf-8") if page.exists() else ""
        page.write_text(table.page(standing), encoding="utf-8")
