"""One cluster, from the linked catalog to the bytes of its files: lowered, judged and rendered.

Needs nothing that is made of other clusters, so clusters are built side by side, and may be so elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic_core import to_json

from dracfg.check.departures import check_departures
from dracfg.check.leastprivilege import check_roles
from dracfg.check.objects import Named, check_units, named
from dracfg.check.policies import check_policies
from dracfg.check.standing import Clash, clashes
from dracfg.check.versions import check_versions
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.emit.ahead import MANY_UNITS, put_ahead
from dracfg.emit.files import manifest, render_unit
from dracfg.emit.stage import Stage
from dracfg.emit.tree import UnitFiles
from dracfg.emit.yaml import Writer
from dracfg.executors.executor import Executor
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Shared, SharedList, Unit
from dracfg.lower.gates import GatePlan
from dracfg.lower.gitops import ByHand, is_of_engine, shared_units
from dracfg.lower.units import lower_cluster, recognize
from dracfg.source.standing import NOTHING, Standing, is_state_file


@dataclass(frozen=True, slots=True)
class Rendered:
    """Units as files; of objects, only what is asked for later is left.

    `sizes` counts the objects of each unit. `states` has, by the path below `out/`, the objects of
    files that the next compile reads, as a list in JSON, where units are to be remembered.
    """

    files: tuple[UnitFiles, ...]
    sizes: Mapping[str, int]
    states: Mapping[str, bytes]


Form = Literal["units", "files", "remembered", "both", "none"]
"""As what units are kept: remembered are files with what the next run can know of them; as none, what they
are judged by is all that is left."""
NOTHING_RENDERED = Rendered((), {}, {})


@dataclass(frozen=True, slots=True)
class ClusterBuild:
    """What became of one cluster.

    `engine` names what its engine reads, `findings` are about its objects, `departures` about the way
    from the tree that stands, `clashes` what would change under its name. `sound` are files of that tree
    which are known to hold what they should.
    """

    cluster: str
    units: tuple[Unit, ...]
    plan: GatePlan
    by_hand: ByHand
    engine: Named
    findings: tuple[Diagnostic, ...]
    departures: tuple[Diagnostic, ...]
    clashes: tuple[Clash, ...]
    rendered: Rendered = NOTHING_RENDERED
    sound: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Building:
    """Clusters that are being built; `results` waits for them.

    `attend`, called now and then, keeps others busy with them while this process does something else;
    it is None where they are built here, when they are asked for.
    """

    results: Callable[[], Sequence[ClusterBuild]]
    attend: Callable[[], None] | None = None


Builder = Callable[[Catalog, Standing, Form], Building]
"""Who builds the clusters of a catalog, in its order: all of them, or some and leaves others out."""


def build_all(catalog: Catalog, standing: Standing, form: Form) -> Building:
    """Every cluster, one after the other."""
    work = partial(build, catalog, standing, form, None)
    return Building(lambda: tuple(map(work, catalog.clusters)))


def built_by(
    executor: Executor,
    chosen: Callable[[Iterable[str]], Sequence[str]] = tuple,
    stage: Stage | None = None,
) -> Builder:
    """Builds the clusters that are `chosen` by an executor; units never come from elsewhere.

    Those with the most tenants are begun first, so that none of them is left to one process at the end.
    With a `stage` files are put there by those who make them, if they work on this machine.
    """

    def builder(catalog: Catalog, standing: Standing, form: Form) -> Building:
        work = partial(build, catalog, standing, form, stage if executor.is_local else None)
        names = chosen(catalog.clusters)
        if not _is_small(form):
            return Building(lambda: tuple(map(work, names)))
        largest_first = sorted(names, key=lambda name: -len(catalog.tenants_on(name)))
        begun = executor.begin(work, largest_first, catalog.weight)

        def results() -> tuple[ClusterBuild, ...]:
            built = dict(zip(largest_first, begun.results, strict=True))
            return tuple(built[name] for name in names)

        return Building(results, begun.attend)

    return builder


def build_cluster(catalog: Catalog, cluster: Cluster, standing: Standing) -> ClusterBuild:
    """The cluster's units, with everything that its own objects are judged by."""
    made = lower_cluster(catalog, cluster, standing)
    recognize(made.units, standing)
    here = {tenant.name: tenant for tenant in catalog.tenants_on(cluster.name)}
    alone = replace(catalog, clusters={cluster.name: cluster}, tenants=here)
    findings = (
        *check_versions(alone, made.units, {cluster.name: made.plan}),
        *check_units(alone, made.units),
        *check_roles(alone, (*made.units, *shared_units(alone, {cluster.name: made.by_hand}))),
        *check_policies(alone, made.units),
    )
    departures = check_departures(
        replace(catalog, clusters={cluster.name: cluster}), made.units, standing
    )
    return ClusterBuild(
        cluster.name,
        made.units,
        made.plan,
        made.by_hand,
        named(unit for unit in made.units if is_of_engine(cluster, unit.path)),
        findings,
        departures,
        clashes(catalog, cluster, made.units, standing),
        sound=tuple(sorted(standing.sound())),
    )


