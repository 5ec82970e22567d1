"""Located documents → typed documents. Every refusal of a model becomes a finding at its key.

Knows nothing of other documents: whether a name refers to something is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose, did_you_mean
from dracfg.model.base import API_VERSION, PATTERN_WORDS, Spec, data_of
from dracfg.model.kinds import KINDS, TEST_KINDS, AnyDocument, home_of
from dracfg.model.origin import remember
from dracfg.source import Document, Map, Node, Scalar, Seq, follow, kind_of

_Doc = TypeVar("_Doc", bound=Spec)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the documents say. `poisoned` names documents that could not be understood.

    `poisoned` holds (kind, name) where both could still be read, so that references to such a
    document aren't reported a second time.
    """

    documents: tuple[AnyDocument, ...]
    poisoned: frozenset[tuple[str, str]]
    faults: tuple[Diagnostic, ...]


def parse(documents: Iterable[Document], seen: dict[int, Any] | None = None) -> Parsed:
    """All documents of `catalog/` and `tenants/` as typed documents.

    `seen` is what documents became before, by their id; whoever keeps it keeps the documents too.
    """
    good: list[AnyDocument] = []
    poisoned: set[tuple[str, str]] = set()
    faults: list[Diagnostic] = []
    for document in documents:
        made = parse_document(document, KINDS) if seen is None else _parse_once(document, seen)
        if isinstance(made, list):
            faults += made
            if (identity := identity_of(document.root)) is not None:
                poisoned.add(identity)
        else:
            good.append(made)
            faults += misplaced(document, made)
    return Parsed(tuple(good), frozenset(poisoned), tuple(faults))


def _parse_once(document: Document, seen: dict[int, Any]) -> AnyDocument | list[Diagnostic]:
    if id(document) not in seen:
        seen[id(document)] = parse_document(document, KINDS)
    made: AnyDocument | list[Diagnostic] = seen[id(document)]
    return made


def misplaced(document: Document, made: AnyDocument) -> list[Diagnostic]:
    """Who may review a folder decides what may stand in it: tenants never describe the platform."""
    here, right = document.path.split("/")[0], home_of(made)
    if here == right:
        return []
    kind, _ = follow(made.read_from, ("kind",))
    return [
        diagnose(
            "MOD010",
            kind.span,
            f"{made.kind} {made.name} stands in {here}/",
            found=f"{here}/",
            expected=f"{right}/",
            help=f"move it below {right}/, where those who answer for it review it",
        )
    ]


def parse_document(document: Document, kinds: Mapping[str, type[_Doc]]) -> _Doc | list[Diagnostic]:
    """One document as its model, or what is wrong with it; nothing where reading it said so."""
    if not document.sound:
        return []
    root = document.root
    if not isinstance(root, Map):
        if isinstance(root, Scalar) and root.value is None:
            return [
                diagnose(
                    "SRC015", root.span, "an empty document", help="remove the `---` around it"
                )
            ]
        return [
            diagnose(
                "MOD001",
                root.span,
                f"a document is a map with apiVersion, kind, metadata and spec, not {kind_of(root)}",
            )
        ]
    kind = _kind(root, kinds)
    if isinstance(kind, Diagnostic):
        return [kind]
    data = data_of(root)
    if has_gap(data):
        return list(_without_value(root))
    try:
        made = kinds[kind].model_validate(data)
    except ValidationError as refusal:
        return _explain(refusal, root, kinds[kind])
    remember(made, root)
    return made


def has_gap(data: Any) -> bool:
    """Whether a key or list entry stands without a value anywhere in a map's or list's data."""
    for value in data.values() if isinstance(data, dict) else data:
        if value is None or (isinstance(value, dict | tuple) and has_gap(value)):
            return True
    return False


def _without_value(node: Node) -> Iterator[Diagnostic]:
    """Keys and list entries that stand there without a value, wherever they are."""
    if isinstance(node, Map):
        for entry in node.entries.values():
            if isinstance(entry.value, Scalar) and entry.value.value is None:
                yield diagnose(
                    "MOD009",
                    entry.key.span,
                    f"the key {entry.key.text!r} has no value",
                    help="write a value, or remove the key",
                )
            else:
                yield from _without_value(entry.value)
    elif isinstance(node, Seq):
        for item in node.items:
            if isinstance(item, Scalar) and item.value is None:
                yield diagnose("MOD009", item.span, "a list entry has no value", help="remove it")
            else:
                yield from _without_value(item)


