"""Selectors on many devices: 10,000 devices of 5 models × 50 selectors, with and without projections.

Run: python tests/bench/device_selectors.py. Prints seconds of processor time, so that other work on the
machine does not count, for making the facts, compiling, and evaluating everything through
projections; and how many times longer evaluation takes without them, measured on every 50th device
of the same run.
"""

from __future__ import annotations

import time
from typing import Any

from dracfg.cel import DeviceFacts, Program, device_environment

DRIVER = "gpu.example.com"
DEVICES, MODELS, SELECTORS, SAMPLE = 10_000, 5, 50, 50


def published(number: int) -> dict[str, Any]:
    """A device as drivers publish it: what its model has, and what tells it from all others."""
    model = number % MODELS
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "type": {"string": "gpu"},
            "productName": {"string": f"Model {model}"},
            "architecture": {"string": ("Ampere", "Hopper")[model % 2]},
            "driverVersion": {"version": f"580.126.{model}"},
            "uuid": {"string": f"GPU-{number:012x}"},
            "index": {"int": number % 8},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number % 256:02x}"},
        },
        "capacity": {"memory": {"value": f"{40 + 8 * model}Gi"}},
    }


def selector(number: int) -> str:
    """A guarded selector as dracfg emits it, for another model, bound and version each time."""
    held, size = f'device.attributes["{DRIVER}"]', f'device.capacity["{DRIVER}"]'
    return " &&\n".join(
        (
            f'device.driver == "{DRIVER}"',
            f"has({held}.productName)",
            f'{held}.productName == "Model {number % MODELS}"',
            f"has({held}.driverVersion)",
            f'{held}.driverVersion.compareTo(semver("580.126.{number % 7}")) >= 0',
            f"has({size}.memory)",
            f'{size}.memory.compareTo(quantity("{30 + number}Gi")) >= 0',
        )
    )


def main() -> None:
    start = time.process_time()
    facts = [DeviceFacts.from_device(DRIVER, published(number)) for number in range(DEVICES)]
    made = time.process_time()
    environment = device_environment("1.36", frozenset())
    programs = []
    for number in range(SELECTORS):
        program = environment.compile(selector(number))
        assert isinstance(program, Program)
        programs.append(program)
    compiled = time.process_time()
    found = [[program.matches(device) for device in facts] for program in programs]
    done = time.process_time()
    sample = range(0, DEVICES, SAMPLE)
    afresh = [[program.matches_afresh(facts[n]) for n in sample] for program in programs]
    without = (time.process_time() - done) * SAMPLE
    assert afresh == [[row[n] for n in sample] for row in found]
    matches = sum(outcome is True for row in found for outcome in row)
    print(f"{DEVICES:,} devices of {MODELS} models x {SELECTORS} selectors: {matches:,} matches")
    print(f"  facts {made - start:.2f} s, compile {compiled - made:.2f} s")
    print(f"  evaluate {done - compiled:.2f} s, in all {done - start:.2f} s (target: below 2 s)")
    print(f"  without projections {without:.1f} s: {without / (done - compiled):.0f} times as long")


if __name__ == "__main__":
    main()
