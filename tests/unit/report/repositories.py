"""Repositories that the tests of the report share, each judged once."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from dracfg.audit import audit
from dracfg.pipeline import judge
from dracfg.report.document import Report
from dracfg.report.gathering import Audited, Facts, gather, report_of
from dracfg.source.records import read_record

ROOT = Path(__file__).parents[3]
CLAIMS = "tests/golden/audit/prod-east.yaml"
ROLLOUT = ROOT / "tests" / "golden" / "rollout" / "repository"


@cache
def example() -> Facts:
    """The example repository with recorded claims of one of its clusters."""
    judged = judge(ROOT)
    record, _ = read_record(ROOT, CLAIMS)
    records = [*judged.records["prod-east"], record]
    done = audit(judged.catalog, judged.catalog.clusters["prod-east"], records)
    texts = {one.path: one.text.split("\n") for one in records}
    audited = Audited(done, records, lambda path: texts.get(path) or judged.lines(path))
    return gather(judged, {"prod-east": audited})


@cache
def example_report() -> Report:
    return report_of(example())


def edited(folder: Path, path: str, old: str, new: str) -> Path:
    """A copy of the example in which one file says something else."""
    for name in ("catalog", "tenants"):
        if not (folder / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
    file = folder / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return folder


@cache
def crowded() -> Facts:
    """The example where others may hold so much that claims can be refused."""
    folder = Path(mkdtemp(prefix="dracfg-report-"))
    edited(folder, "tenants/notebooks.yaml", "limit: {5Gi: 8}", "limit: {5Gi: 64}")
    edited(folder, "tenants/search.yaml", "tier: l4, guaranteed: 2", "tier: l4, guaranteed: 20")
    try:
        return gather(judge(folder), {})
    finally:
        shutil.rmtree(folder)
