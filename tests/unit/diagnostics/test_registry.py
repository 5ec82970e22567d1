"""A code is born once."""

from importlib.resources import files

import pytest

from dracfg.diagnostics.registry import families, rules
from dracfg.source.composer import compose


def test_no_code_stands_twice() -> None:
    text = files("dracfg.diagnostics").joinpath("rules.yaml").read_text(encoding="utf-8")
    documents, faults = compose("rules.yaml", text)
    assert not [fault.message for fault in faults]
    assert len(documents) == 1


def test_codes_are_three_letters_and_three_digits() -> None:
    assert all(len(code) == 6 and code[:3].isupper() and code[3:].isdigit() for code in rules())


def test_every_code_is_of_a_family() -> None:
    assert {code[:3] for code in rules()} <= set(families())


@pytest.mark.parametrize(
    ("code", "waivable"),
    [
        ("SRC001", "never"),
        ("OBJ003", "never"),
        ("OBJ017", "anywhere"),
        ("CAP004", "anywhere"),
        ("OWN007", "catalog"),
        ("TEN018", "anywhere"),
        ("MOD024", "never"),
    ],
)
def test_where_a_code_is_waived(code: str, waivable: str) -> None:
    """An error as its family says, anything else anywhere, unless the rule says otherwise."""
    assert rules()[code].waivable == waivable
