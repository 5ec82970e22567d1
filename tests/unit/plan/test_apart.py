"""When two conditions on one attribute leave no value to both."""

from __future__ import annotations

import pytest

from dracfg.model.tier import AttributeMatch, AttributeRange
from dracfg.plan.apart import excludes


def between(**bounds: object) -> AttributeRange:
    return AttributeRange.model_validate(bounds)


@pytest.mark.parametrize(
    ("kind", "one", "other", "wanted"),
    [
        ("string", "A100", "H100", True),
        ("string", "A100", "A100", False),
        ("string", "A100", between(oneOf=("H100", "L4")), True),
        ("string", "A100", between(oneOf=("H100", "A100")), False),
        ("bool", True, False, True),
        ("bool", True, True, False),
        ("int", 1, 2, True),
        ("int", 1, between(min=2), True),
        ("int", 2, between(min=2), False),
        ("int", between(max=1), between(min=2), True),
        ("int", between(max=2), between(min=2), False),
        ("int", between(min=5), between(max=1), True),
        ("int", between(oneOf=(1, 9)), between(min=2, max=8), True),
        ("int", between(oneOf=(1, 5)), between(min=2, max=8), False),
        ("version", "550.127.8", "v550.127.08", False),
        ("version", "550.127.8", "551.0", True),
        ("version", between(max="1.2.0"), between(min="1.10.0"), True),
        ("version", between(max="1.10.0"), between(min="1.2.0"), False),
        ("version", "1.2.3-rc.1", between(min="1.2.4"), False),
        ("version", between(max="1.2.3-rc.1"), between(min="1.2.4"), False),
        ("string", between(exists=False), "A100", True),
        ("string", between(exists=False), between(exists=True), True),
        ("string", between(exists=False), between(exists=False), False),
        ("string", between(exists=True), "A100", False),
        ("strings", "A100", "H100", False),
        (None, "A100", "H100", True),
    ],
)
def test_excludes(
    kind: str | None, one: AttributeMatch, other: AttributeMatch, wanted: bool
) -> None:
    assert excludes(kind, one, other) is wanted
    assert excludes(kind, other, one) is wanted
