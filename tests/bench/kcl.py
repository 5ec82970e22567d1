"""The objects as a KCL program: a lambda for each shape, called with what differs.

Whole objects as literals take KCL about seven times as long; most of that is reading them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.bench.objects import Object, shapes


class _Name(str):
    """A parameter, which stands without quotes."""

    __slots__ = ()


def program(objects: Sequence[Object]) -> str:
    lines, lists = ["import manifests"], []
    for i, shape in enumerate(shapes(objects)):
        names = [_Name(f"p{n}") for n in range(len(shape.differing))]
        body = _literal(shape.with_leaves(names))
        if names:
            lines.append(f"_f{i} = lambda {', '.join(names)} {{\n    {body}\n}}")
            calls = (f"_f{i}({', '.join(map(_literal, row))})" for row in shape.rows)
        else:
            lines.append(f"_c{i} = {body}")
            calls = (f"_c{i}" for _ in shape.rows)
        lists.append(f"[{', '.join(calls)}]")
    return "\n".join([*lines, f"manifests.yaml_stream({' + '.join(lists)})", ""])


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(key)} = {_literal(v)}' for key, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, _Name):
        return value
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("${", "\\${")
    return repr(value)
