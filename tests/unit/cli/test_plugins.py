"""Pydantic finds no plugins, works as ever, and still has its own module for anything else."""

import subprocess
import sys

import pytest

MODEL = """
import sys
from dracfg.cli.plugins import leave_out_plugins
leave_out_plugins()
from pydantic import BaseModel
class Model(BaseModel):
    x: int
assert Model.model_validate({"x": "1"}).x == 1
"""
READ = "importlib.metadata"
"""What pydantic's own module imports."""


def said(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", MODEL + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("switch", "read"), [({}, "False"), ({"PYDANTIC_DISABLE_PLUGINS": "logfire"}, "True")]
)
def test_packages_are_searched_only_where_plugins_are_wanted(
    switch: dict[str, str], read: str
) -> None:
    assert said(f"print({READ!r} in sys.modules)", **switch) == read


def test_anything_else_comes_from_pydantic() -> None:
    code = """
from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP, get_plugins
from pydantic.plugin import _loader
print(PYDANTIC_ENTRY_POINT_GROUP, [*get_plugins()], [*_loader.get_plugins()], _loader.__file__[-10:])
"""
    assert said(code) == "pydantic [] [] _loader.py"
