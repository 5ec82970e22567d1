"""Write the JSON data model as YAML that YAML 1.1 and YAML 1.2 readers understand alike.

Knows scalars, maps and lists. May not know Kubernetes, files or where the data came from: the
caller hands over objects whose keys already stand in their order.

A string is plain only where no reader takes it for something else, a string of several lines is a
literal block where a block can carry it, and all others are quoted on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial

# Words that a YAML 1.1 reader takes for booleans or null, compared in lower case.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# Printable ASCII on one line. It starts with a character that is neither an indicator nor the
# start of a number, or with digits and a letter that no notation of numbers uses (`80Gi`,
# `1g.5gb`; `1e3`, `0x1f`, `0b1` and `0o7` are not among them). Within, `:` needs a visible
# character after it and `#` one before it. All others are taken by runs that are never given back.
_PLAIN = re.compile(
    r"(?:[A-Za-z/($]|[0-9][0-9.]*[ac-df-np-wyzAC-DF-NP-WYZ])"
    r"(?:[!-9;-~]++|:(?=[!-~])| (?=[!\"$-~]))*"
)
_ONE_LINE_ASCII = re.compile(r"[ -~]*")

# Characters that are not printable in YAML, that some reader takes for a line break, or that a
# person who reviews the file can't see (zero width, change of direction).
_HIDDEN = "\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff"
_ESCAPED = re.compile(f"[{_HIDDEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Besides those, a block carries no control characters, and no line that opens with a tab: readers
# differ on whether such a tab is indentation.
_NOT_IN_BLOCK = re.compile(f"[\x00-\x08\x0b-\x1f{_HIDDEN}]|^ *\t", re.MULTILINE)

# Readers give up on a key that isn't closed after 1,024 characters, unless `?` announces it.
_LONG_KEY = 1000

# Strings of one kind whose written form is kept: those that come again do so soon.
_REMEMBERED = 16384

_LISTS = (list, tuple)

_Write = Callable[[str], None]


SEPARATOR = "---\n"
"""Stands between two documents of a text."""


class _Open(str):
    __slots__ = ()


OPEN = _Open("\0")
"""Stands in a document where a string is to be filled in. No string is written like it."""


class _UnwritableError(Exception):
    """The data holds something that YAML can't carry; `_blame` finds where."""


def dump(obj: object) -> str:
    """Return `obj` as one document, as a `Writer` does."""
    return Writer().dump_all((obj,))


def dump_all(objs: Iterable[object]) -> str:
    """Return one text with a document for each of `objs`, `---` standing between them."""
    return Writer().dump_all(objs)


class Writer:
    """Writes documents: block style, two spaces, each ending in a line break.

    They are made of `Mapping` with string keys, `list`, `tuple`, `str`, `int` and `bool`. Maps keep
    their order; empty ones are written `{}` and `[]`. Anything else, None and float included, is a
    TypeError, and a string with a lone surrogate a ValueError; both name the JSON pointer.

    A writer remembers how keys and strings are written, so many texts are best written by one. Maps and
    lists of the classes `shared` it remembers as wholes, by identity: they must never change.
    """

    def __init__(self, shared: tuple[type, ...] = ()) -> None:
        self._texts = _Written(_text)
        self._top = _Place("")
        self._shared = shared

    def dump_all(self, objs: Iterable[object]) -> str:
        """Return one text with a document for each of `objs`, `---` standing between them."""
        return SEPARATOR.join(map(self.dump, objs))

    def dump(self, obj: object) -> str:
        """Return `obj` as one document."""
        return "".join(self._lines(obj))

    def halves(self, obj: object) -> tuple[str, str]:
        """Return the text of a document before and behind the one value in it that is `OPEN`."""
        lines = self._lines(obj)
        at = lines.index(OPEN)
        return "".join(lines[:at]), "".join(lines[at + 1 :])

    def line(self, text: str) -> str:
        """Return how a string stands behind its key; empty where it takes several lines."""
        return self._texts[text]

    def _lines(self, obj: object) -> list[str]:
        lines: list[str] = []
        try:
            self._write_document(obj, lines.append)
        except _UnwritableError:
            fault = _blame(obj, "")
            raise fault or AssertionError("the data changed while it was written") from None
        return lines

    def _write_document(self, obj: object, write: _Write) -> None:
        if (type(obj) is dict or isinstance(obj, Mapping)) and obj:
            self._write_map(obj, self._top, write)
        elif isinstance(obj, _LISTS) and obj:
            self._write_list(obj, self._top, write)
        else:
            # Readers disagree on the indentation of a block that has no parent, so none is made.
            text = _inline(obj) or _quoted(obj) if isinstance(obj, str) else _scalar(obj)
            write(f"{text}\n")

    def _write_map(self, obj: Mapping[str, object], place: _Place, write: _Write) -> None:
        """Write a map that isn't empty."""
        texts, keys, below = self._texts, place.keys, place.next_line
        further_keys = below.keys
        for key, value in obj.items():
            write(keys[key])
            if type(value) is str:
                write(texts[value] or _block(value, below.lead))
            elif type(value) is dict and value:
                write("\n")
                self._write_map(value, below.deeper, write)
            elif type(value) is list and value:
                write("\n")
                self._write_list(value, below, write)
            else:
                self._write_rarer(value, below, write)
            keys = further_keys

    def _write_list(self, items: Iterable[object], place: _Place, write: _Write) -> None:
        """Write a list that isn't empty, its dashes at `place`."""
        for item in items:
            if type(item) is str:
                write(place.dash)
                write(self._texts[item] or _block(item, place.next_line.lead))
            elif (type(item) is dict or isinstance(item, Mapping)) and item:
                self._write_map(item, place.after_dash, write)
            elif isinstance(item, _LISTS) and item:
                self._write_list(item, place.after_dash, write)
            else:
                write(place.dash)
                self._write_rarer(item, place.next_line, write)
            place = place.next_line

    def _write_rarer(self, value: object, place: _Place, write: _Write) -> None:
        """Write what stands behind a key or a dash; what doesn't fit there stands at `place`."""
        if type(value) in self._shared and value:
            write(place.shared.get(id(value)) or self._write_shared(value, place))
        elif value is OPEN:
            write(OPEN)
        elif isinstance(value, str):
            text = str.__str__(value)
            write(self._texts[text] or _block(text, place.lead))
        elif text := _scalar(value):
            write(f" {text}\n")
        elif isinstance(value, Mapping):
            write("\n")
            self._write_map(value, place.deeper, write)
        elif isinstance(value, _LISTS):
            write("\n")
            self._write_list(value, place, write)

    def _write_shared(self, value: object, place: _Place) -> str:
        """What stands behind a key where a map or a list begins that is written elsewhere as well."""
        lines = ["\n"]
        if isinstance(value, Mapping):
            self._write_map(value, place.deeper, lines.append)
        elif isinstance(value, _LISTS):
            self._write_list(value, place, lines.append)
        return place.shared.keep(value, "".join(lines))


