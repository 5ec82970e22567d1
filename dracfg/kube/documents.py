"""Read the YAML documents that are shipped inside this package.

Knows where the data lies and which loader is fastest; knows nothing of what a document means.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

__all__ = ["read_document"]


def read_document(name: str) -> dict[str, Any]:
    """The mapping in `dracfg/kube/data/<name>.yaml`, with plain Python values.

    Callers cache what they build from it; the document itself is not kept.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = (resources.files("dracfg.kube") / "data" / f"{name}.yaml").read_text("utf-8")
    document: dict[str, Any] = yaml.load(text, Loader=loader)
    return document
