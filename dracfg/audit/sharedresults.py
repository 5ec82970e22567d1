"""Results of containers → results of shares: those that one ShareID was given to are one share.

A trial that dracfg writes gives each container a share of its own. Where somebody runs several in one, they
are bounded together, and so they are judged together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dracfg.audit.trialresults import GOOD_END, Measured, ShareResult


def by_share(results: Iterable[ShareResult]) -> Iterator[ShareResult]:
    """Each share of each run once; without a ShareID on record a container is a share."""
    alike: dict[tuple[str, ...], list[ShareResult]] = {}
    for one in results:
        alike.setdefault((one.run, *_name(one)), []).append(one)
    yield from map(_joined, alike.values())


def _name(result: ShareResult) -> tuple[str, ...]:
    if result.share_id is None or result.device is None:
        return (result.share,)
    return (*result.device, result.share_id)


def _joined(parts: list[ShareResult]) -> ShareResult:
    if len(parts) == 1:
        return parts[0]
    asking = next((one for one in parts if one.phase == "exceed"), parts[0])
    return ShareResult(
        asking.run,
        "+".join(one.share for one in parts),
        asking.phase,
        asking.size,
        asking.amounts,
        asking.capacity,
        next((one.ended for one in parts if one.ended != GOOD_END), GOOD_END),
        _measured([one.measured for one in parts]),
        asking.share_id,
        asking.device,
    )


def _measured(parts: list[Measured | None]) -> Measured | None:
    """Amounts add up, times are those of the slowest. What one container does not tell is not known."""
    told = [one for one in parts if one is not None]
    if len(told) < len(parts):
        return None
    ceilings = [one.ceiling for one in told if one.ceiling is not None]
    recoveries = [one.recovery for one in told if one.recovery is not None]
    return Measured(
        throughput=_of([one.throughput for one in told], sum),
        p99=_of([one.p99 for one in told], max),
        lost=_of([one.lost for one in told], sum),
        ceiling=sum(ceilings) if ceilings else None,
        recovery=max(recoveries, default=None),
    )


def _of(figures: list[float | None], join: Callable[[Iterable[float]], float]) -> float | None:
    known = [one for one in figures if one is not None]
    return join(known) if len(known) == len(figures) else None
