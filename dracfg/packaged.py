"""Reads the data that is shipped inside dracfg. Knows nothing of what a document means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_TEXT = "tag:yaml.org,2002:str"


def read_data(package: str, path: str) -> Any:
    """The document in a file of a package, with plain Python values.

    `read_data("dracfg.kube", "data/limits.yaml")`. Callers cache what they build from it; the
    document itself is not kept.
    """
    return parse_data(_file(package, path).read_text(encoding="utf-8"))


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


def packaged_text(package: str, path: str) -> str | None:
    """The text of a file of a package; None where there is none."""
    file = _file(package, path)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def packaged_path(package: str, path: str) -> Path | None:
    """Where a file of a package lies on disk; None where there is none, or the package is an archive."""
    file = _file(package, path)
    return file if isinstance(file, Path) and file.is_file() else None


def _file(package: str, path: str) -> Traversable:
    # Which takes longer than a run that reads nothing of the package.
    from importlib import resources

    return resources.files(package).joinpath(path)
