"""What a start may import: counted in modules, as seconds differ from machine to machine."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("arguments", "most", "never"),
    [
        (["--help"], 320, ("pydantic", "yaml", "jinja2", "jsonschema", "jsonschema_rs", "asyncio")),
        (
            ["--version"],
            320,
            ("pydantic", "yaml", "jinja2", "jsonschema", "jsonschema_rs", "asyncio"),
        ),
    ],
)
def test_imports(arguments: list[str], most: int, never: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom dracfg.cli.main import invoke\n"
        f"invoke({arguments!r})\nprint('\\n'.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded.intersection(never)
    assert len(loaded) < most
