"""Distributions: who can set gates."""

from __future__ import annotations

import pytest

from dracfg.kube.distributions import distribution, distributions

COMPONENTS = {"kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubelet"}


@pytest.mark.parametrize("name", ["kubeadm", "k3s", "kind", "generic"])
def test_operators_set_gates(name: str) -> None:
    found = distribution(name)
    assert found is not None
    assert found.sets_gates
    assert set(found.gates) == COMPONENTS
    assert found.runtime_config


@pytest.mark.parametrize("name", ["eks", "gke", "aks", "openshift"])
def test_providers_set_gates(name: str) -> None:
    found = distribution(name)
    assert found is not None
    assert not found.sets_gates
    assert not found.gates
    assert found.runtime_config is None


def test_no_other_distribution() -> None:
    assert len(distributions()) == 8
    assert distribution("rke2") is None
