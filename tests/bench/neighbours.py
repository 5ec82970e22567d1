"""The same objects by other tools, as fast as each of them can: Helm, Jsonnet; and the floor.

A chart holds one template for each shape of object and gets what differs as values, as people write
charts; a second one hands whole objects to `toYaml`. Each cluster is a release of its own.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from tests.bench.measure import Cost, call, run

Object = dict[str, Any]
Steps = tuple[str | int, ...]
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
CHART = "apiVersion: v2\nname: fleet\nversion: 0.1.0\n"
WHOLE = "{{- range .Values.objects }}\n---\n{{ toYaml . }}\n{{- end }}\n"
UNSYNCED = {"nodes", "control-plane", "metadata", "monitoring"}
_MARK = re.compile(r"(['\"]?)@@([0-9]+)@@\1")


def objects_of(out: Path) -> dict[str, list[Object]]:
    """What is synced to each cluster, as it stands below `out`."""
    found: dict[str, list[Object]] = {}
    for path in sorted(out.glob("*/**/*.yaml")):
        cluster, layer, *_ = path.relative_to(out).parts
        if cluster == "gitops" or layer in UNSYNCED or path.name == "kustomization.yaml":
            continue
        with path.open(encoding="utf-8") as file:
            documents = list(yaml.load_all(file, Loader=LOADER))
        found.setdefault(cluster, []).extend(thing for thing in documents if thing)
    return found


def helm(
    program: Path, clusters: Mapping[str, Sequence[Object]], folder: Path
) -> Iterator[tuple[str, Cost]]:
    """`helm template` with a template for each shape, and with `toYaml`."""
    for name, chart in (("helm template", _templates), ("helm template, toYaml", _whole)):
        costs = []
        for cluster, objects in clusters.items():
            place = folder / chart.__name__ / cluster
            values = chart(objects, place)
            costs.append(run([program, "template", cluster, place, "-f", values]))
        yield name, _sum(costs)


def jsonnet(clusters: Mapping[str, Sequence[Object]], folder: Path) -> Iterator[tuple[str, Cost]]:
    """A function over the objects that differ, by the Go and the Rust implementation."""
    texts = []
    for cluster, objects in clusters.items():
        path = folder / f"{cluster}.jsonnet"
        path.write_text(f"[o {{}} for o in {json.dumps(objects)}]", encoding="utf-8")
        texts.append(path)
    for package in ("_gojsonnet", "rjsonnet"):
        if find_spec(package) is not None:
            evaluate = import_module(package).evaluate_file
            costs = [call(partial(evaluate, str(path))) for path in texts]
            yield package.strip("_"), _sum(costs)


def floor(
    out: Path, clusters: Mapping[str, Sequence[Object]], folder: Path
) -> Iterator[tuple[str, Cost]]:
    """What no way around: the same bytes written as files, the same objects as JSON."""
    files = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    yield "the same files, plainly written", call(lambda: _write(files, folder / "files"))
    if find_spec("orjson") is not None:
        dumps = import_module("orjson").dumps
        listed = list(clusters.values())
        yield "orjson of the same objects", call(lambda: [dumps(objects) for objects in listed])


def program(name: str, folder: Path | None) -> Path | None:
    """A program in a folder, else on the path."""
    if folder is not None and (folder / name).is_file():
        return folder / name
    found = shutil.which(name)
    return None if found is None else Path(found)


def _whole(objects: Sequence[Object], chart: Path) -> Path:
    _chart(chart, {"all.yaml": WHOLE})
    values = chart.parent / f"{chart.name}.json"
    values.write_text(json.dumps({"objects": objects}), encoding="utf-8")
    return values


def _templates(objects: Sequence[Object], chart: Path) -> Path:
    """Objects of one shape by one template, in which what is the same everywhere stands as text."""
    groups: dict[tuple[str, str], list[Object]] = {}
    for thing in objects:
        groups.setdefault((thing["kind"], _shape(thing)), []).append(thing)
    files, values = {}, {}
    for i, alike in enumerate(groups.values()):
        rows = [dict(_leaves(thing)) for thing in alike]
        differing = [steps for steps in rows[0] if len({str(row[steps]) for row in rows}) > 1]
        marked = _marked(alike[0], {steps: f"@@{n}@@" for n, steps in enumerate(differing)}, ())
        text = yaml.dump(marked, Dumper=DUMPER, sort_keys=False, width=1 << 20)
        text = _MARK.sub(_argument(rows[0], differing), text.replace("{{", "{{`{{`}}"))
        files[f"shape-{i}.yaml"] = f"{{{{- range .Values.s{i} }}}}\n---\n{text}{{{{- end }}}}\n"
        values[f"s{i}"] = [{f"p{n}": row[s] for n, s in enumerate(differing)} for row in rows]
    _chart(chart, files)
    path = chart.parent / f"{chart.name}.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def _argument(row: Mapping[Steps, Any], differing: Sequence[Steps]) -> Any:
    def argument(mark: re.Match[str]) -> str:
        quote = " | quote" if isinstance(row[differing[int(mark[2])]], str) else ""
        return f"{{{{ .p{mark[2]}{quote} }}}}"

    return argument


def _chart(folder: Path, templates: Mapping[str, str]) -> None:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(CHART, encoding="utf-8")
    for name, text in templates.items():
        (folder / "templates" / name).write_text(text, encoding="utf-8")


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_shape(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_shape, value)) + "]"
    return type(value).__name__


def _leaves(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, dict | list):
        below = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in below:
            yield from _leaves(part, (*steps, step))
    else:
        yield steps, value


def _marked(value: Any, marks: Mapping[Steps, str], steps: Steps) -> Any:
    if isinstance(value, dict):
        return {key: _marked(part, marks, (*steps, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [_marked(part, marks, (*steps, i)) for i, part in enumerate(value)]
    return marks.get(steps, value)


def _write(files: Mapping[Path, bytes], folder: Path) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(sum(c.wall for c in costs), sum(c.cpu for c in costs), max(c.peak for c in costs))
