"""ResourceSlices for cases: what drivers publish, as the API server of the minor accepts it.

Pools may contradict themselves on purpose: too few slices, old generations, two devices of one name.
"""

from __future__ import annotations

from tests.oracle.draw import DRIVERS, NODE, Draw, Object

SIZES = ("8Gi", "8Gi", "16Gi", "24Gi")
_HERE = NODE["metadata"]["name"]


def slices(draw: Draw) -> list[Object]:
    """The slices of one to four pools; their names say nothing of their pools."""
    pools = draw.of((1, 1, 2, 2, 3, 4))
    chosen = draw.random.sample([(d, p) for d in DRIVERS for p in ("a", "b", _HERE)], pools)
    found = [part for driver, pool in chosen for part in _pool(draw, driver, pool)]
    names = draw.random.sample(range(10, 100), len(found))
    for part, name in zip(found, names, strict=True):
        part["metadata"]["name"] = f"slice-{name}"
    return found


def _pool(draw: Draw, driver: str, pool: str) -> list[Object]:
    broken = draw.about("broken")
    sets = _counter_sets(draw) if draw.about("counters") or draw.about("groups") else []
    parts = draw.of((1, 1, 1, 2, 2, 3))
    names = [f"dev-{number}" for number in range(60)]
    draw.random.shuffle(names)
    found = []
    for _ in range(parts):
        spec: Object = {"driver": driver, **_nodes(draw)}
        devices = draw.number(8, 20) if draw.about("many") else draw.of((0, 2, 3, 3, 4, 5))
        spec["devices"] = [
            _device(draw, driver, names.pop(), sets, "perDeviceNodeSelection" in spec)
            for _ in range(devices)
        ]
        if sets and draw.minor == "1.34" and devices:
            spec["sharedCounters"] = sets
        found.append(_slice(spec))
    if sets and draw.minor != "1.34":
        halves = [sets] if len(sets) < 2 or draw.chance(0.5) else [sets[:1], sets[1:]]
        found += [_slice({"driver": driver, **_whole(draw), "sharedCounters": h}) for h in halves]
        if broken and draw.chance(0.2):
            found.append(_slice({"driver": driver, **_whole(draw), "sharedCounters": sets[:1]}))
    if broken and draw.chance(0.4):
        published = [device for part in found for device in part["spec"].get("devices", ())]
        if len(published) > 1:
            published[-1]["name"] = published[0]["name"]
    count = len(found)
    if broken and draw.chance(0.3):
        count += draw.of((-1, 1)) if count > 1 else 1
    generation = draw.number(1, 3)
    for part in found:
        part["spec"]["pool"] = {
            "name": pool,
            "generation": generation,
            "resourceSliceCount": count,
        }
    if broken and draw.chance(0.15):
        found[-1]["spec"]["pool"]["resourceSliceCount"] = count + 1
    if draw.about("operations"):
        skipped = draw.of((["*"], ["NodePrepareResources", "NodeUnprepareResources"]))
        for part in draw.some(found):
            part["spec"]["skipNodeOperations"] = skipped
    if draw.about("generations"):
        found += _other_generation(draw, driver, pool, generation, names)
    return [_apart(part) for part in found]


def _apart(part: Object) -> Object:
    """Without two devices of one name in one slice, which the API server refuses."""
    devices = part["spec"].get("devices", [])
    part["spec"]["devices"] = list({device["name"]: device for device in devices}.values())
    if not part["spec"]["devices"]:
        del part["spec"]["devices"]
    return part


def _slice(spec: Object) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {},
        "spec": spec,
    }


def _other_generation(
    draw: Draw, driver: str, pool: str, generation: int, names: list[str]
) -> list[Object]:
    """An older slice that its driver has not removed yet, or the first of a newer generation."""
    spec: Object = {"driver": driver, **_whole(draw)}
    other = max(0, generation - 1) if draw.chance(0.7) else generation + 1
    spec["pool"] = {
        "name": pool,
        "generation": other,
        "resourceSliceCount": draw.of((1, 1, 2)),
    }
    spec["devices"] = [_device(draw, driver, names.pop(), [], False)]
    return [_slice(spec)]


def _nodes(draw: Draw) -> Object:
    if draw.about("per-device-nodes") and draw.chance(0.6):
        return {"perDeviceNodeSelection": True}
    return _whole(draw)


def _whole(draw: Draw) -> Object:
    """A node selection of a slice or a device; mostly one that the node of the case is in."""
    kind = draw.number(0, 9)
    if not draw.about("nodes") and not draw.about("per-device-nodes"):
        return {"allNodes": True} if kind < 3 else {"nodeName": _HERE}
    if kind < 4:
        return {"nodeName": _HERE if draw.chance(0.8) else "node-2"}
    if kind < 6:
        return {"allNodes": True}
    requirement: Object = draw.of(
        (
            {"key": "zone", "operator": "In", "values": ["east", "west"]},
            {"key": "zone", "operator": "In", "values": ["west"]},
            {"key": "zone", "operator": "NotIn", "values": ["west"]},
            {"key": "rack", "operator": "Exists"},
            {"key": "spot", "operator": "DoesNotExist"},
            {"key": "index", "operator": "Gt", "values": ["5"]},
            {"key": "index", "operator": "Lt", "values": ["5"]},
        )
    )
    term: Object = {"matchExpressions": [requirement]}
    if draw.chance(0.3):
        field = {"key": "metadata.name", "operator": "In", "values": [_HERE]}
        term = {"matchFields": [field]} if draw.chance(0.5) else {**term, "matchFields": [field]}
    return {"nodeSelector": {"nodeSelectorTerms": [term]}}


