"""Reads the device metadata of a container (KEP-5304) from its files, with the standard library alone.

This file can be copied into an application as it is. It knows the file format and JSON Schemas of
tiers as dracfg writes them, nothing of Kubernetes' API and nothing of the rest of dracfg. No message
holds an attribute's value. Run as a program it is a startup probe: 0 valid, 1 not yet, 2 broken,
3 not supported.
Sources: kubernetes/kubernetes staging/src/k8s.io/dynamic-resource-allocation/api/metadata
(v1alpha1 of 1.36, v1beta1 of 1.37), kubeletplugin/metadata.go (files are written in place).
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ROOT = "/var/run/kubernetes.io/dra-device-attributes"
BY_NAME, BY_TEMPLATE = "resourceclaims", "resourceclaimtemplates"
GROUP = "metadata.resource.k8s.io"
KIND = "DeviceMetadata"
VERSIONS = ("v1beta1", "v1alpha1")
"""Versions of the format that this reader knows, newest first."""
SUFFIX = "-metadata.json"
MAX_BYTES = 1 << 20
"""What is read of one file at most, where no schema says less."""
MAX_DEPTH = 32
FACTS = "x-dracfg"
"""The key of a schema under which dracfg says whose it is and what to fall back to."""

Fault = Literal[
    "absent", "unreadable", "link", "tooLarge", "empty", "encoding", "halfWritten", "notJSON",
    "duplicateKey", "tooDeep", "number", "notAnObject", "unknownVersion", "schema", "noSchema",
    "binding", "noNetworkData",
]  # fmt: skip
State = Literal["notSupported", "notYet", "broken"]
Value = str | int | bool | tuple[str, ...] | tuple[int, ...] | tuple[bool, ...]
Schema = Mapping[str, Any]
FORMS = ("string", "int", "bool", "version", "strings", "ints", "bools", "versions")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?")


class MetadataError(Exception):
    """Why there is no metadata. `fault` is the exact cause, `where` names claim, request and driver."""

    state: State = "broken"

    def __init__(self, fault: Fault, message: str, where: str = "", offset: int = 0) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.fault = fault
        self.where = where
        self.detail = message
        self.offset = offset


class NotSupported(MetadataError):
    """No file is there, or none in a version that is known; waiting does not help."""

    state: State = "notSupported"


class NotYet(MetadataError):
    """A file is there and its driver has not filled it; waiting may help."""

    state: State = "notYet"


class Broken(MetadataError):
    """A file is there and can't be trusted."""


@dataclass(frozen=True, slots=True)
class Network:
    """What a network driver tells once the pod's network is set up."""

    interface_name: str | None
    ips: tuple[str, ...]
    hardware_address: str | None


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a request. Attributes are those of the allow-list that the driver wrote.

    `pool` and `name` are None where the attributes come from the environment.
    """

    driver: str
    pool: str | None
    name: str | None
    attributes: Mapping[str, Value] = field(repr=False)
    network: Network | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """The devices of one request; `name` has the subrequest behind a slash where one was chosen."""

    name: str
    version: str
    generation: int
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as the pod names it; `claim` is the ResourceClaim's own name."""

    name: str
    claim: str
    namespace: str
    uid: str
    from_template: bool
    requests: Mapping[str, Request]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What was read. `source` is the declared fall-back where no file was there."""

    source: Literal["file", "environment", "legacyPath"]
    claims: Mapping[str, Claim] = field(default_factory=dict)
    fallback_devices: tuple[Device, ...] = ()
    legacy_path: str | None = None

    def devices(self, claim: str, request: str) -> tuple[Device, ...]:
        """The devices of one request by the names in the pod; raises KeyError."""
        return self.claims[claim].requests[request].devices


@dataclass(frozen=True, slots=True)
class File:
    """Where a file lies, and what its path says."""

    path: Path
    claim: str
    request: str
    driver: str
    from_template: bool

    def __str__(self) -> str:
        return f"claim {self.claim}, request {self.request}, driver {self.driver}"


@dataclass(frozen=True, slots=True)
class Violation:
    """What a schema refuses: the keys that lead there, and the schema's keyword."""

    path: tuple[str | int, ...]
    keyword: str
    expected: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path)) or 'the document'} is not as the schema says: {self.expected}"


