"""What files say, kept as bytes that the next run takes for the reading of their text.

It is their data alone: models are made of it as of the text, so that none comes about which the language
doesn't admit. Places are not kept: each model remembers which mapping of the file it was read from, and the
file is composed once somebody asks where that stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.model.base import data_of
from dracfg.model.parse import Parsed, has_gap, parse
from dracfg.model.plain import parse_plain
from dracfg.source.files import SourceFile
from dracfg.source.nodes import Map
from dracfg.source.plain import Plain, thaw
from dracfg.source.reader import understand
from dracfg.source.seen import Seen


def parse_files(files: Iterable[SourceFile], seen: Seen) -> Parsed:
    """All documents of the files, in their order; what was seen before is the same object again."""
    found = [_parsed(file, seen) for file in files]
    return Parsed(
        tuple(document for one in found for document in one.documents),
        frozenset().union(*(one.poisoned for one in found)),
        tuple(fault for one in found for fault in one.faults),
    )


def tenants_in(file: SourceFile, seen: Seen) -> tuple[str, ...]:
    """The names of the tenants in a file; none where it holds anything else, or there is a word to say."""
    made = _parsed(file, seen)
    if file.kept is None or made.faults or made.poisoned:
        return ()
    names = tuple(one.name for one in made.documents if one.kind == "Tenant")
    return names if len(names) == len(made.documents) else ()


def _parsed(file: SourceFile, seen: Seen) -> Parsed:
    if file.kept is None:
        return parse(file.documents, seen.made)
    if id(file) not in seen.made:
        documents = parse_plain(file, thaw(file.kept))
        seen.made[id(file)] = (
            parse(file.documents) if documents is None else Parsed(documents, frozenset(), ())
        )
    made: Parsed = seen.made[id(file)]
    return made


def composed(path: str, data: bytes) -> Plain | None:
    """The data of a file that can't be read plainly; None where there is something to say of it."""
    file, faults = understand(path, data)
    if file is None or faults:
        return None
    roots = [document.root for document in file.documents]
    found = [data_of(root) for root in roots if isinstance(root, Map)]
    return None if len(found) < len(roots) or any(map(has_gap, found)) else tuple(found)
