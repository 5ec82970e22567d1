"""Comments that waive findings: what they say, where they hold, until when, and what of them is wrong."""

from datetime import date
from pathlib import Path
from typing import Literal

import pytest

from dracfg.check.waivers import read_waivers
from dracfg.check.waiving import waive
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.source import Sources, read_repository

TODAY = date(2026, 11, 29)
UNTIL = "until 2027-01-31 because of the next rack"


def sources(root: Path, **files: str) -> Sources:
    """Files of `tenants/` and `catalog/` by their stems: t_vision → tenants/vision.yaml."""
    for name, text in files.items():
        folder = {"t": "tenants", "c": "catalog"}[name[0]]
        path = root / folder / f"{name[2:]}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return read_repository(root)


def finding(code: str, path: str, line: int, column: int = 1) -> Diagnostic:
    return diagnose(code, Span(path, line, column, line, column + 1), "x")


def codes(
    root: Path,
    found: list[Diagnostic],
    today: date | None = TODAY,
    levels: tuple[Literal["intent", "inventory"], ...] = ("intent",),
    **files: str,
) -> tuple[list[str], list[str]]:
    """(codes of what is waived, codes of what stands) under the waivers of some files."""
    waivers, faults = read_waivers(sources(root, **files))
    after = waive([*found, *faults], waivers, today, levels)
    waived = [one.code for one in after if one.waived is not None]
    return waived, [one.code for one in after if one.waived is None]


VISION = "tenants/vision.yaml"


@pytest.mark.parametrize(
    ("text", "found", "waived", "standing"),
    [
        (f"a: 1 # dracfg: allow CAP004 {UNTIL}\nb: 2\n", [("CAP004", 1)], ["CAP004"], []),
        (f"a: 1 # dracfg: allow CAP004 {UNTIL}\nb: 2\n", [("CAP004", 2)], [], ["CAP004", "MOD024"]),
        (f"a: 1 # dracfg: allow CAP004 {UNTIL}\nb: 2\n", [("CAP003", 1)], [], ["CAP003", "MOD024"]),
        (f"a: 1 # why # dracfg:allow CAP004 {UNTIL}\n", [("CAP004", 1)], ["CAP004"], []),
        (
            f"# dracfg: allow CAP004,CAP003 {UNTIL}\na: 1\n",
            [("CAP003", 2), ("CAP004", 2)],
            ["CAP003", "CAP004"],
            [],
        ),
        (f"# dracfg: allow CAP004 {UNTIL}\n\n# other\na:\n  b: 1\nc: 2\n", [("CAP004", 5)], ["CAP004"], []),
        (
            f"# dracfg: allow CAP004 {UNTIL}\na:\n  b: 1\nc: 2\n",
            [("CAP004", 4)],
            [],
            ["CAP004", "MOD024"],
        ),
        (f"# dracfg: allow-file CAP004 {UNTIL}\na: 1\nb: 2\n", [("CAP004", 3)], ["CAP004"], []),
        (f'a: "# dracfg: allow CAP004 {UNTIL}"\n', [("CAP004", 1)], [], ["CAP004"]),
        (f"a: |\n  # dracfg: allow CAP004 {UNTIL}\n", [("CAP004", 1)], [], ["CAP004"]),
        ("a: 1 # dracfg: was example.com/gpu\n", [("CAP004", 1)], [], ["CAP004"]),
        (f"a: 1 # dracfg: allow INV022 {UNTIL}\n", [], [], []),
    ],
)  # fmt: skip
def test_where_a_waiver_holds(
    tmp_path: Path, text: str, found: list[tuple[str, int]], waived: list[str], standing: list[str]
) -> None:
    here = [finding(code, VISION, line, 3) for code, line in found]
    assert codes(tmp_path, here, t_vision=text) == (waived, standing)


