"""The report in a real headless Chromium: layout, silence, accessibility, and tables by keyboard alone.

`.ci/install-browser.sh` brings what this needs. DRACFG_CHROMIUM and DRACFG_AXE name a browser and an
axe-core that lie elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dracfg.pipeline import judge
from dracfg.report.gathering import Facts, gather, report_of
from dracfg.report.page import page
from dracfg.report.pictures import draw
from tests.bench.fleet import fleet
from tests.unit.report.repositories import ROLLOUT, ROOT, crowded, example

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
)
CHROMIUM = os.environ.get("DRACFG_CHROMIUM") or shutil.which("chromium")
AXE = Path(os.environ.get("DRACFG_AXE", ROOT / ".cache" / "axe" / "axe.min.js"))
TENANTS = 120

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on the PATH")
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason=f"axe-core is not at {AXE}")

PAGES = ("example", "crowded", "rollout", "fleet")
every_page = pytest.mark.parametrize("name", PAGES)
every_width = pytest.mark.parametrize("width", [1280, 390])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by name: all proven with claims, refuted ones, one with a rollout, and one of many tenants."""
    folder = tmp_path_factory.mktemp("pages")
    fleet(TENANTS, 2).write(folder / "repository")
    facts: dict[str, Facts] = {
        "example": example(),
        "crowded": crowded(),
        "rollout": gather(judge(ROLLOUT), {}),
        "fleet": gather(judge(folder / "repository"), {}),
    }
    found = {}
    for name in PAGES:
        report = report_of(facts[name])
        found[name] = folder / f"{name}.html"
        found[name].write_text(page(report, draw(facts[name], report)), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def opened(browser: Any, file: Path, width: int = 1280, **options: Any) -> Iterator[Any]:
    """A tab with the page; fails where it says something, or asks for anything but itself."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    tab = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(file.as_uri())
    yield tab
    assert said == []
    assert asked == [file.as_uri()]
    context.close()


def names(tab: Any, table: str) -> list[str]:
    found: list[str] = tab.locator(f"#{table}-paged tbody th").all_inner_texts()
    return found


def status(tab: Any, table: str) -> str:
    found: str = tab.locator(f"#{table}-paged [role=status]").inner_text()
    return found


@every_page
@every_width
def test_the_body_never_scrolls_sideways(
    browser: Any, files: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, files[name], width) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        wide = tab.evaluate(
            """() => [...document.querySelectorAll("main *")]
              .filter((one) => !one.closest(".scroll, .excerpt, .unseen, svg"))
              .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
              .map((one) => one.outerHTML.slice(0, 120))"""
        )
        assert wide == []


@every_page
def test_nothing_lies_on_anything_else(browser: Any, files: dict[str, Path], name: str) -> None:
    """Sections and figures follow each other without reaching into the next."""
    with opened(browser, files[name], 390) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        over = tab.evaluate(
            """() => {
              const boxes = [...document.querySelectorAll("main > section, figure")]
                .map((one) => [one, one.getBoundingClientRect()]);
              return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
                .filter(([other]) => !one.contains(other))
                .filter(([, b]) => a.top < b.bottom - 1 && b.top < a.bottom - 1 && a.left < b.right - 1
                  && b.left < a.right - 1)
                .map(([other]) => `${one.id} ${other.id}`));
            }"""
        )
        assert over == []


LOOKS = [
    *product(("example", "crowded"), (1280, 390), ("light", "dark")),
    *((name, *look) for name in ("rollout", "fleet") for look in ((1280, "light"), (390, "dark"))),
]


@needs_axe
@pytest.mark.parametrize(("name", "width", "scheme"), LOOKS)
def test_axe_finds_nothing(
    browser: Any, files: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    with opened(browser, files[name], width, color_scheme=scheme) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        result = tab.evaluate("axe.run()")
        told = [
            (one["id"], one["help"], [node["html"][:160] for node in one["nodes"]])
            for one in result["violations"]
        ]
        assert told == []
        assert len(result["passes"]) > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_reader(browser: Any, files: dict[str, Path], scheme: str) -> None:
    with opened(browser, files["example"], color_scheme=scheme) as tab:
        colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 25, 31)"}[scheme]


def test_the_first_stop_leads_past_the_head(browser: Any, files: dict[str, Path]) -> None:
    with opened(browser, files["example"]) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the report"
        assert tab.evaluate("document.activeElement.getBoundingClientRect().left") == 0
        tab.keyboard.press("Enter")
        assert tab.url.endswith("#main")


def test_tables_filter_by_keyboard(browser: Any, files: dict[str, Path]) -> None:
    with opened(browser, files["example"]) as tab:
        tab.focus("#tenants-filter")
        tab.keyboard.type("ser")
        assert names(tab, "tenants") == ["serving"]
        assert status(tab, "tenants") == "1 of 7 tenants"
        tab.keyboard.press("Control+A")
        tab.keyboard.type("10gi from")
        assert names(tab, "tenants") == ["search"]
        tab.keyboard.press("Control+A")
        tab.keyboard.type("l4 prod-west")
        assert names(tab, "tenants") == ["search", "serving"]
        tab.keyboard.press("Control+A")
        tab.keyboard.type("nobody")
        assert names(tab, "tenants") == []
        assert status(tab, "tenants") == "0 of 7 tenants"


def test_tables_sort_by_keyboard(browser: Any, files: dict[str, Path]) -> None:
    with opened(browser, files["example"]) as tab:
        head = "#tenants-paged thead th"
        before = names(tab, "tenants")
        button = tab.locator(f"{head} button").first
        button.focus()
        tab.keyboard.press("Enter")
        assert tab.locator(head).first.get_attribute("aria-sort") == "ascending"
        assert names(tab, "tenants") == sorted(before)
        tab.keyboard.press("Space")
        assert tab.locator(head).first.get_attribute("aria-sort") == "descending"
        assert names(tab, "tenants") == sorted(before, reverse=True)
        tab.locator(f"{head} button", has_text="a100-40g").focus()
        tab.keyboard.press("Enter")
        assert tab.locator(head).first.get_attribute("aria-sort") is None
        assert names(tab, "tenants")[:3] == ["vision", "courses", "search"]  # 15, 12, 4


def test_long_tables_turn_their_pages_by_keyboard(browser: Any, files: dict[str, Path]) -> None:
    with opened(browser, files["fleet"]) as tab:
        assert len(names(tab, "tenants")) == 50
        assert status(tab, "tenants") == f"{TENANTS} tenants, 1–50 shown"
        earlier, later = tab.locator("#tenants-paged [data-by]").all()
        assert earlier.is_disabled()
        later.focus()
        tab.keyboard.press("Enter")
        tab.keyboard.press("Enter")
        assert status(tab, "tenants") == f"{TENANTS} tenants, 101–{TENANTS} shown"
        assert later.is_disabled() and not earlier.is_disabled()
        last = names(tab, "tenants")[-1]
        tab.focus("#tenants-filter")
        tab.keyboard.type(last)
        assert names(tab, "tenants") == [last]


def test_without_its_script_the_page_shows_the_first_rows(
    browser: Any, files: dict[str, Path]
) -> None:
    with opened(browser, files["fleet"], java_script_enabled=False) as tab:
        assert tab.locator("#tenants-paged tbody tr").count() == 50
        assert not tab.locator("#tenants-paged .controls").is_visible()
        assert (
            tab.locator("#tenants-paged noscript").inner_text().startswith(f"{TENANTS - 50} more")
        )
        assert not tab.locator("thead button").count()


def test_the_script_draws_rows_as_they_stood(browser: Any, files: dict[str, Path]) -> None:
    rows = "#tenants-paged tbody"
    with opened(browser, files["example"], java_script_enabled=False) as tab:
        before = tab.locator(rows).inner_html().split()
    with opened(browser, files["example"]) as tab:
        after = tab.locator(rows).inner_html().split()
    assert "".join(before) == "".join(after)


def test_paper_shows_everything_but_what_is_pressed(browser: Any, files: dict[str, Path]) -> None:
    with opened(browser, files["example"], color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        for gone in ("nav.sections", ".controls", "summary"):
            assert not tab.locator(gone).first.is_visible()
        assert tab.locator("#proofs details table").first.is_visible()
        assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert tab.pdf()[:5] == b"%PDF-"
