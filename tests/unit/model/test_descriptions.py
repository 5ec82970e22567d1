"""Words below fields: where they stand, whose they are, and that schemas say them."""

from __future__ import annotations

from pydantic import Field

from dracfg.model.base import Spec
from dracfg.model.descriptions import DescribedSchema, describe


class Outer(Spec):
    """What holds."""

    first_of_all: int = 0
    """The first,
    on two lines."""
    second: int = 0
    third: int = Field(default=0, description="Said where it is declared.")
    """Said below."""
    fourth: str = ""
    "not of the fourth alone"  # a second text is no description
    """Nothing."""


class Inner(Outer):
    second: int = 1
    """The second, at last."""
    fourth: str = "other"


def test_words_are_of_the_last_declaration() -> None:
    assert describe(Outer, "first_of_all") == describe(Inner, "first_of_all")
    assert describe(Inner, "first_of_all") == "The first,\non two lines."
    assert describe(Outer, "second") is None
    assert describe(Inner, "second") == "The second, at last."
    assert describe(Outer, "fourth") == "not of the fourth alone"
    assert describe(Inner, "fourth") is None
    assert describe(Outer, "nothing") is None


def test_schemas_say_them() -> None:
    properties = Inner.model_json_schema(schema_generator=DescribedSchema)["properties"]
    assert {name: field.get("description") for name, field in properties.items()} == {
        "firstOfAll": "The first,\non two lines.",
        "second": "The second, at last.",
        "third": "Said where it is declared.",
        "fourth": None,
    }
