"""What grows with a fleet and what does not: time, memory, tree, units, policies, engines' objects.

Run: python -m tests.bench.growth --tenants 100 1000 10000 100000. Each size is a fleet of its own, made,
compiled from nothing and counted; a cluster more for every `--tenants-per-cluster`, `--clusters` at
least. With `--git` the repository is committed and packed as well. Prints a table of which each row
is a number and each column a size, and with `--json FILE` the same as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.changes import commit, packed
from tests.bench.measure import Cost, run
from tests.bench.tree import POLICIES, Tree, tree_of


@dataclass(frozen=True, slots=True)
class Size:
    """A fleet and what came of it; `packed` is the size of a packed repository, 0 where none was made."""

    tenants: int
    clusters: int
    cost: Cost
    tree: Tree
    packed: int


def measure(tenants: int, clusters: int, arguments: argparse.Namespace) -> Size:
    scratch = Path(tempfile.mkdtemp(prefix="dracfg-growth-", dir=arguments.scratch))
    try:
        root = scratch / "fleet"
        # In a process of its own, which gives the memory back.
        run([sys.executable, "-m", "tests.bench.fleet", root,
             "--tenants", str(tenants), "--clusters", str(clusters)])  # fmt: skip
        cost = run([sys.executable, "-m", "dracfg", "compile", "-q", "-C", root, "--format", "concise",
                    "--jobs", str(arguments.jobs), *arguments.option])  # fmt: skip
        tree = tree_of(root / "out")
        if not arguments.git:
            return Size(tenants, clusters, cost, tree, 0)
        commit(root)
        return Size(tenants, clusters, cost, tree, packed(root))
    finally:
        shutil.rmtree(scratch)


def _most(counted: Mapping[str, int]) -> int:
    return max(counted.values(), default=0)


def _range(counted: Mapping[str, int]) -> str:
    """The number that all clusters have, or the least and the greatest."""
    least, most = min(counted.values(), default=0), _most(counted)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _fan_out(tree: Tree, kind: str) -> int:
    """The most that a cluster has; the root, which is for all of them, is told on its own."""
    return _most({owner: n for owner, n in tree.fan_out(kind).items() if owner != "_root"})


def _unit(tree: Tree, *, fan_out: bool) -> str:
    unit = tree.largest_unit(fan_out=fan_out)
    return "" if unit is None else f"{unit.objects:,} ({unit.path})"


FIGURES: dict[str, Callable[[Size], str]] = {
    "clusters": lambda size: f"{size.clusters:,}",
    "wall s": lambda size: f"{size.cost.wall:,.1f}",
    "CPU s": lambda size: f"{size.cost.cpu:,.1f}",
    "CPU ms a tenant": lambda size: f"{1e3 * size.cost.cpu / size.tenants:.1f}",
    "peak MiB": lambda size: f"{size.cost.peak:,.0f}",
    "KiB a tenant": lambda size: f"{1024 * size.cost.peak / size.tenants:,.0f}",
    "objects": lambda size: f"{size.tree.objects:,}",
    "files": lambda size: f"{size.tree.files:,}",
    "tree, MB": lambda size: f"{size.tree.bytes / 1e6:,.1f}",
    "lock, MB": lambda size: f"{size.tree.lock_bytes / 1e6:,.2f}",
    "packed git repository, MB": lambda size: f"{size.packed / 1e6:,.1f}" if size.packed else "",
    "widest folder": lambda size: f"{size.tree.widest[1]:,} ({size.tree.widest[0]})",
    "synced units": lambda size: f"{sum(not unit.fan_out for unit in size.tree.units):,}",
    "largest synced unit, objects": lambda size: _unit(size.tree, fan_out=False),
    "objects a cluster, most": lambda size: f"{_most(size.tree.of_clusters()):,}",
    "namespaces a cluster, most": lambda size: f"{_most(size.tree.of_clusters('Namespace')):,}",
    "policies and webhooks a cluster": lambda size: _range(size.tree.of_clusters(*POLICIES)),
    "Applications a cluster, most": lambda size: f"{_fan_out(size.tree, 'Application'):,}",
    "AppProjects a cluster, most": lambda size: f"{_fan_out(size.tree, 'AppProject'):,}",
    "ApplicationSets a cluster, most": lambda size: f"{_fan_out(size.tree, 'ApplicationSet'):,}",
    "Flux Kustomizations a cluster, most": lambda size: f"{_fan_out(size.tree, 'Kustomization'):,}",
    "largest unit of engines' objects": lambda size: _unit(size.tree, fan_out=True),
    "largest engine's object, KiB": lambda size: (
        f"{size.tree.largest_fan_out_object[1] / 1024:.1f}"
    ),
    "largest object, KiB": lambda size: f"{size.tree.largest_object[1] / 1024:.1f}",
}


def table(found: Sequence[Size]) -> Iterator[str]:
    yield f"| tenants | {' | '.join(f'{size.tenants:,}' for size in found)} |"
    yield f"|---|{'---:|' * len(found)}"
    for name, figure in FIGURES.items():
        yield f"| {name} | {' | '.join(figure(size) for size in found)} |"


def figures(size: Size) -> dict[str, object]:
    """The size as JSON; of its units only the largest, as there are many."""
    counted = asdict(size)
    tree = counted["tree"]
    del tree["units"]
    for name, fan_out in (("largest_unit", False), ("largest_fan_out_unit", True)):
        unit = size.tree.largest_unit(fan_out=fan_out)
        tree[name] = None if unit is None else {**asdict(unit), "objects": unit.objects}
    tree["objects"] = size.tree.objects
    tree["synced_units"] = sum(not unit.fan_out for unit in size.tree.units)
    tree["objects_by_cluster"] = size.tree.of_clusters()
    tree["namespaces_by_cluster"] = size.tree.of_clusters("Namespace")
    tree["policies_by_cluster"] = size.tree.of_clusters(*POLICIES)
    tree["fan_out"] = {
        kind: size.tree.fan_out(kind)
        for kind in ("Application", "AppProject", "ApplicationSet", "Kustomization")
    }
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--clusters", type=int, default=4, help="the fewest")
    parser.add_argument("--tenants-per-cluster", type=int, default=2500, metavar="N")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--git", action="store_true", help="commit and pack what was made")
    parser.add_argument("--scratch", type=Path, help="a folder with room, else the system's")
    parser.add_argument(
        "--option", action="append", default=[], help="one more of dracfg compile; repeatable"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = []
    for tenants in arguments.tenants:
        clusters = max(arguments.clusters, -(-tenants // arguments.tenants_per_cluster))
        size = measure(tenants, clusters, arguments)
        print(f"{tenants:,} tenants on {clusters}: {size.cost}", file=sys.stderr, flush=True)
        found.append(size)
        # A larger one may not fit into this machine.
        if arguments.json is not None:
            text = json.dumps([figures(one) for one in found], indent=1)
            arguments.json.write_text(text + "\n", encoding="utf-8")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end\n")
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
