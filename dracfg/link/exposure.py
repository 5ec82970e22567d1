"""Tiers that expose attributes → what containers on a cluster may read of their devices (KEP-5304).

The driver's library writes the files, so the versions are those of its release; a cluster's minor
only says which a library of its time can write. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Cluster, Tier
from dracfg.link.driver import Driver
from dracfg.link.presetdata import MAIN
from dracfg.model.devicemetadata import ExposedMetadata

GROUP = "metadata.resource.k8s.io"
MAX_SIZE = Quantity.parse("64Ki")

Publishes = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, eq=False)
class Exposure:
    """What containers may read of a tier's devices on one cluster.

    `attributes` are types (`string`, `int`, …, `unknown`) by the key that the driver writes, in the
    order of the tier's list. `versions` are newest first; `known` says whether the release is known to
    write them, or whether they are all that a library of the cluster's minor could write.
    """

    cluster: Cluster
    tier: Tier
    attributes: Mapping[str, str]
    versions: tuple[str, ...]
    known: bool
    settings: ExposedMetadata

    @property
    def max_bytes(self) -> int:
        """The most bytes of one file that are read."""
        size = self.settings.max_size or MAX_SIZE
        return size.nano // 10**9

    @property
    def only_alpha(self) -> bool:
        """Whether no version that is written is beta or better."""
        return all("alpha" in version for version in self.versions)


def exposures(cluster: Cluster) -> tuple[Exposure, ...]:
    """Every tier that DRA hands out on the cluster and that exposes attributes, by name.

    None of a driver that writes no files, nor where the minor is older than the feature and nothing
    states what the driver writes: the kubelet's minor itself does not matter.
    """
    return tuple(
        exposure(cluster, tier)
        for tier in cluster.tiers
        if tier.document.spec.expose
        and cluster.has_claims_ever(tier)
        and publishes(tier.driver) != "no"
        and (stated_versions(tier.driver) or minor_versions(cluster.minor))
    )


def exposure(cluster: Cluster, tier: Tier) -> Exposure:
    """The exposure of one tier on a cluster."""
    spec, driver = tier.document.spec, tier.driver
    stated = stated_versions(driver)
    return Exposure(
        cluster,
        tier,
        {written_key(driver, key): attribute_type(driver, key) for key in spec.expose},
        stated or minor_versions(cluster.minor),
        bool(stated),
        spec.device_metadata or ExposedMetadata(),
    )


def minor_versions(minor: str) -> tuple[str, ...]:
    """The versions that a driver library of a minor can write, newest first; empty before 1.36."""
    return feature_matrix().metadata_versions.get(minor, ())


def stated_versions(driver: Driver) -> tuple[str, ...]:
    """The versions that the release is known to write: the Driver's word, else the preset's."""
    said = driver.document.spec.metadata_versions
    if said is not None:
        return tuple(said)
    known = driver.preset.device_metadata.library_versions if driver.preset is not None else ()
    return tuple(version for version in known if version != "unknown")


def publishes(driver: Driver) -> Publishes:
    """Whether the driver, as it is set here, writes metadata files."""
    spec, preset = driver.document.spec, driver.preset
    if preset is None:
        return "yes" if spec.device_metadata else "no"
    fact = preset.device_metadata
    if fact.publishes == "no" or not _available(driver, fact.since):
        return "no"
    if fact.publishes == "yes":
        return "yes"
    if fact.publishes == "unknown":
        return "yes" if spec.device_metadata else "unknown"
    return "yes" if spec.device_metadata else "no"


def written_key(driver: Driver, key: str) -> str:
    """An attribute as the driver writes it into files; `x` and `<driver>/x` are one name."""
    bare = key.removeprefix(f"{driver.name}/")
    if driver.preset is not None:
        for name in driver.preset.device_metadata.attributes:
            if name in (key, bare, f"{driver.name}/{bare}"):
                return name
    return driver.spelling(key)


def attribute_type(driver: Driver, key: str) -> str:
    """`string`, `int`, … as the driver publishes the attribute; `unknown` where nothing says it."""
    return driver.attributes.get(driver.spelling(key), "unknown")


def _available(driver: Driver, since: str | None) -> bool:
    """Whether the release has what came with `since`; a release that isn't listed may have all."""
    preset, version = driver.preset, driver.document.spec.version
    here = preset.release_index(version) if preset is not None and version is not None else None
    if since is None or preset is None or here is None:
        return True
    return since != MAIN and preset.releases.index(since) <= here