def _kind(root: Map, kinds: Mapping[str, Any]) -> str | Diagnostic:
    """The kind of a document that is ours, or what is wrong with its head."""
    version = root.entries.get("apiVersion")
    if version is None:
        return diagnose(
            "MOD001",
            _start(root),
            "the document has no apiVersion",
            expected=f"apiVersion: {API_VERSION}",
        )
    found = version.value.value if isinstance(version.value, Scalar) else None
    if found != API_VERSION:
        own = isinstance(found, str) and found.startswith("dracfg.dev/")
        mend = (
            "only dracfg's own documents are read; recorded state belongs into catalog/inventory/"
        )
        return diagnose(
            "MOD002",
            version.value.span,
            f"apiVersion {found} is not known to this dracfg"
            if own
            else f"apiVersion {found} is not dracfg's",
            expected=API_VERSION,
            help=None if own else mend,
        )
    entry = root.entries.get("kind")
    if entry is None:
        return diagnose(
            "MOD001", _start(root), "the document has no kind", expected=", ".join(kinds)
        )
    name = entry.value.value if isinstance(entry.value, Scalar) else None
    if not isinstance(name, str) or name not in kinds:
        if name in TEST_KINDS or name in KINDS:
            where = "tests/policy/" if name in TEST_KINDS else "catalog/ or tenants/"
            return diagnose(
                "MOD003",
                entry.value.span,
                f"kind {name} is not read here",
                help=f"it belongs into {where}",
            )
        near = did_you_mean(str(name), kinds)
        return diagnose(
            "MOD003",
            entry.value.span,
            f"there is no kind {name}",
            expected=", ".join(kinds),
            help=f"did you mean {near}?" if near else None,
            fix=near,
        )
    return name


def identity_of(root: Node) -> tuple[str, str] | None:
    """(kind, name) of a document as it stands there, or None where it does not say both."""
    kind, _ = follow(root, ("kind",))
    name, _ = follow(root, ("metadata", "name"))
    if isinstance(kind, Scalar) and isinstance(name, Scalar):
        return str(kind.value), str(name.value)
    return None


def _start(node: Node) -> Span:
    """The first key of a map rather than the whole of it."""
    if isinstance(node, Map) and node.entries:
        return next(iter(node.entries.values())).key.span
    return node.span


# -- pydantic's errors in our words ----------------------------------------------------------------


def _explain(refusal: ValidationError, root: Map, model: type[BaseModel]) -> list[Diagnostic]:
    errors = refusal.errors(include_url=False)
    paths = [error["loc"] for error in errors]
    found: dict[tuple[Span | None, str], Diagnostic] = {}
    for error in errors:
        here = error["loc"]
        if error["type"] == "too_short" and any(p[: len(here)] == here != p for p in paths):
            continue  # entries are missing only because they are wrong themselves
        finding = _finding(error, root, model)
        found.setdefault((finding.span, finding.code), finding)
    return list(found.values())


