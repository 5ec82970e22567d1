"""Recorded answers of Prometheus → how many devices exporters see on each node.

An answer is that of an instant query for the metrics of data/node-facts.yaml, as it is: dracfg counts the
devices itself, since a query that counts them no longer says which exporter did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from dracfg.allocate.devices import Origin
from dracfg.check.nodefacts import ExporterFact, exporter_metrics, node_facts
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.prometheus import NotAnAnswer, Result, results_of
from dracfg.source.records import ANSWER, Record, RecordedObject

_MOST_NAMES = 3
_PREFIX = "exported_"
"""What Prometheus puts before a label of a series that its own label of the target has taken."""


@dataclass(frozen=True, slots=True)
class Exported:
    """How many devices a metric has series of on one node; `origin` leads to the first of them."""

    metric: str
    number: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class ExporterCounts:
    """By node and driver; `findings` tell of answers, and of series, that count nothing here."""

    counts: Mapping[tuple[str, str], tuple[Exported, ...]]
    findings: tuple[Diagnostic, ...]


def exporter_counts(
    records: Iterable[Record], nodes: Collection[str], cluster: str
) -> ExporterCounts:
    """What is recorded of one cluster; a series with a label `cluster` of another name is not of it."""
    seen: dict[tuple[str, str, str], tuple[set[str], Origin]] = {}
    findings: list[Diagnostic] = []
    for record in records:
        for item in record.objects:
            if item.data["kind"] == ANSWER:
                findings += _read(item, nodes, cluster, seen)
    counts: dict[tuple[str, str], list[Exported]] = {}
    for (node, driver, metric), (devices, origin) in seen.items():
        counts.setdefault((node, driver), []).append(Exported(metric, len(devices), origin))
    return ExporterCounts({key: tuple(found) for key, found in counts.items()}, tuple(findings))


def exporter_query() -> str:
    """The instant query whose answer is read."""
    return f'{{__name__=~"{"|".join(exporter_metrics())}"}}'


def not_asked(cluster: str, trouble: str) -> Diagnostic:
    """INV062 for a server that gave no answer."""
    return diagnose(
        "INV062",
        None,
        f"what exporters on {cluster} count is not known: {trouble}",
        help="see whether the address is right; slices and nodes are held against the catalog alone",
    )


def _read(
    item: RecordedObject,
    nodes: Collection[str],
    cluster: str,
    seen: dict[tuple[str, str, str], tuple[set[str], Origin]],
) -> Iterator[Diagnostic]:
    """Counts one answer into `seen`, by node, driver and metric."""
    try:
        results = tuple(results_of(item.data, "vector"))
    except NotAnAnswer as reason:
        yield _of_nothing(item, f"the answer of Prometheus {reason}")
        return
    own = [one for one in results if one.labels.get("cluster", cluster) == cluster]
    known = [one for one in own if one.labels.get("__name__") in exporter_metrics()]
    strange: dict[str, int] = {}
    for result in known:
        for driver, fact in _facts_of(result.labels["__name__"]):
            names = _values(result, fact.node)
            device = next(iter(_values(result, fact.device)), None)
            node = next((name for name in names if name in nodes), None)
            if node is not None and device is not None:
                place = Origin(item, ("data", "result", result.number))
                seen.setdefault((node, driver, fact.metric), (set(), place))[0].add(device)
            elif node is None and names:
                strange.setdefault(names[0], result.number)
    if not known:
        what = "of this cluster" if results and not own else "of a known exporter"
        yield _of_nothing(item, f"the answer of Prometheus holds no series {what}")
    elif strange:
        number = next(iter(strange.values()))
        yield _of_nothing(
            item,
            f"exporters count devices on {listed(strange, most=_MOST_NAMES)}, and no such Node is "
            "recorded",
            number,
        )


def _facts_of(metric: str) -> Iterator[tuple[str, ExporterFact]]:
    for driver, facts in node_facts().items():
        yield from ((driver, fact) for fact in facts.exporters if fact.metric == metric)


def _values(result: Result, labels: Iterable[str]) -> list[str]:
    """The values of those labels that a series has, its own before those of its target."""
    named = [name for label in labels for name in (f"{_PREFIX}{label}", label)]
    return [value for name in named if (value := result.labels.get(name))]


def _of_nothing(item: RecordedObject, message: str, number: int | None = None) -> Diagnostic:
    place = ("data", "resultType") if number is None else ("data", "result", number, "metric")
    return diagnose(
        "INV062",
        item.span(*place),
        message,
        help=f"record the nodes as well, and the series as they are: `query={exporter_query()}`",
    )
