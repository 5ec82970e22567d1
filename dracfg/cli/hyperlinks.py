"""Whether the terminal follows links, and where places in files and codes of rules lead.

Source of what terminals set: https://github.com/Alhadis/OSC8-Adoption
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from dracfg.diagnostics.pages import page_path
from dracfg.diagnostics.render.links import NO_LINKS, Links
from dracfg.diagnostics.span import Span

_PROGRAMS = frozenset({"WezTerm", "ghostty", "iTerm.app", "rio", "vscode"})
_TERMS = frozenset({"alacritty", "foot", "foot-extra", "xterm-ghostty", "xterm-kitty"})
_OWN = ("DOMTERM", "KONSOLE_VERSION", "WT_SESSION")
"""Variables that only terminals which follow links set."""
_VTE = 5001
"""The first version of VTE in which links are safe."""
_FORMAT = "file://{host}{path}"


def terminal_links(colour: str, root: Path) -> Links:
    """Links for stdout, with the paths of findings below `root`; none where it does not follow any."""
    if not wants_links(colour, os.environ, is_terminal=sys.stdout.isatty()):
        return NO_LINKS
    form = os.environ.get("DRACFG_HYPERLINK_FORMAT", "") or _FORMAT
    return Links(lambda span: span_address(span, root, form), _rule_address)


def wants_links(colour: str, environment: Mapping[str, str], *, is_terminal: bool) -> bool:
    """FORCE_HYPERLINK decides where it is set; else stdout must be a terminal that is known to."""
    if colour == "never":
        return False
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    if not is_terminal or environment.get("CI") or environment.get("TERM") == "dumb":
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or environment.get("TERM") in _TERMS
        or any(environment.get(name) for name in _OWN)
        or (vte.isdecimal() and int(vte) >= _VTE)
    )


def span_address(span: Span, root: Path, form: str = _FORMAT) -> str:
    """The address of a place; `form` may name {host}, {path}, {line} and {column}."""
    filled = {
        "{host}": quote(os.uname().nodename),
        "{path}": quote(str((root / span.path).resolve())),
        "{line}": str(span.line),
        "{column}": str(span.column),
    }
    for name, value in filled.items():
        form = form.replace(name, value)
    return quote(form, safe="%/:?#[]@!$&'()*+,;=-._~")


def _rule_address(code: str) -> str | None:
    path = page_path(code)
    return None if path is None else f"file://{quote(os.uname().nodename)}{quote(str(path))}"
