"""LIV030-034, LIV059: what is allocated, against what is published."""

from collections.abc import Callable
from typing import Any

Codes = Callable[..., list[str]]
Found = Callable[..., Any]


def shares(world: Any, *sizes: str) -> None:
    for number, size in enumerate(sizes):
        pod = world.pod(f"n{number}", "cuts-1")
        world.share(f"n{number}", size, pods=[pod])


def test_capacity_beyond_what_is_published(world: Any, found: Found) -> None:
    shares(world, "20Gi", "20Gi", "5Gi")
    finding = found(world, "LIV030")
    assert (finding.diagnostic.found, finding.diagnostic.expected) == ("45Gi", "40Gi or less")
    assert finding.handling == "needsPerson"
    assert "Device/shared.example.org/cuts-1/cut-0" in finding.objects


def test_capacity_to_the_brim(world: Any, codes: Codes) -> None:
    shares(world, "20Gi", "20Gi")
    assert "LIV030" not in codes(world)


def test_more_shares_than_the_policy_allows(
    world: Any, found: Found, codes: Codes, changed: Callable[..., Any]
) -> None:
    few = changed({"maxShares: 8": "maxShares: 2"})
    world.version = few.policies["slices"].version
    shares(world, "10Gi", "10Gi")
    assert "LIV030" not in codes(world, few)
    shares(world, "10Gi", "5Gi", "5Gi")
    assert "more shares than policy slices" in found(world, "LIV030", few).diagnostic.message


def test_counters_of_a_pool(world: Any, codes: Codes, found: Found) -> None:
    counters = {"counterSet": "card", "counters": {"memory": {"value": "50Gi"}}}
    sliced = world.find("ResourceSlice", "gpus-1-gpu.example.org")
    for device in sliced["spec"]["devices"]:
        device["consumesCounters"] = [counters]
    sliced["spec"]["pool"]["resourceSliceCount"] = 2
    sets = world.slice("gpu.example.org", "gpus-1", [])
    sets["metadata"]["name"] = "gpus-1-counters"
    del sets["spec"]["devices"]
    sets["spec"] |= {
        "sharedCounters": [{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]
    }
    sets["spec"]["pool"] |= {"resourceSliceCount": 2}
    world.held("a", ["gpu-0"])
    assert codes(world) == []
    world.held("b", ["gpu-1"])
    assert found(world, "LIV030").diagnostic.found == "100Gi"


def test_an_exclusive_device_twice(world: Any, found: Found) -> None:
    world.held("a", ["gpu-0"])
    world.held("b", ["gpu-0"])
    finding = found(world, "LIV031")
    assert finding.diagnostic.label == "vision/b"
    assert "claim uid claim-a" in finding.diagnostic.found


def test_a_watcher_beside_a_holder(world: Any, codes: Codes) -> None:
    world.held("a", ["gpu-0"])
    _, claim = world.held("monitor", ["gpu-0"])
    claim["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    assert "LIV031" not in codes(world)


def test_a_share_id_twice(world: Any, found: Found, codes: Codes) -> None:
    pod = world.pod("n0", "cuts-1")
    share = "00000000-0000-4000-8000-000000000001"
    world.share("n0", pods=[pod], share=share)
    other = world.pod("n1", "cuts-1")
    world.share("n1", pods=[other])
    assert "LIV032" not in codes(world)
    world.find("ResourceClaim", "n1")["status"]["allocation"]["devices"]["results"][0][
        "shareID"
    ] = share
    assert "vision/n1" in found(world, "LIV032").diagnostic.message


def test_a_device_that_is_gone(world: Any, found: Found) -> None:
    world.held("a", ["gpu-1"])
    world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"].pop()
    finding = found(world, "LIV033")
    assert "pool gpus-1 has shrunk: it publishes 1 device" in finding.diagnostic.message
    assert finding.objects == ("Device/gpu.example.org/gpus-1/gpu-1", "ResourceClaim/vision/a")


def test_a_pool_and_a_driver_that_are_gone(world: Any, found: Found) -> None:
    world.held("a", ["gpu-1"])
    world.remove(world.find("ResourceSlice", "gpus-1-gpu.example.org"))
    assert "gpu.example.org publishes nothing" in found(world, "LIV033").diagnostic.message


def test_no_slices_at_all(world: Any, codes: Codes) -> None:
    world.held("a", ["gpu-1"])
    for name in ("gpus-1-gpu.example.org", "cuts-1-shared.example.org"):
        world.remove(world.find("ResourceSlice", name))
    assert codes(world).count("LIV033") == 0
    assert "LIV058" in codes(world)


def test_one_card_under_two_names(world: Any, found: Found, codes: Codes) -> None:
    devices = world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"]
    devices[1]["attributes"]["uuid"] = {"string": "uuid-gpu-0"}
    world.held("a", ["gpu-0"])
    assert "LIV034" not in codes(world)
    world.held("b", ["gpu-1"])
    assert "both have uuid uuid-gpu-0" in found(world, "LIV034").diagnostic.found


def test_a_pool_that_is_not_whole(world: Any, found: Found, audited: Callable[..., Any]) -> None:
    world.held("a", ["gpu-0"])
    sliced = world.find("ResourceSlice", "gpus-1-gpu.example.org")
    sliced["spec"]["pool"]["resourceSliceCount"] = 2
    assert found(world, "LIV059").handling == "retryable"
    states = {entry.id[2]: entry.state for entry in audited(world).ledger.entries}
    assert states == {"gpu-0": "unknown", "gpu-1": "unknown", "cut-0": "idle"}


def test_a_device_that_is_published_twice(world: Any, found: Found) -> None:
    world.held("a", ["gpu-0"])
    devices = world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"]
    devices.append(dict(devices[0]))
    assert found(world, "LIV059").handling == "needsPerson"


def test_the_eighth_and_the_ninth_share(world: Any, codes: Codes) -> None:
    shares(world, *["5Gi"] * 8)
    assert codes(world) == ["LIV063"]  # vision is entitled to other sizes
    pod = world.pod("ninth", "cuts-1")
    world.share("ninth", "5Gi", pods=[pod])
    told = codes(world)
    assert told.count("LIV030") == 2, "by capacity and by number"
