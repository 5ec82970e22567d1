"""Reads the YAML data that is shipped inside dracfg. Knows nothing of what a document means."""

from __future__ import annotations

from importlib import resources
from typing import Any


def read_data(package: str, name: str) -> dict[str, Any]:
    """The mapping in `<package>/data/<name>.yaml`, with plain Python values.

    Callers cache what they build from it; the document itself is not kept.
    """
    import yaml

    text = (resources.files(package) / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = yaml.load(text, Loader=loader)
    return document
