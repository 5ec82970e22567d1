"""Changes of the tenants of a fleet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

Edit = Callable[[dict[str, Any]], None]


def tenants(root: Path) -> list[Path]:
    return sorted((root / "tenants").rglob("*.yaml"))


def edit(path: Path, change: Edit) -> None:
    document = yaml.safe_load(path.read_text())
    change(document)
    path.write_text(yaml.safe_dump(document, sort_keys=False))


def first_part(document: dict[str, Any]) -> tuple[dict[str, int], str]:
    numbers: dict[str, int] = document["spec"]["entitlements"][0]["guaranteed"]
    return numbers, next(iter(numbers))


def fewer(document: dict[str, Any]) -> None:
    numbers, part = first_part(document)
    numbers[part] -= 1


def described(document: dict[str, Any]) -> None:
    document["metadata"]["description"] = "Somebody else answers for it now."


def meetings(rng: random.Random, root: Path) -> Iterator[Callable[[], None]]:
    """Changes of one tenant or two that others, who stay as they are, have to be held against."""

    def said(path: Path) -> dict[str, Any]:
        document: dict[str, Any] = yaml.safe_load(path.read_text())
        return document

    def namespace() -> None:
        mine, other = rng.sample(tenants(root), 2)
        taken = rng.choice([*said(other)["spec"]["namespaces"], {"name": "kube-system"}])
        edit(mine, lambda one: one["spec"]["namespaces"][0].update(name=taken["name"]))

    def cluster() -> None:
        clusters = rng.sample(["cluster-01", "cluster-02"], rng.randint(1, 2))
        mine = rng.choice(tenants(root))
        edit(mine, lambda one: one["spec"]["namespaces"][-1].update(clusters=sorted(clusters)))

    def group() -> None:
        mine, other = rng.sample(tenants(root), 2)
        access = said(other)["spec"]["access"]
        edit(mine, lambda one: one["spec"].update(access=access))

    def promise() -> None:
        many = rng.choice([1, 50, 100_000])
        edit(rng.choice(tenants(root)), lambda one: guarantee(one, lambda _: many))

    def offer() -> None:
        mine, other = rng.sample(tenants(root), 2)
        lent = said(mine)["spec"]["entitlements"][0]
        many = {"entitlement": lent["name"], "count": rng.randint(1, 3)}
        if not isinstance(lent["guaranteed"], int):
            many["size"] = next(iter(lent["guaranteed"]))
        names = [said(path)["metadata"]["name"] for path in (mine, other)]
        edit(
            mine, lambda one: one["spec"].setdefault("offers", []).append({**many, "to": names[1]})
        )
        if rng.random() < 0.7:
            accepted = {**many, "from": names[0], "count": many["count"] + rng.choice([0, 0, 1])}
            edit(other, lambda one: one["spec"].setdefault("acceptedOffers", []).append(accepted))

    def lender() -> None:
        """A number of somebody who lends, or borrows: the partner stays as it is."""
        trading = [
            path
            for path in tenants(root)
            if {"offers", "acceptedOffers"} & said(path)["spec"].keys()
        ]
        if trading:
            edit(rng.choice(trading), fewer_of_any)

    def waiver() -> None:
        path = rng.choice(tenants(root))
        comment = "# dracfg: allow-file CAP084 until 2027-01-31 because it is being moved"
        path.write_text(f"{comment}\n{path.read_text()}")

    def comment() -> None:
        path = rng.choice(tenants(root))
        path.write_text(f"# a word\n{path.read_text()}")

    def name() -> None:
        mine = rng.choice(tenants(root))
        edit(mine, lambda one: one["metadata"].update(name=f"{one['metadata']['name']}-new"))

    while True:
        yield rng.choice(
            [
                namespace,
                cluster,
                group,
                promise,
                offer,
                offer,
                lender,
                lender,
                waiver,
                comment,
                name,
            ]
        )


def guarantee(document: dict[str, Any], number: Callable[[int], int]) -> None:
    """Another number of the first entitlement, of its first part where it has some."""
    entitlement = document["spec"]["entitlements"][0]
    if isinstance(entitlement["guaranteed"], int):
        entitlement["guaranteed"] = number(entitlement["guaranteed"])
    else:
        part, before = next(iter(entitlement["guaranteed"].items()))
        entitlement["guaranteed"][part] = number(before)


def fewer_of_any(document: dict[str, Any]) -> None:
    guarantee(document, lambda before: max(0, before - 1))