def read(
    claim: str | None = None,
    request: str | None = None,
    *,
    schemas: Iterable[Schema] | Mapping[str, Iterable[Schema]] = (),
    root: str | Path = ROOT,
    versions: tuple[str, ...] = VERSIONS,
    network: bool = False,
    wait: float | None = None,
    environment: Mapping[str, str] | None = None,
) -> Metadata:
    """The devices of this container, by claim and request.

    `claim` and `request` are names as in the pod; without them everything is read. `schemas` are the
    tiers' schemas, or lists of them by request (`request/subrequest` before `request`) where two
    tiers are of one driver. Only attributes that a schema lists are returned: without one, none.
    `versions` are understood, newest first. With `network` a file without network data is not yet
    there. For `wait` seconds (by default what the schemas' fall-back says) empty, half-written and
    unfinished files are read again. Raises NotSupported, NotYet or Broken; only what is not supported
    falls back, as the schemas declare.
    """
    listed = list(_listed(schemas))
    facts = [schema.get(FACTS, {}).get("fallback", {}) for schema in listed]
    if wait is None:
        wait = max((float(fact.get("seconds", 0)) for fact in facts), default=0.0)
    holds = any(fact.get("to") == "startupProbe" for fact in facts)
    deadline = time.monotonic() + wait
    while True:
        try:
            return _read_once(claim, request, schemas, listed, root, versions, network)
        except MetadataError as fault:
            again = fault.fault in ("empty", "halfWritten", "noNetworkData") or (
                holds and fault.fault == "absent"
            )
            left = deadline - time.monotonic()
            if not again or left <= 0:
                if isinstance(fault, NotSupported):
                    return _fall_back(
                        fault, listed, os.environ if environment is None else environment
                    )
                raise
            time.sleep(min(0.2, left))


def find(
    root: str | Path = ROOT, claim: str | None = None, request: str | None = None
) -> list[File]:
    """The metadata files of a container below `root`, sorted by path. Raises Broken at a symbolic link."""
    for name in (claim, request):
        if name is not None and not _NAME.fullmatch(name):
            raise ValueError("a claim or request is named by letters, digits, dashes and dots")
    found = []
    for kind in (BY_NAME, BY_TEMPLATE):
        for one in _names(Path(root, kind), claim):
            for asked in _names(Path(root, kind, one), request):
                folder = Path(root, kind, one, asked)
                found += [
                    File(folder / name, one, asked, name.removesuffix(SUFFIX), kind == BY_TEMPLATE)
                    for name in _names(folder, None, folders=False)
                    if name.endswith(SUFFIX)
                ]
    return found


