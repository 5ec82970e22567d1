"""dracfg on a fleet, beside other tools on the same objects in the same run.

Run: python -m tests.bench.compile --tenants 1000 --programs .cache/bin. Prints a table, and with
`--json FILE` the same as JSON. Each row is a process of its own. Read the ratios: seconds depend on
the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.fleet import fleet
from tests.bench.measure import Cost, run
from tests.bench.neighbours import floor, helm, jsonnet, objects_of, program

REFERENCE = "helm template"
COLD = "cold compile"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured thing; `objects` is what it made, 0 where it makes none."""

    what: str
    cost: Cost
    objects: int = 0
    bytes: int = 0


def measure(root: Path, jobs: int) -> Iterator[Row]:
    """A cold compile of `root`, then one without a change, one with a changed tenant, and so on."""
    dracfg = [sys.executable, "-m", "dracfg"]
    compile_ = [*dracfg, "compile", "-q", "-C", str(root), "--jobs", str(jobs)]
    quiet = ["--format", "concise"]
    cold = run([*compile_, *quiet])
    yield Row(COLD, cold, *extent(root / "out"))
    yield Row("no-op compile", run([*compile_, *quiet]))
    change_one(root)
    yield Row("compile of one changed tenant", run([*compile_, *quiet]))
    yield Row("compile --no-cache, no change", run([*compile_, *quiet, "--no-cache"]))
    yield Row("check", run([*dracfg, "check", "-q", "-C", str(root), *quiet]))
    yield Row("capacity", run([*dracfg, "capacity", "-C", str(root), "--format", "json"], most=1))


def extent(out: Path) -> tuple[int, int]:
    """(objects that are synced, bytes of all files) below `out`."""
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return sum(map(len, objects_of(out).values())), size


def change_one(root: Path) -> None:
    """Another group may use what the tenant in the middle has: its role bindings change."""
    paths = sorted((root / "tenants").rglob("*.yaml"))
    path = paths[len(paths) // 2]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("-eng\n", "-engineers\n", 1), encoding="utf-8")


def rows(tenants: int, clusters: int, jobs: int, programs: Path | None, scratch: Path) -> list[Row]:
    root = scratch / "fleet"
    fleet(tenants, clusters).write(root)
    found = [told(row) for row in measure(root, jobs)]
    objects = objects_of(root / "out")
    number, size = found[0].objects, found[0].bytes
    others = [*floor(root / "out", objects, scratch)]
    binary = program("helm", programs)
    if binary is None:
        print("no helm: see .ci/fetch-kubectl.py", file=sys.stderr)
    else:
        others += helm(binary, objects, scratch)
    others += jsonnet(objects, scratch)
    return found + [told(Row(name, cost, number, size)) for name, cost in others]


def told(row: Row) -> Row:
    """Says what is done, as a large fleet takes its time."""
    print(f"{row.what}: {row.cost}", file=sys.stderr, flush=True)
    return row


def table(found: Sequence[Row]) -> Iterator[str]:
    """Times as parts of the cold compile's; objects a second as multiples of `helm template`'s."""
    by_name = {row.what: row for row in found}
    reference, cold = by_name.get(REFERENCE), by_name[COLD].cost
    head = ["", "wall s", "CPU s", "peak MiB", "objects/s", "MB/s", "of cold, CPU"]
    head += ["to helm, wall", "to helm, CPU"]
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in found:
        cost, makes = row.cost, row.objects > 0
        helm_cost = reference.cost if reference is not None and makes else None
        cells = (
            row.what,
            f"{cost.wall:.2f}",
            f"{cost.cpu:.2f}",
            f"{cost.peak:,.0f}",
            f"{row.objects / cost.wall:,.0f}" if makes else "",
            f"{row.bytes / cost.wall / 1e6:.1f}" if makes else "",
            f"{cost.cpu / cold.cpu:.0%}",
            f"{helm_cost.wall / cost.wall:.2f}" if helm_cost else "",
            f"{helm_cost.cpu / cost.cpu:.2f}" if helm_cost and cost.cpu else "",
        )
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, nargs="+", default=[1000])
    parser.add_argument("--clusters", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--programs", type=Path, help="a folder with helm")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = []
    for tenants in arguments.tenants:
        scratch = Path(tempfile.mkdtemp(prefix="dracfg-bench-"))
        try:
            found = rows(tenants, arguments.clusters, arguments.jobs, arguments.programs, scratch)
        finally:
            shutil.rmtree(scratch)
        print(
            f"\n{tenants:,} tenants on {arguments.clusters} clusters: {found[0].objects:,} objects, "
            f"{found[0].bytes / 1e6:.1f} MB; Python {platform.python_version()}\n"
        )
        print("\n".join(table(found)))
        results.append({"tenants": tenants, "rows": [asdict(row) for row in found]})
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
