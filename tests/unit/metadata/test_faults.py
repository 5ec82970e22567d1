"""Files that can't be trusted: each is told by its cause, none is read beyond its bound."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dracfg.metadata import Broken, MetadataError, NotYet, read, reader
from tests.unit.metadata.conftest import SECRET, nic, schemas
from tests.unit.metadata.fakedriver import Claim, FakeDriver

FOLDER = Path("resourceclaimtemplates/nic/nic")
NAME = "nic.example.com-metadata.json"


def put(root: Path, data: bytes) -> Path:
    path = root / FOLDER / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def document(**changes: Any) -> dict[str, Any]:
    stream = FakeDriver(Path(), Path(), versions=("v1beta1",)).stream(Claim("c"), "nic", [nic()])
    return {**json.loads(stream), **changes}


def stream(*documents: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in documents)


WHOLE = stream(document())
DEEP = b'{"a":' * 40 + b"1" + b"}" * 40
ENDLESS = b'{"a":' * 3000


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (WHOLE[:-40], "halfWritten"),
        (WHOLE[:1], "halfWritten"),
        (WHOLE + WHOLE[:50], "halfWritten"),
        (b'{"a": "b', "halfWritten"),
        (WHOLE + b"x", "notJSON"),
        (WHOLE + b"}", "notJSON"),
        (b"apiVersion: v1\n", "notJSON"),
        (WHOLE + b"\0", "notJSON"),
        (WHOLE + b"[]", "notAnObject"),
        (b"7", "notAnObject"),
        (b"\xff\xfe", "encoding"),
        (b'{"a": "\\ud800"}', "encoding"),
        (b'{"a": 1, "a": 2}', "duplicateKey"),
        (WHOLE.replace(b'"mtu": {', b'"mtu": {"int": 1, '), "duplicateKey"),
        (DEEP, "tooDeep"),
        (ENDLESS, "tooDeep"),
        (b'{"a": 1e999}', "number"),
        (b'{"a": NaN}', "number"),
        (b'{"a": 9223372036854775808}', "number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "number"),
        (stream(document(kind="Secret")), "unknownVersion"),
        (stream(document(apiVersion="metadata.resource.k8s.io/v9")), "unknownVersion"),
        (stream(document(requests=[])), "schema"),
        (stream(document(metadata={"name": "c"})), "schema"),
        (WHOLE.replace(b'"generation": 1', b'"generation": 0'), "schema"),
        (WHOLE.replace(b'{"int": 9000}', b'{"int": true}'), "schema"),
        (WHOLE.replace(b'{"int": 9000}', b'{"int": 9000.0}'), "schema"),
        (WHOLE.replace(b'{"int": 9000}', b'{"string": "9000"}'), "schema"),
        (WHOLE.replace(b'{"int": 9000}', b'{"int": 9000, "string": "x"}'), "schema"),
        (WHOLE.replace(b'"data"', b'"' + b"d" * 65 + b'"'), "schema"),
        (stream(document(podClaimName="other")), "binding"),
        (WHOLE.replace(b'"name": "nic"', b'"name": "gpu"'), "binding"),
        (WHOLE.replace(b'"nic.example.com"', b'"evil.example.com"'), "schema"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong(tmp_path: Path, data: bytes, fault: str) -> None:
    put(tmp_path, data)
    with pytest.raises(MetadataError) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == fault
    assert SECRET not in str(refused.value)


def test_the_whole_file_is_right(tmp_path: Path) -> None:
    put(tmp_path, WHOLE)
    assert read(schemas=schemas(), root=tmp_path).devices("nic", "nic")


@pytest.mark.parametrize("cut", range(1, len(WHOLE) - 2, 37))
def test_cut_anywhere_it_is_half_written(tmp_path: Path, cut: int) -> None:
    put(tmp_path, WHOLE[:cut])
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == "halfWritten"


def test_a_half_written_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, WHOLE[:90])

    def finish(_seconds: float) -> None:
        put(tmp_path, WHOLE)

    monkeypatch.setattr(reader.time, "sleep", finish)
    assert read(schemas=schemas(), root=tmp_path, wait=60).devices("nic", "nic")


def test_no_more_is_read_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = schemas()[0]["x-dracfg"]["maxBytes"]
    put(tmp_path, WHOLE + b" " * (bound * 4))
    taken: list[int] = []
    real = os.read

    def spy(handle: int, most: int) -> bytes:
        data = real(handle, most)
        taken.append(len(data))
        return data

    monkeypatch.setattr(os, "read", spy)
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == "tooLarge"
    assert sum(taken) == bound + 1


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_bytes(WHOLE)
    path = put(tmp_path, b"")
    path.unlink()
    path.symlink_to(real)
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == "link"


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_folder_that_is_a_link(tmp_path: Path, depth: int) -> None:
    put(tmp_path / "real", WHOLE)
    link = (tmp_path / "root").joinpath(*FOLDER.parts[:depth])
    link.parent.mkdir(parents=True)
    link.symlink_to((tmp_path / "real").joinpath(*FOLDER.parts[:depth]))
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path / "root")
    assert refused.value.fault == "link"


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    path = put(tmp_path, b"")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == "unreadable"


def test_files_of_one_claim_that_name_two(tmp_path: Path) -> None:
    put(tmp_path, WHOLE)
    other = tmp_path / "resourceclaimtemplates/nic/gpu" / NAME
    other.parent.mkdir(parents=True)
    text = WHOLE.replace(b'"name": "nic"', b'"name": "gpu"').replace(b"11111111", b"22222222")
    other.write_bytes(text)
    with pytest.raises(Broken) as refused:
        read(schemas=schemas(), root=tmp_path)
    assert refused.value.fault == "binding"


def test_schemas_with_words_that_are_not_known() -> None:
    with pytest.raises(ValueError, match="patternProperties is no keyword"):
        list(reader.violations({"patternProperties": {}}, {}))


def test_not_yet_and_broken_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, b"")
    with pytest.raises(NotYet):
        read(root=tmp_path)
    put(tmp_path, b"x")
    with pytest.raises(Broken):
        read(root=tmp_path)
