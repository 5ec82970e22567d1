"""Paths of servers against objects: dots in names, keys of lists, places that are not there."""

import pytest

from dracfg.live.fieldpaths import resolve, written

OBJECT = {
    "metadata": {"labels": {"dracfg.dev/tenant": "a", "dracfg": "b"}, "name": "n"},
    "spec": {
        "hard": {"a100.deviceclass.resource.k8s.io/devices": "1", "a100": "2"},
        "requests": [{"name": "gpu", "exactly": {"count": 1}}, {"name": "nic", "n": 2}],
        "verbs": ["get", "list"],
    },
}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("spec.requests[1].name", ("spec", "requests", 1, "name")),
        (".spec.hard.a100", ("spec", "hard", "a100")),
        (
            ".spec.hard.a100.deviceclass.resource.k8s.io/devices",
            ("spec", "hard", "a100.deviceclass.resource.k8s.io/devices"),
        ),
        ("metadata.labels[dracfg.dev/tenant]", ("metadata", "labels", "dracfg.dev/tenant")),
        (".metadata.labels.dracfg.dev/tenant", ("metadata", "labels", "dracfg.dev/tenant")),
        ('.spec.requests[name="gpu"].exactly.count', ("spec", "requests", 0, "exactly", "count")),
        ('.spec.requests[name="nic",n=2].n', ("spec", "requests", 1, "n")),
        ('.spec.verbs[="list"]', ("spec", "verbs", 1)),
        ("spec.requests[7].name", ("spec", "requests")),
        ("spec.nothing.below", ("spec",)),
        ('.spec.requests[name="x"]', ("spec", "requests")),
        ("", ()),
        ("<nil>", ()),
        ("[", ()),
    ],
)
def test_resolve(path: str, steps: tuple[str | int, ...]) -> None:
    assert resolve(OBJECT, path) == steps


def test_written() -> None:
    steps = ("spec", "requests", 0, "exactly", "dracfg.dev/x")
    assert written(steps) == "spec.requests[0].exactly[dracfg.dev/x]"
    assert written(()) == ""