def content(path: Path, most: int = MAX_BYTES, where: str = "") -> bytes:
    """The bytes of a regular file, never through a link at its end, and never more than `most`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotSupported("absent", "there is no file", where) from None
    except OSError as fault:
        kind: Fault = "link" if path.is_symlink() else "unreadable"
        raise Broken(kind, f"the file can't be opened: {fault.strerror}", where) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Broken("unreadable", "not a regular file", where)
        data = b""
        while len(data) <= most and (part := os.read(handle, most + 1 - len(data))):
            data += part
    except OSError as fault:
        raise Broken("unreadable", f"the file can't be read: {fault.strerror}", where) from None
    finally:
        os.close(handle)
    if len(data) > most:
        raise Broken("tooLarge", f"more than {most} bytes", where, most)
    return data


def documents(data: bytes, where: str = "") -> list[dict[str, Any]]:
    """The JSON objects of a stream, in order. Raises NotYet where it is empty, else Broken.

    Keys stand once, nesting is bounded, integers have 64 bits, and nothing follows the last object.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Broken("encoding", "not UTF-8", where, fault.start) from None
    if not text.strip(" \t\r\n"):
        raise NotYet("empty", "the file is empty", where)
    is_open = _measure(text, where)
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: _object(pairs, where),
        parse_int=lambda digits: _integer(digits, where),
        parse_float=lambda digits: _fraction(digits, where),
        parse_constant=lambda _: _refuse("number", "a number that JSON does not have", where),
    )
    found: list[dict[str, Any]] = []
    place = _skip(text, 0)
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except RecursionError:
            raise Broken("tooDeep", "values are nested too deep", where, place) from None
        except ValueError as fault:
            at = getattr(fault, "pos", place)
            cut = "Unterminated" in str(fault) or len(text[at:].strip()) < 6
            if is_open and cut:
                raise Broken("halfWritten", "the file ends inside a document", where, at) from None
            raise Broken("notJSON", "not a stream of JSON objects", where, at) from None
        if not isinstance(value, dict):
            raise Broken("notAnObject", "a value that is no object", where, place)
        found.append(value)
        place = _skip(text, end)
    if _SURROGATE.search(text):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Broken("encoding", "half a character", where) from None
    return found


def version_of(document: Mapping[str, Any]) -> str | None:
    """`v1beta1` of `metadata.resource.k8s.io/v1beta1`; None for anything else."""
    group, _, version = str(document.get("apiVersion")).partition("/")
    named = group == GROUP and document.get("kind") == KIND
    return (
        version
        if named and re.fullmatch(r"v[0-9]{1,4}((alpha|beta)[0-9]{1,4})?", version)
        else None
    )


def violations(schema: Schema, value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Violation]:
    """What a schema refuses. Of JSON Schema draft-07 just the keywords that dracfg writes are known."""
    for keyword, wanted in schema.items():
        if keyword not in _KEYWORDS and keyword not in _ANNOTATIONS:
            raise ValueError(f"{keyword} is no keyword that schemas of device metadata have")
        if keyword in _KEYWORDS and not _KEYWORDS[keyword](value, wanted):
            yield Violation(path, keyword, f"{keyword} {_plain(wanted)}")
    if isinstance(value, dict):
        known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key, item in value.items():
            if key in known:
                yield from violations(known[key], item, (*path, key))
            elif rest is False:
                yield Violation((*path, key), "additionalProperties", "no such key")
            elif isinstance(rest, Mapping):
                yield from violations(rest, item, (*path, key))
    elif isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from violations(schema["items"], item, (*path, number))


def document_schema(version: str) -> dict[str, Any]:
    """What every document of a version is, whatever the tier: its attributes are not looked into."""
    name: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 253}
    network = {
        "interfaceName": {"type": "string", "maxLength": 256},
        "ips": {"type": "array", "maxItems": 16, "items": {"type": "string", "maxLength": 64}},
        "hardwareAddress": {"type": "string", "maxLength": 128},
    }
    device = {
        "driver": {"type": "string", "minLength": 1, "maxLength": 63},
        "pool": name,
        "name": {"type": "string", "minLength": 1, "maxLength": 63},
        "attributes": {"type": "object", "maxProperties": 32},
        "networkData": {"type": "object", "properties": network},
    }
    request = {
        "name": {"type": "string", "minLength": 1, "maxLength": 127},
        "devices": {
            "type": "array",
            "maxItems": 32,
            "items": _shape(device, "driver", "pool", "name"),
        },
    }
    claim: dict[str, Any] = {
        "name": name,
        "namespace": name,
        "uid": {"type": "string", "minLength": 1, "maxLength": 128},
        "generation": {"type": "integer", "minimum": 1},
    }
    return _shape(
        {
            "apiVersion": {"const": f"{GROUP}/{version}"},
            "kind": {"const": KIND},
            "metadata": _shape(claim, *claim),
            "podClaimName": {"type": "string", "minLength": 1, "maxLength": 63},
            "requests": {
                "type": "array", "minItems": 1, "maxItems": 32, "items": _shape(request, "name"),
            },
        },
        "apiVersion", "kind", "metadata", "requests",
    )  # fmt: skip


