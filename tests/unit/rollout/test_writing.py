"""A step changes three words and adds evidence; comments, order and style stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.link.steps import Standing
from dracfg.model.kinds import KINDS, Rollout
from dracfg.model.parse import parse_document
from dracfg.model.rollout import Evidence, Reading
from dracfg.rollout.writing import edits_of, holds
from dracfg.source.edits import edit_file
from dracfg.source.reader import read_file

HEAD = "apiVersion: dracfg.dev/v1alpha1\nkind: Rollout\nmetadata: {name: move}\n"
STAGES = "stages: [{name: one, pools: [p], tenants: [t], workloads: retryable}]"
EVIDENCE = Evidence(
    stage="start",
    direction="forward",
    verdict="passed",
    at="2026-11-29T22:00:00Z",
    source="http://prom: 'x' #1",
    digest="sha256:" + "0" * 64,
    readings=(Reading(gate="errors", value="0.5", limit="1", passed=True),),
)
OLD = (
    "{stage: start, phase: open, direction: forward, verdict: failed, at: '2026-11-28T22:00:00Z', "
    f"source: f, digest: 'sha256:{'1' * 64}'}}"
)
STYLES = {
    "block": f"spec:\n  tier: sim\n  stage: start   # where it stands\n  {STAGES}\n",
    "block with all words": (
        f"spec:\n  tier: sim\n  {STAGES}  # more to come\n"
        "  phase: open   # a\n  direction: forward   # b\n  stage: 'start'   # c\n"
    ),
    "flow": f"spec: {{tier: sim, stage: start, {STAGES}}}  # flow\n",
    "no newline at the end": f"spec:\n  tier: sim\n  stage: start\n  {STAGES}",
    "evidence block": (
        f"spec:\n  tier: sim\n  stage: start\n  evidence:\n    - {OLD}   # kept\n  {STAGES}\n"
    ),
    "evidence flow": f"spec:\n  tier: sim\n  stage: start\n  evidence: [{OLD}]\n  {STAGES}\n",
    "evidence empty": f"spec:\n  tier: sim\n  stage: start\n  evidence: []\n  {STAGES}\n",
    "evidence last and block": (
        f"spec:\n  tier: sim\n  stage: start\n  {STAGES}\n  evidence:\n  - {OLD}\n\n# the end\n"
    ),
    "carriage returns": f"spec:\r\n  tier: sim\r\n  stage: start\r\n  {STAGES}\r\n",
    "another document below": f"spec:\n  tier: sim\n  stage: start\n  {STAGES}\n---\n{HEAD}",
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "after",
    [
        Standing("start", "fenced", "forward"),
        Standing("one", "open", "forward"),
        Standing("start", "open", "halted"),
        Standing("start", "open", "rollback"),
    ],
    ids=str,
)
@pytest.mark.parametrize("evidence", [None, EVIDENCE], ids=["bare", "evidence"])
def test_styles(tmp_path: Path, style: str, after: Standing, evidence: Evidence | None) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_bytes((HEAD + STYLES[style]).encode())
    file, _ = read_file(tmp_path, "rollout.yaml")
    assert file is not None
    rollout = parse_document(file.documents[0], KINDS)
    assert isinstance(rollout, Rollout)
    edits = edits_of(file, rollout, after, evidence)
    edited = edit_file(tmp_path, file, edits)
    assert len(edited.made) == len(edits)
    text = edited.data.decode()
    assert holds(text.replace("\r\n", "\n"), "rollout.yaml", rollout, after, evidence), text
    for comment in ("# where it stands", "# a", "# b", "# c", "# kept", "# the end", "# flow"):
        assert (comment in text) == (comment in STYLES[style])


def test_what_would_say_something_else_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "rollout.yaml").write_text(HEAD + STYLES["block"])
    file, _ = read_file(tmp_path, "rollout.yaml")
    assert file is not None
    rollout = parse_document(file.documents[0], KINDS)
    assert isinstance(rollout, Rollout)
    here = Standing("start", "open", "forward")
    assert holds(file.text, "rollout.yaml", rollout, here, None)
    assert not holds(file.text, "rollout.yaml", rollout, here, EVIDENCE)
    assert not holds(file.text.replace("retryable", "any"), "rollout.yaml", rollout, here, None)
