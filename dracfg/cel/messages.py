"""The protobuf messages that the C++ engine carries in place of opaque values.

The engine passes protobuf messages through, but no Python objects. So every opaque type of
Kubernetes is a small message, made at run time from data/messages.yaml, and so are the objects of
admission (`request`, `namespaceObject`) and the parse tree that the engine hands out.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from google.protobuf import (
    any_pb2,
    duration_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from dracfg.cel.functions.authorizer import Authorizer, Check, Decision
from dracfg.cel.functions.formats import NamedFormat
from dracfg.cel.functions.networks import Block
from dracfg.cel.functions.urls import Url
from dracfg.cel.semver import Semver
from dracfg.cel.signatures import message_table
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

__all__ = ["Pools", "decode", "encode", "message_from_json", "pools"]

FIELD = re.compile(r"(?P<number>\d+) (?P<type>[\w.]+)(?P<repeated>\[\])?(?:\{(?P<key>\w+)\})?")
SCALARS = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}
WELL_KNOWN = (any_pb2, duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)


@dataclass(frozen=True, slots=True)
class Pools:
    """`values` holds what expressions may see, `syntax` the parse tree; apart, so that no expression
    can name a type of the parse tree."""

    values: DescriptorPool
    syntax: DescriptorPool

    def value(self, name: str) -> Any:
        """The class of a value message."""
        return GetMessageClass(self.values.FindMessageTypeByName(name))

    def tree(self, name: str) -> Any:
        """The class of a message of the parse tree."""
        return GetMessageClass(self.syntax.FindMessageTypeByName(name))


@cache
def pools() -> Pools:
    """The two pools, made once a process."""
    data = message_table()
    return Pools(_pool({**data["opaque"], **data["objects"]}), _pool(data["syntax"]))


def _pool(messages: Mapping[str, Mapping[str, str]]) -> DescriptorPool:
    pool = DescriptorPool()
    for module in WELL_KNOWN:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    packages = sorted({name.rpartition(".")[0] for name in messages})
    for package in packages:
        names = [name for name in messages if name.rpartition(".")[0] == package]
        pool.AddSerializedFile(_file(package, names, messages).SerializeToString())
    return pool


def _file(
    package: str, names: Iterable[str], messages: Mapping[str, Mapping[str, str]]
) -> FileDescriptorProto:
    file = FileDescriptorProto(
        name=f"dracfg/{package}.proto",
        package=package,
        syntax="proto3",
        dependency=[module.DESCRIPTOR.name for module in WELL_KNOWN],
    )
    for name in names:
        message = file.message_type.add(name=name.rpartition(".")[2])
        fields = dict(messages[name])
        if oneof := fields.pop("oneof", None):
            message.oneof_decl.add(name=oneof)
        for field, text in fields.items():
            _add_field(message, name, field, text, in_oneof=oneof is not None)
    return file


def _add_field(
    message: DescriptorProto, owner: str, name: str, text: str, *, in_oneof: bool
) -> None:
    match = FIELD.fullmatch(text)
    if match is None:
        raise ValueError(f"{owner}.{name}: {text!r} is not a field")
    field = message.field.add(name=name, json_name=name, number=int(match["number"]))
    if match["key"]:
        entry_name = f"{name.title().replace('_', '')}Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        _set_type(entry.field.add(name="key", number=1, label=1), match["key"])
        _set_type(entry.field.add(name="value", number=2, label=1), match["type"])
        _set_type(field, f"{owner}.{entry_name}")
    else:
        _set_type(field, match["type"])
    repeated = match["key"] or match["repeated"]
    field.label = (
        FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
    )
    if in_oneof:
        field.oneof_index = 0


def _set_type(field: FieldDescriptorProto, name: str) -> None:
    if name in SCALARS:
        field.type = SCALARS[name]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{name}"


def encode(value: Any, wanted: str = "") -> Any:
    """A value for the engine; `wanted` names the message type where the value alone does not tell."""
    if isinstance(value, (str, bool, int, float)) or value is None:
        return value
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, Quantity):
        return pools().value("kubernetes.Quantity")(nano=str(value.nano))
    if isinstance(value, NamedFormat):
        return pools().value("kubernetes.NamedFormat")(name=value.name)
    if isinstance(value, Authorizer):
        name = wanted or "kubernetes.authorization.Authorizer"
        return pools().value(name)(text=_write_authorizer(value))
    if isinstance(value, Decision):
        return pools().value("kubernetes.authorization.Decision")(text=json.dumps(asdict(value)))
    if type(value) in TEXTS:
        return pools().value(TEXTS[type(value)])(text=str(value))
    return value


def decode(value: Any) -> Any:
    """A value from the engine as a Python value."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, Message):
        reader = READERS.get(value.DESCRIPTOR.full_name)
        return reader(value) if reader else value
    return value


def message_from_json(name: str, document: Mapping[str, Any]) -> Message:
    """A message of `objects` from the JSON form of the Kubernetes object; unknown fields are left out."""
    from google.protobuf import json_format  # no selector and no policy is given an object

    message: Message = pools().value(name)()
    json_format.ParseDict(
        dict(document), message, ignore_unknown_fields=True, descriptor_pool=pools().values
    )
    return message


def _write_authorizer(value: Authorizer) -> str:
    decisions = [[asdict(check), asdict(decision)] for check, decision in value.decisions.items()]
    return json.dumps({"decisions": decisions, "check": asdict(value.check)})


def _read_authorizer(text: str) -> Authorizer:
    document = json.loads(text)
    decisions = {Check(**check): Decision(**decision) for check, decision in document["decisions"]}
    return Authorizer(decisions, Check(**document["check"]))


TEXTS: Mapping[type, str] = {
    Semver: "kubernetes.Semver",
    Url: "kubernetes.URL",
    Block: "net.CIDR",
    ipaddress.IPv4Address: "net.IP",
    ipaddress.IPv6Address: "net.IP",
}
READERS: Mapping[str, Callable[[Any], Any]] = {
    "kubernetes.Quantity": lambda message: Quantity(int(message.nano)),
    "kubernetes.Semver": lambda message: Semver.parse(message.text),
    "kubernetes.URL": lambda message: Url(message.text),
    "kubernetes.NamedFormat": lambda message: NamedFormat(message.name),
    "net.IP": lambda message: ipaddress.ip_address(message.text),
    "net.CIDR": lambda message: Block.parse(message.text),
    "kubernetes.authorization.Decision": lambda message: Decision(**json.loads(message.text)),
    **{
        f"kubernetes.authorization.{name}": lambda message: _read_authorizer(message.text)
        for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck")
    },
}
