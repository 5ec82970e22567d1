"""LIV066-068: what trials on record say, beside what the catalog says of the driver.

Pods count in the namespace alone that the Driver names for its trials: labels are anybody's to write.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.trials import Judged, Trial, trials_of
from dracfg.audit.view import View
from dracfg.link.driver import Driver
from dracfg.model.base import at
from dracfg.model.driver import EnforcementTrial


def recorded_trials(view: View) -> tuple[Trial, ...]:
    """The trials that count: all without a catalog, else those of drivers that declare a load."""
    return trials_of(
        pod
        for pod in view.dump.trial_pods
        if view.catalog is None or _namespace(view, pod.driver) == pod.namespace
    )


def _namespace(view: View, name: str) -> str | None:
    driver = view.catalog.drivers.get(name) if view.catalog is not None else None
    load = driver.document.spec.trial if driver is not None else None
    return load.namespace if load is not None else None


def told_by_trials(view: View) -> Iterator[LiveFinding]:
    """One finding at most for each trial and capacity."""
    for trial in recorded_trials(view):
        driver = view.catalog.drivers.get(trial.driver) if view.catalog is not None else None
        for judged in trial.capacities:
            if judged.outcome == "undecided":
                yield _open(trial, judged)
            elif driver is not None and driver.document.spec.version == trial.version:
                yield from _compared(trial, judged, driver)


def _open(trial: Trial, judged: Judged) -> LiveFinding:
    pod = trial.pods[-1]
    return live(
        "LIV068",
        "needsPerson",
        pod.item.span("metadata", "name"),
        f"the trial of {trial.policy} on {trial.tier} decides nothing of {judged.capacity}: {judged.why}",
        label=f"{trial.driver} {trial.version}",
        step="run what is missing on the same node, and audit while its pods are still there",
        objects=[f"Pod/{pod.namespace}/{pod.name}"],
    )


def _compared(trial: Trial, judged: Judged, driver: Driver) -> Iterator[LiveFinding]:
    cited = _cited(driver, judged.capacity, trial.version)
    held = judged.outcome == "enforced"
    record = trial.record(judged)
    if record is None:
        return
    agrees = cited is not None and cited.enforced == held
    if not held and not agrees and driver.enforcement(judged.capacity) != "none":
        yield _refuted(trial, judged, driver, cited, record)
    elif held and not agrees:
        said = "cites none" if cited is None else "cites one that says the contrary"
        yield _uncited(trial, judged, driver, record, f"the driver {said}")
    elif (
        cited is not None and str(cited.date) == record["date"] and cited.digest != record["digest"]
    ):
        yield _uncited(
            trial, judged, driver, record, "the digest that the driver cites is of other results"
        )


def _cited(driver: Driver, capacity: str, version: str) -> EnforcementTrial | None:
    """The latest record of a capacity with the release that was tried."""
    records = [
        record
        for record in driver.document.spec.trials
        if record.version == version and driver.spelling(record.capacity) == capacity
    ]
    return max(records, key=lambda record: str(record.date), default=None)


def _refuted(
    trial: Trial,
    judged: Judged,
    driver: Driver,
    cited: EnforcementTrial | None,
    record: dict[str, object],
) -> LiveFinding:
    pod = next(one for one in trial.pods if one.run.startswith("exceed"))
    document = driver.document
    place = (
        at(document, "spec", "trials", document.spec.trials.index(cited))
        if cited is not None
        else at(document, "metadata", "name")
    )
    return live(
        "LIV066",
        "notRetryable",
        pod.item.span("metadata", "name"),
        f"{driver.name} {trial.version} does not hold shares of {judged.capacity} on {trial.tier} to "
        f"their size: {judged.why}",
        related=related(place, "says that it does"),
        found="not enforced",
        expected=f"held by {driver.enforcement(judged.capacity)}",
        step=f"write `enforces: {{{judged.capacity}: none}}` into the driver and "
        f"`{snippet(record)}` into its `trials`; what is promised of such shares needs partitions or "
        "whole devices",
        objects=[f"Pod/{pod.namespace}/{pod.name}"],
    )


def _uncited(
    trial: Trial, judged: Judged, driver: Driver, record: dict[str, object], why: str
) -> LiveFinding:
    pod = next(one for one in trial.pods if one.run.startswith("exceed"))
    return live(
        "LIV067",
        "notRetryable",
        pod.item.span("metadata", "name"),
        f"a trial shows that {driver.name} {trial.version} holds shares of {judged.capacity} on "
        f"{trial.tier}, and {why}",
        label=judged.why,
        related=related(at(driver.document, "metadata", "name"), "the driver"),
        step=f"write `{snippet(record)}` into the driver's `trials`, and keep the dump",
        objects=[f"Pod/{pod.namespace}/{pod.name}"],
    )


def snippet(record: dict[str, object]) -> str:
    """A record as it stands in a Driver, in one line."""
    words = {True: "true", False: "false"}
    told = ", ".join(f"{k}: {words[v] if isinstance(v, bool) else v}" for k, v in record.items())
    return f"- {{{told}}}"


RULES: tuple[LiveRule, ...] = (told_by_trials,)
