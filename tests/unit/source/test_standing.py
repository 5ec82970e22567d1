"""The standing tree: parts of a unit are one, and what can't be taken over is a finding."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dracfg.source import statefiles as statefiles_module
from dracfg.source.plain import read_plain
from dracfg.source.seen import Seen
from dracfg.source.standing import Standing, merge_standing, read_standing

TEMPLATE = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
RETIRED = "east/tenants/vision/retired/claim-templates.yaml"


def thing(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def named(standing: Standing, unit: str, file: str) -> list[str]:
    return [found["metadata"]["name"] for found in standing.objects(unit, file)]


def test_parts_of_a_unit_are_read_in_their_order() -> None:
    paths = [f"east/tenants/vision{part}/claims.yaml" for part in ("", ".2", ".9", ".10")]
    standing = Standing({path: (thing(path),) for path in reversed(paths)})
    assert named(standing, "east/tenants/vision", "claims.yaml") == paths


def test_a_part_without_the_file_hides_no_later_one() -> None:
    standing = Standing({"east/tenants/vision.3/claims.yaml": (thing("late"),)})
    assert named(standing, "east/tenants/vision", "claims.yaml") == ["late"]
    assert named(standing, "east/tenants/visio", "claims.yaml") == []


def test_folders_are_told_from_units_of_the_same_name() -> None:
    standing = Standing(
        {
            "east/tenants/retired/claims.yaml": (thing("active"),),
            "east/tenants/retired/retired/claims.yaml": (thing("old"),),
            "tenants/platform.2/retired/device-classes.yaml": (thing("class"),),
        }
    )
    assert named(standing, "east/tenants/retired", "claims.yaml") == ["active"]
    assert named(standing, "east/tenants/retired", "retired/claims.yaml") == ["old"]
    assert named(standing, "tenants/platform", "retired/device-classes.yaml") == ["class"]


def write(out: Path, text: str) -> None:
    (out / RETIRED).parent.mkdir(parents=True)
    (out / RETIRED).write_text(text, encoding="utf-8")


def marked(name: str, tenant: str | None) -> str:
    notes = "" if tenant is None else f", annotations: {{tenant: {tenant}}}"
    return f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}{notes}}}\n"


def test_objects_of_some_are_left_out_and_others_made_once(tmp_path: Path) -> None:
    """What is the same in the state before is the same object; what is not, and what is left out, is not."""
    text = "".join(marked(f"ns-{name}", name) for name in ("a", "b", "c")) + marked("own", None)
    for place, more in (("one", marked("more", "a")), ("two", marked("more", "b"))):
        for unit, said in (("guard", text), ("guard.2", more)):
            (tmp_path / place / "out/east" / unit).mkdir(parents=True)
            (tmp_path / place / "out/east" / unit / "namespaces.yaml").write_text(said)
    seen = Seen()
    first, second = (read_standing(tmp_path / one / "out", seen=seen)[0] for one in ("one", "two"))
    before = first.without("tenant", {"a", "c"})
    assert named(before, "east/guard", "namespaces.yaml") == ["ns-b", "own"]
    after = second.without("tenant", {"a", "c"}, before)
    assert named(after, "east/guard", "namespaces.yaml") == ["ns-b", "own", "more"]
    assert after == second.without("tenant", {"a", "c"})
    path = "east/guard/namespaces.yaml"
    assert all(map(operator.is_, after.files[path], before.files[path]))
    other = second.without("tenant", {"b"}, before)
    assert named(other, "east/guard", "namespaces.yaml") == ["ns-a", "ns-c", "own"]


def test_units_of_other_tenants_are_not_looked_for(tmp_path: Path) -> None:
    units = ("guard", "tenants/a", "tenants/a.2", "tenants/b", "tenants/ab", "tenants/a.b")
    for unit in units:
        file = "namespaces.yaml" if unit == "guard" else "claims.yaml"
        (tmp_path / "east" / unit).mkdir(parents=True)
        (tmp_path / "east" / unit / file).write_text(marked("one", None))
    found = read_standing(tmp_path, tenants={"a"}, holds=lambda path: "a.b" not in path)[0].files
    assert [*found] == [
        "east/guard/namespaces.yaml",
        "east/tenants/a.2/claims.yaml",
        "east/tenants/a/claims.yaml",
    ]
    assert len(read_standing(tmp_path, tenants=())[0].files) == 1


def test_a_sound_file_is_taken_as_it_is(tmp_path: Path) -> None:
    ask = "exactly: {deviceClassName: a100, count: 1}"
    write(
        tmp_path,
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{spec: {{devices: {{requests: [{{{ask}}}]}}}}}}\n",
    )
    standing, unread = read_standing(tmp_path)
    assert unread == standing.faults() == ()
    assert named(standing, "east/tenants/vision", "retired/claim-templates.yaml") == ["x1"]


@pytest.mark.parametrize(
    "text",
    [
        "- a\n",
        "<<<<<<< HEAD\na: 1\n",
        "a: &a [*a]\n",
        "a: 2026-99-99\n",
        "kind: ResourceClaimTemplate\nmetadata: {name: x1}\n",
        f"{TEMPLATE}metadata: {{name: x1, namespace: 5}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, labels: [a]}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, annotations: none}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1, labels: {{dracfg.dev/profile: [a]}}}}\nspec: {{}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: 7\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{since: 2026-11-29}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [7]}}}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [{{exactly: {{}}}}]}}}}\n",
        f"{TEMPLATE}metadata: {{name: x1}}\nspec: {{devices: {{requests: [{{firstAvailable: 7}}]}}}}\n",
    ],
)
def test_what_can_not_be_taken_over_is_a_finding(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    standing, unread = read_standing(tmp_path)
    assert unread == ()
    assert named(standing, "east/tenants/vision", "retired/claim-templates.yaml") == []
    faults = standing.faults()
    assert [fault.code for fault in faults] == ["SRC016"]
    assert f"{tmp_path.name}/{RETIRED}" in (faults[0].help or "")
    assert standing.sound() == frozenset()


MANIFESTS = """\
# Generated
apiVersion: v1
kind: ResourceClaimTemplate
metadata:
  name: train-x1
  labels: {one: "1", 'no': 'yes'}
