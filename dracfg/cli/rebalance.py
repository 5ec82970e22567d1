"""The plan of a rebalance for `dracfg rollout status --record`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from dracfg.model.kinds import Rollout
from dracfg.pipeline import Judgement
from dracfg.rollout.rebalance import CannotPlan, Plan, plan_rebalance
from dracfg.source.records import Record, read_record

_F = TypeVar("_F", bound=Callable[..., Any])


def recorded(function: _F) -> _F:
    """Adds `--record`: what a rebalance is planned on."""
    option = click.option(
        "--record", "records", multiple=True, envvar="DRACFG_RECORD",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Of a rebalance: recorded claims, pods, slices and nodes, to plan its steps on; repeatable.",
    )  # fmt: skip
    return option(function)


def rebalance_plan(judged: Judgement, rollout: Rollout, paths: Sequence[Path]) -> Plan | None:
    """The plan on what is recorded; None where nothing is named."""
    if not paths:
        return None
    if rollout.spec.subject != "rebalance":
        raise click.UsageError(
            f"--record is for a rebalance, and {rollout.name} moves {rollout.spec.subject}"
        )
    try:
        return plan_rebalance(judged.catalog, judged.units, rollout, _records(paths))
    except CannotPlan as reason:
        raise click.ClickException(str(reason)) from None


def _records(paths: Sequence[Path]) -> list[Record]:
    found = []
    for path in paths:
        record, faults = read_record(path.parent, path.name)
        if not record.objects:
            why = faults[0].message if faults else "it holds no object"
            raise click.ClickException(f"{path} is no record: {why}")
        found.append(record)
    return found
