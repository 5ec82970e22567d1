"""Why kube-apiserver refuses an expression, in words that say what to do.

The engine's messages are cel-go's; this module knows their forms and no catalog.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dracfg.cel import CompileFailure
from dracfg.cel.signatures import libraries
from dracfg.check.lints.finding import MEND, LintFinding
from dracfg.check.lints.text import Edit, called_at, edited, end_before, member_at, token_at
from dracfg.diagnostics import did_you_mean
from dracfg.kube.quantity import Quantity
from dracfg.lower.selectors import normalised_version

FIELDS = ("driver", "attributes", "capacity", "allowMultipleAllocations")
TYPES = {
    "string": "text",
    "int": "a number",
    "uint": "a number",
    "double": "a number with a fraction",
    "bool": "true or false",
    "bytes": "bytes",
    "dyn": "a value",
    "null_type": "null",
    "kubernetes.Quantity": "a quantity",
    "kubernetes.Semver": "a version",
}
CONTAINERS = {"list": "a list", "map": "a map", "optional_type": "an optional value"}
SIGNS = frozenset({"==", "!=", "<", "<=", ">", ">="})
JOINTS = {"_&&_": "&&", "_||_": "||", "!_": "!", "_?_:_": "?"}
PARSERS = {TYPES["kubernetes.Quantity"]: "quantity", TYPES["kubernetes.Semver"]: "semver"}

_FIELD = re.compile(r"undefined field '([^']+)'(?:: (.*))?")
_NAME = re.compile(r"undeclared reference to '([^']+)' \(in container ''\)(?:: (.*))?")
_OVERLOAD = re.compile(
    r"found no matching overload for '([^']+)' applied to '(?:(.+)\.)?\((.*)\)'(?:: (.*))?"
)
_MIXED = re.compile(r"expected type '(.+)' but found '(.+)'")
_RESULT = re.compile(r"must evaluate to bool or the unknown type, not (.+)")
_SYNTAX = re.compile(r"Syntax error: ?(.*)", re.DOTALL)
_BOUND = re.compile(
    r"""\s*((?P<call>(?:quantity|semver)\((?:"[^"]*"|'[^']*')(?:\s*,\s*true)?\))"""
    r"""|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<number>[0-9][0-9.]*))"""
)
_OPERATOR = re.compile(r"_(\S+?)_")


def refused(failure: CompileFailure, text: str) -> LintFinding:
    """SEL006, or SEL007 for a text that is too long."""
    if failure.message.startswith("Too long"):
        whole = token_at(text, 0)
        return LintFinding(
            "SEL007",
            whole.start,
            whole.length,
            f"the expression has {len(text.encode()):,} bytes, and Kubernetes takes 10,240",
            "split it: all expressions of `cel` must hold",
            label="too long",
        )
    word, advice, fix = _explain(failure, text)
    offset, length = _place(failure, text)
    return LintFinding(
        "SEL006",
        offset,
        length,
        f"Kubernetes refuses this expression: {word}",
        advice,
        fix,
        label=word,
    )


Explanation = tuple[str, str, str | None]


def _explain(failure: CompileFailure, text: str) -> Explanation:
    """(what is wrong, what to do, what would replace the place)."""
    forms: tuple[tuple[re.Pattern[str], Callable[..., Explanation]], ...] = (
        (_FIELD, _no_field),
        (_NAME, _no_name),
        (_OVERLOAD, lambda *parts: _no_overload(*parts, failure=failure, text=text)),
        (_MIXED, _mixed),
        (_RESULT, _no_condition),
        (_SYNTAX, lambda _: _no_syntax(failure, text)),
    )
    for form, explain in forms:
        match = form.fullmatch(failure.message)
        if match is not None:
            return explain(*match.groups())
    if "cannot be range of a comprehension" in failure.message:
        return (
            "an attribute is one value here, and no loop runs over it",
            "lists are attributes only from 1.36 on, with the gate DRAListTypeAttributes",
            None,
        )
    return failure.message, "correct it here", None


def _no_field(name: str, note: str | None) -> Explanation:
    near = did_you_mean(name, FIELDS)
    if note is not None:
        return f"device has no field {name} here: {note}", "set that gate on the Cluster", None
    advice = f"did you mean {near}?" if near else f"device has the fields {', '.join(FIELDS)}"
    return f"device has no field {name}", advice, near


def _no_name(name: str, note: str | None) -> Explanation:
    if note is not None:
        return f"there is no {name} here: {note}", "use another function until then", None
    known = {entry for library in libraries() for entry in library.names} | {"device"}
    near = did_you_mean(name, known)
    advice = f"did you mean {near}?" if near else "an expression reads `device` and nothing else"
    return f"nothing is called {name}", advice, near


def _no_overload(
    function: str,
    receiver: str | None,
    arguments: str,
    note: str | None,
    *,
    failure: CompileFailure,
    text: str,
) -> Explanation:
    parts = [described(part) for part in _split(arguments)]
    taken = " and ".join(parts) or "nothing"
    operator = _OPERATOR.fullmatch(function)
    if operator is not None and operator[1] in SIGNS and len(parts) == 2:
        words = f"{taken} can't be compared with {operator[1]}"
        parsers = [PARSERS[part] for part in parts if part in PARSERS]
        if parsers:
            return words, _compare_to(parsers[0], operator[1], failure.offset, text), None
        return words, "bring both sides to one type", None
    if function in JOINTS:
        return f"{JOINTS[function]} joins conditions, not {taken}", "compare it with a value", None
    of = f" of {described(receiver)}" if receiver is not None else ""
    return f"{function}{of} does not take {taken}", note or "see what the function takes", None


def _compare_to(parser: str, sign: str, offset: int, text: str) -> str:
    """The comparison with compareTo, where a constant stands behind the operator."""
    operator = token_at(text, offset)
    bound = _BOUND.match(text, operator.end)
    call = None
    if bound is not None:
        constant = bound["double"] or bound["single"] or bound["number"] or ""
        call = bound["call"] or _parsing(parser, constant)
    if bound is None or call is None:
        return f'use compareTo({parser}("…")) {sign} 0'
    edit = Edit(end_before(text, offset), bound.end(), f".compareTo({call}) {sign} 0")
    return f"{MEND}{edited(text, [edit])}"


def _parsing(parser: str, constant: str) -> str | None:
    try:
        if parser == "quantity":
            Quantity.parse(constant)
            return f'quantity("{constant}")'
        return f'semver("{normalised_version(constant)}")'
    except ValueError:
        return None


def _mixed(first: str, other: str) -> Explanation:
    words = f"{described(other)} stands in a list that begins with {described(first)}"
    return words, "all values of a list are of one type", None


def _no_condition(kind: str) -> Explanation:
    words = f"it comes to {described(kind)}, not to true or false"
    return words, "compare the value with another", None


def _no_syntax(failure: CompileFailure, text: str) -> Explanation:
    if failure.offset >= len(text.rstrip()):
        return "it ends too early", "complete it, or close what is open", None
    return (
        f"{token_at(text, failure.offset).text} does not go on from what stands before",
        ("mend it here or just before"),
        None,
    )


def described(kind: str) -> str:
    """A CEL type as a person calls it."""
    return TYPES.get(kind) or CONTAINERS.get(kind.partition("(")[0]) or kind


def _split(arguments: str) -> list[str]:
    depth, parts = 0, [""]
    for letter in arguments:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _place(failure: CompileFailure, text: str) -> tuple[int, int]:
    """The word that the engine means: a name rather than the dot or parenthesis beside it."""
    letter = text[failure.offset : failure.offset + 1]
    word = None
    if letter == ".":
        word = member_at(text, failure.offset)
    elif letter == "(":
        word = called_at(text, failure.offset)
    word = word or token_at(text, failure.offset)
    return word.start, max(word.length, 1)