def _finding(error: ErrorDetails, root: Map, model: type[BaseModel]) -> Diagnostic:
    steps = [step for step in error["loc"] if step != "[key]"]
    node, key = follow(root, steps)
    last = str(steps[-1]) if steps else ""
    kind, context = error["type"], error.get("ctx", {})
    name = f"{key.text}" if key is not None else "the value"
    if error["loc"] and error["loc"][-1] == "[key]" and key is not None:
        span = key.span
        return diagnose(
            "MOD007",
            span,
            f"{key.text!r} can't be a key here: {_shape(kind, context)}",
            found=key.text,
        )
    match kind:
        case "extra_forbidden":
            span = key.span if key is not None else node.span
            near = did_you_mean(last, _keys_at(model, steps[:-1]))
            return diagnose(
                "MOD004",
                span,
                f"there is no key {last!r} here",
                help=f"did you mean {near}?" if near else _known_keys(model, steps[:-1]),
                fix=near,
            )
        case "missing":
            holder, holder_key = follow(root, steps[:-1])
            span = holder_key.span if holder_key is not None else _start(holder)
            return diagnose("MOD005", span, f"the key {last!r} is missing", expected=last)
        case "literal_error" | "union_tag_invalid":
            expected = str(context.get("expected") or context.get("expected_tags", ""))
            values = [v.strip(" '") for v in expected.replace(" or ", ",").split(",")]
            target = node
            if kind == "union_tag_invalid" and isinstance(node, Map):
                name = str(context.get("discriminator", "")).strip("'")
                target, _ = follow(node, (name,))
            text = target.text if isinstance(target, Scalar) else kind_of(target)
            near = did_you_mean(text, values)
            number = (
                isinstance(target, Scalar) and not isinstance(target.value, str) and text in values
            )
            return diagnose(
                "MOD006",
                target.span if isinstance(target, Scalar) else _start(target),
                f"{text} is a number here, text is needed" if number else f"{name} can't be {text}",
                found=text,
                expected=", ".join(values),
                help="quote it" if number else f"did you mean {near}?" if near else None,
                fix=f'"{text}"' if number else near,
            )
        case "union_tag_not_found" | "missing_discriminator":
            discriminator = str(context.get("discriminator", "")).strip("'")
            if isinstance(node, Map) and discriminator.isidentifier():
                span = key.span if key is not None else _start(node)
                return diagnose(
                    "MOD005", span, f"the key {discriminator!r} is missing", expected=discriminator
                )
            return diagnose(
                "MOD006", _caret(node), f"{name} can't be {kind_of(node)}", found=_found(node)
            )
        case "quantity":
            reason = str(error["msg"])
            return diagnose("MOD008", _caret(node), f"{name}: {reason}", found=_found(node))
        case "bool_type" | "bool_parsing":
            said = isinstance(node, Scalar) and node.text.lower() in (
                "yes",
                "no",
                "on",
                "off",
                "y",
                "n",
            )
            help_ = (
                f"`{node.text}` is text in YAML 1.2" if said and isinstance(node, Scalar) else None
            )
            return diagnose(
                "MOD006",
                _caret(node),
                f"{name} is true or false",
                found=_found(node),
                expected="true or false",
                help=help_,
            )
        case "string_type":
            quoted = (
                f'"{node.text}"'
                if isinstance(node, Scalar) and node.text and node.value is not None
                else None
            )
            return diagnose(
                "MOD006",
                _caret(node),
                f"{name} is text; {kind_of(node)} stands here",
                found=_found(node),
                help="quote it" if quoted else None,
                fix=quoted,
            )
        case "int_type" | "int_from_float" | "int_parsing":
            return diagnose(
                "MOD006",
                _caret(node),
                f"{name} is a whole number; {kind_of(node)} stands here",
                found=_found(node),
            )
        case "tuple_type" | "list_type":
            return diagnose(
                "MOD006",
                _caret(node),
                f"{name} is a list; {kind_of(node)} stands here",
                found=_found(node),
            )
        case "dict_type" | "model_type" | "model_attributes_type":
            return diagnose(
                "MOD006",
                _caret(node),
                f"{name} is a map; {kind_of(node)} stands here",
                found=_found(node),
            )
        case _:
            return diagnose(
                "MOD007", _caret(node), f"{name}: {_shape(kind, context)}", found=_found(node)
            )


def _shape(kind: str, context: Mapping[str, Any]) -> str:
    """Bounds and patterns in plain words."""
    match kind:
        case "string_pattern_mismatch":
            return PATTERN_WORDS.get(str(context["pattern"]), f"it must match {context['pattern']}")
        case "string_too_long":
            return f"at most {context['max_length']} characters"
        case "string_too_short":
            return f"at least {context['min_length']} characters"
        case "too_short":
            least = context["min_length"]
            return f"at least {least} {'entry is' if least == 1 else 'entries are'} needed"
        case "too_long":
            return f"at most {context['max_length']} entries"
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']:,}"
        case _:
            return kind.replace("_", " ")


def _found(node: Node) -> str | None:
    return node.text if isinstance(node, Scalar) and node.text else None


def _caret(node: Node) -> Span:
    return node.span if isinstance(node, Scalar) else _start(node)


def _keys_at(model: type[BaseModel], steps: list[str | int]) -> set[str]:
    """The keys that a model takes at a path: every key of each model that can stand there."""
    from dracfg.model.shape import models_at

    return {
        field.alias or name
        for found in models_at(model, steps)
        for name, field in found.model_fields.items()
    }


def _known_keys(model: type[BaseModel], steps: list[str | int]) -> str | None:
    keys = sorted(_keys_at(model, steps))
    return f"known here: {', '.join(keys)}" if 0 < len(keys) <= 12 else None
