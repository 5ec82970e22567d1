"""Every synced unit builds with the kustomize of a real kubectl, to the objects that stand in it."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

OUT = Path(__file__).parents[2] / "out"
UNITS = sorted(path.parent for path in OUT.glob("**/kustomization.yaml"))

pytestmark = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl is not on the PATH"
)


def objects(texts: list[str]) -> list[dict]:
    return [thing for text in texts for thing in yaml.safe_load_all(text) if thing]


def key(thing: dict) -> tuple[str, str, str, str]:
    metadata = thing["metadata"]
    return thing["apiVersion"], thing["kind"], metadata.get("namespace", ""), metadata["name"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.relative_to(OUT).as_posix())
def test_unit_builds(unit: Path) -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", str(unit)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    listed = yaml.safe_load((unit / "kustomization.yaml").read_text())["resources"]
    standing = objects([(unit / name).read_text() for name in listed])
    made = objects([built.stdout])
    assert made == standing, "kustomize changes or reorders what is written"
    assert len({key(thing) for thing in made}) == len(made)


def test_there_are_units() -> None:
    assert len(UNITS) > 10