class _Place:
    """Where a map or a list stands; `lead` opens its first line."""

    def __init__(self, lead: str) -> None:
        self.lead = lead
        self.dash = f"{lead}-"
        self.keys = _Written(partial(_key, lead))
        self.shared = _Kept()

    @cached_property
    def next_line(self) -> _Place:
        """The place of all further lines, which no dash stands in."""
        return _Place(" " * len(self.lead)) if "-" in self.lead else self

    @cached_property
    def deeper(self) -> _Place:
        return _Place(self.lead + "  ")

    @cached_property
    def after_dash(self) -> _Place:
        return _Place(self.lead + "- ")


class _Written(dict[str, str]):
    """Strings as they are written: each is found out once, as long as they aren't too many."""

    def __init__(self, write: Callable[[str], str]) -> None:
        self._write = write

    def __missing__(self, text: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        written = self[text] = self._write(text)
        return written


class _Kept(dict[int, str]):
    """Maps and lists as they are written, by their ids, which are theirs as long as they are held here."""

    def __init__(self) -> None:
        self._held: list[object] = []

    def keep(self, value: object, written: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
            self._held.clear()
        self._held.append(value)
        self[id(value)] = written
        return written


def _scalar(value: object) -> str:
    """Return what is no string on its one line; empty for a map or a list with items."""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, Mapping):
        return "" if value else "{}"
    if isinstance(value, _LISTS):
        return "" if value else "[]"
    raise _UnwritableError


def _key(lead: str, key: str) -> str:
    """Return what opens the lines of a key, with its colon."""
    if not isinstance(key, str):
        raise _UnwritableError
    text = f"{_inline(key) or _quoted(key)}:"
    if len(text) < _LONG_KEY // 4 or len(text.encode()) < _LONG_KEY:
        return f"{lead}{text}"
    return f"{lead}? {_inline(key) or _quoted(key)}\n{' ' * len(lead)}:"


def _text(text: str) -> str:
    """Return what stands behind a key or a dash; empty where it is to be a literal block."""
    if _is_plain(text):
        return f" {text}\n"
    line = _inline(text)
    return f" {line}\n" if line else ""


def _inline(text: str) -> str:
    """Return the string as it stands on one line, or empty where it is to be a literal block."""
    if _is_plain(text):
        return text
    if "\n" in text and text.rstrip("\n")[-1:] not in ("", " ") and not _NOT_IN_BLOCK.search(text):
        _refuse_surrogates(text)
        return ""
    return _quoted(text)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS


def _quoted(text: str) -> str:
    # CEL and messages full of double quotes stay legible in single quotes, which escape nothing.
    if ('"' in text or "\\" in text) and "'" not in text and _ONE_LINE_ASCII.fullmatch(text):
        return f"'{text}'"
    _refuse_surrogates(text)
    # JSON's escapes are YAML's as well, as long as none of them is half of a surrogate pair.
    escaped = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)


def _refuse_surrogates(text: str) -> None:
    if not text.isascii() and _SURROGATE.search(text):
        raise _UnwritableError


def _block(text: str, pad: str) -> str:
    """Return a literal block behind a key or a dash of the map or list that stands at `pad`."""
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    chomping = ("-", "")[breaks] if breaks < 2 else "+"
    # Without a number a reader takes the first line's own spaces for indentation.
    indentation = "2" if text.lstrip("\n").startswith(" ") else ""
    lines = [f"{pad}  {line}" if line else "" for line in body.split("\n")]
    return "\n".join((f" |{indentation}{chomping}", *lines)) + "\n" * max(breaks, 1)


def _blame(value: object, pointer: str) -> Exception | None:
    """Return the error for the first thing under `value` that can't be written."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                return TypeError(f"{pointer or '/'}: a key must be a string, not {key!r}")
            step = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if fault := _blame(key, step) or _blame(item, step):
                return fault
        return None
    if isinstance(value, _LISTS):
        faults = (_blame(item, f"{pointer}/{index}") for index, item in enumerate(value))
        return next((fault for fault in faults if fault), None)
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return None
        return ValueError(f"{ascii(pointer or '/')[1:-1]}: a lone surrogate is not text")
    if isinstance(value, int):
        return None
    kind = type(value).__name__
    return TypeError(f"{pointer or '/'}: {kind} can't be written, only map, list, str, int, bool")
