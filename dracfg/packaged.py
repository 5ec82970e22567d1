"""Reads the data that is shipped inside dracfg. Knows nothing of what a document means."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_TEXTS = (None, "!", "tag:yaml.org,2002:str")
"""Tags of what is text as it stands."""


def read_data(package: str, path: str) -> Any:
    """The document in a file of a package, with plain Python values.

    `read_data("dracfg.kube", "data/limits.yaml")`. Callers cache what they build from it; the
    document itself is not kept.
    """
    return parse_data(text_of(package, path))


def parse_data(text: str) -> Any:
    """The document in a text of ours, as `yaml.safe_load` has it, in half the time.

    It needn't care for merge keys, nor for aliases that make a value hold itself.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        loader.get_event(), loader.get_event()  # a stream and its first document begin
        value = _reader(yaml, loader)(loader.get_event())
        loader.get_event()
        if loader.get_event().__class__ is not yaml.StreamEndEvent:
            raise ValueError("more than one document")
        return value
    finally:
        loader.dispose()


def _reader(yaml: Any, loader: Any) -> Callable[[Any], Any]:
    """Makes values of a parser's events, without the tree of nodes that PyYAML makes first."""
    following, made = loader.get_event, loader.construct_object
    implicit, anchored = loader.yaml_implicit_resolvers, dict[str, Any]()
    scalar, alias, node = yaml.ScalarEvent, yaml.AliasEvent, yaml.ScalarNode
    mapping, end_of_mapping = yaml.MappingStartEvent, yaml.MappingEndEvent
    end_of_sequence = yaml.SequenceEndEvent

    def read(event: Any) -> Any:
        kind = event.__class__
        value: Any
        if kind is scalar:
            value, tag = event.value, event.tag
            if event.implicit[0] and (forms := implicit.get(value[:1])):
                tag = next((one for one, form in forms if form.match(value)), None)
            if tag not in _TEXTS:
                value = made(node(tag, value))
        elif kind is mapping:
            value = {}
            while (key := following()).__class__ is not end_of_mapping:
                named = read(key)
                value[named] = read(following())
        elif kind is alias:
            return anchored[event.anchor]
        else:
            value = []
            while (item := following()).__class__ is not end_of_sequence:
                value.append(read(item))
        if event.anchor:
            anchored[event.anchor] = value
        return value

    return read


def text_of(package: str, path: str) -> str:
    """The text of a file of a package. Raises OSError where there is none.

    It is read as `importlib.resources` would, which takes longer to import than a run of which
    nothing changed takes as a whole: by the loader of the package.
    """
    module: Any = import_module(package)
    content: bytes = module.__loader__.get_data(str(_folder(module) / path))
    return content.decode("utf-8")


def packaged_text(package: str, path: str) -> str | None:
    """The text of a file of a package; None where there is none."""
    try:
        return text_of(package, path)
    except OSError:
        return None


def packaged_path(package: str, path: str) -> Path | None:
    """Where a file of a package lies on disk; None where there is none, or the package is an archive."""
    file = _folder(import_module(package)) / path
    return file if file.is_file() else None


def _folder(package: ModuleType) -> Path:
    """Of an archive's package, the name that its loader knows it by."""
    return Path(package.__path__[0])
