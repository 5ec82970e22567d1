"""What stands of some tenants, told by the lock: of a tree that is as the lock says, nothing is looked for.

Objects are those that the last run knew, by the digests of their files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from dracfg.amending.patches import Tree
from dracfg.lower.rights import TENANT
from dracfg.scope import tenant_of
from dracfg.source.standing import Standing, is_state_file, is_text_file

_NAMESPACES = re.compile(r"[^/]+/guard[^/]*/namespaces\.yaml")
"""The files that hold objects of all tenants, none of which has a list in it."""
_OPENED, _BETWEEN, _CLOSED = b'[{"apiVersion":', b'},{"apiVersion":', b"}]"
_OF_ALL = "gitops"
_SIGN = "sha256:"


def standing_of(tree: Tree, only: Collection[str], places: Collection[str]) -> Standing | None:
    """The state of all but other tenants on some clusters, and of what is no cluster's; None where some
    of it can't be had.
    """
    objects: dict[str, tuple[dict[str, Any], ...]] = {}
    texts: dict[str, str] = {}
    for path, digest in sorted(_files(tree, only, places)):
        if is_text_file(path):
            try:
                texts[path] = tree.read(path).decode("utf-8")
            except (OSError, UnicodeDecodeError):
                return None
        elif is_state_file(path):
            known = tree.known.get(digest.removeprefix(_SIGN))
            if known is None:
                return None
            if _NAMESPACES.fullmatch(path):
                if not known.startswith(_OPENED):
                    return None
                known = _without_others(known, only)
            objects[path] = tuple(json.loads(known))
    return Standing(objects, texts)


def _files(tree: Tree, only: Collection[str], places: Collection[str]) -> Iterator[tuple[str, str]]:
    """(path, digest) of every file but those of other tenants' units, and of other clusters."""
    for unit, files in tree.lock.units.items():
        place, _, rest = unit.partition("/")
        tenant = tenant_of(rest) if place in places else ""
        if (place in places or place == _OF_ALL) and (not tenant or tenant in only):
            yield from ((f"{unit}/{name}", digest) for name, digest in files.items())


def _without_others(known: bytes, only: Collection[str]) -> bytes:
    """The objects that bear the name of no tenant, or of one of these; the others are not even parsed."""
    mark = json.dumps(TENANT).encode() + b":"
    names = b"|".join(re.escape(json.dumps(name)).encode() for name in sorted(only))
    own = re.compile(re.escape(mark) + b"(?:" + names + b")")
    listed = known.removeprefix(_OPENED).removesuffix(_CLOSED).split(_BETWEEN)
    kept = [one for one in listed if mark not in one or own.search(one)]
    return _OPENED + _BETWEEN.join(kept) + _CLOSED if kept else b"[]"
