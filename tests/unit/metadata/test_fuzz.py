"""Whatever stands in a file: no crash, no hang, and nothing accepted that the schema refuses."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from dracfg.metadata import MetadataError, read
from dracfg.metadata.reader import documents, version_of, violations
from tests.unit.metadata.conftest import nic, schemas
from tests.unit.metadata.fakedriver import Claim, FakeDriver
from tests.unit.metadata.test_faults import FOLDER, NAME

SCHEMAS = schemas()
LISTED = {"network", "mtu", "rdma"}
VALIDATORS = {one["x-dracfg"]["version"]: Draft7Validator(one) for one in SCHEMAS}
WRITER = FakeDriver(Path(), Path())
SEED = WRITER.stream(Claim("c"), "nic", [nic(), nic("eth-1", rdma={"bool": False})])

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
forms = st.dictionaries(
    st.sampled_from(["string", "int", "bool", "version", "strings", "ints", "other"]),
    anything,
    max_size=2,
)
attributes = st.dictionaries(
    st.sampled_from(["network", "mtu", "rdma", "serial", "nic.example.com/mtu", "model"]),
    forms | anything,
    max_size=5,
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A real file with some bytes taken out, put in or changed."""
    data = bytearray(SEED)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["cut", "change", "insert", "drop", "copy"])):
            case "cut":
                data = data[:place]
            case "change" if data:
                data[place] = draw(st.integers(0, 255))
            case "insert":
                data[place:place] = draw(st.binary(max_size=6) | st.sampled_from(TOKENS))
            case "drop":
                del data[place : place + draw(st.integers(1, 40))]
            case _:
                data += data[place : place + 200]
    return bytes(data)


TOKENS = [b"{", b"}", b"[", b'"', b"null", b"-0", b"1e5", b"\\u0000", b",", b":", b"\xc3"]


@st.composite
def shaped(draw: st.DrawFn) -> bytes:
    """Objects that are nearly of the right form."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        version = draw(st.sampled_from(["v1beta1", "v1alpha1", "v2"]))
        document: dict[str, Any] = json.loads(SEED.splitlines()[0])
        document["apiVersion"] = f"metadata.resource.k8s.io/{version}"
        device = document["requests"][0]["devices"][0]
        if draw(st.booleans()):
            device["attributes"] = draw(attributes)
        else:
            device["attributes"].update(draw(attributes))
        for target in (document, document["metadata"], document["requests"][0], device):
            if draw(st.integers(0, 5)) == 0 and target:
                key = draw(st.sampled_from(sorted(target)))
                target[key] = draw(anything)
        made.append(json.dumps(document))
    return "\n".join(made).encode()


def hold(data: bytes) -> None:
    """Reads the bytes as a file; where they are accepted, another validator must accept them too."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FOLDER / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        try:
            found = read(schemas=SCHEMAS, root=folder)
        except MetadataError:
            return
    request = found.claims["nic"].requests["nic"]
    taken = [one for one in documents(data) if version_of(one) == request.version]
    assert not list(VALIDATORS[request.version].iter_errors(taken[0]))
    for device in request.devices:
        assert set(device.attributes) <= LISTED
        assert all(isinstance(value, str | int) for value in device.attributes.values())


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_bytes(data: bytes) -> None:
    hold(data)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(shaped())
def test_shapes(data: bytes) -> None:
    hold(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_noise(data: bytes) -> None:
    hold(data)


@settings(max_examples=200, deadline=None)
@given(anything)
def test_what_is_refused_is_refused_by_both(value: Any) -> None:
    """The reader's own keywords say what draft-07 says, or more."""
    for schema in SCHEMAS:
        ours = next(violations(schema, value), None)
        theirs = next(VALIDATORS[schema["x-dracfg"]["version"]].iter_errors(value), None)
        assert ours is not None or theirs is None


def test_the_seed_is_accepted() -> None:
    hold(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FOLDER / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(SEED)
        assert len(read(schemas=SCHEMAS, root=folder).devices("nic", "nic")) == 2
