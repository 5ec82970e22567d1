"""Text → a file as it is written. The tokens are libyaml's; what stands between them is comments.

Knows how YAML is put together and nothing of what it says. Takes only text that was read without a
fault of syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from dracfg.format.concrete import (
    Block,
    Flow,
    FlowPart,
    Folded,
    Literal,
    Margin,
    Page,
    Part,
    Position,
    Script,
    Value,
    Verbatim,
    Word,
)
from dracfg.source.kubeyaml import LOADER
from dracfg.source.lineends import line_starts

_PROPERTIES = (yaml.AnchorToken, yaml.TagToken)
_BEGINS_FLOW = (yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
_ENDS_FLOW = (yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


class Unusual(Exception):
    """A way of writing that has no canonical form here, and the line where it stands."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class _Crowded(Exception):
    """Something between brackets that does not go on one line."""


def parse_script(text: str) -> Script:
    """The whole of a text. Raises Unusual."""
    return _Reader(text).script()


class _Reader:
    """Walks the tokens; `pending` are the comment lines, with their columns, that nobody took yet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self.tokens: Sequence[Any] = list(yaml.scan(text, Loader=LOADER))
        self.at = 1
        self.seen = 0
        self.pending: list[tuple[int, str]] = []
        self.beside = ""

    # -- tokens and what stands between them ---------------------------------------------------

    def peek(self) -> Any:
        """The next token; comments before it are found on the way."""
        token = self.tokens[self.at]
        if self.seen < self.at:
            self.seen = self.at
            previous = self.tokens[self.at - 1]
            end = self._content_end(previous)
            self._between(end, self._offset(token.start_mark), self.at > 1)
        return token

    def next(self) -> Any:
        token = self.peek()
        if self.beside:
            raise Unusual(token.start_mark.line, "a comment stands inside of an entry")
        self.at += 1
        return token

    def _between(self, start: int, end: int, is_behind: bool) -> None:
        rows = self.text[start:end].split("\n")
        column = start - (self.text.rfind("\n", 0, start) + 1)
        if rows[0].strip():
            if is_behind and column:
                self.beside = rows[0].rstrip()
            else:
                self._note(rows[0], column)
        for row in rows[1:-1]:
            self._note(row, 0)
        if len(rows) > 1 and rows[-1].strip():
            self._note(rows[-1], 0)

    def _note(self, row: str, column: int) -> None:
        text = row.strip()
        self.pending.append((column + len(row) - len(row.lstrip()), text))

    def _offset(self, mark: Any) -> int:
        start: int = self.starts[mark.line]
        return start + int(mark.column)

    def _content_end(self, token: Any) -> int:
        """Where a token ends; empty lines behind a block scalar that does not keep them are not its."""
        end = self._offset(token.end_mark)
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            raw = self.text[self._offset(token.start_mark) : end]
            if not _keeps(raw):
                return end - len(raw) + len(raw.rstrip(" \n")) if raw.strip() else end
        return end

    def take_pending(self, column: int = 0) -> Margin:
        """The comment lines up to the last that is indented at least so far."""
        taken = 0
        for number, (place, text) in enumerate(self.pending):
            if text and place < column:
                break
            taken = number + 1 if text or not column else taken
        found = [text for _, text in self.pending[:taken]]
        del self.pending[:taken]
        return tuple(found)

    def take_beside(self) -> str:
        self.peek()
        found, self.beside = self.beside, ""
        return found

    # -- documents -----------------------------------------------------------------------------

    def script(self) -> Script:
        pages = []
        while not isinstance(self.peek(), yaml.StreamEndToken):
            pages.append(self._page())
        has_aliases = any(isinstance(token, yaml.AliasToken) for token in self.tokens)
        return Script(tuple(pages), self.take_pending(), has_aliases)

    def _page(self) -> Page:
        before: Margin = ()
        marker = ""
        token = self.peek()
        if isinstance(token, yaml.DirectiveToken):
            raise Unusual(token.start_mark.line + 1, "a directive stands before a document")
        if isinstance(token, yaml.DocumentStartToken):
            before = self.take_pending()
            self.next()
            marker = "---" + self.take_beside()
            self.peek()
        header = self.take_pending()
        root = self._value(-1, ())
        end = ""
        if isinstance(self.peek(), yaml.DocumentEndToken):
            self.next()
            end = "..." + self.take_beside()
        return Page(before, marker, header, root, end)

    # -- values --------------------------------------------------------------------------------

    def _value(self, column: int, above: Margin, key: Word | None = None) -> Part:
        """What stands behind a key, a dash or the start of a document, at `column` of its line."""
        line = self.tokens[self.at - 1].end_mark.line
        beside = self.take_beside()
        anchor = ""
        while isinstance(self.peek(), _PROPERTIES):
            if beside or self.pending:
                raise Unusual(line + 1, "a comment stands before an anchor")
            anchor = f"{anchor} {self._raw(self.next())}".strip()
            beside = self.take_beside()
        token = self.peek()
        if isinstance(token, yaml.BlockMappingStartToken):
            return Part(above, key, anchor, self._map(), beside)
        if isinstance(token, yaml.BlockSequenceStartToken):
            return Part(above, key, anchor, self._list(), beside)
        if isinstance(token, yaml.BlockEntryToken) and key is not None:
            return Part(above, key, anchor, self._list(), beside)
        if not isinstance(token, (yaml.ScalarToken, yaml.AliasToken, *_BEGINS_FLOW)):
            return Part(above, key, anchor, Word(""), beside)
        if beside or any(text for _, text in self.pending):
            raise Unusual(line + 2, "a comment stands between a key and its value")
        self.pending.clear()
        below = token.start_mark.line > line
        value = self._inline(column)
        return Part(above, key, anchor, value, self.take_beside(), below)

    def _inline(self, column: int) -> Value:
        token = self.peek()
        if isinstance(token, _BEGINS_FLOW):
            return self._flow()
        self.next()
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            return _literal(self._raw(token), column)
        raw = self._raw(token)
        if "\n" in raw:
            return Folded(tuple(line.strip() for line in raw.split("\n")))
        return _word(token, raw)

    def _raw(self, token: Any) -> str:
        return self.text[self._offset(token.start_mark) : self._offset(token.end_mark)]

    def _map(self) -> Block:
        start = self.next().start_mark
        parts = []
        while isinstance(token := self.peek(), yaml.KeyToken):
            if token.end_mark.column != token.start_mark.column:
                raise Unusual(token.start_mark.line + 1, "a key is marked by a question mark")
            above = self.take_pending()
            self.next()
            key = self._key()
            if not isinstance(self.peek(), yaml.ValueToken):
                raise Unusual(token.start_mark.line + 1, "a key has no colon")
            self.next()
            parts.append(self._value(start.column, above, key))
        return self._closed(start, True, parts)

    def _key(self) -> Word:
        token = self.peek()
        if not isinstance(token, yaml.ScalarToken):
            raise Unusual(token.start_mark.line + 1, "a key is not a word alone")
        self.next()
        return _word(token, self._raw(token))

    def _list(self) -> Block:
        """The items of a list; one that is indented no further than its key has no token of its own."""
        token = self.peek()
        start = token.start_mark
        has_end = isinstance(token, yaml.BlockSequenceStartToken)
        if has_end:
            self.next()
        parts = []
        while isinstance(self.peek(), yaml.BlockEntryToken):
            above = self.take_pending()
            self.next()
            parts.append(self._value(start.column, above))
        if has_end:
            return self._closed(start, False, parts)
        return Block(_position(start), False, tuple(parts))

    def _closed(self, start: Any, is_map: bool, parts: list[Part]) -> Block:
        token = self.peek()
        if not isinstance(token, yaml.BlockEndToken):
            raise Unusual(token.start_mark.line + 1, "an entry is written in an unusual way")
        tail = self.take_pending(start.column) if start.column else ()
        self.next()
        return Block(_position(start), is_map, tuple(parts), tail)

    # -- brackets ------------------------------------------------------------------------------

    def _flow(self) -> Flow | Verbatim:
        first = self.at
        last = self._closing(first)
        start = self.tokens[first].start_mark
        try:
            made, after = self._bracket(first)
        except _Crowded:
            made, after = None, last + 1
        self.at = after
        self.seen = after - 1
        if made is not None:
            return made
        raw = self.text[self._offset(start) : self._offset(self.tokens[last].end_mark)]
        return Verbatim(tuple(line.rstrip() for line in raw.split("\n")), start.column)

    def _closing(self, at: int) -> int:
        depth = 0
        while True:
            depth += isinstance(self.tokens[at], _BEGINS_FLOW)
            depth -= isinstance(self.tokens[at], _ENDS_FLOW)
            if not depth:
                return at
            at += 1

    def _bracket(self, at: int) -> tuple[Flow, int]:
        token = self.tokens[at]
        is_map = isinstance(token, yaml.FlowMappingStartToken)
        parts: list[FlowPart] = []
        at += 1
        while not isinstance(self._plain(at), _ENDS_FLOW):
            part, at = self._flow_part(at, is_map)
            parts.append(part)
            if isinstance(self._plain(at), yaml.FlowEntryToken):
                at += 1
        return Flow(_position(token.start_mark), is_map, tuple(parts)), at + 1

    def _flow_part(self, at: int, is_map: bool) -> tuple[FlowPart, int]:
        key: Word | None = None
        if isinstance(token := self._plain(at), yaml.KeyToken):
            if token.end_mark.column != token.start_mark.column:
                raise _Crowded
            name, at = self._flow_value(at + 1)
            if not isinstance(name, Word) or not isinstance(self._plain(at), yaml.ValueToken):
                raise _Crowded
            key, at = name, at + 1
            if isinstance(self._plain(at), (yaml.FlowEntryToken, *_ENDS_FLOW)):
                return FlowPart(key, Word("")), at
        elif is_map:
            name, at = self._flow_value(at)
            if not isinstance(name, Word):
                raise _Crowded
            return FlowPart(name, None), at
        value, at = self._flow_value(at)
        return FlowPart(key, value), at

    def _flow_value(self, at: int) -> tuple[Word | Flow, int]:
        token = self._plain(at)
        if isinstance(token, _BEGINS_FLOW):
            return self._bracket(at)
        if not isinstance(token, (yaml.ScalarToken, yaml.AliasToken)):
            raise _Crowded
        raw = self._raw(token)
        if "\n" in raw:
            raise _Crowded
        return _word(token, raw), at + 1

    def _plain(self, at: int) -> Any:
        """A token between brackets, with nothing but space before it."""
        token = self.tokens[at]
        end = self._offset(self.tokens[at - 1].end_mark)
        if self.text[end : self._offset(token.start_mark)].strip():
            raise _Crowded
        return token


def _position(mark: Any) -> Position:
    return mark.line + 1, mark.column + 1


def _word(token: Any, raw: str) -> Word:
    is_quoted = isinstance(token, yaml.ScalarToken) and token.style in ("'", '"')
    return Word(raw, token.value if is_quoted else None)


def _keeps(raw: str) -> bool:
    """Whether a block scalar keeps the empty lines at its end."""
    return "+" in raw.split("\n", 1)[0].partition("#")[0]


def _literal(raw: str, column: int) -> Literal:
    """A block scalar; a digit in its header counts from where its key or dash stands."""
    header, _, body = raw.partition("\n")
    sign, hash_, comment = header.partition("#")
    digits = "".join(char for char in sign if char.isdigit())
    lines = body.split("\n")[:-1] if body.endswith("\n") else body.split("\n")
    if not _keeps(raw):
        while lines and not lines[-1].strip(" "):
            lines.pop()
    if digits:
        indent = max(column, 0) + int(digits)
        sign = sign.replace(digits, "2")
    else:
        first = next((line for line in lines if line.strip(" ")), "")
        indent = len(first) - len(first.lstrip(" "))
    shown = f"{sign.rstrip()}  #{comment.rstrip()}" if hash_ else sign.rstrip()
    return Literal(shown, tuple(line[indent:] for line in lines))
