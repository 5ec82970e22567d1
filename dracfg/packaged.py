"""Reads the data that is shipped inside dracfg. Knows nothing of what a document means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def read_data(package: str, path: str) -> Any:
    """The document in a file of a package, with plain Python values.

    `read_data("dracfg.kube", "data/limits.yaml")`. Callers cache what they build from it; the
    document itself is not kept.
    """
    import yaml

    text = _file(package, path).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def packaged_text(package: str, path: str) -> str | None:
    """The text of a file of a package; None where there is none."""
    file = _file(package, path)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def packaged_path(package: str, path: str) -> Path | None:
    """Where a file of a package lies on disk; None where there is none, or the package is an archive."""
    file = _file(package, path)
    return file if isinstance(file, Path) and file.is_file() else None


def _file(package: str, path: str) -> Traversable:
    from importlib import (
        resources,
    )  # which takes longer than a run that reads nothing of the package

    return resources.files(package).joinpath(path)