def attribute_schema(kind: str) -> dict[str, Any]:
    """One attribute of a type (`string`, `int`, … or a list of them): that form and no other."""
    if kind not in FORMS:
        raise ValueError(f"{kind} is no type of an attribute")
    scalar = kind.removesuffix("s")
    forms: dict[str, dict[str, Any]] = {
        "string": {"type": "string", "maxLength": 64},
        "version": {"type": "string", "minLength": 1, "maxLength": 64},
        "int": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
        "bool": {"type": "boolean"},
    }
    form = forms[scalar]
    if kind != scalar:
        form = {"type": "array", "maxItems": 64, "items": form}
    return {**_shape({kind: form}, kind), "additionalProperties": False}


def accepted(document: Mapping[str, Any], schema: Schema | None, file: File) -> Request:
    """The request of a document, projected to the schema's allow-list. Raises Broken."""
    where, version = str(file), version_of(document)
    for rule in (document_schema(str(version)), *(() if schema is None else (schema,))):
        first = next(violations(rule, document), None)
        if first is not None:
            raise Broken("schema", str(first), where)
    own = document.get("podClaimName") if file.from_template else document["metadata"]["name"]
    if own != file.claim:
        raise Broken("binding", "the file names another claim than its path", where)
    parts = document["requests"]
    if len(parts) != 1 or parts[0]["name"].partition("/")[0] != file.request:
        raise Broken("binding", "the file names another request than its path", where)
    devices = parts[0].get("devices", [])
    if any(device["driver"] != file.driver for device in devices):
        raise Broken("binding", "the file names another driver than its path", where)
    allowed = _device_part(schema)
    made = tuple(_device(device, allowed) for device in devices)
    return Request(parts[0]["name"], str(version), document["metadata"]["generation"], made)


def main(arguments: list[str]) -> int:
    """`reader.py [--claim C] [--request R] [--wait SECONDS] [--network] SCHEMA…`: tries once, as a probe."""
    import argparse

    parser = argparse.ArgumentParser(description="Whether valid device metadata is there.")
    for name in ("--claim", "--request"):
        parser.add_argument(name)
    parser.add_argument("--root", default=ROOT)
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--network", action="store_true")
    parser.add_argument("schemas", nargs="*")
    asked = parser.parse_args(arguments)
    schemas = [json.loads(content(Path(path))) for path in asked.schemas]
    try:
        read(
            asked.claim, asked.request, schemas=schemas, root=asked.root, wait=asked.wait,
            network=asked.network, environment={},
        )  # fmt: skip
    except MetadataError as fault:
        sys.stderr.write(f"{fault.state}: {fault}\n")
        return {"notYet": 1, "broken": 2, "notSupported": 3}[fault.state]
    return 0


def _read_once(
    claim: str | None,
    request: str | None,
    schemas: Iterable[Schema] | Mapping[str, Iterable[Schema]],
    listed: list[Schema],
    root: str | Path,
    versions: tuple[str, ...],
    network: bool,
) -> Metadata:
    files = find(root, claim, request)
    if not files:
        raise NotSupported(
            "absent", "no metadata file is mounted here", f"claim {claim}" if claim else ""
        )
    claims: dict[str, Claim] = {}
    for file in files:
        head, made = _of_file(file, schemas, listed, versions)
        if network and not all(device.network for device in made.devices):
            raise NotYet("noNetworkData", "network data is not there yet", str(file))
        name = file.claim
        if name in claims and claims[name].from_template != file.from_template:
            name = f"{BY_TEMPLATE if file.from_template else BY_NAME}/{name}"
        before = claims.get(name)
        requests = dict(before.requests) if before is not None else {}
        if before is not None and before.uid != head["uid"]:
            raise Broken("binding", "files of one claim name several", str(file))
        if made_before := requests.get(file.request):
            made = Request(
                made.name, made.version, made.generation, (*made_before.devices, *made.devices)
            )
        requests[file.request] = made
        claims[name] = Claim(
            file.claim, head["name"], head["namespace"], head["uid"], file.from_template, requests
        )
    return Metadata("file", claims)


