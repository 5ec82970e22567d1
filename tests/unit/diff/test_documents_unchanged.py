"""Documents that are written otherwise and mean the same: nothing is told of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dracfg.diff import counterparts, documents
from dracfg.diff.documents import compare_documents
from dracfg.diff.fieldtable import field_table
from dracfg.kube.quantity import Quantity
from dracfg.model.fields import describe
from tests.unit.diff.written import FIELDS, Data, base, filed, pair_of_texts, texts, understood

DRIVER = "card.example.com"
LISTS = {"Driver.spec.capacity", "HardwareTier.spec.expose"}
"""Lists of names that may have the driver's domain."""
MAPS = {path for path in FIELDS if describe(path).field.type.startswith("map to ")} | {
    "Tenant.spec.entitlements.guaranteed",
    "Tenant.spec.entitlements.limit",
}
"""Maps whose keys are no fields."""
_LENGTH = re.compile(r"([0-9]+)m")
_BINARY = re.compile(r"([0-9]+)Gi")


def _rewritten(data: Any, path: str, rng: Random) -> Any:
    """The same, with keys, lists without order, amounts, names and lengths of time written otherwise."""
    row = field_table().rows.get(path)
    form = row.form if row is not None else ""
    if isinstance(data, dict):
        keys = [*data]
        rng.shuffle(keys)
        return {
            _key(key, form, rng) if path in MAPS else key: _rewritten(
                data[key], _below(path, key) if path not in MAPS else f"{path}.*", rng
            )
            for key in keys
        }
    if isinstance(data, list):
        items = [_rewritten(item, path, rng) for item in data]
        if row is not None and row.by and "reordered" not in row.kinds:
            rng.shuffle(items)
        return items
    return _value(data, path, form, rng)


def _below(path: str, key: str) -> str:
    """The path of a key; entries of maps stand at the path of the map."""
    return f"{path.removesuffix('.*')}.{key}"


def _key(key: str, form: str, rng: Random) -> str:
    if form == "amounts":
        return _amount(key, rng)
    if form in ("attribute", "match") and "/" not in key and rng.random() < 0.5:
        return f"{DRIVER}/{key}"
    return key


def _value(data: Any, path: str, form: str, rng: Random) -> Any:
    if not isinstance(data, str) or isinstance(data, bool):
        return data
    if form == "duration" and (found := _LENGTH.fullmatch(data)) and rng.random() < 0.5:
        return f"{60 * int(found[1])}s"
    if path in LISTS and "/" not in data:
        return f"{DRIVER}/{data}" if rng.random() < 0.5 else data
    return _amount(data, rng)


def _amount(text: str, rng: Random) -> str:
    found = _BINARY.fullmatch(text)
    if found is None or rng.random() < 0.5:
        return text
    other = rng.choice([f"{1024 * int(found[1])}Mi", f"{found[1]}.0Gi"])
    assert Quantity.parse(other) == Quantity.parse(text)
    return other


def _defaults(documents: Sequence[Data], rng: Random) -> list[Data]:
    """Each document as it stands, with every default written out, or with none of them."""
    judged, faults = understood(texts(filed(documents)))
    assert not faults
    found = {(one.kind, one.name): one for one in judged.documents}
    made = []
    for document in documents:
        model = found[document["kind"], document["metadata"]["name"]]
        written: list[Data] = [
            document,
            model.model_dump(mode="json", by_alias=True, warnings="none", exclude_none=True),
            model.model_dump(
                mode="json",
                by_alias=True,
                warnings="none",
                exclude_none=True,
                exclude_defaults=True,
            ),
        ]
        # A threshold of 0.01 is dumped as 10m, which is read as a length of time.
        made.append(document if model.kind == "Rollout" else rng.choice(written))
    return made


def _moved(documents: Sequence[Data], rng: Random) -> dict[str, list[Data]]:
    """The documents in other files and in another order."""
    files: dict[str, list[Data]] = {}
    shuffled = [*documents]
    rng.shuffle(shuffled)
    for document in shuffled:
        top = "tenants" if document["kind"] == "Tenant" else "catalog"
        files.setdefault(f"{top}/{rng.choice('abc')}.yaml", []).append(document)
    return files


# A failure is not made smaller: with a source of randomness that takes long and shows no more.
@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.randoms(use_true_random=False))
def test_the_same_written_otherwise(rng: Random) -> None:
    before = base()
    after = [_rewritten(one, one["kind"], rng) for one in _defaults(before, rng)]
    written = texts(_moved(after, rng))
    commented = {path: f"# {path}\n{text}  # the end\n" for path, text in written.items()}
    pair = pair_of_texts(texts(filed(before)), commented)
    assert list(compare_documents(pair)) == []


def test_rewriting_rewrites() -> None:
    """The transformation of the test above is none that does nothing: some seed rewrites each form."""
    before = [base() for _ in range(3)]
    after = [
        [_rewritten(one, one["kind"], Random(seed)) for one in documents]
        for seed, documents in enumerate(before)
    ]
    assert all(new != old for new, old in zip(after, before, strict=True))
    assert str(after).count(f"{DRIVER}/") > str(before).count(f"{DRIVER}/")
    assert "Mi'" in str(after)
    assert "600s" in str(after)


def test_a_file_that_reads_the_same_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large repository only the documents of changed files are compared."""
    before, after = base(), base()
    after[0]["metadata"]["description"] = "another"
    looked: list[str] = []

    def alike(old: Any, new: Any) -> bool:
        looked.append(f"{old.kind} {old.name}")
        return counterparts.alike(old, new)

    monkeypatch.setattr(documents, "alike", alike)
    found = list(compare_documents(pair_of_texts(texts(filed(before)), texts(filed(after)))))
    assert [one.kind.name for one in found] == ["wording"]
    assert looked == ["Cluster east"]
