"""Feature gates of built programs: what they list, refuse, and how they are told."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from dracfg.kube.features import Gate, feature_matrix, to_write
from tests.cluster.controlplane import BUILT
from tests.cluster.emitted import Flags

GATES: Mapping[str, Gate] = feature_matrix().gates
LISTED = re.compile(r"kube:(\w+)=true\|false \((ALPHA|BETA) - default=(\w+)\)")


def refusal(minor: str, component: str, gates: str) -> str:
    """What a component says of `A=true,B=false` before all else; "" where it takes them."""
    command: list[str | Path] = [BUILT / minor / component]
    command += [f"--feature-gates={gates}", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


@cache
def listed(minor: str, component: str) -> Mapping[str, tuple[str, bool]]:
    """Gate → (stage, default) as the component's help has them: those of alpha and beta."""
    command: list[str | Path] = [BUILT / minor / component, "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = LISTED.findall(text)
    return {name: (stage.lower(), default == "true") for name, stage, default in found}


def known(minor: str) -> list[Gate]:
    """The gates that the data has for a minor and whose name a flag may give."""
    found = GATES.values()
    return [one for one in found if one.at(minor).stage != "absent" and not one.never_emit]


def api_server_flags(minor: str, wanted: Mapping[str, bool], versions: Iterable[str] = ()) -> Flags:
    """As dracfg writes them, dependencies included; `versions` are served beside the defaults."""
    gates = to_write(wanted, minor).get("kube-apiserver", {})
    pairs = ",".join(f"{name}={str(value).lower()}" for name, value in gates.items())
    served = ",".join(f"{version}=true" for version in sorted(set(versions)))
    flags = {"feature-gates": pairs, "runtime-config": served}
    return {"kube-apiserver": tuple(f"--{name}={text}" for name, text in flags.items() if text)}
