"""The text of the pages on device metadata: what a tenant's applications read, and the contract.

Their facts come from `metadata`; what is the same for every cluster stands in data/handout.md and
data/metadata-contract.md. See `markdown` for what becomes of text from the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dracfg.link.exposure import GROUP
from dracfg.lower.markdown import code
from dracfg.metadata.reader import BY_NAME, BY_TEMPLATE, ROOT
from dracfg.packaged import text_of

_Facts = Mapping[str, Any]


def handout_page(
    cluster: str, tenant: str, values_file: str, profiles: Mapping[str, _Facts]
) -> str:
    """Markdown for a tenant; `profiles` are those of the values that stand beside it."""
    lines = [
        f"""\
# Device metadata for tenant {code(tenant)} on cluster {code(cluster)}

The driver of a device writes files that tell a container what it got. They are mounted when the
container is made, need no API permission, and are removed with the claim. The driver's library
writes them, not the kubelet: without a driver that does, there is none.

The same facts for charts and scripts: {code(values_file)} beside this page."""
    ]
    for name, profile in profiles.items():
        lines.append(f"\n## Profile {code(name)}")
        for request, asks in profile["requests"].items():
            for asked, ask in asks.items():
                lines += _ask(request, asked, ask, profile.get("sharedClaims", ()))
        if "reads" in profile:
            lines += _reads(profile["reads"])
    return _page(lines, "handout.md")


def _page(lines: Iterable[str], rest: str) -> str:
    """Lines, and after them what a file of data has to say."""
    return "".join(f"{line}\n" for line in lines) + text_of("dracfg.lower", f"data/{rest}")


def _ask(request: str, asked: str, ask: _Facts, shared: Iterable[str]) -> Iterator[str]:
    versions = ", ".join(f"`{GROUP}/{version}`" for version in ask["versions"])
    schemas = ", ".join(f"`../{file}`" for file in ask["schemas"])
    fallback = ask["fallback"]
    yield f"\n### Request {code(asked)}: {ask['devices']} × {code(ask['tier'])}\n"
    yield "| | |"
    yield "|---|---|"
    yield f"| from a template | `{ROOT}/{BY_TEMPLATE}/POD-CLAIM/{ask['file']}` |"
    for name in shared:
        yield f"| shared claim {code(name)} | `{ROOT}/{BY_NAME}/{name}/{ask['file']}` |"
    yield f"| versions in the file | {versions} |"
    yield f"| schemas | {schemas} |"
    yield f"| the most that is read | {ask['maxBytes']} bytes |"
    yield f"| without a file | {code(fallback['to'])} |"
    yield "\n| attribute | type |"
    yield "|---|---|"
    for key, kind in ask["attributes"].items():
        yield f"| {code(key)} | {kind} |"
    if ask["networkData"]:
        yield """
Interface name, addresses and hardware address stand under `networkData` once the pod's network is
set up; until then the file is empty or lacks them, and the reader says "not yet"."""
    yield from _without_file(request, ask["schemas"], fallback)


def _without_file(request: str, schemas: Iterable[str], fallback: _Facts) -> Iterator[str]:
    match fallback["to"]:
        case "environment":
            pairs = (f" {code(key)} from `{name}`" for key, name in fallback["variables"].items())
            taken = ",".join(pairs)
            yield f"\nWithout a file the reader takes:{taken}{'.' if taken else ''}"
        case "startupProbe":
            command = ["python3", "/opt/reader.py", "--request", request]
            words = ", ".join((*command, *(f"/etc/device-schemas/{file}" for file in schemas)))
            yield f"\nWithout a file the container is held back for {fallback['seconds']} seconds:"
            yield f"""
```yaml
startupProbe:
  exec:
    command: [{words}]
  periodSeconds: 5
  failureThreshold: {(fallback["seconds"] // 5) or 1}
```"""
        case "legacyPath":
            yield (
                "\nWithout a file, on nodes where the device plugin hands the hardware out, "
                f"look at `{fallback['path']}`."
            )
        case "status":
            yield """
Without a file there is nothing for the application. Platform controllers read the claim's status;
workloads get no permission for that."""


def _reads(reads: Iterable[_Facts]) -> Iterator[str]:
    yield "\nThe application says that it reads:\n"
    yield "| requests | required | optional | network data | versions | longest wait |"
    yield "|---|---|---|---|---|---|"
    for one in reads:
        keys = (
            code(", ".join(one[name])) if one[name] else "none" for name in ("required", "optional")
        )
        yield _row(
            code(", ".join(one["requests"])), *keys, "yes" if one["networkData"] else "no",
            ", ".join(one["versions"]), one["wait"],
        )  # fmt: skip


def contract_page(
    cluster: str,
    minor: str,
    of_minor: Iterable[str],
    drivers: Iterable[_Facts],
    tiers: Iterable[_Facts],
    reading: Sequence[_Facts],
    retired: Sequence[str],
) -> str:
    """Markdown for those who upgrade drivers and nodes; `of_minor` are versions of the minor's library."""
    written = ", ".join(f"`{GROUP}/{version}`" for version in of_minor)
    lines = [
        f"""\
# Device metadata of cluster {code(cluster)}: what must fit together

Kubernetes {minor}; a driver library of that minor writes {written}. No gate of the
kubelet is involved: it hands CDI device names to the runtime as for any device. The driver's library
writes the files when a claim is prepared and removes them when it is unprepared.""",
        *_drivers(drivers),
        *_tiers(tiers),
    ]
    if retired:
        files = ", ".join(f"`{file}`" for file in retired)
        lines.append(f"""
Schemas of before, for claims that were prepared by them; each leaves when newer ones take its place:
{files}.""")
    lines += ["\n## Applications\n", *_applications(reading)]
    return _page(lines, "metadata-contract.md")


def _drivers(drivers: Iterable[_Facts]) -> Iterator[str]:
    yield "\n## Drivers and nodes\n"
    yield "| driver | release | versions in the file | pools | values |"
    yield "|---|---|---|---|---|"
    for one in drivers:
        doubt = "" if one["known"] else " (not known which of them)"
        yield _row(
            code(one["name"]), one["release"] or "not stated", ", ".join(one["versions"]) + doubt,
            ", ".join(one["pools"]) or "none", f"`../nodes/POOL/{one['file']}`",
        )  # fmt: skip


def _tiers(tiers: Iterable[_Facts]) -> Iterator[str]:
    yield "\n## Tiers and schemas\n"
    yield "| tier | driver | attributes | network data | most bytes | without a file | schemas |"
    yield "|---|---|---|---|---|---|---|"
    for one in tiers:
        attributes = ", ".join(f"{code(key)} {kind}" for key, kind in one["attributes"].items())
        yield _row(
            code(one["name"]), code(one["driver"]), attributes, "yes" if one["network"] else "no",
            one["max_bytes"], one["fallback"], ", ".join(f"`{file}`" for file in one["schemas"]),
        )  # fmt: skip


def _applications(reading: Sequence[_Facts]) -> Iterator[str]:
    if not reading:
        yield "No profile says what its application reads."
        return
    yield "| tenant | profile | requests | required | versions understood | longest wait |"
    yield "|---|---|---|---|---|---|"
    for one in reading:
        yield _row(
            code(one["tenant"]), code(one["profile"]), ", ".join(one["requests"]),
            ", ".join(one["required"]) or "none", ", ".join(one["versions"]), one["wait"],
        )  # fmt: skip


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
