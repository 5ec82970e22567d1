"""Metadata files as a table, made from nothing but the report document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dracfg.diagnostics.render.ink import ink

_HEAD = ("CLAIM", "REQUEST", "DRIVER", "POOL/DEVICE", "VERSION", "ATTRIBUTE", "WHAT IT IS")
_GAP = "  "


def files_text(document: dict[str, Any], *, colour: bool = False) -> str:
    """A row an attribute, a row a device without any, a row a file that holds none.

    In colour the head stands out.
    """
    rows = [_HEAD, *(row for file in document["files"] for row in _rows(file))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    head, *lines = (
        _GAP.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "".join(f"{line}\n" for line in (ink(head, "strong", colour=colour), *lines))


def _rows(file: dict[str, Any]) -> Iterator[Sequence[str]]:
    if not file["devices"]:
        where = [str(file[key] or "-") for key in ("claim", "request", "driver")]
        yield (*where, "-", str(file["version"] or "-"), "-", f"none in {file['bytes']} bytes")
    for device in file["devices"]:
        head = (
            str(file["claim"]),
            str(device["request"]),
            str(device["driver"]),
            f"{device['pool']}/{device['device']}",
            f"{file['version']} #{file['generation']}",
        )
        for key, what in sorted(device["attributes"].items()) or [("-", "no attributes")]:
            yield (*head, key, what)
        if device["networkData"]:
            yield (*head, "networkData", "there, not shown")
