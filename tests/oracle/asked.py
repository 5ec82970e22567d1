"""DeviceClasses and ResourceClaims for cases, with the defaults of the API server written out."""

from __future__ import annotations

from tests.oracle.draw import DRIVERS, Draw, Object

_CONSTRAINED = (
    *(f"{DRIVERS[0]}/{name}" for name in ("model", "model", "index", "ecc", "release")),
    f"{DRIVERS[1]}/model",
    "resource.kubernetes.io/pcieRoot",
)
_EXTREME = ("0", "9223372036854775807", "9223372036854775808", "1e30", "100E", "1m", "12345678901n")


def classes(draw: Draw) -> list[Object]:
    """Three classes; one name that claims use has none at times."""
    gpu = DRIVERS[0]
    found = [
        _class("any", []),
        _class("gpu", [f'device.driver == "{gpu}"']),
        _class("fine", [_selector(draw)]),
    ]
    for one in found:
        if draw.chance(0.3):
            one["spec"]["config"] = [_opaque(draw) for _ in range(draw.number(1, 2))]
    if draw.about("errors") and draw.chance(0.2):
        found.pop()
    return found


def claims(draw: Draw) -> list[Object]:
    """One to three pending claims."""
    return [_claim(draw, number) for number in range(draw.of((1, 1, 1, 1, 2, 3)))]


