"""What the functions of the Kubernetes CEL libraries compute, in Python.

Keyed by name and by whether it is a member function (the receiver is then the first argument);
overloads that differ in type only share one function. Arguments and results are Python values and
the value classes of this package. A run-time error of CEL is a ValueError; Unmodelled says that
Kubernetes' answer is not known. No module here knows an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dracfg.cel.functions import (
    authorizer,
    formats,
    lists,
    networks,
    ordering,
    quantities,
    regexes,
    semvers,
    urls,
)

__all__ = ["IMPLEMENTATIONS", "Implementation"]

Implementation = Callable[..., Any]

IMPLEMENTATIONS: Mapping[tuple[str, bool], Implementation] = {
    **{
        (name, member): implementation
        for module in (
            authorizer,
            formats,
            lists,
            networks,
            ordering,
            quantities,
            regexes,
            semvers,
            urls,
        )
        for member, table in ((False, module.GLOBALS), (True, module.MEMBERS))
        for name, implementation in table.items()
    },
}
