"""Lints on values: types that never meet, text that is no version or quantity, bounds that leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.cel import Semver
from dracfg.cel.syntax import Call, Expression, ListLiteral, Literal, children, walk
from dracfg.check.lints.bounds import STRICT, strict_call, strict_sign
from dracfg.check.lints.context import PARSED, Context, Modelled
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import Lint, LintFinding
from dracfg.check.lints.lookups import LookUp
from dracfg.check.lints.text import Edit, called_at, end_before, token_at
from dracfg.kube.quantity import Quantity
from dracfg.lower.selectors import normalised_version

COMPARED = {"_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
ORDERED = frozenset({"compareTo", *STRICT})
OF_VERSIONS = frozenset({"major", "minor", "patch"})
OF_TEXT = frozenset(
    (
        "charAt",
        "contains",
        "endsWith",
        "find",
        "findAll",
        "lastIndexOf",
        "lowerAscii",
        "matches",
        "replace",
        "reverse",
        "split",
        "startsWith",
        "substring",
        "trim",
        "upperAscii",
    )
)
WORDS = {
    "string": "text",
    "version": "a version",
    "int": "a number",
    "bool": "true or false",
    "quantity": "a quantity",
    "double": "a number with a fraction",
}


def lint_values(
    tree: Expression,
    text: str,
    found: Iterable[LookUp],
    facts: DriverFacts | None,
    modelled: Modelled,
) -> Iterator[Lint]:
    """SEL001, SEL003, SEL013 and SEL016."""
    nodes = tuple(walk(tree))
    negated = (
        child.id
        for n in nodes
        if isinstance(n, Call) and n.function == "!_"
        for child in children(n)
    )
    values = {look_up.node.id: look_up for look_up in found if not look_up.tests}
    context = Context(text, values, facts, modelled, frozenset(negated))
    yield from _as_condition(context, tree)
    for node in nodes:
        if isinstance(node, Call):
            yield from _parsed(context, node)
            yield from _operator(context, node)
            yield from _member(context, node)


def _parsed(context: Context, node: Call) -> Iterator[Lint]:
    """SEL001 and SEL016: constants that `semver` and `quantity` don't read."""
    if node.function not in PARSED or not node.arguments:
        return
    argument, *more = node.arguments
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        return
    word = token_at(context.text, argument.offset)
    loose = any(isinstance(flag, Literal) and flag.value is True for flag in more)
    reading = {
        "quantity": Quantity.parse,
        "semver": Semver.normalise if loose else Semver.parse,
    }[node.function]
    try:
        reading(argument.value)
    except ValueError as reason:
        if node.function == "quantity":
            message = f"{reason}; the expression ends in an error"
            advice = "a quantity is a number with a suffix such as Gi or k"
            yield Lint(LintFinding("SEL016", word.start, word.length, message, advice))
            return
    else:
        return
    message = f"{argument.value} is not a version of semver 2, so the expression ends in an error"
    normal = _normalised(argument.value)
    if normal is None:
        advice = 'a version has three numbers: semver("550.90.7")'
        yield Lint(LintFinding("SEL001", word.start, word.length, message, advice))
        return
    fix = word.quoted(normal)
    finding = LintFinding("SEL001", word.start, word.length, message, fix=fix)
    yield Lint(finding, (Edit(word.start, word.end, fix),))


def _operator(context: Context, node: Call) -> Iterator[Lint]:
    if node.function in ("_&&_", "_||_", "!_"):
        for part in node.arguments:
            yield from _as_condition(context, part)
    elif node.function == "_?_:_":
        yield from _as_condition(context, node.arguments[0])
    elif node.function == "@in":
        value, container = node.arguments
        elements = container.elements if isinstance(container, ListLiteral) else ()
        for element in elements:
            yield from _compare(context, node, value, element)
    elif node.function in COMPARED:
        left, right = node.arguments
        yield from _compare(context, node, left, right)
        yield from _compare(context, node, right, left)
        yield from strict_sign(context, node, left, right)


