"""dracfg on a fleet, beside other tools on the same objects in the same run.

Run: python -m tests.bench.compile --tenants 1000 --programs .cache/bin. Prints a table, and with
`--json FILE` the same as JSON. Each row is a process of its own. Read the ratios: seconds depend on
the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from tests.bench.changes import change_one, change_share, commit, packed
from tests.bench.fleet import fleet
from tests.bench.measure import Cost, by_turns, run
from tests.bench.neighbours import Tools, floor, neighbours
from tests.bench.objects import objects_of, synced_files
from tests.bench.tree import tree_of

REFERENCE = "helm template"
COLD = "cold compile"
PERCENT = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One measured thing; `objects` is what it made or judged, 0 where that is not all of them.

    `beside` is what the reference took by turns with it, where it did.
    """

    what: str
    cost: Cost
    objects: int = 0
    bytes: int = 0
    beside: Cost | None = None

    def speed(self, seconds: float) -> float:
        """Objects a second."""
        return self.objects / seconds if seconds else 0.0


def measure(root: Path, jobs: int) -> Iterator[Row]:
    """A cold compile of `root`, then one without a change, one with a changed tenant, and so on.

    In the end `root` is a git repository whose work tree has more changed tenants than `out/` knows.
    """
    dracfg: list[str | Path] = [sys.executable, "-m", "dracfg"]
    told: list[str | Path] = ["-q", "-C", root, "--format", "concise"]
    compile_ = [*dracfg, "compile", *told, "--jobs", str(jobs)]
    check = [*dracfg, "check", *told]
    bare = [*check, "--no-cache"]
    judged, cold = run(bare), run(compile_)
    tree = tree_of(root / "out")
    yield Row(COLD, cold, tree.objects, tree.bytes)
    yield Row("check --no-cache, no tree stands", judged, tree.objects)
    yield Row("no-op compile", run(compile_))
    change_one(root)
    yield Row("compile of one changed tenant", run(compile_))
    yield Row("check, after a compile", run(check))
    yield Row("compile --no-cache, no change", run([*compile_, "--no-cache"]))
    yield Row("check --no-cache", run(bare), tree.objects)
    yield Row("capacity", run([*dracfg, "capacity", "-C", root, "--format", "json"], most=1))
    if shutil.which("git") is None:
        print("no git: the diff is left out", file=sys.stderr)
        return
    commit(root)
    packed(root)
    change_share(root, PERCENT)
    diff = run([*dracfg, "diff", "HEAD", "-q", "-C", root, "--format", "json"], most=1)
    yield Row(f"diff, {PERCENT} % of tenants changed", diff)


def rows(
    tenants: int,
    clusters: int,
    jobs: int,
    tools: Tools,
    scratch: Path,
    *,
    verify: bool = False,
    turns: int = 0,
) -> Iterator[Row]:
    """All rows, as they are measured; with `verify` what neighbours wrote is read again as well.

    With `turns` the cold compile and helm are run so many times more, one after the other.
    """
    root = scratch / "fleet"
    fleet(tenants, clusters).write(root)
    yield from measure(root, jobs)
    out = root / "out"
    objects = objects_of(out)
    tree = tree_of(out)
    for name, cost in floor(out, objects, scratch):
        yield Row(name, cost, tree.objects, tree.bytes)
    size = sum(path.stat().st_size for path in synced_files(out))
    for one in neighbours(tools, out, objects, size, scratch):
        yield Row(one.name, one.cost(), sum(map(len, one.objects.values())), one.size)
        if verify and (difference := one.differs(scratch)):
            raise SystemExit(difference)
        if one.name == REFERENCE and turns:
            again = partial(_cold, scratch / "again", jobs)
            fleet(tenants, clusters).write(scratch / "again")
            mine, theirs = by_turns([again, one.cost], turns)
            what = f"{COLD}, median of {turns} by turns with helm's"
            yield Row(what, mine, tree.objects, tree.bytes, theirs)


def _cold(root: Path, jobs: int) -> Cost:
    for left in ("out", ".cache"):
        shutil.rmtree(root / left, ignore_errors=True)
    told: list[str | Path] = ["-q", "-C", root, "--format", "concise", "--jobs", str(jobs)]
    return run([sys.executable, "-m", "dracfg", "compile", *told])


def table(found: Sequence[Row]) -> Iterator[str]:
    """Times as parts of the cold compile's; objects a second as multiples of `helm template`'s."""
    by_name = {row.what: row for row in found}
    helm, cold = by_name.get(REFERENCE), by_name[COLD]
    head = ["", "wall s", "CPU s", "peak MiB", "objects/s", "MB/s", "of cold, CPU"]
    head += ["to helm, wall", "to helm, CPU"]
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in found:
        cost, makes = row.cost, row.objects > 0
        beside = helm if makes else None
        if row.beside is not None:
            beside = Row(REFERENCE, row.beside, row.objects)
        same = row.objects in (0, cold.objects)
        cells = (
            row.what,
            f"{cost.wall:.2f}",
            f"{cost.cpu:.2f}",
            f"{cost.peak:,.0f}" if cost.peak else "",
            f"{row.speed(cost.wall):,.0f}" if makes else "",
            f"{row.bytes / cost.wall / 1e6:.1f}" if row.bytes else "",
            f"{cost.cpu / cold.cost.cpu:.0%}" if same else "",
            f"{row.speed(cost.wall) / beside.speed(beside.cost.wall):.2f}" if beside else "",
            f"{row.speed(cost.cpu) / beside.speed(beside.cost.cpu):.2f}" if beside else "",
        )
        yield f"| {' | '.join(cells)} |"


def load() -> float:
    """How many processes wanted a processor in the last minute."""
    return os.getloadavg()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, nargs="+", default=[1000])
    parser.add_argument("--clusters", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--programs", type=Path, help="a folder with helm and kubectl")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="has the neighbours' packages"
    )
    parser.add_argument("--turns", type=int, default=0, help="cold compiles by turns with helm")
    parser.add_argument("--verify", action="store_true", help="read what neighbours wrote")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    tools = Tools(arguments.programs, arguments.python)
    versions = {"python": platform.python_version(), **tools.versions()}
    results = []
    for tenants in arguments.tenants:
        before = load()
        scratch = Path(tempfile.mkdtemp(prefix="dracfg-bench-"))
        found = []
        try:
            for row in rows(
                tenants, arguments.clusters, arguments.jobs, tools, scratch,
                verify=arguments.verify, turns=arguments.turns,
            ):  # fmt: skip
                # A large fleet takes its time.
                print(f"{row.what}: {row.cost}", file=sys.stderr, flush=True)
                found.append(row)
        finally:
            shutil.rmtree(scratch)
        print(
            f"\n{tenants:,} tenants on {arguments.clusters} clusters: {found[0].objects:,} objects, "
            f"{found[0].bytes / 1e6:.1f} MB; {os.cpu_count()} processors, load {before:.1f} before, "
            f"{load():.1f} after\n"
        )
        print("\n".join(table(found)))
        results.append(
            {
                "tenants": tenants,
                "clusters": arguments.clusters,
                "jobs": arguments.jobs,
                "load": [before, load()],
                "rows": [asdict(row) for row in found],
            }
        )
    print(f"\n{', '.join(f'{name} {version}' for name, version in versions.items())}")
    if arguments.json is not None:
        written = {"processors": os.cpu_count(), "versions": versions, "fleets": results}
        arguments.json.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
