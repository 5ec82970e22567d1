"""A tree that is known by its seals stands exactly where one does that is read, byte for byte."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

import pytest

from dracfg.emit import listing, sealing, seals
from dracfg.emit.apply import apply
from dracfg.emit.intact import stands
from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.lock import Lock, digest, read_lock
from dracfg.emit.seals import Moment, seal_of, stamp_of
from dracfg.emit.tree import UnitFiles, plan

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="seals need descriptors of folders"
)
UNITS = [
    UnitFiles("prod/guard", {"a.yaml": b"aaa", "b.yaml": b"bbb", "none.yaml": b""}),
    UnitFiles(
        "prod/monitoring", {"k.yaml": b"kkk", "t/one/x.yaml": b"xxx", "t/two/x.yaml": b"yyy"}
    ),
    UnitFiles("prod/tenants/one", {"a.yaml": b"111", "b.yaml": b"222"}),
    UnitFiles("prod/tenants/two", {"a.yaml": b"333", "retired/b.yaml": b"444"}),
]
FOLDERS = {
    ".", "prod", "prod/guard", "prod/monitoring", "prod/monitoring/t", "prod/monitoring/t/one",
    "prod/monitoring/t/two", "prod/tenants", "prod/tenants/one", "prod/tenants/two",
    "prod/tenants/two/retired",
}  # fmt: skip


class Notebook:
    """Seals in memory. `ahead` is how much later than now a look is said to begin, in nanoseconds."""

    def __init__(self, folder: Path, ahead: int = 0) -> None:
        self.folder = folder
        self.ahead = ahead
        self.kept: Collection[bytes] = frozenset()
        self.rounds = 0

    @property
    def moment(self) -> Moment:
        now = clock(self.folder)
        return Moment(now.st_dev, now.st_ctime_ns + self.ahead)

    def keep(self, seals: Collection[bytes]) -> None:
        self.kept = seals
        self.rounds += 1


def clock(folder: Path) -> os.stat_result:
    """The state of a file that was just made."""
    path = folder / f"now{os.getpid()}"
    path.touch()
    status = path.stat()
    path.unlink()
    return status


def wait_for_a_tick(folder: Path) -> None:
    start = clock(folder).st_ctime_ns
    while clock(folder).st_ctime_ns == start:
        time.sleep(0.0005)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    apply(plan(folder, UNITS))
    return folder


@pytest.fixture
def lock(out: Path) -> Lock:
    found = read_lock(out).lock
    assert found is not None
    return found


@pytest.fixture
def sealed(out: Path, lock: Lock) -> Notebook:
    """Seals of all folders."""
    notebook = Notebook(out.parent, ahead=10**9)
    assert stands(out, lock, seals=notebook)
    wait_for_a_tick(out.parent)
    return notebook


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sealing, "read_stamped", lambda name, _folder: pytest.fail(f"{name} was read")
    )


def test_every_folder_is_sealed_and_none_is_read_again(
    out: Path, lock: Lock, sealed: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {folder.path for folder in sealing.folders_of(lock)} == FOLDERS
    assert len(sealed.kept) == len(FOLDERS)
    forbid_reading(monkeypatch)
    assert stands(out, lock, seals=sealed)


def same_size(path: Path) -> None:
    """Other bytes, as many as before, and the time of writing that was."""
    status = path.stat()
    path.write_bytes(b"!" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_by_twin(path: Path) -> None:
    """Another file of the same size and time of writing, moved into place."""
    status = path.stat()
    twin = path.parents[2] / "twin"
    twin.write_bytes(b"!" * status.st_size)
    os.utime(twin, ns=(status.st_atime_ns, status.st_mtime_ns))
    twin.replace(path)


def edit_by_another_name(path: Path) -> None:
    other = path.parents[3] / "other"
    os.link(path, other)
    same_size(other)
    other.unlink()


def become_a_link(out: Path, path: str) -> None:
    """A link to what stood there, so that everything is found behind it."""
    (out / path).rename(out.parent / "moved")
    (out / path).symlink_to(out.parent / "moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "as many bytes at the same time": lambda out: same_size(out / "prod/guard/a.yaml"),
    "a twin moved into place": lambda out: replace_by_twin(out / "prod/guard/a.yaml"),
    "by another name": lambda out: edit_by_another_name(out / "prod/guard/a.yaml"),
    "an empty file filled": lambda out: (out / "prod/guard/none.yaml").write_bytes(b"x"),
    "in a folder of a unit": lambda out: same_size(out / "prod/monitoring/t/two/x.yaml"),
    "a file more in a unit": lambda out: (out / "prod/guard/c.yaml").touch(),
    "a file more above units": lambda out: (out / "prod/tenants/c.yaml").touch(),
    "a file more above all": lambda out: (out / "c.yaml").touch(),
    "a file more in a folder more": lambda out: (
        (out / "prod/own/inner").mkdir(parents=True),
        (out / "prod/own/inner/c.yaml").touch(),
    ),
    "a pipe more": lambda out: os.mkfifo(out / "prod/pipe"),
    "a pipe for an empty file": lambda out: (
        (out / "prod/guard/none.yaml").unlink(),
        os.mkfifo(out / "prod/guard/none.yaml"),
    ),
    "a link more": lambda out: (out / "prod/link").symlink_to("guard"),
    "a file gone": lambda out: (out / "prod/tenants/one/a.yaml").unlink(),
    "a folder gone": lambda out: shutil.rmtree(out / "prod/tenants/two/retired"),
    "a unit gone": lambda out: shutil.rmtree(out / "prod/tenants/two"),
    "a file that became a link": lambda out: become_a_link(out, "prod/guard/a.yaml"),
    "a folder that became a link": lambda out: become_a_link(out, "prod/tenants"),
    "a folder for a file": lambda out: (
        (out / "prod/guard/a.yaml").unlink(),
        (out / "prod/guard/a.yaml").mkdir(),
    ),
    "two files exchanged": lambda out: (
        (out / "prod/guard/a.yaml").rename(out / "c"),
        (out / "prod/guard/b.yaml").rename(out / "prod/guard/a.yaml"),
        (out / "c").rename(out / "prod/guard/b.yaml"),
    ),
    "no lock": lambda out: (out / LOCK_NAME).unlink(),
    "no tree": shutil.rmtree,
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_differs_is_met(change: str, out: Path, lock: Lock, sealed: Notebook) -> None:
    CHANGES[change](out)
    assert not stands(out, lock)
    assert not stands(out, lock, seals=sealed)
    assert sealed.rounds == 1


def test_a_lock_that_says_something_else_is_not_vouched_for(
    out: Path, lock: Lock, sealed: Notebook
) -> None:
    """The same stamps, and another digest, a file more or one less in the lock."""
    for path, files in lock.units.items():
        for name in files:
            for other in ({**files, name: digest(b"!")}, {**files, f"{name}x": digest(b"")}):
                changed = Lock({**lock.units, path: other})
                assert not stands(out, changed, seals=sealed)
            less = {one: of_file for one, of_file in files.items() if one != name}
            assert not stands(out, Lock({**lock.units, path: less}), seals=sealed)


def test_folders_of_which_nothing_is_in_the_lock_are_looked_into_each_time(
    out: Path, lock: Lock, sealed: Notebook
) -> None:
    (out / "prod/tenants/one/own/inner").mkdir(parents=True)
    for _ in range(2):
        assert stands(out, lock, seals=sealed)
        assert len(sealed.kept) == len(FOLDERS) - 1
    before = (out / "prod/tenants/one").stat()
    (out / "prod/tenants/one/own/inner/file").touch()
    assert (out / "prod/tenants/one").stat().st_mtime_ns == before.st_mtime_ns
    assert not stands(out, lock, seals=sealed)


def test_one_folder_that_was_touched_is_read_alone(
    out: Path, lock: Lock, sealed: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    wrapped = sealing.read_stamped
    monkeypatch.setattr(
        sealing, "read_stamped", lambda name, folder: (read.append(name), wrapped(name, folder))[1]
    )
    (out / "prod/tenants/one/b.yaml").touch()
    assert stands(out, lock, seals=sealed)
    assert read == ["a.yaml", "b.yaml"]
    assert stands(out, lock, seals=sealed)
    assert read == ["a.yaml", "b.yaml"]
    assert (sealed.rounds, len(sealed.kept)) == (3, len(FOLDERS))


def test_what_was_written_in_the_same_tick_is_not_sealed(
    out: Path, lock: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changes behind the look, stamped as it was before: its time is that of the look."""
    notebook = Notebook(out.parent, ahead=10**9)
    path = out / "prod/guard/a.yaml"
    (tick,) = {stamp_of(path.stat())}
    monkeypatch.setattr(Notebook, "moment", Moment(tick[2], tick[5]))
    assert stands(out, lock, seals=notebook)
    path.write_bytes(b"!!!")
    real = os.lstat

    def in_that_tick(name: str, *, dir_fd: int | None = None) -> object:
        return path_status if name == "prod/guard/a.yaml" else real(name, dir_fd=dir_fd)

    path_status = os.stat_result((*path.stat()[:7], 0, 0, 0), {
        "st_mtime_ns": tick[4], "st_ctime_ns": tick[5],
    })  # fmt: skip
    monkeypatch.setattr(os, "lstat", in_that_tick)
    assert not stands(out, lock, seals=notebook)


