"""A repository compiled for another minor than the one that its Cluster names."""

from __future__ import annotations

import shutil
from pathlib import Path

from dracfg.cli.main import invoke
from tests.cluster.emitted import Emitted

FAULTS = Emitted(Path(__file__).parent / "data" / "faults", "faults", "1.36")
"""What the faults are tried on; it compiles for every minor, and stands without out/."""


def moved(tree: Emitted, minor: str, folder: Path) -> Emitted:
    """A copy in a new folder, compiled for the minor."""
    for name in ("catalog", "tenants"):
        shutil.copytree(tree.repository / name, folder / name)
    for file in (folder / "catalog").rglob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(f'"{tree.minor}"', f'"{minor}"'), encoding="utf-8")
    assert invoke(["compile", "-q", "-C", str(folder)]) == 0
    return Emitted(folder, tree.cluster, minor)
