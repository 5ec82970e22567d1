"""Lines of YAML with the questions that concern them → texts, and each question's number and place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.draft.decisions import Decision
from dracfg.draft.scalars import scalar, shown

SCHEMA = "# yaml-language-server: $schema={up}schemas/any.json"
HEAD = "apiVersion: dracfg.dev/v1alpha1"


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `note` becomes a comment at its end; each decision a comment above it."""

    text: str
    note: str = ""
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbered:
    """A decision by its number. `place` is the line of the draft that it concerns, if one does."""

    number: int
    decision: Decision
    place: str | None


Document = Sequence[Line]


def numbered(
    pages: Mapping[str, Sequence[Document]], others: Iterable[Decision]
) -> tuple[dict[str, str], tuple[Numbered, ...]]:
    """Path -> text, and all decisions: those with a line in the order of the files, then the others."""
    files: dict[str, str] = {}
    found: list[Numbered] = []
    for path, documents in pages.items():
        written: list[str] = [SCHEMA.format(up="../" * path.count("/"))]
        for position, document in enumerate(documents):
            if position:
                written.append("---")
            for line in document:
                pad = " " * (len(line.text) - len(line.text.lstrip(" ")))
                start, asked = len(found) + 1, list(dict.fromkeys(line.decisions))
                for number, decision in enumerate(asked, start):
                    written.append(f"{pad}# decide {number}: {shown(decision.question)}")
                written.append(f"{line.text}   # {shown(line.note)}" if line.note else line.text)
                place = f"{path}:{len(written)}"
                found += [Numbered(number, one, place) for number, one in enumerate(asked, start)]
        files[path] = "\n".join(written) + "\n"
    return files, (*found, *_others(others, len(found)))


def _others(decisions: Iterable[Decision], before: int) -> Iterator[Numbered]:
    for number, decision in enumerate(dict.fromkeys(decisions), before + 1):
        yield Numbered(number, decision, None)


def head(kind: str, name: str) -> list[Line]:
    """How every document begins; the name is a DNS label."""
    return [
        Line(HEAD),
        Line(f"kind: {kind}"),
        Line(f"metadata: {{name: {scalar(name)}}}"),
        Line("spec:"),
    ]
