"""What the last run knew of tenants' files that stand as they did: they are read when somebody asks.

Nothing that rules look at in most tenants needs their documents. What was known of a file and is not
kept any more is Forgotten; then the whole has to be compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

from dracfg.cache.documents import KnownFiles
from dracfg.cache.questions import Question
from dracfg.cache.tenants import KnownTenants
from dracfg.dataclass import dataclass
from dracfg.judging import Lines
from dracfg.link.catalog import Catalog, Tenant
from dracfg.link.index import Index
from dracfg.link.linker import Linked, link
from dracfg.link.outlines import key_of
from dracfg.link.partners import partners_of
from dracfg.link.recalled import RecalledDocuments, recalled_tenants
from dracfg.model import kinds
from dracfg.model.kept import parse_files
from dracfg.source.files import SourceFile
from dracfg.source.seen import Seen, key_with

_PARTNERS = key_of(partners_of)


class Forgotten(Exception):
    """What the last run knew of a file is not at hand."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """`names` are the tenants by file, `digests` of the files, `outlines` by tenant."""

    names: Mapping[str, tuple[str, ...]]
    digests: Mapping[str, str]
    outlines: Mapping[str, dict[str, Any]]
    known: KnownFiles
    seen: Seen
    _files: dict[str, SourceFile] = field(default_factory=dict, repr=False)
    _paths: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        paths = {name: path for path, names in self.names.items() for name in names}
        object.__setattr__(self, "_paths", paths)

    @classmethod
    def of(
        cls,
        last: KnownTenants,
        notes: Mapping[Question, str],
        changed: Iterable[str],
        known: KnownFiles,
        seen: Seen,
    ) -> Recollection:
        """What is left of the last run, whose files had the digests that it noted."""
        gone = {*changed}
        names = {path: found for path, found in last.files.items() if path not in gone}
        digests = {
            question[1]: digest
            for question, digest in notes.items()
            if question[0] == "read" and question[1] in names
        }
        every = last.outlines.by_name()
        listed = (name for found in names.values() for name in found)
        outlines = {name: every[name] for name in listed if name in every}
        return cls(names, digests, outlines, known, seen)

    def partners(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Each tenant with those that it lends to or borrows from. Raises Forgotten."""
        for name in self._paths:
            known = self.outlines.get(name, {})
            if _PARTNERS not in known:
                raise Forgotten(name)
            yield name, known[_PARTNERS]

    def without(self, names: Iterable[str]) -> tuple[Recollection, dict[str, SourceFile]]:
        """What is left when files of some tenants are taken for read, and those files. Raises Forgotten."""
        paths = sorted({self._paths[name] for name in names if name in self._paths})
        gone = {name for path in paths for name in self.names[path]}
        left = replace(
            self,
            names={path: found for path, found in self.names.items() if path not in paths},
            outlines={name: one for name, one in self.outlines.items() if name not in gone},
        )
        return left, {path: self.file(path) for path in paths}

    def file(self, path: str) -> SourceFile:
        """A file that stands as it did. Raises Forgotten."""
        if path not in self._files:
            self._files[path] = known_file(self.known, self.seen, path, self.digests[path])
        return self._files[path]

    def beside(self, lines: Lines) -> Lines:
        """The lines of these files, beside those of others."""

        def both(path: str) -> Sequence[str]:
            file = self.known.file(path, self.digests[path]) if path in self.names else None
            return lines(path) if file is None else file.text.split("\n")

        return both

    def keys(self) -> Iterable[str]:
        """What the files are kept under."""
        return (key_with(path, self.digests[path]) for path in self.names)

    def documents(self, index: Index) -> Mapping[str, kinds.Tenant]:
        """The documents of all tenants: those of an index of what was read, and of these files."""
        read = cast("Mapping[str, kinds.Tenant]", index.by_kind["Tenant"])
        return RecalledDocuments(read, self._paths, self._document)

    def link(
        self,
        index: Index,
        poisoned: frozenset[tuple[str, str]],
        since: Catalog | None = None,
    ) -> Linked:
        """The catalog of documents that were read, with the tenants of these files.

        Where `since` was linked over the same platform, these are its own tenants.
        """
        documents = self.documents(index)

        def recalled(platform: Catalog) -> Mapping[str, Tenant]:
            if since is not None and platform is since:
                return {name: since.tenants[name] for name in self.outlines}
            return recalled_tenants(self.outlines, documents, platform)

        whole = Index({**index.by_kind, "Tenant": documents})
        return link(whole, poisoned, since=since, recalled=recalled)

    def _document(self, name: str) -> kinds.Tenant:
        found = parse_files([self.file(self._paths[name])], self.seen).documents
        for one in found:
            if isinstance(one, kinds.Tenant) and one.name == name:
                return one
        raise Forgotten(name)


def known_file(known: KnownFiles, seen: Seen, path: str, digest: str) -> SourceFile:
    """A file that the last run read, the same object again where it was `seen`. Raises Forgotten."""
    found = known.file(path, digest)
    if found is None:
        raise Forgotten(path)
    file, _ = seen.file(path, found.text.encode(), lambda *_: (found, ()))
    if file is None:
        raise Forgotten(path)
    return file
