"""Refusals of models in words: which key they name, where, and what they propose."""

from pathlib import Path

import pytest

from dracfg.model.parse import parse
from dracfg.source import read_repository

CLUSTER = """\
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops: {engine: ENGINE}
"""


@pytest.mark.parametrize(
    ("written", "message", "help_"),
    [
        ("argoc", "engine can't be argoc", "did you mean argocd?"),
        ("jenkins", "engine can't be jenkins", None),
        ("3", "engine can't be 3", None),
        ("[flux]", "engine can't be a list", None),
        ("{flux: 1}", "engine can't be a map", None),
    ],
)
def test_a_word_that_tells_maps_apart(
    tmp_path: Path, written: str, message: str, help_: str | None
) -> None:
    text = CLUSTER.replace("ENGINE", written)
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "east.yaml").write_text(text)
    (found,) = parse(read_repository(tmp_path).documents).faults
    assert (found.code, found.message, found.help) == ("MOD006", message, help_)
    assert found.expected == "argocd, flux, plain"
    assert found.span is not None
    line = text.split("\n")[found.span.line - 1]
    assert line[found.span.column - 1 :].startswith(written.lstrip("{"))