def test_a_file_is_stamped_before_it_is_read(
    out: Path, lock: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes between the two has another stamp than the one that is sealed."""
    path, notebook = out / "prod/guard/a.yaml", Notebook(out.parent, ahead=10**9)
    right, real = path.read_bytes(), listing._bytes_of
    path.write_bytes(b"!!!")

    def reading(descriptor: int) -> bytes:
        if path.read_bytes() != right:
            wait_for_a_tick(out.parent)
            path.write_bytes(right)
        return real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(listing, "_bytes_of", reading)
        assert stands(out, lock, seals=notebook)
    read: list[str] = []
    monkeypatch.setattr(
        sealing, "read_stamped", lambda name, folder: (read.append(name), stamped(name, folder))[1]
    )
    stamped = listing.read_stamped
    assert stands(out, lock, seals=notebook)
    assert "a.yaml" in read


NOW = 5_000_000_000_123
STAMP = (0o100644, 7, 3, 10, NOW - 10**9, NOW - 10**9)


@pytest.mark.parametrize(
    ("position", "value", "settled"),
    [
        (5, NOW - 10**9, True),
        (5, NOW, False),
        (5, NOW + 10**9, False),
        (5, NOW - 10**7, False),
        (5, NOW // 10**9 * 10**9 - 3 * 10**9, False),
        (4, NOW - 10**7, False),
        (4, NOW + 10**18, False),
        (4, 10**9, True),
        (2, 4, False),
    ],
)
def test_stamps_are_settled_that_no_later_change_can_have(
    position: int, value: int, settled: bool
) -> None:
    stamp = (*STAMP[:position], value, *STAMP[position + 1 :])
    assert Moment(3, NOW).settled([STAMP, stamp]) is settled


@pytest.mark.parametrize("position", range(6))
def test_every_number_of_a_stamp_counts(position: int) -> None:
    stamp = (*STAMP[:position], STAMP[position] + 1, *STAMP[position + 1 :])
    assert seal_of("a", [STAMP]) != seal_of("a", [stamp])
    assert seal_of("a", [STAMP]) == seal_of("a", [(*STAMP,)]) != seal_of("b", [STAMP])


def test_several_processes_know_and_seal_alike(tmp_path: Path) -> None:
    out = tmp_path / "out"
    apply(plan(out, [UnitFiles(f"prod/tenants/t{n}", {"a.yaml": b"%d" % n}) for n in range(400)]))
    lock, notebook = read_lock(out).lock, Notebook(tmp_path, ahead=10**9)
    assert lock is not None
    assert stands(out, lock, 3, notebook)
    assert len(notebook.kept) == 403
    wait_for_a_tick(tmp_path)
    assert stands(out, lock, 1, notebook)
    same_size(out / "prod/tenants/t399/a.yaml")
    assert not stands(out, lock, 3, notebook)


class Disturber:
    """Changes a tree at random, and makes it right again."""

    def __init__(self, out: Path, random: random.Random) -> None:
        self.out, self.random = out, random
        self.files = {
            f"{unit.path}/{name}": text for unit in UNITS for name, text in unit.files.items()
        }

    def step(self) -> None:
        for _ in range(self.random.choice((1, 1, 2))):
            path = self.out / self.random.choice([*self.files])
            act = self.random.choice(
                (self.write, self.write, self.touch, self.restore, self.restore, self.restore,
                 self.swap, self.add, self.add, self.add, self.unlink, self.link, self.move)
            )  # fmt: skip
            with suppress(OSError):  # what it needs may not be there just now
                act(path)

    def write(self, path: Path) -> None:
        status = path.stat()
        path.write_bytes(self.random.choice((b"aaa", b"111", b"xxx", b"")))
        if self.random.random() < 0.7:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def touch(self, path: Path) -> None:
        path.chmod(self.random.choice((0o600, 0o644)))

    def restore(self, _path: Path) -> None:
        """All is as it should be again; what is right is left alone, or all is made anew."""
        anew = self.random.random() < 0.2
        for entry in [*self.out.rglob("*")]:
            name = entry.relative_to(self.out).as_posix()
            is_above = any(one.startswith(f"{name}/") for one in self.files)
            if name == LOCK_NAME or (is_above and entry.is_dir() and not entry.is_symlink()):
                continue
            if name not in self.files or entry.is_symlink() or not entry.is_file():
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else (
                    entry.unlink(missing_ok=True)
                )
        for name, text in self.files.items():
            place = self.out / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if anew or not place.exists() or place.read_bytes() != text:
                place.write_bytes(text)

    def swap(self, path: Path) -> None:
        """Two files, or the folders that they lie in, change places."""
        other = self.out / self.random.choice([*self.files])
        if self.random.random() < 0.5:
            path, other = path.parent, other.parent
        path.rename(self.out.parent / "swapped")
        other.rename(path)
        (self.out.parent / "swapped").rename(other)

    def add(self, path: Path) -> None:
        folder = self.random.choice([*path.parents][:3])
        there = sorted(self.out.rglob("inner"))
        match self.random.choice(["file", "folder", "folder", "link"]):
            case _ if there and self.random.random() < 0.7:
                (self.random.choice(there) / "own").touch()
            case "file":
                (folder / "own").touch()
            case "folder":
                (folder / "more" / "inner").mkdir(parents=True, exist_ok=True)
            case "link":
                (folder / "link").symlink_to(path)

    def unlink(self, path: Path) -> None:
        path.unlink() if self.random.random() < 0.5 else shutil.rmtree(path.parent)

    def link(self, path: Path) -> None:
        target = self.out.parent / f"target{self.random.random()}"
        path = self.random.choice((path, path.parent))
        path.rename(target)
        path.symlink_to(target) if self.random.random() < 0.7 else os.link(target, path)

    def move(self, path: Path) -> None:
        """A folder goes away, and comes back with some chance."""
        path = path.parent
        path.rename(self.out.parent / "away")
        if self.random.random() < 0.7:
            (self.out.parent / "away").rename(path)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_stands_by_its_seals_where_it_stands_by_its_bytes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it was changed, also within the tick of a look."""
    monkeypatch.setattr(seals, "_SLACK", 0)
    out = tmp_path / "tree" / "out"
    out.mkdir(parents=True)
    apply(plan(out, UNITS))
    lock = read_lock(out).lock
    assert lock is not None
    chance = random.Random(seed)
    notebook, disturber = Notebook(tmp_path), Disturber(out, chance)
    read, known = [0], [0]
    new, old = sealing._new_seal, sealing._known_seal
    monkeypatch.setattr(sealing, "_new_seal", lambda *a: (read.append(1), new(*a))[1])
    monkeypatch.setattr(
        sealing, "_known_seal", lambda *a: (found := old(*a), known.append(bool(found)))[0]
    )
    stood = []
    for _ in range(120):
        if chance.random() < 0.8:
            disturber.step()
        if chance.random() < 0.5:
            wait_for_a_tick(tmp_path)
        expected = stands(out, lock)
        assert stands(out, lock, seals=notebook) is expected
        stood.append(expected)
    assert 10 < sum(stood) < 110
    assert sum(known) > 100
    assert sum(read) > 50
