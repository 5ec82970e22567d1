"""Nodes → minor and distribution, and what is asked about both."""

from __future__ import annotations

import pytest

from tests.unit.draft.conftest import draft, node


@pytest.mark.parametrize(
    ("versions", "server", "minor", "recorded", "asked"),
    [
        ([], None, "1.34", None, "which minor"),
        (["v1.36.2"], None, "1.36", (1, 36), "whether the API server runs 1.36"),
        (["v1.35.2", "v1.36.0"], None, "1.36", (1, 36), "whether the API server runs 1.36"),
        (["v1.35.2"], "1.36", "1.36", (1, 36), None),
        (["v1.29.1"], None, "1.34", (1, 29), "how the cluster comes to a minor"),
        (["v1.99.0"], None, "1.37", (1, 99), "how the cluster comes to a minor"),
        (["latest"], None, "1.34", None, "which minor"),
    ],
)
def test_minor(
    versions: list[str],
    server: str | None,
    minor: str,
    recorded: tuple[int, int] | None,
    asked: str | None,
) -> None:
    nodes = [node(f"n{i}", {}, version=version) for i, version in enumerate(versions)]
    cluster = draft(*nodes, server=server).cluster
    assert (cluster.minor, cluster.recorded) == (minor, recorded)
    questions = [one.question for one in cluster.minor_questions]
    assert len(questions) == (asked is not None)
    assert asked is None or questions[0].startswith(asked)


@pytest.mark.parametrize(
    ("version", "provider", "distribution"),
    [
        ("v1.36.1-gke.300", "", "gke"),
        ("v1.36.1-eks-1234", "aws:///a/i-1", "eks"),
        ("v1.36.1", "azure:///subscriptions/1", "aks"),
        ("v1.36.1+k3s1", "", "k3s"),
        ("v1.36.1", "kind://docker/kind/kind-worker", "kind"),
        ("v1.36.1", "", "generic"),
    ],
)
def test_distribution(version: str, provider: str, distribution: str) -> None:
    thing = node("n1", {}, version=version)
    thing["spec"]["providerID"] = provider
    cluster = draft(thing).cluster
    assert cluster.distribution == distribution
    assert cluster.distribution_questions, "a guess is asked about"
