"""A package imports only what stands to its left; nothing reads, writes or prints outside its room."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "dracfg"
ORDER = (
    "metadata",
    "dataclass",
    "packaged",
    "aside",
    "executors",
    "diagnostics",
    "kube",
    "cel",
    "source",
    "model",
    "format",
    "link",
    "lower",
    "allocate",
    "plan",
    "check",
    "audit",
    "show",
    "policytest",
    "emit",
    "live",
    "metafiles",
    "passes",
    "refusals",
    "cache",
    "scope",
    "inventories",
    "checking",
    "reading",
    "building",
    "terms",
    "judging",
    "pipeline",
    "outcomes",
    "shards",
    "picture",
    "diff",
    "migrate",
    "rollout",
    "draft",
    "report",
    "amending",
    "cli",
)
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 400
COPIED_WHOLE = {"dracfg.metadata.reader": 700}
"""An application takes this module alone, so that it can't be split."""
PACKAGE_DATA = {"dracfg.link.presets"}
"""Who reads data of other packages; those of our own are read by their loader, in `dracfg.packaged`."""


def room(module: str) -> str:
    return module.split(".")[1] if module.count(".") else ""


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def name_of(path: Path) -> str:
    return ".".join(("dracfg", *path.relative_to(PACKAGE).with_suffix("").parts))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_left(path: Path) -> None:
    here = room(name_of(path))
    if here not in ORDER:
        return
    allowed = ORDER[: ORDER.index(here) + 1]
    wrong = {
        module
        for module in imported(ast.parse(path.read_text()))
        if module.startswith("dracfg.") and room(module) not in allowed
    }
    assert not wrong, f"{name_of(path)} imports from its right: {sorted(wrong)}"


def calls(path: Path, *names: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in names:
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno} {name}")
    return found


def test_only_cli_prints() -> None:
    found = [
        c for path in MODULES if room(name_of(path)) != "cli" for c in calls(path, "print", "echo")
    ]
    assert not found


def test_only_emit_cache_and_cli_write_files() -> None:
    found = [
        call
        for path in MODULES
        if room(name_of(path)) not in ("emit", "cache", "cli")
        for call in calls(
            path, "write_text", "write_bytes", "mkdir", "unlink", "rename", "symlink_to"
        )
    ]
    assert not found


def test_only_source_and_emit_read_the_users_files() -> None:
    """Package data are read where they lie; everything else comes through `source`.

    `metadata` is for applications, which read the files of their devices with it.
    """
    found = {
        name_of(path)
        for path in MODULES
        if room(name_of(path)) not in ("metadata", "source", "emit", "cache", "cli")
        and calls(path, "read_text", "read_bytes", "open")
    }
    assert found == PACKAGE_DATA


def test_modules_stay_readable() -> None:
    long = {
        name_of(p): n
        for p in MODULES
        if (n := p.read_text().count("\n")) > COPIED_WHOLE.get(name_of(p), LONGEST)
    }
    assert not long


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(p) for p in MODULES if not ast.get_docstring(ast.parse(p.read_text()))]
    assert not silent


def test_no_room_is_left_out_of_the_order() -> None:
    rooms = {room(name_of(path)) for path in MODULES} - {"", "__init__", "__main__"}
    assert rooms == set(ORDER)


def test_the_public_api_is_there() -> None:
    import dracfg
    from dracfg import pipeline

    assert dracfg.load is pipeline.judge
    assert dracfg.compile is pipeline.compile_repository


def test_the_reader_stands_alone() -> None:
    """It is copied into applications, so nothing but the standard library is imported."""
    path = PACKAGE / "metadata" / "reader.py"
    names = {module.split(".")[0] for module in imported(ast.parse(path.read_text()))}
    assert names <= sys.stdlib_module_names
