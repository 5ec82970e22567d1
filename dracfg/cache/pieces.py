"""Many pieces of bytes by their keys in one entry of the cache, so that those that are wanted are read alone.

The entry is a line of JSON, with the keys and lengths of what follows it without a gap.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import read_entry, write_entry

_MOST = 1024 * 1024 * 1024


def read_pieces(path: Path) -> dict[str, bytes]:
    """The pieces that this dracfg wrote; none where the entry is not whole, or another one's."""
    head, _, body = (read_entry(path, _MOST) or b"{}").partition(b"\n")
    entry = json.loads(head)
    found: dict[str, bytes] = {}
    start = 0
    for key, length in entry["pieces"] if entry.get("compiler") == compiler() else ():
        found[key] = body[start : start + length]
        start += length
    return found


def write_pieces(path: Path, pieces: Mapping[str, bytes]) -> None:
    """Keep these pieces, and no others that were kept before."""
    lengths = [[key, len(piece)] for key, piece in pieces.items()]
    head = json.dumps({"compiler": compiler(), "pieces": lengths}, separators=(",", ":")).encode()
    write_entry(path, b"%s\n%s" % (head, b"".join(pieces.values())))
