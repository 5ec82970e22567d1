"""One neighbour that is a Python package, in a process and an environment of its own.

Usage: evaluate.py TOOL FILE writes the objects to standard output; evaluate.py versions writes which
tools this interpreter has, as JSON; evaluate.py node-modules FOLDER unpacks what cdk8s' packages hold
for Node.js. Knows nothing of dracfg: an interpreter without it runs this.
"""

import importlib
import importlib.util
import json
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = {"gojsonnet": "gojsonnet", "rjsonnet": "rjsonnet", "kcl": "kcl-lib", "cdk8s": "cdk8s"}


def gojsonnet(path: Path) -> str:
    return str(importlib.import_module("_gojsonnet").evaluate_file(str(path)))


def rjsonnet(path: Path) -> str:
    return str(importlib.import_module("rjsonnet").evaluate_file(str(path)))


def kcl(path: Path) -> str:
    api = importlib.import_module("kcl_lib.api")
    result = api.API().exec_program(api.ExecProgramArgs(k_filename_list=[str(path)]))
    if result.err_message:
        raise SystemExit(result.err_message)
    return str(result.yaml_result)


def cdk8s(path: Path) -> str:
    """What an ApiObject has no argument for comes by patches, as its Python class wants it."""
    lib = importlib.import_module("cdk8s")
    app = lib.App()
    chart = lib.Chart(app, "all")
    for i, thing in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        api_version, kind, metadata = (thing.pop(key) for key in ("apiVersion", "kind", "metadata"))
        made = lib.ApiObject(chart, str(i), api_version=api_version, kind=kind, metadata=metadata)
        if thing:
            made.add_json_patch(
                *(lib.JsonPatch.add(f"/{key}", part) for key, part in thing.items())
            )
    return str(app.synth_yaml())


def versions() -> str:
    found = {}
    for tool, package in PACKAGES.items():
        try:
            found[tool] = version(package)
        except PackageNotFoundError:
            continue
    return json.dumps(found)


def node_modules(folder: Path) -> str:
    """cdk8s and constructs for Node.js; empty where the packages are missing or hold none."""
    for name in ("cdk8s", "constructs"):
        spec = importlib.util.find_spec(f"{name}._jsii")
        places = [] if spec is None else list(spec.submodule_search_locations or ())
        archives = [archive for place in places for archive in Path(place).glob("*.jsii.tgz")]
        if len(archives) != 1:
            return ""
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder / name, filter="data")
        # npm's archives hold everything in a folder `package`.
        for path in (folder / name / "package").iterdir():
            path.rename(folder / name / path.name)
    return str(folder)


TOOLS = {"gojsonnet": gojsonnet, "rjsonnet": rjsonnet, "kcl": kcl, "cdk8s": cdk8s}

if __name__ == "__main__":
    if sys.argv[1] == "versions":
        print(versions())
    elif sys.argv[1] == "node-modules":
        print(node_modules(Path(sys.argv[2])))
    else:
        sys.stdout.write(TOOLS[sys.argv[1]](Path(sys.argv[2])))