@pytest.mark.parametrize(
    ("comment", "code", "part"),
    [
        ("allow", "MOD020", "the form"),
        ("allow CAP004", "MOD020", "a day that it ends on and a reason"),
        ("allow CAP004 because of x", "MOD020", "without a day that it ends on"),
        ("allow CAP004 until 2027-01-31", "MOD020", "without a reason"),
        ("allow CAP004 until 2027-02-30 because x", "MOD020", "which is no day"),
        ("allow CAP004 until soon because x", "MOD020", "which is no day"),
        ("allow CAP004 forever", "MOD020", "the form"),
        ("allow CAP004 in tenants/a.yaml until 2027-01-31 because x", "MOD020", "all of it"),
        (f"allow CAP999 {UNTIL}", "MOD021", "no code CAP999"),
        (f"allow CAP {UNTIL}", "MOD021", "no code CAP"),
        (f"allow cap004 {UNTIL}", "MOD021", "no code cap004"),
        (f"allow OBJ003 {UNTIL}", "MOD022", "can't be waived"),
        (f"allow MOD024 {UNTIL}", "MOD022", "can't be waived"),
        (f"allow OWN007 {UNTIL}", "MOD022", "only from catalog/"),
        (f"allow-file CAP004 in tenants/a.yaml {UNTIL}", "MOD022", "can't waive"),
    ],
)
def test_waivers_that_are_not_heeded(tmp_path: Path, comment: str, code: str, part: str) -> None:
    waivers, faults = read_waivers(sources(tmp_path, t_vision=f"a: 1 # dracfg: {comment}\n"))
    assert waivers == ()
    (fault,) = faults
    assert (fault.code, str(fault.span)) == (code, f"{VISION}:1:6")
    assert part in fault.message
    assert fault.help


def test_a_bad_code_does_not_spoil_the_others(tmp_path: Path) -> None:
    text = f"a: 1 # dracfg: allow CAP004, CAP999 {UNTIL}\n"
    assert codes(tmp_path, [finding("CAP004", VISION, 1)], t_vision=text) == (
        ["CAP004"],
        ["MOD021"],
    )


def test_the_platform_waives_for_a_tenant(tmp_path: Path) -> None:
    text = f"# dracfg: allow-file OWN006 in {VISION} {UNTIL}\na: 1\n"
    found = [finding("OWN006", VISION, 1), finding("OWN006", "tenants/search.yaml", 1)]
    assert codes(tmp_path, found, c_all=text, t_vision="b: 1\n") == (["OWN006"], ["OWN006"])


@pytest.mark.parametrize(
    ("today", "waived", "standing"),
    [
        (date(2027, 1, 31), ["CAP004"], []),
        (date(2027, 2, 1), [], ["CAP004", "MOD023"]),
        (None, ["CAP004"], ["MOD025"]),
    ],
)
def test_the_end_of_a_waiver(
    tmp_path: Path, today: date | None, waived: list[str], standing: list[str]
) -> None:
    text = f"a: 1 # dracfg: allow CAP004 {UNTIL}\n"
    found = [finding("CAP004", VISION, 1)]
    assert codes(tmp_path, found, today, t_vision=text) == (waived, standing)


def test_an_ended_waiver_is_not_called_unused_too(tmp_path: Path) -> None:
    text = f"a: 1 # dracfg: allow CAP004 {UNTIL}\n"
    assert codes(tmp_path, [], date(2028, 1, 1), t_vision=text) == ([], ["MOD023"])


def test_use_is_judged_only_of_levels_that_were_judged(tmp_path: Path) -> None:
    text = f"a: 1 # dracfg: allow INV022 {UNTIL}\n"
    assert codes(tmp_path, [], t_vision=text) == ([], [])
    assert codes(tmp_path, [], levels=("intent", "inventory"), t_vision=text) == ([], ["MOD024"])


def test_use_is_not_judged_where_documents_are_missing(tmp_path: Path) -> None:
    text = f"a: 1 # dracfg: allow CAP004 {UNTIL}\n"
    found = [finding("MOD004", "tenants/search.yaml", 1)]
    assert codes(tmp_path, found, t_vision=text) == ([], ["MOD004"])


def test_a_file_that_is_not_yaml_has_no_waivers(tmp_path: Path) -> None:
    text = f"a: [1 # dracfg: allow CAP004 {UNTIL}\n"
    assert read_waivers(sources(tmp_path, t_vision=text)) == ((), ())


def test_the_reason_and_the_day_are_kept(tmp_path: Path) -> None:
    waivers, _ = read_waivers(sources(tmp_path, t_vision=f"a: 1 # dracfg: allow CAP004 {UNTIL}\n"))
    (after,) = waive([finding("CAP004", VISION, 1)], waivers, TODAY, ("intent",))
    assert after.waived is not None
    assert (after.waived.until, after.waived.reason) == ("2027-01-31", "of the next rack")