def _of_file(
    file: File,
    schemas: Iterable[Schema] | Mapping[str, Iterable[Schema]],
    listed: list[Schema],
    versions: tuple[str, ...],
) -> tuple[dict[str, Any], Request]:
    """The head of the document that is taken, and its request."""
    bounds = [schema[FACTS]["maxBytes"] for schema in listed if "maxBytes" in schema.get(FACTS, {})]
    data = content(file.path, max(bounds, default=MAX_BYTES), str(file))
    known = [one for one in documents(data, str(file)) if version_of(one) in versions]
    if not known:
        raise NotSupported("unknownVersion", "no version in the file is known here", str(file))
    document = min(known, key=lambda one: versions.index(str(version_of(one))))
    schema = _schema_for(document, schemas, listed, file)
    if schema is not None and len(data) > schema.get(FACTS, {}).get("maxBytes", MAX_BYTES):
        raise Broken("tooLarge", f"more than {schema[FACTS]['maxBytes']} bytes", str(file))
    made = accepted(document, schema, file)
    return document["metadata"], made


def _schema_for(
    document: Mapping[str, Any],
    schemas: Iterable[Schema] | Mapping[str, Iterable[Schema]],
    listed: list[Schema],
    file: File,
) -> Schema | None:
    if not listed:
        return None
    mine: Iterable[Schema] = listed
    if isinstance(schemas, Mapping):
        parts = document.get("requests")
        part = parts[0] if isinstance(parts, list) and parts else None
        name = part.get("name") if isinstance(part, dict) else None
        mine = schemas.get(str(name), schemas.get(file.request, ()))
    wanted = {"driver": file.driver, "version": version_of(document)}
    fit = [one for one in mine if all(one.get(FACTS, {}).get(key) == wanted[key] for key in wanted)]
    if not fit:
        raise Broken("noSchema", f"no schema is for this driver and {wanted['version']}", str(file))
    if len(fit) > 1:
        raise ValueError(f"several schemas are for {file.driver}: give them by request")
    return fit[0]


def _device(device: Mapping[str, Any], allowed: Mapping[str, Any]) -> Device:
    listed = allowed.get("attributes", {}).get("properties", {})
    attributes: dict[str, Value] = {}
    for key, form in device.get("attributes", {}).items():
        if key in listed:
            (value,) = form.values()
            attributes[key] = tuple(value) if isinstance(value, list) else value
    network = None
    if (data := device.get("networkData")) and "networkData" in allowed:
        network = Network(
            data.get("interfaceName"), tuple(data.get("ips", ())), data.get("hardwareAddress")
        )
    return Device(device["driver"], device["pool"], device["name"], attributes, network)


def _device_part(schema: Schema | None) -> Mapping[str, Any]:
    part: Any = {} if schema is None else schema
    for key in ("properties", "requests", "items", "properties", "devices", "items", "properties"):
        part = part.get(key, {})
    return part if isinstance(part, Mapping) else {}


def _fall_back(
    fault: NotSupported, schemas: list[Schema], environment: Mapping[str, str]
) -> Metadata:
    devices: dict[str, Device] = {}
    for schema in schemas:
        facts = schema.get(FACTS, {})
        fallback = facts.get("fallback", {})
        if fallback.get("to") == "legacyPath" and Path(fallback["path"]).exists():
            return Metadata("legacyPath", legacy_path=fallback["path"])
        if fallback.get("to") == "environment":
            listed = _device_part(schema).get("attributes", {}).get("properties", {})
            named = {
                key: _from_text(environment[name], listed[key])
                for key, name in fallback["variables"].items()
                if key in listed and name in environment
            }
            said = {key: value for key, value in named.items() if value is not None}
            if said:
                devices[str(facts.get("tier"))] = Device(str(facts["driver"]), None, None, said)
    if not devices:
        raise fault
    return Metadata("environment", fallback_devices=tuple(devices.values()))


