"""Kubernetes distributions: who can set feature gates, and in which file or flag they stand.

Knows names only; rendering the files is not its task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

__all__ = ["Distribution", "distribution", "distributions"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """One distribution.

    `gates` maps a component to the name of the field or flag that carries its feature gates,
    `runtime_config` names the one for `--runtime-config`. Both are empty where `sets_gates` is
    False: there gates are facts of the provider, not settings.
    """

    name: str
    sets_gates: bool
    gates: Mapping[str, str] = field(compare=False)
    runtime_config: str | None


@cache
def distributions() -> Mapping[str, Distribution]:
    """All known distributions by name, in the order of data/distributions.yaml."""
    return {
        name: Distribution(
            name=name,
            sets_gates=entry["setsGates"],
            gates=entry.get("gates", {}),
            runtime_config=entry.get("runtimeConfig"),
        )
        for name, entry in read_data("dracfg.kube", "data/distributions.yaml")[
            "distributions"
        ].items()
    }


def distribution(name: str) -> Distribution | None:
    """The distribution of that name, or None."""
    return distributions().get(name)
