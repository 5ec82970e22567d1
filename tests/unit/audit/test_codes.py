"""Each code of the live level is one that some rule gives out, and one that some test trips."""

import re
from pathlib import Path

from dracfg.diagnostics.registry import rules

PACKAGE = Path(__file__).parents[3] / "dracfg"
MINE = {code for code in rules() if "LIV030" <= code <= "LIV089"}


def codes_in(folder: Path) -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py")))
    return set(re.findall(r'"(LIV0[3-8][0-9])"', text))


def test_no_code_is_dead() -> None:
    assert codes_in(PACKAGE / "audit") == MINE


def test_every_code_is_tripped() -> None:
    assert codes_in(Path(__file__).parent) >= MINE


def test_every_code_is_of_the_live_level() -> None:
    assert {rules()[code].level for code in MINE} == {"live"}
