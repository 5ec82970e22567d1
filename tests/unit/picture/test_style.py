"""The style: every class that is drawn, nothing fetched, and colours that can be told apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dracfg.picture import arrangement, columns_of, heatmap, matrix, stageline, style, waterfall
from dracfg.plan.assurance import assurances, markets
from dracfg.plan.estimate import estimates
from tests.unit.picture.conftest import Linked
from tests.unit.picture.drawn import parsed
from tests.unit.picture.test_heatmap import STATES, device

ROOT = Path(__file__).parents[3] / "dracfg" / "picture"
AS_IT_IS = frozenset({"plain", "marked", "free", "partly", "coming"})
"""Classes of what looks as such things do unless said."""


def colours(sheet: str) -> dict[str, str]:
    return dict(re.findall(r"--picture-([a-z0-9-]+): (#[0-9a-f]{6});", sheet))


def light() -> dict[str, str]:
    return colours(style().partition("@media")[0])


def dark() -> dict[str, str]:
    found = re.search(
        r"@media screen and \(prefers-color-scheme: dark\) \{(.*?)\n\}", style(), re.S
    )
    assert found
    return colours(found[1])


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    first, second = sorted((luminance(one), luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def test_nothing_is_fetched() -> None:
    assert not re.search(r"@import|url\(|https?:|expression|</", style())


def test_every_class_that_is_drawn_has_a_style(linked: Linked) -> None:
    proofs = linked("proofs", ("limit: {5Gi: 8}", "limit: {5Gi: 30}"))
    rollout = linked("rollout")
    pools = {name: pool.document for name, pool in rollout.pools.items()}
    pictures = [
        *(waterfall(one, "w") for one in estimates(proofs)),
        *filter(None, (arrangement(one, "a") for one in assurances(proofs))),
        *(stageline(one, pools, "s") for one in rollout.rollouts.values()),
        matrix(columns_of(markets(proofs)), ["search"], "m"),
        heatmap("cards", [device("n", f"g{i}", state, 10) for i, state in enumerate(STATES)], "h"),
    ]
    used = {
        name
        for svg in pictures
        for element in parsed(svg).iter()
        for name in (element.get("class") or "").split()
    }
    styled = set(re.findall(r"\.([a-z][a-z0-9-]*)", style()))
    kinds = {"waterfall", "arrangement", "stageline", "matrix", "heatmap"}
    assert used - styled - kinds <= AS_IT_IS


def test_both_schemes_set_the_same_colours() -> None:
    assert light().keys() == dark().keys()
    used = set(re.findall(r"var\(--picture-([a-z0-9-]+)\)", style()))
    assert used == set(light())


@pytest.mark.parametrize("scheme", [light, dark])
@pytest.mark.parametrize("ink", ["ink", "quiet", "good", "warn", "bad"])
def test_text_can_be_read(scheme: object, ink: str) -> None:
    """4.5:1, as WCAG 2.2 (1.4.3) asks."""
    found = scheme()  # type: ignore[operator]
    assert contrast(found[ink], found["surface"]) >= 4.5


@pytest.mark.parametrize("scheme", [light, dark])
def test_numbers_on_what_is_used_can_be_read(scheme: object) -> None:
    found = scheme()  # type: ignore[operator]
    assert contrast(found["ink"], found["room"]) >= 4.5
    assert contrast(found["ink"], found["taken"]) >= 4.5


@pytest.mark.parametrize("scheme", [light, dark])
@pytest.mark.parametrize(
    "area", ["held", "room", "quiet", "bad", "warn", *(f"kind-{i}" for i in range(6))]
)
def test_shapes_stand_out(scheme: object, area: str) -> None:
    """3:1 for what a graphic needs to be understood (1.4.11); bars of `room` have a value beside them."""
    found = scheme()  # type: ignore[operator]
    assert contrast(found[area], found["surface"]) >= (2 if area == "room" else 3)


def test_colours_stand_in_the_sheet_alone() -> None:
    for path in ROOT.glob("*.py"):
        assert not re.search(r"#[0-9a-fA-F]{6}\b|\brgb\(", path.read_text())
