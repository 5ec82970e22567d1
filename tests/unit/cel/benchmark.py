"""Measure the memo: 50 selectors against 10,000 devices of 5 models, with and without it.

Run it as a script. It prints times and their ratio and asserts that both give the same answers.
"""

import random
import sys
import time
from typing import Any

from dracfg.cel import DeviceFacts, Program, device_environment

DOMAIN = "gpu.example.com"
MODELS = ("H100", "A100", "L40S", "MI300X", "B200")
DEVICES, SELECTORS = 10_000, 50
SAMPLE = 500


def device(index: int, seed: random.Random) -> dict[str, Any]:
    model = index % len(MODELS)
    return {
        "attributes": {
            "model": {"string": MODELS[model]},
            "uuid": {"string": f"GPU-{seed.getrandbits(64):x}"},
            "index": {"int": index % 8},
            "numa": {"int": index % 8 // 4},
            "driverVersion": {"version": f"55{model}.10.1"},
            "ecc": {"bool": True},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index % 8:02x}"},
            "resource.kubernetes.io/pciBusID": {"string": f"0000:{index % 256:02x}:00.0"},
        },
        "capacity": {"memory": {"value": f"{40 * (model + 1)}Gi"}, "sms": {"value": "132"}},
    }


def selector(index: int) -> str:
    attributes = f'device.attributes["{DOMAIN}"]'
    model = MODELS[index % 5]
    return (
        f'device.driver == "{DOMAIN}" && {attributes}.model == "{model}" && {index} >= 0',
        f'device.capacity["{DOMAIN}"].memory.compareTo(quantity("{10 + index}Gi")) >= 0',
        f'{attributes}.driverVersion.isGreaterThan(semver("55{index % 5}.0.{index}"))',
        f'{attributes}.model in ["{model}", "x{index}"] && {attributes}.numa == {index % 2}',
        f"has({attributes}.absent{index}) || {attributes}.?ecc.orValue(false)",
    )[index // 5 % 5]


def main() -> None:
    seed = random.Random(7)
    facts = [DeviceFacts.from_device(DOMAIN, device(index, seed)) for index in range(DEVICES)]
    environment = device_environment("1.36", frozenset())
    start = time.perf_counter()
    compiled = [environment.compile(selector(index)) for index in range(SELECTORS)]
    compiling = time.perf_counter() - start
    programs = [program for program in compiled if isinstance(program, Program)]
    assert len(programs) == SELECTORS
    start = time.perf_counter()
    matched = [[program.matches(entry) for entry in facts] for program in programs]
    with_memo = time.perf_counter() - start
    start = time.perf_counter()
    afresh = [[program.matches_afresh(entry) for entry in facts[:SAMPLE]] for program in programs]
    without = (time.perf_counter() - start) * DEVICES / SAMPLE
    assert afresh == [row[:SAMPLE] for row in matched]
    sys.stdout.write(
        f"compile {compiling / SELECTORS * 1e3:.2f} ms a selector\n"
        f"with memo {with_memo:.2f} s for {DEVICES * SELECTORS:,} matches\n"
        f"without memo {without:.1f} s (from {SAMPLE} devices), ratio {without / with_memo:.0f}\n"
    )


if __name__ == "__main__":
    main()
