"""SEL: every expression that becomes a selector on some cluster, compiled as that cluster would.

Expressions of tiers and partitions are linted as well; the structured conditions are put into words
by dracfg and only have to compile. Each text is compiled once for each environment that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import MEND, LintFinding
from dracfg.check.lints.lint import DECIDING_GATES, compile_selector, judge_cost, lint
from dracfg.check.lints.text import edited
from dracfg.check.places import place
from dracfg.check.scalarplaces import first_line, part_of, takes
from dracfg.check.selectors import label_places
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.link.writers import writers
from dracfg.lower.gates import GatePlan
from dracfg.lower.selectors import effective_match, request_selectors
from dracfg.lower.selectors import expression as structured
from dracfg.model import kinds
from dracfg.model.tenant import Profile
from dracfg.plan.promises import Planned, planned
from dracfg.source import Scalar, follow

if TYPE_CHECKING:
    from dracfg.check.lints.context import Modelled

MOST_CLUSTERS = 3

Lines = Callable[[str], Sequence[str]]
Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Environment:
    """What of a cluster decides how it compiles."""

    minor: str
    gates: frozenset[str]


@dataclass(frozen=True, eq=False)
class _Written:
    """An expression as it stands in a document."""

    document: kinds.HardwareTier | kinds.SharingPolicy
    steps: Steps
    scalar: Scalar

    @property
    def text(self) -> str:
        return self.scalar.text

    @property
    def order(self) -> Span:
        return self.scalar.span


@dataclass(frozen=True, slots=True)
class _Use:
    """Where an expression is put to use: on clusters of one kind, on the devices of a tier."""

    environment: _Environment
    tier: Tier
    clusters: list[Cluster] = field(default_factory=list)


def check_expressions(
    catalog: Catalog, plans: Mapping[str, GatePlan], lines: Lines
) -> tuple[Diagnostic, ...]:
    """The findings on CEL: SEL001-005 in raw expressions, SEL006-008 and SEL010-017.

    `plans` are the gates of each cluster by its name, `lines` the lines of a file that was read.
    """
    judge = _Judge(catalog, lines)
    environments: dict[str, _Environment] = {}
    for name, cluster in catalog.clusters.items():
        plan = plans[name]
        gates = frozenset(gate for gate in DECIDING_GATES if plan.is_on(gate))
        environment = environments[name] = _Environment(cluster.minor, gates)
        for class_plan in device_classes(catalog, cluster):
            judge.take(class_plan, environment, cluster)
    for made in planned(
        catalog, catalog.clusters.values(), writers(catalog, "choose", "any_of"), _chooses
    ):
        judge.take_choices(made, environments[made.cluster.name])
    return tuple(dict.fromkeys(judge.findings()))


def _chooses(profile: Profile) -> bool:
    """Whether a request of the profile chooses something of a tier's parameters."""
    return any(one.choose for request in profile.requests for one in request.any_of or (request,))


