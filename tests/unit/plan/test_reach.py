"""How many devices of a class the profiles of a tenant can hold together."""

import pytest

from dracfg.plan.reach import reached


@pytest.mark.parametrize(
    ("limits", "charged", "most"),
    [
        ({"gpu": 9}, [{"gpu": 4}], 8),
        ({"gpu": 9}, [{"gpu": 4}, {"gpu": 3}], 9),
        ({"gpu": 11}, [{"gpu": 4}, {"gpu": 6}], 10),
        ({"gpu": 10}, [{"gpu": 4}, {"gpu": 3}], 10),
        ({"gpu": 9}, [{"gpu": 1}], 9),
        ({"gpu": 4, "slice": 2}, [{"gpu": 1, "slice": 1}], 2),
        ({"gpu": 4, "slice": 2}, [{"gpu": 1, "slice": 1}, {"gpu": 1}], 4),
        ({"gpu": 4}, [{"slice": 1}], 0),
        ({}, [{"gpu": 1}], 0),
    ],
)
def test_what_claims_reach(
    limits: dict[str, int], charged: list[dict[str, int]], most: int
) -> None:
    assert reached(limits, charged).get("gpu", 0) == most
