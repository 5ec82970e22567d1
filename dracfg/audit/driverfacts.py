"""What is known of how a driver behaves: by the catalog's Driver, else by the built-in preset."""

from __future__ import annotations

from functools import cache

from dracfg.audit.view import View
from dracfg.link.presets import Preset, load_preset, preset_names


@cache
def _preset(driver: str) -> Preset | None:
    return load_preset(driver) if driver in preset_names() else None


def answer(view: View, driver: str, fact: str) -> str:
    """yes, no or unknown."""
    known = view.catalog.drivers.get(driver) if view.catalog is not None else None
    preset = known.preset if known is not None else _preset(driver)
    said = preset.facts.get(fact) if preset is not None else None
    return said.answer if said is not None else "unknown"
