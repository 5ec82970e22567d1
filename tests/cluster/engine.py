"""What syncs a tree to a cluster, as Argo CD does with the annotations that dracfg writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from tests.cluster.client import Client, Object, Refused
from tests.cluster.emitted import Emitted
from tests.cluster.processes import wait_for

OPTIONS = "argocd.argoproj.io/sync-options"

Name = tuple[str, str, str, str]
"""apiVersion, kind, namespace and name."""


@dataclass
class Engine:
    """Applies trees as their applier, and prunes what has left git but for what is retained."""

    admin: Client
    synced: dict[Name, Object] = field(default_factory=dict)

    def sync(self, tree: Emitted) -> None:
        """What the server's own policies have not seen yet is tried again."""
        applier = tree.entered(self.admin)

        def applied(obj: Object) -> bool:
            try:
                applier.apply(obj, force=True)
            except Refused as refused:
                if refused.code != 403:
                    raise
                return False
            return True

        now = {name_of(obj): obj for obj in tree.objects()}
        for obj in now.values():
            wait_for(partial(applied, obj), f"{obj['kind']} {obj['metadata']['name']} is applied")
        for name, obj in self.synced.items():
            notes = obj["metadata"].get("annotations", {})
            if name not in now and "Prune=false" not in notes.get(OPTIONS, ""):
                applier.delete(obj)
        self.synced = now


def name_of(obj: Object) -> Name:
    metadata = obj["metadata"]
    return obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata["name"]
