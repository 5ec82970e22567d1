"""Codes that a run shows, and those that it leaves out."""

import pytest

from dracfg.diagnostics import diagnose
from dracfg.diagnostics.selection import Selection, UnknownCode, beginnings


@pytest.mark.parametrize(
    ("select", "ignore", "code", "shown"),
    [
        ((), (), "CAP004", True),
        (("CAP",), (), "CAP004", True),
        (("CAP",), (), "SHR004", False),
        ((), ("CAP",), "CAP004", False),
        ((), ("CAP",), "SHR004", True),
        (("CAP",), ("CAP004",), "CAP004", False),
        (("CAP",), ("CAP004",), "CAP003", True),
        (("CAP004",), ("CAP",), "CAP004", True),
        (("CAP004",), ("CAP",), "CAP003", False),
        (("CAP004",), ("CAP004",), "CAP004", False),
        (("SHR", "CAP00"), (), "CAP007", True),
    ],
)
def test_holds(select: tuple[str, ...], ignore: tuple[str, ...], code: str, shown: bool) -> None:
    assert Selection(select, ignore).holds(code) is shown


def test_of_findings() -> None:
    found = [diagnose("CAP004", None, "a"), diagnose("SHR004", None, "b")]
    assert Selection(("SHR",)).of(found) == (found[1],)


def test_lists_are_taken_apart() -> None:
    assert beginnings(["CAP004, SHR", "TEN01"]) == ("CAP004", "SHR", "TEN01")


@pytest.mark.parametrize(
    ("name", "near"), [("CAP999", "CAP001"), ("cap004", "CAP004"), ("SHX", "SHR"), ("zzz", None)]
)
def test_unknown_codes(name: str, near: str | None) -> None:
    with pytest.raises(UnknownCode) as unknown:
        beginnings([name])
    assert unknown.value.name == name
    assert (unknown.value.near is None) == (near is None)
    if name != "CAP999":
        assert unknown.value.near == near
