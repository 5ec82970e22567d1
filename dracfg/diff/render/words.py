"""Words that every form of a diff has in common."""

from __future__ import annotations

from dracfg.diff.render.folding import Document, counts

EFFECTS = {
    "never": "nothing is felt",
    "compile": "in the repository only",
    "sync": "when the engine syncs",
    "next claim": "for new claims; what is bound stays",
    "restart": "when what is named restarts",
    "drain": "when nodes or pods are drained",
}
"""When a change is felt, in words."""

_CALM = {
    "none": "nothing changes in meaning",
    "additive": "additive, nobody loses anything",
    "new-claims": "what is bound stays, later claims differ",
    "restrictive": "somebody can ask for less",
    "disruptive": "running pods, nodes or controllers are touched",
    "destructive": "something is deleted or made anew",
}


def headline(document: Document) -> str:
    """May I merge? In one line."""
    forbidden = len(document["forbidden"])
    if forbidden:
        return f"{number(forbidden, 'forbidden change')}, do not merge"
    broken = [side for side in ("base", "head") if not document[side]["compiles"]]
    if "head" in broken:
        return "the head does not compile, do not merge"
    note = "; the base does not compile, so only a part is compared" if broken else ""
    told = [one for one in document["findings"] if one["severity"] != "error"]
    if told:
        note = f"; {number(len(told), 'new finding')}{note}"
    if not document["changes"]:
        return f"{_CALM['none']}{note}"
    felt = [change for change in document["changes"] if change["impact"] != "none"]
    flags = sorted({flag for change in felt for flag in change["flags"]})
    shown = f"; concerns {', '.join(flags)}" if flags else ""
    return f"{_CALM[document['maxImpact']]}{shown}{note}"


def summary(document: Document) -> str:
    """`1 additive, 2 restrictive; 1 forbidden`."""
    told = ", ".join(f"{count:,} {word}" for word, count in counts(document)) or "no changes"
    forbidden = len(document["forbidden"])
    return f"{told}; {forbidden:,} forbidden" if forbidden else told


def number(count: int, noun: str) -> str:
    """`1 change`, `2 changes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def revisions(document: Document) -> str:
    """`main (1a2b3c4) -> work tree`."""

    def end(side: Document) -> str:
        commit = side.get("commit")
        short = f" ({commit[:7]})" if commit and not side["name"].startswith(commit[:7]) else ""
        return f"{side['name']}{short}"

    return f"{end(document['base'])} -> {end(document['head'])}"
