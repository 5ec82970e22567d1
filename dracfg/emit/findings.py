"""What stands in the way below `out/`, as findings."""

from __future__ import annotations

from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.emit.tree import TreePlan


def tree_findings(tree: TreePlan) -> tuple[Diagnostic, ...]:
    """Files that dracfg did not write: where they only lie around, and where they are in the way."""
    findings = [
        diagnose(
            "OBJ007" if stray.synced else "OBJ006",
            Span(f"{tree.out.name}/{stray.path}"),
            "dracfg did not write this file, and an engine would apply it"
            if stray.synced
            else "dracfg did not write this file",
            help="move it out of out/; your own manifests belong into a folder of their own",
        )
        for stray in tree.strays
    ]
    findings += [
        diagnose(
            "OBJ008",
            Span(f"{tree.out.name}/{conflict.path}"),
            f"dracfg can't write here: {conflict.reason}",
            help="move the file away; dracfg never overwrites what it did not write",
        )
        for conflict in tree.conflicts
    ]
    return tuple(findings)