def _counter_sets(draw: Draw) -> list[Object]:
    return [
        {
            "name": f"set-{number}",
            "counters": {
                name: {"value": draw.of(("4", "6", "8", "3500m"))}
                for name in draw.some(("slices", "engines"), 1)
            },
        }
        for number in range(draw.number(1, 2))
    ]


def _device(draw: Draw, driver: str, name: str, sets: list[Object], selects: bool) -> Object:
    shareable = draw.about("shares") and draw.chance(0.6)
    device: Object = {
        "name": name,
        "attributes": _attributes(draw, driver),
        "capacity": _capacity(draw, driver, shareable),
    }
    if selects:
        device |= _whole(draw)
    if shareable:
        device["allowMultipleAllocations"] = True
    if sets and draw.chance(0.75):
        device["consumesCounters"] = [_consumption(draw, one) for one in draw.some(sets, 1)]
    if draw.about("taints") and draw.chance(0.4):
        effects = ["NoSchedule", "NoExecute", *(["None"] if draw.minor != "1.34" else [])]
        device["taints"] = [
            {"key": f"example.com/{key}", "value": draw.of(("", "hot")), "effect": draw.of(effects)}
            for key in draw.some(("broken", "old"), 1)
        ]
    if draw.about("binding") and draw.chance(0.4):
        device["bindingConditions"] = ["example.com/ready"]
        device["bindingFailureConditions"] = ["example.com/failed", "example.com/gone"]
    if draw.about("binding") and draw.chance(0.3):
        device["bindsToNode"] = True
    return {key: value for key, value in device.items() if value != {}}


def _consumption(draw: Draw, counters: Object) -> Object:
    taken: Object = {
        "counterSet": counters["name"],
        "counters": {
            name: {"value": draw.of(("1", "1", "2", "3", "500m"))}
            for name in draw.some(sorted(counters["counters"]), 1)
        },
    }
    if draw.about("groups") and draw.chance(0.7):
        taken["compatibilityGroups"] = draw.some(("mig", "mps"), 1)
    if draw.about("broken") and draw.minor != "1.34" and draw.chance(0.05):
        taken["counterSet"] = "nowhere"
    return taken


def _attributes(draw: Draw, driver: str) -> Object:
    """Attributes of every type; most devices have most of them."""
    found: Object = {}
    scalar: dict[str, list[Object]] = {
        "model": [{"string": "a"}, {"string": "b"}],
        "index": [{"int": number} for number in range(3)],
        "ecc": [{"bool": True}, {"bool": False}],
        "release": [{"version": "1.2.3"}, {"version": "2.0.0-rc.1"}],
        "resource.kubernetes.io/pcieRoot": [{"string": f"pci0000:0{n}"} for n in range(2)],
    }
    for key, values in scalar.items():
        if draw.chance(0.9):
            domain = f"{driver}/" if "/" not in key and draw.chance(0.2) else ""
            found[domain + key] = draw.of(values)
    if draw.chance(0.1):
        found["model"] = {"int": 1}
        found.pop(f"{driver}/model", None)
    if draw.about("lists") and draw.chance(0.8):
        numbers = draw.some((1, 2, 3), 1)
        texts = draw.some(("x", "y", "z"), 1)
        found["links"] = draw.of(({"ints": numbers}, {"ints": numbers}, {"int": numbers[0]}))
        found["paths"] = draw.of(({"strings": texts}, {"strings": texts}, {"string": texts[0]}))
        if draw.chance(0.3):
            found["flags"] = {"bools": [draw.chance(0.5)]}
            found["formats"] = {"versions": draw.some(("1.0.0", "2.0.0"), 1)}
    return found


def _capacity(draw: Draw, driver: str, shareable: bool) -> Object:
    found: Object = {}
    if draw.chance(0.9):
        found["memory"] = {"value": draw.of(SIZES)}
    if draw.chance(0.5):
        key = f"{driver}/cores" if draw.chance(0.2) else "cores"
        found[key] = {"value": draw.of(("8", "10", "16"))}
    if shareable:
        for key, capacity in found.items():
            if draw.chance(0.6):
                memory = key == "memory"
                capacity["requestPolicy"] = _policy(draw, "Gi" if memory else "")
    return found


def _policy(draw: Draw, unit: str) -> Object:
    """A policy that holds for every value drawn above: all of them are at least 4."""
    match draw.number(0, 4):
        case 0:
            return {"default": f"1{unit}"}
        case 1:
            values = draw.some((1, 2, 3, 4), 1)
            return {
                "default": f"{draw.of(values)}{unit}",
                "validValues": [f"{value}{unit}" for value in values],
            }
        case 2:
            return {
                "default": f"2{unit}",
                "validRange": {"min": f"1{unit}", **draw.of(({}, {"max": f"3{unit}"}))},
            }
        case 3 if draw.about("fractions") and not unit:
            step = draw.of(("250m", "500m"))
            bounds = {"min": "500m", "step": step, **draw.of(({}, {"max": "3500m"}))}
            return {"default": draw.of(("1", "1500m", "500m")), "validRange": bounds}
        case _:
            least = draw.of((0, 1))
            bounds = {"min": f"{least}{unit}", "step": f"1{unit}"}
            if draw.chance(0.5):
                bounds["max"] = f"4{unit}"
            if draw.chance(0.3):
                bounds |= {"min": f"1{unit}", "step": f"2{unit}"}
                bounds.pop("max", None)
                return {"default": draw.of((f"1{unit}", f"3{unit}")), "validRange": bounds}
            return {"default": f"{draw.of((1, 2))}{unit}", "validRange": bounds}
