"""What a tier exposes → one JSON Schema for each version of its metadata files.

The schema is the allow-list: readers return what it lists and nothing else. Written with the few
keywords that `dracfg.metadata.reader` knows, so that an application needs no library to apply it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from dracfg.link.exposure import GROUP, Exposure
from dracfg.metadata.reader import FACTS, attribute_schema, document_schema
from dracfg.model.devicemetadata import (
    EnvironmentFallback,
    LegacyPathFallback,
    StartupProbeFallback,
)
from dracfg.source.times import parse_length

SUFFIX = ".schema.json"
_RETIRED = re.compile(r"retired/(.+)\.([0-9]+)\.schema\.json")


def schema_file(tier: str, version: str) -> str:
    """The file's name in `<cluster>/metadata`."""
    return f"{tier}.{version}{SUFFIX}"


def schema_files(exposure: Exposure) -> dict[str, str]:
    """Every schema of a tier as text, by its file."""
    return {
        schema_file(
            exposure.tier.name, version
        ): f"{json.dumps(tier_schema(exposure, version), indent=2)}\n"
        for version in exposure.versions
    }


def retired_schemas(
    standing: Mapping[str, str], emitted: Mapping[str, str], retain: int
) -> dict[str, str]:
    """Schemas that containers which run may still read by, as text by file below `retired/`.

    `standing` are the unit's schema files as they stand, `emitted` those of now. What changed or left
    is numbered, `retain` of each tier and version stay, newest first, and one that is emitted again goes.
    """
    kept: dict[str, dict[int, str]] = {}
    before = {file: bare for file, text in standing.items() if (bare := _without_mark(text))}
    for file, text in before.items():
        if (old := _RETIRED.fullmatch(file)) is not None:
            kept.setdefault(old[1], {})[int(old[2])] = text
    for file, text in before.items():
        name = file.removesuffix(SUFFIX)
        if "/" in file or emitted.get(file) == text or text in kept.get(name, {}).values():
            continue
        known = kept.setdefault(name, {})
        known[max(known, default=0) + 1] = text
    return {
        f"retired/{name}.{number}{SUFFIX}": known[number]
        for name, known in sorted(kept.items())
        for number in sorted(known)[-retain:]
        if retain
        if known[number] != emitted.get(f"{name}{SUFFIX}")
    }


def _without_mark(text: str) -> str | None:
    """A schema as it was before the mark of whoever wrote the file; None for what is no schema."""
    try:
        schema = json.loads(text)
    except ValueError:
        return None
    if not isinstance(schema, dict):
        return None
    return f"{json.dumps({k: v for k, v in schema.items() if k != '$comment'}, indent=2)}\n"


def tier_schema(exposure: Exposure, version: str) -> dict[str, Any]:
    """The schema (draft-07) of a tier's files in one version.

    Under `x-dracfg` stand tier, driver, version, maxBytes and the fall-back, which readers follow.
    Attributes whose type nobody states are left out: a rule says so.
    """
    tier = exposure.tier
    schema = document_schema(version)
    device = schema["properties"]["requests"]["items"]["properties"]["devices"]["items"][
        "properties"
    ]
    device["driver"] = {"const": tier.driver.name}
    device["attributes"]["properties"] = {
        key: attribute_schema(kind)
        for key, kind in exposure.attributes.items()
        if kind != "unknown"
    }
    if not exposure.settings.network_data:
        del device["networkData"]
    facts: dict[str, Any] = {
        "tier": tier.name,
        "driver": tier.driver.name,
        "version": version,
        "maxBytes": exposure.max_bytes,
        "fallback": fallback_facts(exposure),
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"Device metadata of tier {tier.name} in {GROUP}/{version}",
        FACTS: facts,
        **schema,
    }


def fallback_facts(exposure: Exposure) -> dict[str, Any]:
    """The fall-back as readers understand it; `none` where the tier declares none."""
    match exposure.settings.fallback:
        case EnvironmentFallback(variables=variables):
            spelled = {exposure_key(exposure, key): name for key, name in variables.items()}
            return {"to": "environment", "variables": dict(sorted(spelled.items()))}
        case StartupProbeFallback(within=within):
            return {"to": "startupProbe", "seconds": int(parse_length(within).total_seconds())}
        case LegacyPathFallback(path=path):
            return {"to": "legacyPath", "path": path}
        case None:
            return {"to": "none"}
        case other:
            return {"to": other.to}


def exposure_key(exposure: Exposure, key: str) -> str:
    """A key of the tier's document as the schema has it."""
    spec = exposure.tier.document.spec
    written = dict(zip(spec.expose, exposure.attributes, strict=True))
    return written.get(key, key)
