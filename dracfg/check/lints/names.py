"""Lints on names: attributes, capacities, domains and drivers that are not what the driver publishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Literal as Choice

from dracfg.cel.syntax import Call, Expression, Literal, children, walk
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.finding import Lint, LintFinding
from dracfg.check.lints.guards import is_driver_test
from dracfg.check.lints.lookups import LookUp
from dracfg.check.lints.text import Edit, Token, token_at
from dracfg.dataclass import dataclass
from dracfg.diagnostics import did_you_mean

Root = Choice["attributes", "capacity"]
OTHER_ROOT: dict[str, Root] = {"attributes": "capacity", "capacity": "attributes"}
WORD = {"attributes": "attribute", "capacity": "capacity"}


@dataclass(frozen=True, slots=True)
class Meant:
    """What a look-up most likely means: the same, where it is right or nothing is near."""

    root: str
    domain: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.domain}/{self.name}"


def meant(look_up: LookUp, facts: DriverFacts | None) -> Meant:
    """The published name that is nearest to what is looked up."""
    read = look_up.read
    written = Meant(read.field, read.domain, read.id)
    if facts is None or not facts.knows(read.field):
        return written
    if facts.publishes(read.field, look_up.key):
        return written
    bare = read.id.removeprefix(f"{read.domain}/")
    if facts.publishes(read.field, f"{read.domain}/{bare}"):
        return Meant(read.field, read.domain, bare)
    for root in (read.field, OTHER_ROOT[read.field]):
        for domain in dict.fromkeys((read.domain, *facts.domains)):
            if facts.publishes(root, f"{domain}/{read.id}"):
                return Meant(root, domain, read.id)
    gone = facts.withdrawn.get(look_up.key)
    if gone is not None:
        instead = gone.replaced_by if gone.is_alike else None
        domain, _, name = (instead or look_up.key).partition("/")
        return Meant(read.field, domain, name)
    for root in (read.field, OTHER_ROOT[read.field]):
        for domain in dict.fromkeys((read.domain, *facts.domains)):
            near = did_you_mean(read.id, facts.names(root, domain))
            if near is not None:
                return Meant(root, domain, near)
    return written


def lint_names(
    found: Iterable[LookUp], facts: DriverFacts | None, labels: AbstractSet[str]
) -> Iterator[Lint]:
    """SEL002, SEL004, SEL005, SEL011 and SEL012, once for each name; the mend covers every place."""
    places: dict[tuple[str, str], list[LookUp]] = {}
    for look_up in found:
        places.setdefault((look_up.read.field, look_up.key), []).append(look_up)
    for same in places.values():
        first = same[0]
        if first.key in labels:
            yield _label(first)
        elif facts is not None and facts.knows(first.read.field):
            wanted = meant(first, facts)
            edits = tuple(edit for look_up in same for edit in _edits(look_up, wanted))
            yield from (Lint(finding, edits) for finding in _judge(first, wanted, facts))


def lint_driver_names(tree: Expression, text: str, facts: DriverFacts | None) -> Iterator[Lint]:
    """SEL017: a comparison of the driver's name with another one."""
    if facts is None:
        return
    for node in walk(tree):
        if not (isinstance(node, Call) and node.function == "_==_" and is_driver_test(node)):
            continue
        for other in children(node):
            if isinstance(other, Literal) and other.value != facts.name:
                word = token_at(text, other.offset)
                fix = word.quoted(facts.name)
                finding = LintFinding(
                    "SEL017",
                    word.start,
                    word.length,
                    f"the devices here are those of {facts.name}, so this takes none of them",
                    fix=fix,
                )
                yield Lint(finding, (Edit(word.start, word.end, fix),))


def _judge(look_up: LookUp, wanted: Meant, facts: DriverFacts) -> Iterator[LintFinding]:
    read = look_up.read
    gone = facts.withdrawn.get(look_up.key)
    if facts.publishes(read.field, look_up.key):
        return
    if wanted.root == read.field and gone is not None:
        instead = gone.replaced_by
        yield _at(
            look_up.name,
            look_up,
            "SEL005" if gone.certain else "SEL002",
            gone.sentence,
            f"use {instead} instead" if instead is not None else "take the condition out",
        )
        return
    if wanted.root != read.field:
        yield _at(
            look_up.root,
            look_up,
            "SEL011",
            f"{wanted.name} is {_a(WORD[wanted.root])} of {facts.name}, not {_a(WORD[read.field])}",
            f"look it up in device.{wanted.root}",
            wanted.root,
        )
    if wanted.domain != read.domain or read.domain not in facts.domains:
        yield _domain(look_up, wanted, facts)
    elif wanted.root == read.field or wanted.name != read.id:
        yield _unknown(look_up, wanted, facts)


def _domain(look_up: LookUp, wanted: Meant, facts: DriverFacts) -> LintFinding:
    read, here = look_up.read, look_up.domain
    if wanted.domain == read.domain:
        message = f"{facts.name} is not known to publish anything in the domain {read.domain}"
        advice, fix = f"known: {', '.join(facts.domains)}", None
    else:
        message = f"{facts.name} publishes no {read.id} in the domain {read.domain}"
        advice = f"{wanted.name} is in the domain {wanted.domain}"
        fix = here.quoted(wanted.domain) if here is not None else None
    return _at(here, look_up, "SEL012", message, advice, fix)


def _unknown(look_up: LookUp, wanted: Meant, facts: DriverFacts) -> LintFinding:
    read = look_up.read
    known = facts.names(read.field, read.domain)
    near = wanted.name if wanted.name != read.id else None
    few = f"known: {', '.join(sorted(known))}" if 0 < len(known) <= 7 else None
    help_ = f"did you mean {near}?" if near is not None else few
    here = look_up.name
    literal = here is not None and here.text[:1] in "\"'"
    fix = here.quoted(near) if here is not None and near is not None and literal else near
    return _at(
        here,
        look_up,
        "SEL002",
        f"{facts.name} is not known to publish the {WORD[read.field]} {read.id}",
        help_ or f"if it does, add it to `{read.field}` of the Driver",
        fix if wanted.root == read.field and wanted.domain == read.domain else None,
    )


def _label(look_up: LookUp) -> Lint:
    finding = _at(
        look_up.name,
        look_up,
        "SEL004",
        f"{look_up.key} is a label of nodes, not an attribute of devices",
        "use an attribute that the driver publishes; pods choose nodes by nodeSelector",
    )
    return Lint(replace(finding, subject=look_up.key))


def _edits(look_up: LookUp, wanted: Meant) -> Iterator[Edit]:
    read = look_up.read
    root, domain, name = look_up.root, look_up.domain, look_up.name
    if wanted.root != read.field and root is not None:
        yield Edit(root.start, root.end, wanted.root)
    if wanted.domain != read.domain and domain is not None:
        yield Edit(domain.start, domain.end, domain.quoted(wanted.domain))
    if wanted.name != read.id and name is not None:
        literal = name.text[:1] in "\"'"
        yield Edit(name.start, name.end, name.quoted(wanted.name) if literal else wanted.name)


def _at(
    word: Token | None,
    look_up: LookUp,
    code: str,
    message: str,
    advice: str,
    fix: str | None = None,
) -> LintFinding:
    shown = word or look_up.name
    offset, length = (shown.start, shown.length) if shown else (look_up.node.offset, 1)
    return LintFinding(code, offset, length, message, advice, fix if word is not None else None)


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
