"""Offers of more than there is: one finding, whose help leaves exactly what is guaranteed."""

import pytest

from dracfg.check.offers import offers_too_much

TAKERS = "---\n".join(
    "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\n"
    f"metadata: {{name: {name}}}\nspec: {{namespaces: [{{name: {name}, clusters: [east]}}]}}\n"
    for name in ("one", "two", "three")
)


def offering(*counts):
    offers = ", ".join(
        f"{{entitlement: gpu, count: {count}, to: {taker}}}"
        for count, taker in zip(counts, ("one", "two", "three"), strict=False)
    )
    return ("  profiles:", f"  offers: [{offers}]\n  profiles:")


@pytest.mark.parametrize(
    ("counts", "marked", "says"),
    [
        ((5, 3), None, None),
        ((9,), "9", "offer 8 here at most"),
        ((5, 4), "4", "offer 3 here at most"),
        ((8, 4), "4", "remove this offer"),
        ((5, 4, 2), "4", "offer 3 here at most, and remove the one after it"),
        ((9, 4, 2), "9", "offer 8 here at most, and remove the ones after it"),
        ((8, 4, 2), "4", "remove this offer and the one after it"),
    ],
)
def test_offers_of_more_than_there_is(build, counts, marked, says):
    repository = build(offering(*counts), more=TAKERS)
    found = list(offers_too_much(repository.catalog))
    assert [repository.text(one.span) for one in found] == [marked] * (marked is not None)
    for one in found:
        assert one.help == says
        assert one.message == f"vision offers {sum(counts)} of gpu and is guaranteed 8"
