"""A page for each kind of the language: every field with its type, default, purpose and an example."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from docs.generator.examples import Examples, examples, flow
from docs.generator.markdown import code, fenced, page, table
from dracfg.model.fields import Described, Field, Variant, describe, kinds

FOLDER = "docs/reference/kinds"
HEAD = ("field", "type", "default", "what it says", "example")
_SAME = ("apiVersion", "kind", "metadata")


def pages(root: Path) -> dict[str, str]:
    """Path -> text: the index of kinds and a page for each."""
    shown = examples(root)
    made = {f"{FOLDER}/{kind.lower()}.md": _kind(kind, shown) for kind in kinds()}
    rows = [(f"[{kind}]({kind.lower()}.md)", describe(kind).field.description) for kind in kinds()]
    every = page(
        "Kinds",
        "the models in dracfg/model/",
        "A document has `apiVersion: dracfg.dev/v1alpha1`, a `kind`, a name under `metadata`, and a `spec`. "
        "Unknown keys, keys that stand twice and names that stand twice within a kind are errors. The same "
        "facts: `dracfg explain KIND.field`, and as JSON Schema in `schemas/`.",
        table(("kind", "what it is"), rows),
    )
    return {f"{FOLDER}/index.md": every, **made}


def _kind(kind: str, shown: Examples) -> str:
    whole = describe(kind)
    parts = [whole.field.description]
    if kind in shown.documents:
        parts.append(fenced("yaml", shown.documents[kind]))
    parts += _sections(f"{kind}.spec", shown)
    return page(kind, f"the model of {kind} in dracfg/model/", *parts)


def _sections(path: str, shown: Examples) -> Iterator[str]:
    """The fields at a path, then those below each of them, in the order of the model."""
    described = describe(path)
    if not described.variants:
        return
    local = path.partition(".")[2]
    yield f"## {code(local)}"
    yield described.field.description if described.path.count(".") > 1 else ""
    for variant in described.variants:
        yield from _form(described, variant, shown)
    names = dict.fromkeys(inner.name for variant in described.variants for inner in variant.fields)
    for name in names:
        yield from _sections(f"{path}.{name}", shown)


def _form(described: Described, variant: Variant, shown: Examples) -> Iterator[str]:
    if len(described.variants) > 1 and variant.name:
        yield f"### {code(variant.name)}"
    if variant.description != described.field.description:
        yield variant.description
    yield table(HEAD, [_row(described.path, inner, shown) for inner in variant.fields])


def _row(path: str, inner: Field, shown: Examples) -> tuple[str, ...]:
    default = "required" if inner.required else code(_default(inner.default or ""))
    here = f"{path}.{inner.name}"
    example = code(shown.values.get(here, ""))
    return code(inner.name), inner.type, default, inner.description or _form_says(here), example


def _form_says(path: str) -> str:
    """What the only form of a value says, for a field that says nothing itself."""
    variants = describe(path).variants
    return variants[0].description if len(variants) == 1 else ""


def _default(text: str) -> str:
    """A default as a document would hold it; that of a map comes as Python writes it."""
    return flow(ast.literal_eval(text)) if text.startswith(("{", "[")) else text
