"""Codes of gRPC by what they say of a failed call to a driver: it passes, it never will, or ill hardware.

The facts lie in data/grpc.yaml. It may not know of events, metrics or what is done about a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from dracfg.packaged import read_data

__all__ = ["CodeClass", "codes_by_class"]

CodeClass = Literal["transient", "parameters", "health"]


@cache
def codes_by_class() -> Mapping[CodeClass, tuple[str, ...]]:
    """The codes of each class, by name, spelled as gRPC writes them in messages and metrics."""
    listed = read_data("dracfg.kube", "data/grpc.yaml")["codes"]
    return {name: tuple(codes) for name, codes in listed.items()}
