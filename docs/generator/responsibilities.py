"""The page of responsibilities and its picture, from dracfg/kube/data/responsibilities.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docs.generator.markdown import page, table
from docs.generator.svg import Box, rows
from dracfg.kube.responsibilities import Responsibility, actors, responsibilities, stages

FOLDER = "docs/explanation"
INTRODUCTION = """\
Between a line in the catalog and a container with its devices many programs write, each its own part.
This page says for each part who writes it and who reads it, when, what failure looks like, and what
dracfg emits for it. The roles that dracfg emits let nobody write what another writes here, and the
policies named here are those that judge it: tests hold both to the data of this page.

![Who writes what, stage by stage](responsibilities.svg)"""
STAGES = """\
**Node selected, allocated, prepared and ready are four different things.** Each can hold without the
next, and each fails in a way of its own. A pod that waits is helped only by whoever knows which of them
it has reached."""
FIELDS = """\
*Policies* judge requests for the part whoever makes them. *Granted* are those whom an emitted role lets
write it; where the engine's role must hold what it grants to others (Kubernetes lets nobody grant more
than he has), it could write that as well, and does not."""
AFTER = """\
What follows from this for what dracfg can and can't promise stands in [limits](limits.md)."""


def pages() -> dict[str, str]:
    """Path -> text of the page and of its picture."""
    parts = [
        INTRODUCTION,
        "## The stages",
        STAGES,
        table(("stage", "what it is", "where it is seen", "what it does not mean"), _stages()),
        "## The parts",
        FIELDS,
        *(part for stage in stages() for part in _fields(stage.name)),
        "## What follows",
        AFTER,
    ]
    text = page("Who writes what", "dracfg/kube/data/responsibilities.yaml", *parts)
    return {f"{FOLDER}/responsibilities.md": text, f"{FOLDER}/responsibilities.svg": _picture()}


def _stages() -> Iterator[tuple[str, ...]]:
    for stage in stages():
        yield f"**{stage.name}**", stage.is_, stage.seen, stage.not_yet


def _fields(stage: str) -> Iterator[str]:
    listed = [entry for entry in responsibilities() if entry.stage == stage]
    if listed:
        yield f"### {stage[0].upper()}{stage[1:]}"
    for entry in listed:
        yield f"#### {entry.kind}: {entry.part}"
        yield table(("", ""), [(f"**{key}**", text) for key, text in _facts(entry) if text])


def _facts(entry: Responsibility) -> Iterator[tuple[str, str]]:
    yield "writers", _titles(entry.writers)
    yield "readers", _titles(entry.readers)
    yield "moment", entry.when
    yield "failure", entry.failure
    yield "dracfg emits", entry.emits
    holders = {actor.holder: actor.title for actor in actors().values() if actor.holder}
    yield "granted to", ", ".join(holders[holder] for holder in entry.granted)
    yield "policies", ", ".join(f"`{name}`" for name in entry.policies)


def _titles(names: Iterable[str]) -> str:
    return ", ".join(actors()[name].title for name in names)


def _picture() -> str:
    """Stages as rows; in each what is written there, with who writes it."""
    listed = [
        (
            stage.name,
            [
                Box(entry.kind, (entry.part, f"← {_titles(entry.writers)}"))
                for entry in responsibilities()
                if entry.stage == stage.name
            ],
        )
        for stage in stages()
    ]
    described = (
        "Each row is a stage of a claim, each box a part of an object with those who write it."
    )
    return rows("Who writes what, stage by stage", described, listed)
