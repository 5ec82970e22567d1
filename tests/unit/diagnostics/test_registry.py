"""A code is born once."""

from importlib.resources import files

from dracfg.diagnostics.registry import rules
from dracfg.source.composer import compose


def test_no_code_stands_twice() -> None:
    text = files("dracfg.diagnostics").joinpath("rules.yaml").read_text(encoding="utf-8")
    documents, faults = compose("rules.yaml", text)
    assert not [fault.message for fault in faults]
    assert len(documents) == 1


def test_codes_are_three_letters_and_three_digits() -> None:
    assert all(len(code) == 6 and code[:3].isupper() and code[3:].isdigit() for code in rules())
