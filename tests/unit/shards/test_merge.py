"""A compile in shards leaves what one compile leaves, or it says why not and leaves all as it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from dracfg import aside
from dracfg.cache.parts import PARTS
from dracfg.executors.executor import open_executor
from dracfg.executors.spec import parse_executor
from dracfg.pipeline import Compiled, compile_repository
from dracfg.shards import compiling
from dracfg.shards.compiling import compile_shard, merge_shards
from dracfg.shards.errors import PartError
from dracfg.shards.shard import Shard
from tests.bench.fleet import fleet

Shards = Callable[..., None]


def files(root: Path) -> dict[str, bytes]:
    out = root / "out"
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def copy(root: Path, name: str) -> Path:
    shutil.copytree(root, root.parent / name)
    return root.parent / name


# -- what comes out --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "order"),
    [(1, [1]), (2, [2, 1]), (3, [3, 1, 2]), (5, [4, 2, 5, 1, 3]), (7, [7, 6, 5, 4, 3, 2, 1])],
)
def test_same_tree_and_findings(
    count: int,
    order: list[int],
    repository: Path,
    compiled: tuple[Path, Compiled],
    run_all: Shards,
) -> None:
    whole_root, whole = compiled
    run_all(repository, count, order)
    assert not (repository / "out").exists(), "a shard writes no tree"
    done = merge_shards(repository)
    assert done.findings == whole.findings
    assert done.findings, "there must be something to compare"
    assert done.judgement.verdict == whole.judgement.verdict
    assert done.tree.lock == whole.tree.lock
    assert files(repository) == files(whole_root)
    assert not compile_repository(repository, check=True).tree.stale


def test_more_than_one_process_in_each(
    repository: Path, compiled: tuple[Path, Compiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "_A_PROCESS", 1)
    for index, spec in ((1, "process"), (2, "thread")):
        with open_executor(parse_executor(spec), 2) as executor:
            assert compile_shard(repository, Shard(index, 2), executor).part is not None
    assert merge_shards(repository, jobs=2).findings == compiled[1].findings
    assert files(repository) == files(compiled[0])


def test_check_writes_nothing(repository: Path, run_all: Shards) -> None:
    run_all(repository, 2)
    done = merge_shards(repository, check=True)
    assert done.tree.stale
    assert not (repository / "out").exists()
    merge_shards(repository)
    run_all(repository, 2)
    assert not merge_shards(repository, check=True).tree.stale


def test_what_stands_retires_as_ever(
    repository: Path, compiled: tuple[Path, Compiled], run_all: Shards
) -> None:
    """A profile has a new revision, and its old templates stay for pods that name them."""
    shutil.copytree(compiled[0] / "out", repository / "out")
    path = "tenants/000/team-9.yaml"
    edit(repository, path, "name: train-x3\n", "name: train-x3\n    revision: 2\n")
    edit(repository, path, "count: 3", "count: 2")
    whole = copy(repository, "whole")
    compile_repository(whole)
    run_all(repository, 3, [3, 2, 1])
    merge_shards(repository)
    assert files(repository) == files(whole)
    assert any("/team-9/retired/" in name for name in files(repository))


def test_a_cluster_that_left_is_removed(
    repository: Path, compiled: tuple[Path, Compiled], run_all: Shards
) -> None:
    shutil.copytree(compiled[0] / "out", repository / "out")
    for folder in ("catalog", "tenants"):
        shutil.rmtree(repository / folder)
    fleet(10, 4).write(repository)
    whole = copy(repository, "whole")
    first = compile_repository(whole)
    run_all(repository, 2)
    done = merge_shards(repository)
    assert done.findings == first.findings
    assert files(repository) == files(whole)
    assert any(name.startswith("cluster-05/") for name in files(compiled[0]))
    assert not any(name.startswith("cluster-05/") for name in files(repository))


def test_parts_may_lie_in_folders_of_their_own(
    repository: Path, compiled: tuple[Path, Compiled], run_all: Shards
) -> None:
    run_all(repository, 2)
    for index in (1, 2):
        folder = repository / PARTS / f"part-{index}"
        folder.mkdir()
        (repository / PARTS / f"{index}-of-2.json").rename(folder / f"{index}-of-2.json")
    merge_shards(repository)
    assert files(repository) == files(compiled[0])


# -- what is found, and by whom --------------------------------------------------------------------


def test_errors_leave_no_part(repository: Path, run: Callable[..., object]) -> None:
    assert run(repository, 1, 2).part is not None
    edit(repository, "tenants/000/team-9.yaml", "tier: a100-40g", "tier: a100-41g")
    for index in (1, 2):
        done = run(repository, index, 2)
        assert done.judgement.has_errors
        assert done.part is None
    assert not list((repository / PARTS).glob("*.json")), "the old part is gone as well"
    with pytest.raises(PartError, match="no part lies below"):
        merge_shards(repository)


def test_an_error_of_one_cluster_stops_its_shard(
    repository: Path, compiled: tuple[Path, Compiled], run: Callable[..., object]
) -> None:
    """What stands was made under the same name with another spec (OBJ004)."""
    shutil.copytree(compiled[0] / "out", repository / "out")
    edit(repository, "tenants/000/team-9.yaml", "count: 3", "count: 2")
    parts = {index: run(repository, index, 5).part for index in range(1, 6)}
    assert [index for index, part in parts.items() if part is None] == [5]
    with pytest.raises(PartError, match="part of shard 5/5 is missing"):
        merge_shards(repository)


def test_what_all_clusters_show_is_found_by_the_merge(repository: Path, run_all: Shards) -> None:
    edit(repository, "catalog/tiers.yaml", "  match:\n", "  match:\n    cel: [device.nothing]\n")
    whole = compile_repository(copy(repository, "whole"))
    assert whole.has_errors
    run_all(repository, 2)
    done = merge_shards(repository)
    assert done.findings == whole.findings
    assert done.applied is None
    assert not (repository / "out").exists()


def test_only_the_merge_knows_a_waiver_to_be_useless(
    repository: Path, run: Callable[..., object]
) -> None:
    edit(
        repository,
        "tenants/000/team-9.yaml",
        "  state: active",
        "  # dracfg: allow CAP004 until 2100-01-01 because there was such a finding\n  state: active",
    )
    for index in (1, 2):
        found = run(repository, index, 2).judgement.findings
        assert "MOD024" not in {finding.code for finding in found}
    assert "MOD024" in {finding.code for finding in merge_shards(repository).findings}


# -- what is refused -------------------------------------------------------------------------------


@pytest.fixture
def parts(repository: Path, run_all: Shards) -> Path:
    """The folder with the parts of three shards."""
    run_all(repository, 3)
    return repository / PARTS


def refused(repository: Path, reason: str, **options: object) -> None:
    with pytest.raises(PartError, match=reason):
        merge_shards(repository, **options)
    assert not (repository / "out").exists()


def test_no_part_at_all(repository: Path) -> None:
    refused(
        repository, r"no part lies below .cache/dracfg/shards: run `dracfg compile --shard I/N`"
    )


def test_one_part_is_missing(repository: Path, parts: Path) -> None:
    (parts / "2-of-3.json").unlink()
    refused(repository, r"the part of shard 2/3 is missing: run `dracfg compile --shard 2/3`")


def test_two_parts_are_missing(repository: Path, parts: Path) -> None:
    (parts / "1-of-3.json").unlink()
    (parts / "3-of-3.json").unlink()
    refused(repository, r"the parts of shards 1/3, 3/3 are missing")


def test_a_part_is_there_twice(repository: Path, parts: Path) -> None:
    shutil.copy(parts / "2-of-3.json", parts / "2-of-3 (1).json")
    refused(repository, r"shard 2/3 is there twice: .*2-of-3 \(1\).json and .*2-of-3.json")


def test_a_part_of_another_number_of_shards(
    repository: Path, parts: Path, run: Callable[..., object]
) -> None:
    assert parts.exists()
    run(repository, 2, 2)
    refused(
        repository, r"different numbers of shards: \S+-of-2.json is of 2, \S+-of-3.json is of 3"
    )


def test_a_part_of_another_dracfg(
    repository: Path, parts: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., object]
) -> None:
    assert parts.exists()
    monkeypatch.setattr(compiling, "release", lambda: "0.9.0 (another)")
    run(repository, 2, 3)
    monkeypatch.undo()
    monkeypatch.setattr(compiling, "release", lambda: "1.0.0 (this one)")
    refused(
        repository,
        r"2-of-3.json is of dracfg 0.9.0 \(another\), and this is 1.0.0 \(this one\); "
        "run its shard again",
    )


@pytest.mark.parametrize("spoil", [lambda body: body[:-100], lambda body: body.replace(b"a", b"b")])
def test_a_part_that_is_not_whole(
    repository: Path, parts: Path, spoil: Callable[[bytes], bytes]
) -> None:
    part = parts / "3-of-3.json"
    part.write_bytes(spoil(part.read_bytes()))
    refused(repository, r"3-of-3.json is cut short, or was edited; run its shard again")


def test_a_part_of_other_clusters(
    repository: Path, parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parts.exists()
    own = Shard.own
    monkeypatch.setattr(Shard, "own", lambda shard, names: own(shard, names)[1:])
    refused(repository, "the part of shard 1/3 has other clusters than are the shard's")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tenants/000/team-9.yaml", "guaranteed: 3", "guaranteed: 2"),
        ("catalog/clusters.yaml", "1.36", "1.37"),
    ],
)
def test_a_file_that_changed_meanwhile(
    path: str, old: str, new: str, repository: Path, parts: Path
) -> None:
    assert parts.exists()
    edit(repository, path, old, new)
    refused(repository, f"shard 1/3 was made from other files than are here: {path}; run")


def test_a_file_that_came_meanwhile(repository: Path, parts: Path) -> None:
    assert parts.exists()
    shutil.copy(repository / "tenants/000/team-9.yaml", repository / "tenants/000/team-x.yaml")
    refused(repository, "other files than are here: tenants/000/team-x.yaml; run")


def test_one_shard_that_saw_other_files(
    repository: Path, parts: Path, run: Callable[..., object]
) -> None:
    assert parts.exists()
    edit(repository, "tenants/000/team-9.yaml", "state: active", "state: active  # so far")
    run(repository, 2, 3)
    edit(repository, "tenants/000/team-9.yaml", "  # so far", "")
    refused(
        repository,
        "shard 2/3 was made from other files than are here: tenants/000/team-9.yaml; "
        "run `dracfg compile --shard 2/3` on them",
    )


def test_a_tree_that_was_not_there(
    repository: Path, parts: Path, compiled: tuple[Path, Compiled]
) -> None:
    """What stands decides what retires, so it is an input like others."""
    assert parts.exists()
    shutil.copytree(compiled[0] / "out", repository / "out")
    edit(repository, "out/cluster-05/tenants/team-9/claim-templates.yaml", "count: 3", "count: 1")
    before = files(repository)
    with pytest.raises(PartError, match=r"other files than are here: out/cluster-01/.* more"):
        merge_shards(repository)
    assert files(repository) == before


def test_the_same_day(repository: Path, compiled: tuple[Path, Compiled]) -> None:
    day = date(2026, 11, 30)
    with open_executor(parse_executor("process"), 1) as executor:
        assert compile_shard(repository, Shard(1, 1), executor, today=day).part is not None
    merge_shards(repository, today=day)
    assert files(repository) == files(compiled[0])


def test_another_day(repository: Path, parts: Path) -> None:
    assert parts.exists()
    refused(
        repository,
        "shard 1/3 was judged as of no day, and here it is 2026-11-30: give both the same --today",
        today=date(2026, 11, 30),
    )
