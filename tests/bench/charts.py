"""The objects as Helm charts: a template for each shape, as people write charts, or `toYaml`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.bench.objects import Object, Shape, shapes

DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
CHART = "apiVersion: v2\nname: fleet\nversion: 0.1.0\n"
WHOLE = "{{- range .Values.objects }}\n---\n{{ toYaml . }}\n{{- end }}\n"
_MARK = re.compile(r"(['\"]?)@@([0-9]+)@@\1")


def whole(objects: Sequence[Object], chart: Path) -> Path:
    """Write a chart that gets whole objects as values; returns the file of the values."""
    return _write(chart, {"all.yaml": WHOLE}, {"objects": objects})


def by_shape(objects: Sequence[Object], chart: Path) -> Path:
    """Write a chart whose values are what differs alone; returns the file of the values."""
    files, values = {}, {}
    for i, shape in enumerate(shapes(objects)):
        files[f"shape-{i}.yaml"] = (
            f"{{{{- range .Values.s{i} }}}}\n---\n{_template(shape)}{{{{- end }}}}\n"
        )
        values[f"s{i}"] = [{f"p{n}": leaf for n, leaf in enumerate(row)} for row in shape.rows]
    return _write(chart, files, values)


def _template(shape: Shape) -> str:
    marked = shape.with_leaves([f"@@{n}@@" for n in range(len(shape.differing))])
    text = yaml.dump(marked, Dumper=DUMPER, sort_keys=False, width=1 << 20)

    def argument(mark: re.Match[str]) -> str:
        quote = " | quote" if isinstance(shape.rows[0][int(mark[2])], str) else ""
        return f"{{{{ .p{mark[2]}{quote} }}}}"

    return _MARK.sub(argument, text.replace("{{", "{{`{{`}}"))


def _write(chart: Path, templates: Mapping[str, str], values: Object) -> Path:
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text(CHART, encoding="utf-8")
    for name, text in templates.items():
        (chart / "templates" / name).write_text(text, encoding="utf-8")
    path = chart.parent / f"{chart.name}.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path
