"""Where things stand under out/: which folder is a unit, which are synced to a cluster.

Paths are relative to out/ and use `/`. Knows names only, never looks at a disk.
"""

import re
from collections.abc import Container, Iterator

OUT = "out"
"""The folder of the tree, below the root of a repository."""
LOCK_NAME = "dracfg.lock.json"
STAGE_NAME = re.compile(r"\.dracfg-stage-([1-9][0-9]*)")

_NESTING = (frozenset({"tenants", "nodes"}), frozenset({"argocd", "flux"}))
"""Folders that hold one unit a sub-folder: below a cluster, and below `gitops/`."""
_NO_NAMES = frozenset({"", ".", ".."})
_SYNCED_LAYER = re.compile(r"(guard|platform)(\.[0-9]+)?")


def stage_name(pid: int) -> str:
    """Return the name of the folder in which the process `pid` prepares its changes."""
    return f".dracfg-stage-{pid}"


def prefixes(path: str) -> Iterator[str]:
    """Yield the folders that hold `path`, outermost first, and at last `path` itself."""
    end = path.find("/")
    while end != -1:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


def stays_inside(path: str) -> bool:
    """Tell whether `path` is relative, has no `.`, `..` or empty part, and so stays where it is."""
    parts = path.split("/")
    safe = not ("\\" in path or "\0" in path or ":" in parts[0])
    return safe and _NO_NAMES.isdisjoint(parts)


def unit_of(path: str, known: Container[str]) -> str:
    """Return the unit that a file belongs to; empty where it lies above all units.

    A known unit holds everything beneath it. Elsewhere the layout decides: `gitops/argocd/X`,
    `gitops/flux/X`, `gitops/X`, `<cluster>/tenants/X`, `<cluster>/nodes/X`, `<cluster>/X`.
    """
    for prefix in prefixes(path):
        if prefix in known and prefix != path:
            return prefix
    parts = path.split("/")
    depth = 3 if len(parts) > 1 and parts[1] in _NESTING[parts[0] == "gitops"] else 2
    return "/".join(parts[:depth]) if len(parts) > depth else ""


def is_synced(path: str) -> bool:
    """Tell whether a file lies in a folder that an engine applies to a cluster."""
    parts = path.split("/")
    if len(parts) < 3:
        return False
    if parts[0] == "gitops":
        return len(parts) > 3 and parts[1] in ("argocd", "flux")
    if parts[1] == "tenants":
        return len(parts) > 3
    return _SYNCED_LAYER.fullmatch(parts[1]) is not None
