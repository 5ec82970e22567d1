"""The same objects by other tools, each in the form that suits it: what there is, and how it is run.

Each cluster is a run of its own, as it is a release or an application of its own. What a tool's
program or data is made of is written before; a run reads it and writes objects to standard output.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import yaml

from tests.bench import charts, kcl
from tests.bench.measure import Cost, call, run
from tests.bench.objects import LOADER, UNIT_FILE, Object, read
from tests.bench.tree import tree_of

EVALUATE = Path(__file__).with_name("evaluate.py")
CDK8S = Path(__file__).with_name("cdk8s.js")
MOST_IN_A_UNIT = 1000
"""`kubectl kustomize` compares each object with all others, so it is given a unit as it is synced."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Runs that write objects as YAML or JSON, by what they are called; `size` is theirs in bytes."""

    name: str
    commands: Mapping[str, Sequence[str | Path]]
    objects: Mapping[str, Sequence[Object]]
    size: int
    environment: Mapping[str, str] = field(default_factory=dict)

    def cost(self) -> Cost:
        """The sum of all runs, and the peak of the greatest."""
        costs = [run(command, environment=self.environment) for command in self.commands.values()]
        return Cost(
            sum(c.wall for c in costs), sum(c.cpu for c in costs), max(c.peak for c in costs)
        )

    def differs(self, scratch: Path) -> str:
        """Run once more and hold the output against the objects; empty where it is the same."""
        for what, command in self.commands.items():
            written = scratch / "written"
            run(command, environment=self.environment, output=written)
            text = written.read_text(encoding="utf-8")
            made = json.loads(text) if text.startswith("[") else list(yaml.load_all(text, LOADER))
            expected = sorted(map(_key, self.objects[what]))
            if sorted(_key(thing) for thing in made if thing) != expected:
                return f"{self.name}: {what} has {len(made)} objects of {len(expected)}, or others"
        return ""


@dataclass(frozen=True, slots=True)
class Tools:
    """Where neighbours are: a folder of programs, and the interpreter that has the packages."""

    programs: Path | None
    python: Path

    def program(self, name: str) -> Path | None:
        """A program in the folder, else on the path."""
        if self.programs is not None and (self.programs / name).is_file():
            return self.programs / name
        found = shutil.which(name)
        return None if found is None else Path(found)

    def versions(self) -> dict[str, str]:
        """The release of each tool that there is, by its name."""
        found: dict[str, str] = json.loads(_said([self.python, EVALUATE, "versions"]))
        for name, arguments in (
            ("helm", ("version", "--short")),
            ("kubectl", ("version", "--client")),
            ("node", ("--version",)),
        ):
            if (program := self.program(name)) is not None:
                found[name] = _said([program, *arguments]).partition("\n")[0]
        return found


def neighbours(
    tools: Tools, out: Path, clusters: Mapping[str, Sequence[Object]], size: int, scratch: Path
) -> Iterator[Neighbour]:
    """Those that are installed; what each reads is written below `scratch`. `size` is in bytes."""
    yield from _helm(tools.program("helm"), clusters, size, scratch)
    yield from _kustomize(tools.program("kubectl"), out)
    had = tools.versions()
    plain = {}
    for cluster, objects in clusters.items():
        plain[cluster] = scratch / f"{cluster}.json"
        plain[cluster].write_text(json.dumps(objects), encoding="utf-8")

    def evaluated(tool: str, files: Mapping[str, Path]) -> dict[str, Sequence[str | Path]]:
        return {what: (tools.python, EVALUATE, tool, path) for what, path in files.items()}

    for tool in ("gojsonnet", "rjsonnet"):
        if tool in had:
            files = {cluster: _jsonnet(path) for cluster, path in plain.items()}
            yield Neighbour(tool, evaluated(tool, files), clusters, size)
    if "kcl" in had:
        files = {cluster: _kcl(path, clusters[cluster]) for cluster, path in plain.items()}
        yield Neighbour("KCL", evaluated("kcl", files), clusters, size)
    node = tools.program("node")
    if "cdk8s" in had and node is not None:
        environment = {
            "PATH": os.pathsep.join((str(node.parent), os.environ.get("PATH", ""))),
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        }
        yield Neighbour("cdk8s, Python", evaluated("cdk8s", plain), clusters, size, environment)
        modules = _said([tools.python, EVALUATE, "node-modules", scratch / "node_modules"]).strip()
        if modules:
            runs = {cluster: (node, CDK8S, path) for cluster, path in plain.items()}
            yield Neighbour("cdk8s, Node.js", runs, clusters, size, {"NODE_PATH": modules})


def floor(
    out: Path, clusters: Mapping[str, Sequence[Object]], scratch: Path
) -> Iterator[tuple[str, Cost]]:
    """What no way around: the same bytes written as files, the same objects as JSON."""
    files = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    yield "the same files, plainly written", call(lambda: _write(files, scratch / "files"))
    if find_spec("orjson") is not None:
        dumps: Callable[[object], bytes] = import_module("orjson").dumps
        listed = list(clusters.values())
        yield "orjson of the same objects", call(lambda: [dumps(objects) for objects in listed])


def _helm(
    program: Path | None, clusters: Mapping[str, Sequence[Object]], size: int, scratch: Path
) -> Iterator[Neighbour]:
    if program is None:
        print("no helm: see .ci/fetch-kubectl.py", file=sys.stderr)
        return
    for name, write in (
        ("helm template", charts.by_shape),
        ("helm template, toYaml", charts.whole),
    ):
        commands = {}
        for cluster, objects in clusters.items():
            chart = scratch / write.__name__ / cluster
            commands[cluster] = (program, "template", cluster, chart, "-f", write(objects, chart))
        yield Neighbour(name, commands, clusters, size)


def _kustomize(program: Path | None, out: Path) -> Iterator[Neighbour]:
    """The largest unit of clusters that is small enough."""
    if program is None:
        print("no kubectl: see .ci/fetch-kubectl.py", file=sys.stderr)
        return
    units = [unit for unit in tree_of(out).units if not unit.fan_out]
    fitting = [unit for unit in units if unit.objects <= MOST_IN_A_UNIT]
    path = max(fitting, key=lambda unit: unit.objects).path
    files = [file for file in sorted((out / path).rglob("*.yaml")) if file.name != UNIT_FILE]
    objects = [thing for file in files for thing in read(file)]
    size = sum(file.stat().st_size for file in files)
    name = f"kubectl kustomize, {len(objects):,} objects"
    yield Neighbour(name, {path: (program, "kustomize", out / path)}, {path: objects}, size)


def _jsonnet(plain: Path) -> Path:
    """A function over the objects, so that they are not read as plain JSON."""
    path = plain.with_suffix(".jsonnet")
    path.write_text(f"[o {{}} for o in {plain.read_text(encoding='utf-8')}]", encoding="utf-8")
    return path


def _kcl(plain: Path, objects: Sequence[Object]) -> Path:
    path = plain.with_suffix(".k")
    path.write_text(kcl.program(objects), encoding="utf-8")
    return path


def _write(files: Mapping[Path, bytes], folder: Path) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _said(command: Sequence[str | Path]) -> str:
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return done.stdout


def _key(thing: Object) -> str:
    return json.dumps(thing, sort_keys=True)
