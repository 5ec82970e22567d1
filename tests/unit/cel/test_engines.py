"""The checking engine is taken where it is installed, the interpreting one elsewhere."""

import sys

import pytest

from dracfg.cel import engines


@pytest.fixture(autouse=True)
def _forget_the_choice() -> None:
    engines.preferred_engine.cache_clear()


def test_the_checking_engine_comes_first() -> None:
    assert engines.preferred_engine().name == "cel-expr-python"


@pytest.mark.parametrize("missing", ["cel_expr_python", "google.protobuf"])
def test_the_interpreting_engine_stands_in(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        if name == missing:
            raise ModuleNotFoundError(name)
        return object()

    monkeypatch.setattr(engines, "find_spec", find)
    assert engines.preferred_engine().name == "cel-python"
    engines.preferred_engine.cache_clear()


def test_the_package_alone_loads_no_engine() -> None:
    import subprocess

    source = "import dracfg.cel, sys; print([m for m in ('celpy', 'cel_expr_python') if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
