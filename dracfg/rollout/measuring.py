"""Gates, servers and recorded evidence → one answer a gate, with its digest, time and sources.

A gate that a file answers by name is asked nowhere else. A measure is asked on every cluster on which it
has something to measure, and one cluster without data leaves the whole without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.gates import AskedGate, Lacks, clusters_asked, query_of, words_of
from dracfg.model import kinds
from dracfg.rollout.documents import answer_of, reports_on
from dracfg.rollout.gates import Answer, both
from dracfg.rollout.prometheus import Question, Server, ask
from dracfg.rollout.recorded import Recorded

EVERY = ""
"""In place of a cluster's name: the server that is asked for all of them."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The answers by the name of the gate. `at` is the oldest moment of all; None where none is told."""

    by_gate: Mapping[str, Answer]
    raw: bytes
    at: str | None
    source: str


def measure(
    catalog: Catalog,
    rollout: kinds.Rollout,
    gates: Iterable[AskedGate],
    servers: Mapping[str, Server],
    recorded: Recorded | None,
) -> Measured:
    """Asks what is to be asked. `servers` are by cluster, or one for `EVERY`; nothing is written."""
    found: dict[str, Answer] = {}
    questions: dict[str, list[Question]] = {}
    for gate in gates:
        named = recorded.by_gate.get(gate.name) if recorded is not None else None
        if named is not None:
            found[gate.name] = named
            continue
        said = _documents(catalog, rollout, gate, servers, recorded)
        if said is not None:
            found[gate.name] = said
        if gate.promql is None and (gate.measure is None or gate.measure.query is None):
            continue
        if not servers:
            found.setdefault(gate.name, Answer(trouble="no server is named: --prometheus URL"))
            continue
        for name, asked in _questions(catalog, rollout, gate, servers):
            if isinstance(asked, Answer):
                found[gate.name] = both(found.get(gate.name), asked)
            else:
                questions.setdefault(name, []).append(asked)
    return _asked(found, questions, servers, recorded)


def _asked(
    found: dict[str, Answer],
    questions: Mapping[str, list[Question]],
    servers: Mapping[str, Server],
    recorded: Recorded | None,
) -> Measured:
    raw: list[bytes] = []
    moments: list[str | None] = []
    sources: list[str] = []
    if recorded is not None:
        raw.append(recorded.raw)
        sources.append(recorded.source)
        moments += [recorded.at] if recorded.at is not None else []
    for name, listed in sorted(questions.items()):
        answers = ask(servers[name], listed)
        raw.append(answers.raw)
        moments.append(answers.at)
        sources.append(answers.source)
        for gate, answer in answers.by_gate.items():
            found[gate] = both(found.get(gate), _told(answer, name))
    told = [moment for moment in moments if moment is not None]
    at = min(told) if told and len(told) == len(moments) else None
    return Measured(found, b"\n".join(raw), at, ", ".join(dict.fromkeys(sources)))


def _told(answer: Answer, cluster: str) -> Answer:
    """An answer with its cluster; one without a sample says so, or another's would hide it."""
    where = f" on {cluster}" if cluster else ""
    if answer.trouble is None and not answer.values:
        return Answer(trouble=f"the query gave no sample{where}")
    return replace(answer, note=f"on {cluster}") if cluster and answer.values else answer


def _documents(
    catalog: Catalog,
    rollout: kinds.Rollout,
    gate: AskedGate,
    servers: Mapping[str, Server],
    recorded: Recorded | None,
) -> Answer | None:
    told = gate.measure.documents if gate.measure is not None else None
    if told is None or gate.measure is None:
        return None
    if recorded is None:
        alone = gate.measure.query is None
        return Answer(trouble="no report is named: --evidence FILE") if alone else None
    if gate.measure.query is not None and servers and not reports_on(told, recorded.reports):
        return None
    return answer_of(catalog, rollout, gate, recorded.reports)


def _questions(
    catalog: Catalog, rollout: kinds.Rollout, gate: AskedGate, servers: Mapping[str, Server]
) -> Iterable[tuple[str, Question | Answer]]:
    """What each server is asked for a gate, or why it can't be."""
    clusters = clusters_asked(catalog, rollout.spec, gate)
    if gate.promql is not None:
        asked = Question(gate.name, gate.promql, gate.over)
        names = [EVERY] if EVERY in servers else [one.name for one in clusters]
        yield from ((n, asked if n in servers else _no_server(n)) for n in names)
        return
    if EVERY in servers and len(clusters) > 1:
        names = [one.name for one in clusters]
        trouble = f"{', '.join(names)} each need a server of their own: --prometheus CLUSTER=URL"
        yield EVERY, Answer(trouble=trouble)
        return
    for cluster in clusters:
        name = EVERY if EVERY in servers else cluster.name
        yield (
            name,
            _question(catalog, rollout, cluster, gate) if name in servers else _no_server(name),
        )


def _question(
    catalog: Catalog, rollout: kinds.Rollout, cluster: Cluster, gate: AskedGate
) -> Question | Answer:
    query = query_of(gate, words_of(catalog, rollout, cluster))
    if isinstance(query, Lacks):
        return Answer(
            trouble=f"{cluster.name} has nothing for {', '.join(query.words)} of the query"
        )
    return Question(gate.name, query, gate.over)


def _no_server(cluster: str) -> Answer:
    return Answer(trouble=f"no server of {cluster} is named: --prometheus {cluster}=URL")