spec:
  metadata: &meta {labels: &list [a, b]}
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: a100
          count: 12
          adminAccess: false
          shares: [1.5, 1_000, 0x1F, 1:30, -.5, off, ~x, '~', 0o7, 017]
      config: *list
---
apiVersion: v1
kind: ConfigMap
metadata: {name: two}
data:
  text: |
    some
     text
"""
BITS = (
    *("&meta ", "*meta", "*list", "? ", ": ", "- ", "!!str ", "!!int ", "!x ", "|", ">", "#", "<<"),
    *("{", "}", "[", "]", ",", '"', "'", "\n", "  ", "\t", "---\n", "...\n", "%YAML 1.1\n", "="),
    *("~", "null", "yes", "1", "1.", "1e3", ".inf", "2026-11-29", "name: x\n", "1: x\n", "on: x\n"),
)


def _read_both_ways(text: str) -> bool:
    """Whether a file is read plainly, which must be as it is in general."""
    data = text.encode()
    found = statefiles_module._objects("a.yaml", data)
    with patch.object(statefiles_module, "read_plain", return_value=None) as plainly:
        assert statefiles_module._objects("a.yaml", data) == found
    (asked, resolve), keywords = plainly.call_args
    return read_plain(asked, resolve, **keywords) is not None


def test_what_is_emitted_is_read_plainly() -> None:
    assert _read_both_ways(MANIFESTS)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(MANIFESTS)), st.sampled_from(BITS)), min_size=1, max_size=3
    )
)
@example([(0, "1: a\n")])
@example([(MANIFESTS.index("12"), "0x")])
@example([(MANIFESTS.index("1.5"), "2026-11-29, ")])
@example([(MANIFESTS.index("some"), "\x07")])
def test_any_state_is_read_plainly_as_it_is_in_general(places: list[tuple[int, str]]) -> None:
    text = MANIFESTS
    for place, bit in places:
        text = text[:place] + bit + text[place:]
    _read_both_ways(text)


def claim(name: str, mark: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "mark": mark}


def marks(standing: Standing) -> dict[str, list[str]]:
    return {
        path: [f"{found['metadata']['name']}={found['mark']}" for found in found_here]
        for path, found_here in standing.files.items()
    }


def test_what_stood_before_is_what_clusters_hold() -> None:
    active, retired = "east/tenants/a/claims.yaml", "east/tenants/a/retired/claims.yaml"
    before = Standing(
        {
            active: (claim("kept", "old"), claim("retires", "old"), claim("vanishes", "old")),
            "west/tenants/a/claims.yaml": (claim("kept", "west"),),
        }
    )
    now = Standing(
        {
            active: (claim("kept", "edited"), claim("new", "now")),
            retired: (claim("retires", "now"),),
        }
    )
    assert marks(merge_standing(before, now)) == {
        active: ["kept=old", "new=now", "vanishes=old"],
        retired: ["retires=old"],
        "west/tenants/a/claims.yaml": ["kept=west"],
    }


def test_nothing_before_or_nothing_now() -> None:
    one = Standing({"east/tenants/a/claims.yaml": (claim("a", "1"),)})
    assert merge_standing(Standing(), one) == one
    assert merge_standing(one, Standing()) == one


FOUND = "east/tenants/vision/claims.yaml"


class Made:
    """What was made for a file, as it is written here: the name alone."""

    def __init__(self, name: str) -> None:
        self.object = thing(name)


def write_names(made: Sequence[Made]) -> bytes:
    return "---\n".join(
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {one.object['metadata']['name']}}}}}\n"
        for one in made
    ).encode()


def stands_with(out: Path, data: bytes) -> Standing:
    (out / FOUND).parent.mkdir(parents=True)
    (out / FOUND).write_bytes(data)
    standing, unread = read_standing(out)
    assert unread == ()
    return standing.recognizing(write_names)


def test_what_stands_as_it_was_made_is_not_read(tmp_path: Path) -> None:
    made = [Made("one"), Made("two")]
    standing = stands_with(tmp_path, write_names(made))
    standing.recognize("east/tenants/vision/other.yaml", made)
    assert standing.sound() == frozenset()
    with patch.object(statefiles_module, "_objects", side_effect=AssertionError):
        standing.recognize(FOUND, made)
        found = standing.objects("east/tenants/vision", "claims.yaml")
    assert found == tuple(one.object for one in made)
    assert standing.sound() == {FOUND}
    assert standing.written(FOUND, made) == write_names(made)
    assert standing.written(FOUND, [Made("one"), Made("two")]) is None  # may be written otherwise
    assert standing.written(FOUND, made[:1]) is None


def test_what_stands_otherwise_is_read(tmp_path: Path) -> None:
    standing = stands_with(tmp_path, write_names([Made("one"), Made("two")]))
    standing.recognize(FOUND, [Made("one")])
    assert standing.sound() == frozenset()
    assert standing.written(FOUND, [Made("one")]) is None
    assert named(standing, "east/tenants/vision", "claims.yaml") == ["one", "two"]
    assert standing.sound() == {FOUND}


def test_what_is_recognized_is_known_to_that_alone(tmp_path: Path) -> None:
    made = [Made("one")]
    standing = stands_with(tmp_path, write_names(made))
    standing.recognize(FOUND, made)
    (tmp_path / "again").mkdir()
    other = stands_with(tmp_path / "again", write_names(made))
    assert other.sound() == frozenset()
    assert other == standing


def test_a_pickled_state_is_the_same(tmp_path: Path) -> None:
    standing, _ = read_standing(tmp_path)
    write(tmp_path, f"{TEMPLATE}metadata: {{name: x1}}\nspec: 7\n")
    standing, _ = read_standing(tmp_path)
    again = pickle.loads(pickle.dumps(standing))
    assert again == standing
    assert again.faults() == standing.faults() != ()