def claim(name: str, devices: Object) -> Object:
    """A ResourceClaim of that name."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"namespace": "team", "name": name, "uid": f"uid-{name}"},
        "spec": {"devices": devices},
    }


def _class(name: str, selectors: list[str]) -> Object:
    spec: Object = {}
    if selectors:
        spec["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def _claim(draw: Draw, number: int) -> Object:
    requests = [_request(draw, f"req-{n}") for n in range(draw.of((1, 1, 1, 2, 3)))]
    devices: Object = {"requests": requests}
    names = [request["name"] for request in requests]
    names += [f"{r['name']}/{sub['name']}" for r in requests for sub in r.get("firstAvailable", ())]
    if draw.chance(0.3):
        devices["constraints"] = [_constraint(draw, names) for _ in range(draw.of((1, 1, 2)))]
    if draw.chance(0.3):
        devices["config"] = [
            {**_opaque(draw), **draw.of(({}, {"requests": draw.some(names, 1)}))}
            for _ in range(draw.number(1, 2))
        ]
    return claim(f"claim-{number}", devices)


def _request(draw: Draw, name: str) -> Object:
    if draw.about("alternatives") and draw.chance(0.5):
        subs = [
            {"name": f"sub-{n}", **_ask(draw, alternative=True)} for n in range(draw.number(1, 3))
        ]
        return {"name": name, "firstAvailable": subs}
    return {"name": name, "exactly": _ask(draw, alternative=False)}


def _ask(draw: Draw, *, alternative: bool) -> Object:
    ask: Object = {"deviceClassName": draw.of(("any", "any", "any", "gpu", "gpu", "fine"))}
    if draw.about("errors") and draw.chance(0.05):
        ask["deviceClassName"] = "missing"
    if draw.chance(0.3):
        ask["selectors"] = [{"cel": {"expression": _selector(draw)}}]
        if draw.chance(0.2):
            ask["selectors"].append({"cel": {"expression": _selector(draw)}})
    if draw.chance(0.1):
        ask["allocationMode"] = "All"
    else:
        counts = (1, 2, 4, 8, 16, 31, 33) if draw.about("many") else (1, 1, 1, 1, 2, 2, 3)
        ask |= {"allocationMode": "ExactCount", "count": draw.of(counts)}
    if draw.about("admin") and not alternative and draw.chance(0.4):
        ask["adminAccess"] = True
    if draw.about("taints") and draw.chance(0.6):
        ask["tolerations"] = [_toleration(draw) for _ in range(draw.number(1, 2))]
    if (draw.about("capacity") or draw.about("shares")) and draw.chance(0.6):
        ask["capacity"] = {"requests": _amounts(draw)}
    if draw.about("derived") and draw.chance(0.6):
        ask["derivedAttributes"] = [
            {"name": name, "expression": _derivation(draw)}
            for name in draw.some(("example.com/kind", f"{DRIVERS[0]}/model"), 1)
        ]
    return ask


def _amounts(draw: Draw) -> Object:
    amounts: Object = {}
    if draw.chance(0.8):
        amounts["memory"] = draw.of(("1Gi", "2Gi", "1500Mi", "3Gi", "4Gi", "12Gi"))
    if not amounts or draw.chance(0.15):
        amounts["cores"] = draw.of(("1", "2", "3", "1500m", "1250m", "7"))
    if draw.chance(0.05):
        amounts[f"{DRIVERS[0]}/cores"] = "1"
    if draw.about("errors") and draw.chance(0.5):
        amounts[draw.of(sorted(amounts))] = draw.of(_EXTREME)
    return amounts


def _toleration(draw: Draw) -> Object:
    found: Object = draw.of(
        (
            {"operator": "Exists"},
            {"operator": "Exists"},
            {"key": "example.com/broken", "operator": "Exists"},
            {"key": "example.com/broken", "operator": "Equal", "value": "hot"},
            {"key": "example.com/old", "operator": "Equal"},
        )
    )
    if draw.chance(0.4):
        found = {**found, "effect": draw.of(("NoSchedule", "NoExecute"))}
    return found


def _constraint(draw: Draw, names: list[str]) -> Object:
    attributes = list(_CONSTRAINED)
    if draw.about("lists"):
        attributes += [f"{DRIVERS[0]}/links", f"{DRIVERS[0]}/paths", f"{DRIVERS[0]}/flags"] * 2
    if draw.about("derived"):
        attributes += ["example.com/kind"] * 4
    kind = "distinctAttribute" if draw.chance(0.35) else "matchAttribute"
    constraint: Object = {kind: draw.of(attributes)}
    if draw.chance(0.6):
        constraint["requests"] = draw.some(names, 1)
    return constraint


def _opaque(draw: Draw) -> Object:
    parameters = {"kind": "Sharing", "number": draw.number(0, 9)}
    return {"opaque": {"driver": draw.of(DRIVERS), "parameters": parameters}}


def _selector(draw: Draw) -> str:
    driver = draw.of((DRIVERS[0], DRIVERS[0], DRIVERS[1]))
    attributes, capacity = f'device.attributes["{driver}"]', f'device.capacity["{driver}"]'
    choices = [
        f'device.driver == "{driver}"',
        f'device.driver != "{driver}"',
        f'has({attributes}.model) && {attributes}.model == "a"',
        f'"model" in {attributes} && {attributes}["model"] != "b"',
        f"has({attributes}.index) && {attributes}.index > 0",
        f"has({attributes}.ecc) && {attributes}.ecc",
        f'has({attributes}.release) && {attributes}.release.isLessThan(semver("2.0.0"))',
        f'has({capacity}.memory) && {capacity}.memory.compareTo(quantity("8Gi")) >= 0',
        f'{capacity}.?memory.orValue(quantity("1Gi")).isGreaterThan(quantity("2Gi"))',
        'device.attributes["resource.kubernetes.io"].?pcieRoot.orValue("") != "pci0000:01"',
        "true",
    ]
    if draw.about("shares"):
        choices += ["device.allowMultipleAllocations == true"] * 2
        choices += ["!device.allowMultipleAllocations"]
    if draw.about("lists"):
        choices += [
            f'has({attributes}.paths) && {attributes}.paths.includes("x")',
            f"has({attributes}.links) && {attributes}.links.includes(2)",
        ] * 2
    if draw.about("errors") or draw.chance(0.02):
        choices += [
            f'{attributes}.model == "a"',
            f'{capacity}.memory.compareTo(quantity("8Gi")) >= 0',
            f"{attributes}.index > 1",
            f"{attributes}.model",
            "device.unknown == 1",
            "false",
        ]
    return draw.of(choices)


def _derivation(draw: Draw) -> str:
    attributes = f'device.attributes["{DRIVERS[0]}"]'
    choices = [
        f'{attributes}.?model.orValue("none")',
        'device.driver + "/x"',
        f"has({attributes}.index) ? {attributes}.index % 2 : -1",
        f"has({attributes}.ecc) && {attributes}.ecc",
        'semver("1.0.0")',
        '["x", device.driver]',
    ]
    if draw.about("errors"):
        choices += [f"{attributes}.model", "device.driver ==", 'quantity("1")', "[]"]
    return draw.of(choices)
