"""What all parts of the report's document have in common."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

Word = Literal["proven", "refuted", "unknown"]


class Section:
    """Keys are camelCase in JSON."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel)
