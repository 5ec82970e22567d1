"""Plain data → typed documents, for files of which there is nothing to say.

Whatever is refused here is parsed once more from its nodes, which know the places that findings need.
"""

from __future__ import annotations

from itertools import count, repeat

from pydantic import ValidationError

from dracfg.model.base import API_VERSION, locate
from dracfg.model.kinds import KINDS, AnyDocument, home_of
from dracfg.source.files import SourceFile, UnreadMap
from dracfg.source.plain import Plain


def parse_plain(file: SourceFile, plain: Plain) -> tuple[AnyDocument, ...] | None:
    """All documents of a file, none of which is composed; None where a finding may be due."""
    places = map(UnreadMap, repeat(file), count())
    here = file.path.split("/")[0]
    documents: list[AnyDocument] = []
    for data in plain:
        kind = data.get("kind")
        if data.get("apiVersion") != API_VERSION or not isinstance(kind, str) or kind not in KINDS:
            return None
        try:
            made = KINDS[kind].model_validate(data)
        except ValidationError:
            return None
        if home_of(made) != here:
            return None
        locate(made, data, places)
        documents.append(made)
    return tuple(documents)
