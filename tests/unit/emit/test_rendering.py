"""Units render to the same files whatever the number of processes, and whatever becomes of those."""

import os

import pytest

from dracfg import aside
from dracfg.emit.files import render_units
from dracfg.lower.artifact import Artifact, Origin, Unit

ORIGIN = Origin("tenants/a.yaml", "Tenant", "a")
UNITS = tuple(
    Unit(
        f"east/tenants/t{number}",
        (
            Artifact(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"n{number}"}},
                "maps.yaml",
                ORIGIN,
            ),
        ),
    )
    for number in range(7)
)


@pytest.mark.parametrize("jobs", [2, 3, 7, 20])
@pytest.mark.parametrize("number", [0, 1, 2, 7])
def test_any_number_of_processes(jobs: int, number: int) -> None:
    assert render_units(UNITS[:number], jobs) == render_units(UNITS[:number], 1)


def test_a_process_that_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_send", lambda *_: os._exit(9))
    assert render_units(UNITS, 3) == render_units(UNITS, 1)


def test_a_unit_that_can_not_be_written() -> None:
    broken = Unit(
        "east/tenants/b", (Artifact({**UNITS[0].artifacts[0].object, "a": None}, "x.yaml", ORIGIN),)
    )
    with pytest.raises(TypeError):
        render_units((*UNITS, broken), 2)