class _Judge:
    """Gathers every expression with its uses, then judges each once for each use that differs."""

    def __init__(self, catalog: Catalog, lines: Lines) -> None:
        self._lines = lines
        self._labels = label_places(catalog)
        self._facts: dict[str, DriverFacts] = {}
        self._structured: dict[tuple[str, _Environment], tuple[str, Span, list[Cluster]]] = {}
        self._written: dict[tuple[str, str, Steps], _Written] = {}
        self._uses: dict[tuple[str, str, Steps], dict[tuple[str, _Environment], _Use]] = {}

    def take(self, plan: ClassPlan, environment: _Environment, cluster: Cluster) -> None:
        """The expressions of one class on one cluster."""
        text = structured(plan.tier.driver, effective_match(plan), plan.sharing_test)
        self._compile(text, f"class {plan.name}", _conditions(plan), environment, cluster)
        for written in _written(plan):
            key = (written.document.kind, written.document.metadata.name, written.steps)
            self._written.setdefault(key, written)
            uses = self._uses.setdefault(key, {})
            use = uses.setdefault((plan.tier.name, environment), _Use(environment, plan.tier))
            _add(use.clusters, cluster)

    def take_choices(self, made: Planned, environment: _Environment) -> None:
        """What the requests of one claim choose of their tiers' parameters."""
        for ask in (ask for request in made.plan.requests for ask in request.asks):
            for text in request_selectors(ask):
                span = place(ask.grant.tier.document, "spec", "parameters")
                what = f"{made.plan.profile.name} of {made.tenant.name}"
                self._compile(text, what, span, environment, made.cluster)

    def _compile(
        self, text: str, what: str, span: Span, environment: _Environment, cluster: Cluster
    ) -> None:
        *_, clusters = self._structured.setdefault((text, environment), (what, span, []))
        _add(clusters, cluster)

    def findings(self) -> Iterator[Diagnostic]:
        """Everything that is wrong with what was taken."""
        for (text, environment), (what, span, clusters) in self._structured.items():
            yield from self._generated(text, environment, what, span, clusters)
        for key, written in self._written.items():
            found: dict[LintFinding, list[Cluster]] = {}
            for use in self._uses[key].values():
                for one in self._lint(written, use):
                    for cluster in use.clusters:
                        _add(found.setdefault(one, []), cluster)
            for one, clusters in found.items():
                yield self._diagnostic(written, one, clusters)
        yield from self._alike()

    def _generated(
        self, text: str, environment: _Environment, what: str, span: Span, clusters: list[Cluster]
    ) -> Iterator[Diagnostic]:
        outcome = compile_selector(text, environment.minor, environment.gates)
        refused = (
            (outcome,)
            if isinstance(outcome, LintFinding)
            else judge_cost(outcome, environment.minor, environment.gates)
        )
        for one in refused:
            if one.code != "SEL008":
                yield diagnose(
                    one.code,
                    span,
                    f"the selector of {what}: {one.message}",
                    related=_on(one, clusters),
                    help=one.help,
                )

    def _lint(self, written: _Written, use: _Use) -> tuple[LintFinding, ...]:
        driver = use.tier.driver
        if driver.name not in self._facts:
            self._facts[driver.name] = DriverFacts.of_driver(driver)
        return lint(
            written.text,
            driver=self._facts[driver.name],
            minor=use.environment.minor,
            gates=use.environment.gates,
            is_first=False,
            modelled=_modelled(use.tier) if written.document is use.tier.document else {},
            labels=self._labels.keys(),
        )

    def _diagnostic(
        self, written: _Written, found: LintFinding, clusters: list[Cluster]
    ) -> Diagnostic:
        scalar, lines = written.scalar, self._lines(written.scalar.span.path)
        fix = found.fix
        related = _on(found, clusters)
        if found.subject in self._labels:
            related = (Related(self._labels[found.subject], "a pool is selected by it"),)
        return diagnose(
            found.code,
            part_of(scalar, lines, found.offset, found.length),
            found.message,
            label=found.label,
            related=related,
            found=written.text[found.offset : found.offset + found.length],
            help=found.help,
            fix=fix if fix is not None and takes(scalar, lines, fix) else None,
        )

    def _alike(self) -> Iterator[Diagnostic]:
        """SEL014: expressions whose texts differ and whose meanings do not."""
        if not self._written:
            return
        from dracfg.check.lints.meaning import meaning

        first: dict[object, _Written] = {}
        for key, written in sorted(self._written.items(), key=lambda item: item[1].order):
            use = next(iter(self._uses[key].values()))
            program = compile_selector(written.text, use.environment.minor, use.environment.gates)
            if isinstance(program, LintFinding) or program.tree is None:
                continue
            driver = use.tier.driver.name
            other = first.setdefault((driver, meaning(program.tree, driver)), written)
            if other.text.strip() != written.text.strip():
                yield diagnose(
                    "SEL014",
                    first_line(written.scalar, self._lines(written.order.path)),
                    "this means the same as another expression in other words, and the scheduler "
                    "compiles each text by itself",
                    related=[
                        Related(
                            first_line(other.scalar, self._lines(other.order.path)), "the other one"
                        )
                    ],
                    help=f"{MEND}{edited(other.text, ())}",
                )


def _conditions(plan: ClassPlan) -> Span:
    """Where the structured conditions of a class stand."""
    partition = plan.part.partition
    if partition is not None and plan.policy.document is not None:
        return place(partition, "match")
    return place(plan.tier.document, "spec", "match")


def _written(plan: ClassPlan) -> Iterator[_Written]:
    """The raw expressions of a class: the tier's, then the partition's."""
    tier, partition, policy = plan.tier.document, plan.part.partition, plan.policy.document
    places: list[tuple[kinds.HardwareTier | kinds.SharingPolicy, Steps, int]] = [
        (tier, ("spec", "match", "cel"), len(tier.spec.match.cel))
    ]
    if partition is not None and policy is not None:
        names = [part.name for part in getattr(policy.spec, "partitions", ())]
        steps: Steps = ("spec", "partitions", names.index(partition.name), "match", "cel")
        places.append((policy, steps, len(partition.match.cel)))
    for document, above, count in places:
        for i in range(count):
            node, _ = follow(document.read_from, (*above, i))
            if isinstance(node, Scalar):
                yield _Written(document, (*above, i), node)


def _modelled(tier: Tier) -> Modelled:
    """What the tier's modelled device publishes, by domain and name."""
    known = {**tier.document.spec.device.attributes, **tier.document.spec.device.capacity}
    return {
        key if "/" in key else f"{tier.driver.name}/{key}": amount for key, amount in known.items()
    }


def _on(found: LintFinding, clusters: Iterable[Cluster]) -> tuple[Related, ...]:
    """The clusters whose Kubernetes decides the finding, the first few."""
    if found.code not in ("SEL006", "SEL008"):
        return ()
    return tuple(
        Related(
            place(cluster.document, "spec", "kubernetes"),
            f"{cluster.name} runs Kubernetes {cluster.minor}",
        )
        for cluster in list(clusters)[:MOST_CLUSTERS]
    )


def _add(clusters: list[Cluster], cluster: Cluster) -> None:
    if cluster not in clusters:
        clusters.append(cluster)
