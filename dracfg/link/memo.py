"""Answers about a catalog that are worked out once, however many rules and families ask for them.

A catalog never changes, so a pure function of it has one answer; it is forgotten with the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from dracfg.link.catalog import Catalog

_P = ParamSpec("_P")
_R = TypeVar("_R")


def per_catalog(
    function: Callable[Concatenate[Catalog, _P], _R],
) -> Callable[Concatenate[Catalog, _P], _R]:
    """Remember what a pure function says of a catalog and of what else it is given by position."""
    known: WeakKeyDictionary[Catalog, dict[tuple[Hashable, ...], _R]] = WeakKeyDictionary()

    @wraps(function)
    def remembered(catalog: Catalog, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        answers = known.get(catalog)
        if answers is None:
            answers = known[catalog] = {}
        elif args in answers:
            return answers[args]
        answer = answers[args] = function(catalog, *args, **kwargs)
        return answer

    return remembered
