"""Documents kept between runs: what was understood is taken as it was, what changed is read."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from dracfg.cache.documents import KnownFiles
from dracfg.pipeline import Judgement, judge
from dracfg.source import files
from dracfg.source.seen import Seen

EXAMPLE = Path(__file__).parents[3]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(EXAMPLE / folder, tmp_path / folder)
    return tmp_path


def remember(repository: Path, judged: Judgement) -> None:
    KnownFiles.recall(repository).remember(judged.sources.files.values())


def test_a_second_run_finds_the_same_and_reads_no_tenant(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = judge(repository)
    remember(repository, first)
    kept = KnownFiles.recall(repository).kept
    assert len(kept) == len(list((repository / "tenants").rglob("*.yaml")))

    def understood(path: str, _data: bytes) -> None:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr("dracfg.reading.keep", understood)
    second = judge(repository, seen=Seen(kept=kept))
    assert second.documents == first.documents
    assert second.findings == first.findings
    assert second.units == first.units


def test_a_file_that_changed_is_read(repository: Path) -> None:
    remember(repository, judge(repository))
    path = min((repository / "tenants").rglob("*.yaml"))
    path.write_text(path.read_text().replace("name: ", "name: a-", 1))
    kept = KnownFiles.recall(repository).kept
    again = judge(repository, seen=Seen(kept=kept))
    assert again.units == judge(repository).units
    assert any(
        document.metadata.name.startswith("a-")
        for document in again.documents
        if document.kind == "Tenant"
    )


def test_a_sound_repository_is_compiled_without_a_look_at_places(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places cost a reading of the file, so rules ask for them only once they have found something."""
    asked: set[str] = set()
    read = files.UnreadMap.read

    def noted(place: files.UnreadMap) -> object:
        asked.add(place.file.path)
        return read(place)

    monkeypatch.setattr(files.UnreadMap, "read", noted)
    judged = judge(repository)
    told = {finding.span.path for finding in judged.findings if finding.span is not None}
    related = {one.span.path for finding in judged.findings for one in finding.related}
    assert asked <= told | related


def test_a_file_is_told_as_it_was(repository: Path) -> None:
    judged = judge(repository)
    remember(repository, judged)
    path = min((repository / "tenants").rglob("*.yaml"))
    before = path.read_bytes()
    path.write_bytes(b"# other\n" + before)
    named = path.relative_to(repository).as_posix()
    known = KnownFiles.recall(repository)
    file = known.file(named, hashlib.sha256(before).hexdigest())
    assert file is not None
    assert file.text.encode() == before
    assert known.file(named, hashlib.sha256(path.read_bytes()).hexdigest()) is None


def test_nothing_is_taken_from_an_entry_of_another_dracfg(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(repository, judge(repository))
    monkeypatch.setattr("dracfg.cache.pieces.compiler", lambda: "another")
    assert not KnownFiles.recall(repository).kept