def _from_text(text: str, schema: Schema) -> Value | None:
    """A value of the environment as the attribute's type; None where it is no such value."""
    (kind,) = schema["required"]
    value: Any = text
    if kind == "int":
        value = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None
    elif kind == "bool":
        value = {"true": True, "false": False}.get(text)
    elif kind.endswith("s"):
        return None
    return None if next(violations(schema, {kind: value}), None) else value


def _listed(schemas: Iterable[Schema] | Mapping[str, Iterable[Schema]]) -> Iterator[Schema]:
    if isinstance(schemas, Mapping):
        for some in schemas.values():
            yield from some
    else:
        yield from schemas


def _names(folder: Path, wanted: str | None, *, folders: bool = True) -> list[str]:
    """What lies in a folder, sorted. A link where a folder should be is a fault, a missing folder none."""
    if folder.is_symlink():
        raise Broken("link", "a symbolic link stands where a folder should")
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_dir() or not folders]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise Broken("unreadable", f"a folder can't be read: {fault.strerror}") from None
    return sorted(name for name in found if wanted in (None, name))


def _measure(text: str, where: str) -> bool:
    """Whether something is left open at the end. Raises Broken where nesting is too deep."""
    depth, end = 0, 0
    for token in _TOKENS.finditer(text):
        mark, end = token[0], token.end()
        depth += (mark in "[{") - (mark in "]}") if len(mark) == 1 else 0
        if depth > MAX_DEPTH:
            raise Broken(
                "tooDeep", f"values are nested deeper than {MAX_DEPTH}", where, token.start()
            )
    return depth > 0 or '"' in text[end:]


def _object(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise Broken(
                "duplicateKey", f"key {json.dumps(key[:64])} stands twice in one object", where
            )
        made[key] = value
    return made


def _integer(digits: str, where: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        _refuse("number", "an integer of more than 64 bits", where)
    return int(digits)


def _fraction(digits: str, where: str) -> float:
    value = float(digits) if len(digits) <= 64 else float("inf")
    return value if abs(value) < 1e308 else _refuse("number", "a number that is too large", where)


def _refuse(fault: Fault, message: str, where: str) -> Any:
    raise Broken(fault, message, where)


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space is not None else place


def _shape(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": dict(properties)}


def _plain(wanted: Any) -> str:
    return json.dumps(wanted) if isinstance(wanted, str | int | bool | list) else "one of its own"


def _is(value: Any, kind: str) -> bool:
    of = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}[kind]
    return isinstance(value, of) and not (kind == "integer" and isinstance(value, bool))


_ANNOTATIONS = frozenset(
    (
        "$schema",
        "$id",
        "$comment",
        "title",
        "description",
        "properties",
        "additionalProperties",
        "items",
        FACTS,
    )
)
_KEYWORDS: Mapping[str, Any] = {
    "type": _is,
    "const": lambda value, wanted: value == wanted,
    "required": lambda value, wanted: not isinstance(value, dict) or not set(wanted) - value.keys(),
    "minLength": lambda value, least: not isinstance(value, str) or len(value) >= least,
    "maxLength": lambda value, most: not isinstance(value, str) or len(value) <= most,
    "minItems": lambda value, least: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda value, most: not isinstance(value, list) or len(value) <= most,
    "maxProperties": lambda value, most: not isinstance(value, dict) or len(value) <= most,
    "minimum": lambda value, least: not _is(value, "integer") or value >= least,
    "maximum": lambda value, most: not _is(value, "integer") or value <= most,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
