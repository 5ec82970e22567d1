"""Choose the engine: the checking one where its wheel is installed, else the interpreting one."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from dracfg.cel.scope import Engine

__all__ = ["checking_engine", "interpreting_engine", "preferred_engine"]


@cache
def checking_engine() -> Engine:
    """The engine with a type checker; ImportError where cel-expr-python is not installed."""
    from dracfg.cel.checked import CheckingEngine

    return CheckingEngine()


@cache
def interpreting_engine() -> Engine:
    """The engine without types; ImportError where cel-python is not installed."""
    from dracfg.cel.interpreted import InterpretingEngine

    return InterpretingEngine()


@cache
def preferred_engine() -> Engine:
    """The first of the two that is installed."""
    has_checker = _is_installed("cel_expr_python") and _is_installed("google.protobuf")
    return checking_engine() if has_checker else interpreting_engine()


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
