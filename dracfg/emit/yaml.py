"""Write the JSON data model as YAML that YAML 1.1 and YAML 1.2 readers understand alike.

Knows scalars, maps and lists. May not know Kubernetes, files or where the data came from: the
caller hands over objects whose keys already stand in their order.

A string is plain only where no reader takes it for something else, a string of several lines is a
literal block where a block can carry it, and all others are quoted on one line.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

# Words that a YAML 1.1 reader takes for booleans or null, compared in lower case.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

# Printable ASCII on one line. It starts with a character that is neither an indicator nor the
# start of a number, or with digits and a letter that no notation of numbers uses (`80Gi`,
# `1g.5gb`; `1e3`, `0x1f`, `0b1` and `0o7` are not among them). Within, `:` needs a visible
# character after it and `#` one before it.
_PLAIN = re.compile(
    r"(?:[A-Za-z/($]|[0-9][0-9.]*[ac-df-np-wyzAC-DF-NP-WYZ])"
    r"(?:[!-9;-~]|:(?=[!-~])| (?=[!\"$-~]))*"
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

_Write = Callable[[str], None]


class _UnwritableError(Exception):
    """The data holds something that YAML can't carry; `_blame` finds where."""


def dump(obj: object) -> str:
    """Return `obj` as one document: block style, two spaces, ending in a line break.

    `obj` is made of `Mapping` with string keys, `list`, `tuple`, `str`, `int` and `bool`. Maps keep
    their order; empty ones are written `{}` and `[]`. Anything else, None and float included, is a
    TypeError, and a string with a lone surrogate a ValueError; both name the JSON pointer.
    """
    lines: list[str] = []
    write = lines.append
    try:
        if isinstance(obj, Mapping) and obj:
            _write_map(obj, "", "", write)
        elif isinstance(obj, list | tuple) and obj:
            _write_list(obj, "", "", write)
        else:
            # Readers disagree on the indentation of a block that has no parent, so none is made.
            write(_scalar(obj) or _quoted(str(obj)))
            write("\n")
    except _UnwritableError:
        raise _blame(obj, "") or AssertionError("the data changed while it was written") from None
    return "".join(lines)


def dump_all(objs: Iterable[object]) -> str:
    """Return one text with a document for each of `objs`, `---` standing between them."""
    return "---\n".join(map(dump, objs))


def _write_map(obj: Mapping[str, object], lead: str, pad: str, write: _Write) -> None:
    """Write a map that isn't empty; `lead` opens its first line, `pad` all others."""
    deeper = pad + "  "
    for key, value in obj.items():
        name = _key(key) or f"? {_inline(key) or _quoted(key)}\n{pad}:"
        text = _inline(value) if type(value) is str else _scalar(value)
        if text:
            write(f"{lead}{name} {text}\n")
        elif type(value) is dict or isinstance(value, Mapping):
            write(f"{lead}{name}\n")
            _write_map(value, deeper, deeper, write)
        elif isinstance(value, list | tuple):
            write(f"{lead}{name}\n")
            _write_list(value, pad, pad, write)
        else:
            write(f"{lead}{name} {_block(str(value), pad)}")
        lead = pad


def _write_list(items: Iterable[object], lead: str, pad: str, write: _Write) -> None:
    """Write a list that isn't empty, its dashes at `pad`."""
    deeper = pad + "  "
    for item in items:
        text = _scalar(item)
        if text:
            write(f"{lead}- {text}\n")
        elif type(item) is dict or isinstance(item, Mapping):
            _write_map(item, lead + "- ", deeper, write)
        elif isinstance(item, list | tuple):
            _write_list(item, lead + "- ", deeper, write)
        else:
            write(f"{lead}- {_block(str(item), pad)}")
        lead = pad


def _scalar(value: object) -> str:
    """Return what stands on the line of `value`; empty for a block, a map or a list with items."""
    kind = type(value)
    if kind is str:
        return _inline(value)
    if kind is dict or kind is list:
        return "" if value else "{}" if kind is dict else "[]"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, str):
        return _inline(str.__str__(value))
    if isinstance(value, Mapping):
        return "" if value else "{}"
    if isinstance(value, list | tuple):
        return "" if value else "[]"
    raise _UnwritableError


@lru_cache(maxsize=16384)
def _inline(text: str) -> str:
    """Return the string as it stands on one line, or empty where it is to be a literal block."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if "\n" in text and text.rstrip("\n")[-1:] not in ("", " ") and not _NOT_IN_BLOCK.search(text):
        _refuse_surrogates(text)
        return ""
    return _quoted(text)


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    """Return a key and its colon, or empty where it is too long for that form."""
    if not isinstance(key, str):
        raise _UnwritableError
    text = f"{_inline(key) or _quoted(key)}:"
    return text if len(text) < _LONG_KEY // 4 or len(text.encode()) < _LONG_KEY else ""


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
    """Return a literal block, header and lines, inside the map or list that stands at `pad`."""
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    chomping = ("-", "")[breaks] if breaks < 2 else "+"
    # Without a number a reader takes the first line's own spaces for indentation.
    indentation = "2" if text.lstrip("\n").startswith(" ") else ""
    lines = [f"{pad}  {line}" if line else "" for line in body.split("\n")]
    return "\n".join((f"|{indentation}{chomping}", *lines)) + "\n" * max(breaks, 1)


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
    if isinstance(value, list | tuple):
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
