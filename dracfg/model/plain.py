"""Plain data → typed documents, for files of which there is nothing to say.

Whatever is refused here is parsed once more from its nodes, which know the places that findings need.
"""

from __future__ import annotations

from pydantic import ValidationError

from dracfg.model.base import API_VERSION
from dracfg.model.kinds import KINDS, AnyDocument, home_of
from dracfg.model.origin import remember
from dracfg.source.files import SourceFile, UnreadMap
from dracfg.source.plain import Plain


def parse_plain(file: SourceFile, plain: Plain) -> tuple[AnyDocument, ...] | None:
    """All documents of a file, none of which is composed; None where a finding may be due."""
    here = file.path.split("/")[0]
    documents: list[AnyDocument] = []
    for position, data in enumerate(plain):
        kind = data.get("kind")
        if data.get("apiVersion") != API_VERSION or not isinstance(kind, str) or kind not in KINDS:
            return None
        try:
            made = KINDS[kind].model_validate(data)
        except ValidationError:
            return None
        if home_of(made) != here:
            return None
        remember(made, UnreadMap(file, position))
        documents.append(made)
    return tuple(documents)