def _compare(context: Context, node: Call, value: Expression, other: Expression) -> Iterator[Lint]:
    """SEL003: a value of a known type beside one of another."""
    kind, beside = context.type_of(value), _kind(other)
    if kind is None or beside is None or kind == beside or {kind, beside} == {"int", "double"}:
        return
    name = context.look_ups[value.id].read.id
    never = (
        "is never equal to" if node.function in ("_==_", "_!=_", "@in") else "can't stand beside"
    )
    word = token_at(context.text, other.offset)
    edits = _aligned(context, node, value, other, kind)
    shown = word.text if isinstance(other, Literal) else WORDS[beside]
    finding = LintFinding(
        "SEL003",
        word.start,
        word.length,
        f"{name} is {WORDS[kind]}, which {never} {_described(shown, beside)}",
        f"compare it with {WORDS[kind]}",
        fix=edits[0].text if len(edits) == 1 and edits[0].start == word.start else None,
    )
    yield Lint(finding, edits)


def _aligned(
    context: Context, node: Call, value: Expression, other: Expression, kind: str
) -> tuple[Edit, ...]:
    """How a literal is brought to the type of the value; nothing where that is not mechanical."""
    if not isinstance(other, Literal) or isinstance(other.value, bool | bytes | float | None):
        return ()
    word, text = token_at(context.text, other.offset), str(other.value)
    quoted = word.text if isinstance(other.value, str) else f'"{text}"'
    match kind:
        case "string":
            return (Edit(word.start, word.end, quoted),)
        case "int" if text.lstrip("-").isdecimal():
            return (Edit(word.start, word.end, text),)
        case "bool" if text in ("true", "false"):
            return (Edit(word.start, word.end, text),)
        case "version" | "quantity" if (
            node.function in COMPARED
            and value is node.arguments[0]
            and (call := _parse_call(kind, text)) is not None
        ):
            start = end_before(context.text, node.offset)
            written = f".compareTo({call}) {COMPARED[node.function]} 0"
            return (Edit(start, word.end, written),)
    return ()


def _member(context: Context, node: Call) -> Iterator[Lint]:
    """SEL003 on the receiver of a function; SEL013 on strict bounds."""
    if node.target is None:
        return
    kind = context.type_of(node.target)
    argument = _kind(node.arguments[0]) if node.arguments else None
    wanted: str | None = None
    if node.function in ORDERED and argument in ("version", "quantity"):
        wanted = argument
    elif node.function in OF_VERSIONS and not node.arguments:
        wanted = "version"
    elif node.function in OF_TEXT:
        wanted = "string"
    if kind is not None and wanted is not None and kind != wanted:
        called = called_at(context.text, node.offset)
        offset, length = (called.start, called.length) if called else (node.offset, 1)
        name = context.look_ups[node.target.id].read.id
        yield Lint(
            LintFinding(
                "SEL003",
                offset,
                length,
                f"{name} is {WORDS[kind]}, and {node.function} is a function of {WORDS[wanted]}",
                _advice(kind),
            )
        )
    elif kind is not None and node.function in STRICT:
        yield from strict_call(context, node, node.target)


def _as_condition(context: Context, node: Expression) -> Iterator[Lint]:
    """SEL003: what stands where true or false is needed."""
    kind = context.type_of(node)
    if kind in (None, "bool"):
        return
    look_up = context.look_ups[node.id]
    word = look_up.name
    yield Lint(
        LintFinding(
            "SEL003",
            word.start if word else node.offset,
            word.length if word else 1,
            f"{look_up.read.id} is {WORDS[str(kind)]}, and a condition is true or false",
            "compare it with a value",
        )
    )


def _kind(node: Expression) -> str | None:
    """The type of a constant, or of a call that makes a version or a quantity."""
    if isinstance(node, Literal):
        return {str: "string", bool: "bool", int: "int", float: "double"}.get(type(node.value))
    return PARSED.get(node.function) if isinstance(node, Call) else None


def _parse_call(kind: str, text: str) -> str | None:
    if kind == "version":
        normal = _normalised(text)
        return None if normal is None else f'semver("{normal}")'
    try:
        Quantity.parse(text)
    except ValueError:
        return None
    return f'quantity("{text}")'


def _normalised(text: str) -> str | None:
    try:
        normal = normalised_version(text)
        Semver.parse(normal)
    except ValueError:
        return None
    return normal


def _described(shown: str, kind: str) -> str:
    return f"the text {shown}" if kind == "string" else shown


def _advice(kind: str) -> str:
    return {
        "version": "compare versions with compareTo(semver(…))",
        "quantity": "compare quantities with compareTo(quantity(…))",
        "string": "compare text with ==",
        "int": "compare numbers with ==, < or >",
    }.get(kind, "use it as a condition by itself")
