"""Where pod specs lie in objects of each kind → a CEL expression that lists them.

Knows paths and CEL, no policies.
"""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.lower.admission.literals import literal
from dracfg.model.cluster import PodTemplateKind

BUILT_IN = (
    ("", "pods", ("spec",)),
    ("batch", "cronjobs", ("spec.jobTemplate.spec.template.spec",)),
)
"""(group, resource, paths) of Kubernetes' own kinds whose pod spec is not where others have it."""

ELSEWHERE = "spec.template.spec"


def pod_specs(root: str, kinds: Iterable[PodTemplateKind]) -> str:
    """A CEL expression for the list of pod specs in `root`, by the resource of the request.

    A path that an object does not have gives no pod spec.
    """
    listed = [
        *BUILT_IN,
        *((kind.api_group, kind.resource, kind.pod_specs) for kind in kinds),
    ]
    tests = [
        f"request.resource.group == {literal(group)} && request.resource.resource == "
        f"{literal(resource)}\n  ? {_all(root, paths)}"
        for group, resource, paths in listed
    ]
    return "\n: ".join([*tests, _all(root, (ELSEWHERE,))])


def _all(root: str, paths: Iterable[str]) -> str:
    return " + ".join(_listed(root, path) for path in paths)


def _listed(root: str, path: str) -> str:
    """The values at one path, which has at most one `[]` or `*`."""
    for mark, values in (("[]", "{}"), (".*", "{0}.map(key, {0}[key])")):
        before, found, after = path.partition(mark)
        if found:
            return _each(root, before.split("."), values, after.removeprefix(".").split("."))
    steps = path.split(".")
    return f"({_guard(root, steps)} ? [{_at(root, steps)}] : [])"


def _each(root: str, before: list[str], values: str, after: list[str]) -> str:
    members = values.format(_at(root, before))
    inner = [step for step in after if step]
    if inner:
        members += f".filter(each, {_guard('each', inner)}).map(each, {_at('each', inner)})"
    return f"({_guard(root, before)} ? {members} : [])"


def _guard(root: str, steps: list[str]) -> str:
    """Whether each step is there. Keys are looked up by text, as some are reserved words in CEL."""
    tests = (f"{literal(step)} in {_at(root, steps[:place])}" for place, step in enumerate(steps))
    return " && ".join(tests)


def _at(root: str, steps: list[str]) -> str:
    return root + "".join(f"[{literal(step)}]" for step in steps)
