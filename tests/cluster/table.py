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
    "test_lifecycle": "contract",
    "test_claim_states": "contract",
    "test_admission": "admission, rights, quota",
    "test_rights": "admission, rights, quota",
    "test_quota": "admission, rights, quota",
    "test_audit_chain": "admission, rights, quota",
    "test_scheduling": "scheduling",
    "test_scheduling_features": "scheduling",
    "test_scheduling_filling": "scheduling",
    "test_scheduling_refusals": "scheduling",
    "test_gates": "gates",
    "test_gated_fields": "gates",
    "test_verify": "verify",
    "test_faults": "faults and audit",
}
"""Module → the suite it belongs to; others go by their own name."""

INTRODUCTION = """\
# Held against Kubernetes

What a run of `tests/cluster` showed: the programs of Kubernetes' own releases on one machine, with
fake drivers and kubelets, and dracfg's output and answers beside them. Written by the run itself:

```text
make control-plane MINOR=1.36
DRACFG_CLUSTER_TABLE=docs/control-plane.md .venv/bin/python -m pytest tests/cluster
```

"""


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

    @property
    def page(self) -> str:
        """The page in Markdown."""
        lines = [
            "| Kubernetes | suite | passed | failed | skipped | seconds |",
            "|---|---|--:|--:|--:|--:|",
        ]
        for (minor, suite), row in sorted(self.rows.items()):
            lines.append(
                f"| {release(minor)} | {suite} | {row.count('passed')} "
                f"| {row.count('failed')} | {row.count('skipped')} | {row.seconds:.0f} |"
            )
        machine = f"Measured with {os.cpu_count()} cores, Python {platform.python_version()}."
        return INTRODUCTION + "\n".join(lines) + f"\n\n{machine}\n"


def minor_of(params: Mapping[str, object], known: Iterable[str]) -> str | None:
    """The minor that a parametrised test runs on; None where it runs on none."""
    for value in params.values():
        minor = str(getattr(value, "minor", value))
        if minor in known:
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
        Path(target).write_text(table.page, encoding="utf-8")
