"""Builds and asks the Go program, which holds Kubernetes' own allocator.

The allocators of 1.34 and 1.35, and the stable one of later minors, go through pools in the random
order of a Go map. So the program is built from a copy of the module in which they go by driver, then
by name, as the newer ones do. That is an order which the original takes as well, by chance.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SOURCE = Path(__file__).parent / "go"
BUILT = Path(__file__).parents[2] / ".cache" / "oracle"
MODULE = "k8s.io/dynamic-resource-allocation"

_IN_ORDER = """package {package}

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

func inOrder[V any](pools map[PoolID]V) iter.Seq2[PoolID, V] {{
	return func(yield func(PoolID, V) bool) {{
		for _, id := range slices.SortedFunc(maps.Keys(pools), func(a, b PoolID) int {{
			return cmp.Or(
				cmp.Compare(a.Driver.String(), b.Driver.String()),
				cmp.Compare(a.Pool.String(), b.Pool.String()),
			)
		}}) {{
			if !yield(id, pools[id]) {{
				return
			}}
		}}
	}}
}}
"""


class Unavailable(Exception):
    """Why the Go program can't be built here: no go, one that is too old, or no modules."""


@cache
def build(minor: str) -> Path:
    """The program of a minor, built where its source is newer.

    Raises Unavailable, and RuntimeError where the source does not compile.
    """
    program = BUILT / f"oracle-{minor}"
    parts = [*SOURCE.glob("*.go"), SOURCE / f"v{minor}.mod", Path(__file__)]
    if program.exists() and program.stat().st_mtime > max(p.stat().st_mtime for p in parts):
        return program
    if shutil.which("go") is None:
        raise Unavailable("go is not installed")
    BUILT.mkdir(parents=True, exist_ok=True)
    modfile = BUILT / f"v{minor}.mod"
    text = (SOURCE / f"v{minor}.mod").read_text()
    modfile.write_text(f"{text}\nreplace {MODULE} => {_ordered_copy(minor)}\n")
    shutil.copyfile(SOURCE / f"v{minor}.sum", modfile.with_suffix(".sum"))
    fresh = program.with_suffix(f".{os.getpid()}")
    _go("build", f"-modfile={modfile}", "-mod=mod", "-tags", f"v{minor}", "-o", str(fresh), ".")
    fresh.rename(program)
    return program


class Upstream:
    """The allocator of one minor, running; asked line by line."""

    def __init__(self, minor: str) -> None:
        self._process = subprocess.Popen(
            [build(minor)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def ask(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a case; ValueError where the program does not take it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        sent = {name: value for name, value in case.items() if name != "minor"}
        self._process.stdin.write(json.dumps(sent) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise ValueError("the Go program ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


def bench(minor: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """What placing all claims of a case one by one came to: see tests/oracle/go/bench.go."""
    sent = {name: value for name, value in case.items() if name != "minor"}
    done = subprocess.run(
        [build(minor), "-bench"],
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _ordered_copy(minor: str) -> Path:
    """A copy of the module in which the pools have an order."""
    modfile = SOURCE / f"v{minor}.mod"
    version = re.search(rf"{MODULE} (\S+)", modfile.read_text())
    assert version is not None
    try:
        _go("mod", "download", f"-modfile={modfile}")
        found = json.loads(_go("mod", "download", "-json", f"{MODULE}@{version[1]}"))
    except RuntimeError as error:
        raise Unavailable(str(error)) from error
    copy = BUILT / f"ordered-{minor}"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(found["Dir"], copy, copy_function=shutil.copyfile)
    for directory in [copy, *copy.rglob("*/")]:
        directory.chmod(0o755)
    for path in copy.glob("structured/internal/*/pools_*.go"):
        text, number = re.subn(r"range pools \{", "range inOrder(pools) {", path.read_text())
        assert number == 1, path
        path.write_text(text)
        path.with_name("order.go").write_text(_IN_ORDER.format(package=path.parent.name))
    return copy


def _go(*arguments: str) -> str:
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false"}
    done = subprocess.run(
        ["go", *arguments], cwd=SOURCE, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"go {arguments[0]} failed:\n{done.stderr}")
    return done.stdout
