"""How far a DRA driver has come: its newest release, what is alpha in it, what nobody knows of it."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.draft.scalars import counted
from dracfg.link.presets import Preset


def maturity(preset: Preset | None) -> Iterator[str]:
    """Clauses for people; none where there is no driver or no release of it."""
    if preset is None or preset.plugin_only or not preset.releases:
        return
    newest = preset.releases[-1]
    before = ", before 1.0" if newest.startswith("0.") else ""
    yield f"its newest release is {newest}{before}, after {counted(len(preset.releases) - 1, 'other')}"
    stages = preset.gates_at(newest)
    alpha = sorted(name for name, stage in stages.items() if stage == "alpha")
    if alpha:
        yield f"alpha in {newest}: {', '.join(alpha)}"
    unknown = sorted(name for name, fact in preset.facts.items() if fact.answer == "unknown")
    if unknown:
        yield f"not known of it: {', '.join(unknown)}"
