"""DeviceTaintRules: what they taint, as recorded or as emitted.

Source: kubernetes/api@v0.37.0-rc.0 resource/v1/types.go (DeviceTaintRule), KEP-5055. Knows no gate:
whether a cluster acts on rules is for those who ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from dracfg.allocate.devices import Origin, Taint
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.source.fields import mapping, text, value
from dracfg.source.records import RecordedObject

KIND = "DeviceTaintRule"
_PARTS = ("driver", "pool", "device")
_GONE = ("deviceClassName", "selectors")
"""What a selector of 1.34 could name beside: such a rule taints nobody knows what."""


@dataclass(frozen=True, slots=True)
class TaintRule:
    """A taint for devices by driver, resource pool and name; None stands for any."""

    name: str
    driver: str | None
    pool: str | None
    device: str | None
    taint: Taint
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def selects(self, device: tuple[str, str, str]) -> bool:
        """Whether the rule taints a device, named by (driver, pool, device)."""
        wanted = (self.driver, self.pool, self.device)
        return all(want in (None, have) for want, have in zip(wanted, device, strict=True))


def read_taint_rules(items: Iterable[RecordedObject]) -> tuple[TaintRule, ...]:
    """The rules among recorded objects; one without a selector selects nothing and is left out."""
    return tuple(_read(items))


def _read(items: Iterable[RecordedObject]) -> Iterator[TaintRule]:
    for item in items:
        selector, taint = (
            mapping(item.data, "spec", "deviceSelector"),
            mapping(item.data, "spec", "taint"),
        )
        chosen = value(item.data, "spec", "deviceSelector") is not None
        if item.data["kind"] != KIND or not chosen or any(selector.get(key) for key in _GONE):
            continue
        driver, pool, device = (text(selector, key) for key in _PARTS)
        yield TaintRule(
            text(item.data, "metadata", "name") or "",
            driver,
            pool,
            device,
            Taint(
                text(taint, "key") or "",
                text(taint, "value") or "",
                text(taint, "effect") or "NoSchedule",
            ),
            Origin(item, ("spec", "deviceSelector")),
        )


def wide_rules(rules: Iterable[TaintRule]) -> Iterator[Diagnostic]:
    """INV056: rules that reach beyond one resource pool of one driver."""
    for rule in rules:
        if rule.origin is None or (rule.driver and (rule.pool or rule.device)):
            continue
        yield diagnose(
            "INV056",
            rule.origin.span(key=True),
            f"rule {rule.name} taints every device"
            + (f" of {rule.driver}" if rule.driver else " of the cluster"),
            found=f"{rule.taint.key}:{rule.taint.effect}",
            expected="driver and pool",
            help="name driver and pool of the devices that are meant, or delete the rule",
        )
