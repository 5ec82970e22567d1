"""LIV080, LIV081: what runs in tenants' namespaces, and may read claims or slices by the API.

A container has its own devices in files. Who reads claims or slices besides learns of the devices of
others, with their nodes and serial numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.finding import LiveFinding, LiveRule, live
from dracfg.audit.view import View
from dracfg.check.recordedaccess import readers


def workloads_that_read(view: View) -> Iterator[LiveFinding]:
    """LIV080 for a binding that shows them, LIV081 for one whose role is not recorded."""
    if view.catalog is None or view.cluster is None:
        return
    owners = {
        place.name: tenant
        for tenant in view.catalog.tenants_on(view.cluster.name)
        for place in tenant.places_on(view.cluster.name)
    }
    for reader in readers(view.dump.access, frozenset(owners)):
        tenant = owners[reader.namespace]
        watching = {one.namespace for one in tenant.document.spec.admin_access}
        if reader.is_ours and reader.namespace in watching:
            continue
        objects = [f"Tenant/{tenant.name}", f"Namespace/{reader.namespace}"]
        if reader.resources:
            yield live(
                "LIV080",
                "needsPerson",
                reader.span,
                f"{reader}; tenant {tenant.name} runs workloads there",
                label=tenant.name,
                found=" and ".join(reader.resources),
                expected="neither claims nor slices",
                step=f"ask who needs it, then take {reader.subject} out of {reader.binding}; a "
                "container reads its own devices from files",
                objects=objects,
            )
        else:
            yield live(
                "LIV081",
                "needsPerson",
                reader.span,
                f"{reader.binding} binds {reader.subject} to role {reader.role}, which is not recorded",
                label=tenant.name,
                step="record ClusterRoles and Roles beside the bindings, and audit again",
                objects=objects,
            )


RULES: tuple[LiveRule, ...] = (workloads_that_read,)
