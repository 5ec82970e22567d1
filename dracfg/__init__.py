"""dracfg compiles a catalog of devices and its tenants into Kubernetes DRA manifests.

The Python API is what the command line uses: `load(root)` judges a repository and gives its
catalog, units and findings; `compile(root)` writes its tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dracfg.pipeline import compile_repository as compile  # noqa: A004  the name users call
    from dracfg.pipeline import judge as load

__version__ = "0.1.0"
__all__ = ["__version__", "compile", "load"]

_API = {"compile": "compile_repository", "load": "judge"}


def __getattr__(name: str) -> Any:
    """Imports the pipeline when it is first asked for, so that `dracfg --help` stays quick."""
    if name in _API:
        from dracfg import pipeline

        return getattr(pipeline, _API[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
