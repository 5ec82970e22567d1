"""Whose workload it is: the tenant of its namespace, or the one that a person names.

Knows no file. A template is found by its name in the pod's own namespace, so a namespace that is
another tenant's can't be overruled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Catalog, Tenant
from dracfg.migrate.decision import View
from dracfg.migrate.fitting import Offering, offerings
from dracfg.migrate.manifest import PodSite


@dataclass(frozen=True)
class Tenancy:
    """What a person said of all workloads of a run.

    `namespace` is that of objects that name none, or of all where it is `forced`; `wanted` names
    profiles to choose among.
    """

    catalog: Catalog
    clusters: tuple[str, ...]
    tenant: Tenant | None = None
    namespace: str | None = None
    wanted: tuple[str, ...] = ()
    forced: bool = False

    def view(self, site: PodSite) -> tuple[View | None, tuple[Diagnostic, ...]]:
        """What a pod's decision looks at; None, with the reason, where its tenant is not known."""
        own = None if self.forced else site.namespace
        return self.view_of(
            own or self.namespace, site.name, site.thing.span("metadata", "namespace")
        )

    def view_of(
        self, namespace: str | None, name: str, span: Span
    ) -> tuple[View | None, tuple[Diagnostic, ...]]:
        """The same for what has a name, a place and perhaps a namespace."""
        owners = self._owners(namespace)
        tenant = self.tenant
        if tenant is None and len(owners) == 1:
            tenant = owners[0]
        if tenant is None or (owners and tenant not in owners):
            return None, (self._unknown(name, span, namespace, owners),)
        clusters = tuple(one for one in self.clusters if one in tenant.clusters)
        own = {place.name for place in tenant.places if place.cluster in clusters}
        found: tuple[Diagnostic, ...] = ()
        if namespace is not None and namespace not in own:
            found = (self._foreign(name, span, namespace, tenant),)
        elif namespace is not None:
            clusters = tuple(
                one
                for one in clusters
                if any(place.name == namespace for place in tenant.places_on(one))
            )
        view = View(
            self.catalog,
            tenant,
            clusters,
            self._offered(tenant, clusters),
            namespace if namespace in own else None,
            self.wanted,
        )
        return view, found

    @cached_property
    def _offered(self) -> Callable[[Tenant, tuple[str, ...]], tuple[Offering, ...]]:
        """The offerings of tenants; what many pods of a run ask for is worked out once."""
        return cache(lambda tenant, clusters: offerings(self.catalog, tenant, clusters))

    def _owners(self, namespace: str | None) -> list[Tenant]:
        """The tenants that have a namespace on one of the clusters."""
        return [
            tenant
            for tenant in self.catalog.tenants.values()
            if any(
                place.name == namespace and place.cluster in self.clusters
                for place in tenant.places
            )
        ]

    def _unknown(
        self, name: str, span: Span, namespace: str | None, owners: list[Tenant]
    ) -> Diagnostic:
        names = ", ".join(tenant.name for tenant in owners)
        if self.tenant is not None:
            reason = f"namespace {namespace} is of tenant {names}, not of {self.tenant.name}"
            mend = "leave --tenant out, or write the namespace that is meant"
        elif owners:
            reason = f"namespace {namespace} is of tenants {names} on different clusters"
            mend = "say where it runs: --cluster NAME"
        elif namespace is None:
            reason = "it names no namespace"
            mend = "say whose it is: --tenant NAME, or --namespace NAME"
        else:
            reason = f"no tenant has namespace {namespace}"
            mend = "say whose it is: --tenant NAME"
        return diagnose(
            "ROL045",
            span,
            f"the tenant of {name} is not known: {reason}",
            help=mend,
        )

    def _foreign(self, name: str, span: Span, namespace: str, tenant: Tenant) -> Diagnostic:
        names = dict.fromkeys(
            place.name for place in tenant.places if place.cluster in self.clusters
        )
        return diagnose(
            "ROL046",
            span,
            f"{name} is in namespace {namespace}, which tenant {tenant.name} does not have: "
            "its template is not there",
            found=namespace,
            expected=" or ".join(names),
            help="move the workload, or give the tenant that namespace",
        )
