"""Keeps pydantic from looking for plugins, and from importing what it would look for them with."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_SWITCH, _ALL = "PYDANTIC_DISABLE_PLUGINS", "__all__"
_LOADER = "pydantic.plugin._loader"


class _NoPlugins(ModuleType):
    """Answers as pydantic's own module does where plugins are off, which imports all that reads the
    metadata of packages first: a fortieth of what a small repository takes as a whole.

    Whatever else it may be asked for is that module's.
    """

    def get_plugins(self) -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # whoever imports from a module asks whether it is a package
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def leave_out_plugins() -> None:
    """Without plugins from here on, unless the environment says which."""
    if os.environ.setdefault(_SWITCH, _ALL) == _ALL:
        sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))
