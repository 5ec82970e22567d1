"""Where metadata files lie, and what their paths say of claim, request and driver.

In containers `<root>/resourceclaims/<claim>/<request>/<driver>-metadata.json` (or
`resourceclaimtemplates/<pod claim>/…`), on nodes
`<plugins>/<driver>/dra-device-metadata/<namespace>_<claim>/<request>/metadata.json`. Opens no file.
Source: kubernetes/kubernetes staging/src/k8s.io/dynamic-resource-allocation/kubeletplugin/metadata.go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.metadata.reader import BY_NAME, BY_TEMPLATE, SUFFIX

HOST_FOLDER = "dra-device-metadata"
HOST_FILE = "metadata.json"

Kind = Literal["named", "template", "host", "loose"]
"""In a container by the claim's name or by the pod's, on a node, or a file by itself."""


@dataclass(frozen=True, slots=True)
class Located:
    """A file and what its path says; None for what it does not say."""

    path: Path
    kind: Kind
    claim: str | None = None
    namespace: str | None = None
    request: str | None = None
    driver: str | None = None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that belong to the claim, the innermost first."""
        return tuple(self.path.parents[:2]) if self.kind != "loose" else ()


def locate(path: Path) -> Iterator[Located]:
    """The file, or every metadata file and symbolic link below the folder, sorted; no link is followed."""
    if path.is_symlink() or not path.is_dir():
        yield located(path)
        return
    for folder, names, files in os.walk(path):
        names.sort()
        here = Path(folder)
        for name in sorted([*files, *(one for one in names if (here / one).is_symlink())]):
            found = here / name
            if name == HOST_FILE or name.endswith(SUFFIX) or found.is_symlink():
                yield located(found)


def located(path: Path) -> Located:
    """What one path says."""
    parts = path.absolute().parts
    if len(parts) >= 5 and parts[-4] in (BY_NAME, BY_TEMPLATE) and path.name.endswith(SUFFIX):
        kind: Kind = "template" if parts[-4] == BY_TEMPLATE else "named"
        driver = path.name.removesuffix(SUFFIX)
        return Located(path, kind, parts[-3], None, parts[-2], driver)
    if len(parts) >= 6 and parts[-4] == HOST_FOLDER and path.name == HOST_FILE:
        namespace, mark, claim = parts[-3].partition("_")
        if mark:
            return Located(path, "host", claim, namespace, parts[-2], parts[-5])
    return Located(path, "loose")
