"""The least change after which a request is never refused: each is enough, and one less is not."""

from dracfg.plan.proofs.blocking import non_blocking
from dracfg.plan.proofs.mends import Dedicated, Rounded, largest, mends, smallest
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Others, Pool

FIVE, TEN, TWENTY = (Kind(f"{size}Gi", (size,)) for size in (5, 10, 20))
POOL = Pool((Group("cards", 3, 2, (40,)),), ("memory",))


def test_a_search_for_the_last_number_that_holds() -> None:
    assert largest(0, 100, lambda n: n <= 37) == 37
    assert largest(0, 100, lambda n: n < 0) is None
    assert smallest(0, 100, lambda n: n >= 37) == 37
    assert smallest(0, 100, lambda n: n > 100) is None


def test_nodes_of_its_own_and_a_size_less() -> None:
    request, others = Claims(TWENTY, 1), Others.of((FIVE, 30), (TEN, 5), (TWENTY, 1))
    assert non_blocking(POOL, request, others).word == "refuted"
    found = mends(POOL, request, Others.of((TEN, 5), (TWENTY, 1)), others)
    assert found.dedicated == Dedicated("cards", 2)
    assert found.dropped == ("5Gi",)


def test_no_mend_where_the_device_is_too_small() -> None:
    found = mends(POOL, Claims(Kind("50Gi", (50,)), 1), Others.of(), Others.of((FIVE, 1)))
    assert (found.dedicated, found.dropped, found.rounded) == (None, (), None)


def test_sizes_that_divide_a_device_without_a_rest() -> None:
    """Two devices of 40: four shares of 12 leave no room for 18, four of 10 leave room for 10."""
    pool = Pool((Group("cards", 2, 1, (40,)),), ("memory",))
    odd, asked = Kind("odd", (12,)), Kind("asked", (18,))
    others = Others.of((odd, 4))
    assert non_blocking(pool, Claims(asked, 1), others).word == "refuted"
    found = mends(pool, Claims(asked, 1), Others.of(), others)
    assert found.rounded == Rounded((("asked", (10,)), ("odd", (10,))))
