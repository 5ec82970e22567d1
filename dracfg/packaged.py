"""Reads the data that is shipped inside dracfg. Knows nothing of what a document means."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_TEXT = "tag:yaml.org,2002:str"


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
        return _value(loader, loader.get_single_node())
    finally:
        loader.dispose()


def _value(loader: Any, node: Any) -> Any:
    if node.id == "mapping":
        return {_value(loader, key): _value(loader, value) for key, value in node.value}
    if node.id == "sequence":
        return [_value(loader, item) for item in node.value]
    return node.value if node.tag == _TEXT else loader.construct_object(node)


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
