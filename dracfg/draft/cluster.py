"""Nodes → what a Cluster document says of their cluster: its minor, and who runs it."""

from __future__ import annotations

import re
from collections import Counter

from dracfg.dataclass import dataclass
from dracfg.draft.decisions import Decision
from dracfg.draft.facts import facts
from dracfg.draft.recording import Recording
from dracfg.kube.features import feature_matrix

_VERSION = re.compile(r"v?([0-9]+)\.([0-9]+)")
UNKNOWN = "generic"


@dataclass(frozen=True, slots=True)
class DraftCluster:
    """`minor` is one that dracfg knows, `recorded` what the cluster has; None where nothing tells."""

    name: str
    minor: str
    recorded: tuple[int, int] | None
    distribution: str
    minor_questions: tuple[Decision, ...]
    distribution_questions: tuple[Decision, ...]


def read_cluster(name: str, recording: Recording, server: str | None) -> DraftCluster:
    """`server` is the version that the API server gave; else the newest kubelet stands for it."""
    told = {node.version: node for node in recording.nodes.values() if node.version}
    versions = {text: found for text in ([server] if server else told) if (found := _minor(text))}
    known = feature_matrix().minors
    questions: list[Decision] = []
    seen = tuple(sorted(node.place for node in told.values())[:3])
    recorded = max(versions.values(), default=None)
    minor = known[0]
    if recorded is None:
        questions.append(
            Decision(
                "which minor of Kubernetes the cluster runs",
                f"no Node and no server tells; the draft takes the oldest that dracfg knows, {minor}",
            )
        )
    else:
        minor = f"{recorded[0]}.{recorded[1]}"
        if minor not in known:
            oldest = recorded < _split(known[0])
            said, minor = minor, known[0] if oldest else known[-1]
            questions.append(
                Decision(
                    "how the cluster comes to a minor that dracfg knows",
                    f"{said} is recorded, {known[0]} to {known[-1]} are known; the draft takes {minor}",
                    seen,
                )
            )
        elif not server:
            several = len(set(versions.values())) > 1
            questions.append(
                Decision(
                    f"whether the API server runs {minor}",
                    "kubelets of several minors are recorded, and this is the newest of them"
                    if several
                    else "only kubelets tell, and an API server may be newer than they are",
                    seen,
                )
            )
    distribution, why = _distribution(recording)
    return DraftCluster(
        name,
        minor,
        recorded,
        distribution,
        tuple(questions),
        () if why is None else (why,),
    )


def _minor(version: str) -> tuple[int, int] | None:
    found = _VERSION.match(version)
    return (int(found[1]), int(found[2])) if found else None


def _split(minor: str) -> tuple[int, int]:
    major, _, rest = minor.partition(".")
    return int(major), int(rest)


def _distribution(recording: Recording) -> tuple[str, Decision | None]:
    """Who runs the cluster, by most of its nodes; the version tells more than the machines' cloud."""
    votes: Counter[str] = Counter()
    places: dict[str, str] = {}
    for node in recording.nodes.values():
        for mark in facts().distributions:
            by_version = bool(mark.version) and mark.version in node.version
            if by_version or node.provider.startswith(mark.provider):
                votes[mark.distribution] += 2 if by_version else 1
                places.setdefault(mark.distribution, node.place)
                break
    if not votes:
        return UNKNOWN, Decision(
            "which distribution it is, and so who sets its feature gates",
            f"no Node shows it; with {UNKNOWN} dracfg writes the gates for you to set",
        )
    best = sorted(votes, key=lambda name: (-votes[name], name))[0]
    return best, Decision(
        f"whether the cluster is {best}",
        "guessed from kubelet versions and provider ids; machines of a cloud may run a control plane "
        "of their own",
        (places[best],),
    )