def build(
    catalog: Catalog, standing: Standing, form: Form, stage: Stage | None, name: str
) -> ClusterBuild:
    """The cluster of a name, with its units kept in this form; files of many go to the `stage`, if given.

    Without units, what needs a gate isn't told any more: then little has to be kept, or sent.
    """
    stands = standing.recognizing(partial(manifest, _writer()))
    made = build_cluster(catalog, catalog.clusters[name], stands)
    if form == "units":
        return made
    if form != "none":
        stage = stage if len(made.units) > MANY_UNITS else None
        rendered = render(made.units, stands, stage, remembered=form == "remembered")
        made = replace(made, rendered=rendered)
    if not _is_small(form):
        return made
    return replace(made, units=(), plan=replace(made.plan, uses=()))


def _is_small(form: Form) -> bool:
    """Whether what becomes of a cluster can be sent: objects take many times what their files do."""
    return form in ("files", "remembered", "none")


def render(
    units: Iterable[Unit],
    standing: Standing = NOTHING,
    stage: Stage | None = None,
    *,
    remembered: bool = False,
) -> Rendered:
    """Units as their files, where what was recognized in what is `standing` is not made again.

    With a `stage` they are written there as they are made.
    """
    files: list[UnitFiles] = []
    sizes: dict[str, int] = {}
    states: dict[str, bytes] = {}
    writer = _writer()
    for unit in units:
        made = render_unit(unit, writer, standing)
        files.append(made if stage is None else put_ahead(stage, made))
        sizes[unit.path] = len(unit.artifacts)
        states |= states_of(unit) if remembered else {}
    return Rendered(tuple(files), sizes, states)


def _writer() -> Writer:
    return Writer(shared=(Shared, SharedList))


def together(parts: Iterable[Rendered]) -> Rendered:
    """What was rendered apart, in the order of the units' paths."""
    listed = tuple(parts)
    return Rendered(
        tuple(sorted((unit for part in listed for unit in part.files), key=lambda one: one.path)),
        dict(sorted(one for part in listed for one in part.sizes.items())),
        {path: text for part in listed for path, text in part.states.items()},
    )


def shared(catalog: Catalog, builds: Iterable[ClusterBuild]) -> tuple[Unit, ...]:
    """The units that belong to all clusters together."""
    return shared_units(catalog, {build.cluster: build.by_hand for build in builds})


def states_of(unit: Unit) -> dict[str, bytes]:
    """The objects of a unit's files that the next compile reads, as JSON by their path."""
    held = {f"{unit.path}/{file}": artifacts for file, artifacts in unit.by_file().items()}
    # Pydantic's own writer takes a fraction of the time that the standard library's does.
    return {
        path: to_json([artifact.object for artifact in held[path]])
        for path in filter(is_state_file, held)
    }
