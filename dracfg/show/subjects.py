"""What can be shown, by name: documents of the catalog, and everything that they are lowered to.

`tier/a100-40g` names a document, `<cluster>/<Kind>/[<namespace>/]<name>` an object that an engine
applies, `<unit>/<file>` a file for people and installers (with `#<Kind>/<name>` where it holds
several objects). Knows names only, not what is told of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dracfg.dataclass import dataclass
from dracfg.diagnostics import did_you_mean
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Artifact, Unit

OUT = "out/"
WORDS: Mapping[str, str] = {
    "cluster": "Cluster",
    "driver": "Driver",
    "policy": "SharingPolicy",
    "pool": "NodePool",
    "tenant": "Tenant",
    "tier": "HardwareTier",
}
"""First word of a reference -> kind of the document; the kind itself is understood as well."""
MOST_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Named:
    """A document of the catalog; `word` is one of `WORDS`."""

    word: str
    name: str

    @property
    def ref(self) -> str:
        return f"{self.word}/{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Emitted:
    """An object or file under `out/`. `cluster` is None for what stands beside all clusters."""

    ref: str
    unit: Unit
    artifact: Artifact
    cluster: Cluster | None

    @property
    def file(self) -> str:
        return f"{OUT}{self.unit.path}/{self.artifact.file}"


Subject = Named | Emitted


class UnknownSubject(Exception):
    """Nothing has that name; `near` is what was probably meant."""

    def __init__(self, ref: str, near: str | None) -> None:
        super().__init__(f"there is no {ref}" + (f"; did you mean {near}?" if near else ""))
        self.ref = ref
        self.near = near


class FaultySubject(Exception):
    """A document of that name exists, and its faults keep it out of the catalog."""

    def __init__(self, ref: str) -> None:
        super().__init__(f"{ref} has faults and can't be shown; run dracfg check")
        self.ref = ref


class AmbiguousSubject(Exception):
    """A short name that several things have."""

    def __init__(self, ref: str, candidates: tuple[str, ...]) -> None:
        first = ", ".join(candidates[:MOST_CANDIDATES])
        more = len(candidates) - MOST_CANDIDATES
        super().__init__(f"{ref} may be {first}" + (f" and {more:,} more" if more > 0 else ""))
        self.ref = ref
        self.candidates = candidates


def find(catalog: Catalog, units: Iterable[Unit], ref: str) -> Subject:
    """What a reference names; a short one counts where only one thing ends in it.

    Documents come before objects: `vision` is the tenant although objects bear the name as well.
    Raises UnknownSubject, FaultySubject and AmbiguousSubject.
    """
    documents = {named.ref: named for named in _documents(catalog)}
    objects = {emitted.ref: emitted for emitted in _emitted(catalog, units)}
    known: dict[str, Subject] = {**objects, **documents}
    wanted = _canonical(ref)
    if wanted in known:
        return known[wanted]
    word, _, name = wanted.partition("/")
    if (WORDS.get(word), name) in catalog.poisoned:
        raise FaultySubject(wanted)
    for group in (documents, objects):
        ending = tuple(name for name in group if name.endswith(f"/{wanted}"))
        if len(ending) == 1:
            return known[ending[0]]
        if ending:
            raise AmbiguousSubject(ref, ending)
    raise UnknownSubject(ref, _near(wanted, documents, objects))


def _documents(catalog: Catalog) -> Iterator[Named]:
    groups: Mapping[str, Iterable[str]] = {
        "cluster": catalog.clusters,
        "driver": catalog.drivers,
        "policy": catalog.policies,
        "pool": catalog.pools,
        "tenant": catalog.tenants,
        "tier": catalog.tiers,
    }
    for word, names in groups.items():
        yield from (Named(word, name) for name in names)


def _emitted(catalog: Catalog, units: Iterable[Unit]) -> Iterator[Emitted]:
    for unit in units:
        head = unit.path.split("/")[0]
        files = [artifact.file for artifact in unit.artifacts]
        for artifact in unit.artifacts:
            if unit.synced:
                ref = f"{head}/{_object_name(artifact)}"
            elif files.count(artifact.file) == 1:
                ref = f"{unit.path}/{artifact.file}"
            else:
                ref = f"{unit.path}/{artifact.file}#{_object_name(artifact)}"
            yield Emitted(ref, unit, artifact, catalog.clusters.get(head))


def _object_name(artifact: Artifact) -> str:
    metadata = artifact.object["metadata"]
    parts = (artifact.object["kind"], metadata.get("namespace"), metadata["name"])
    return "/".join(part for part in parts if part)


def _canonical(ref: str) -> str:
    """`HardwareTier/a100` and `tier/a100` are one, and paths may begin with `out/`."""
    kind, slash, rest = ref.partition("/")
    for word, long in WORDS.items():
        if slash and kind.lower() in (word, long.lower()):
            return f"{word}/{rest}"
    return ref.removeprefix(OUT)


def _near(wanted: str, documents: Iterable[str], objects: Iterable[str]) -> str | None:
    """The reference that was meant: whole, by the name alone, or by the name of an object."""
    listed = tuple(documents)
    by_name = {ref.partition("/")[2]: ref for ref in reversed(listed)}
    whole = did_you_mean(wanted, listed)
    if whole is not None:
        return whole
    name = did_you_mean(wanted.rpartition("/")[2], by_name)
    if name is not None and "/" not in wanted:
        return by_name[name]
    return did_you_mean(wanted, objects) or (by_name[name] if name is not None else None)
