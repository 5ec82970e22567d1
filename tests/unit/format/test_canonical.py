"""A file's canonical form: what changes, what stays, and that it says the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.format import Formatted, Unformatted, canonical, format_file
from dracfg.model.base import data_of
from dracfg.source import SourceFile, read_trees
from dracfg.source.composer import compose

ROOT = Path(__file__).parents[3]
HEAD = "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: vision}\n"


def read(text: str) -> SourceFile:
    documents, faults = compose("tenants/a.yaml", text)
    assert not faults
    return SourceFile("tenants/a.yaml", text, documents)


def formatted(text: str) -> str:
    done = format_file(read(text))
    assert isinstance(done, Formatted), done
    return done.text


def spec(*rows: str) -> str:
    return HEAD + "spec:\n" + "".join(f"{row}\n" for row in rows)


NAMESPACES = "  namespaces: [{name: a, clusters: [east]}]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(["  namespaces:", "  - name: a", "    clusters:", "    - east"],
                     ["  namespaces:", "    - name: a", "      clusters:", "        - east"],
                     id="lists are indented below their key"),
        pytest.param(["     namespaces:", "      -    name: a", "           clusters: [ east,west ]"],
                     ["  namespaces:", "    - name: a", "      clusters: [east, west]"],
                     id="two spaces a level, one between words"),
        pytest.param(["  namespaces:", "    - clusters: [east]   # where", "      name: a"],
                     ["  namespaces:", "    - name: a", "      clusters: [east]   # where"],
                     id="keys as in the model, comments beside them go along"),
        pytest.param(["  access: {use: [ group: eng,user : joe]}", NAMESPACES],
                     ["  access: {use: [group: eng, user: joe]}", NAMESPACES],
                     id="an entry as an item of a list"),
        pytest.param(["  namespaces: [{clusters: [east], name: a}]"], [NAMESPACES],
                     id="keys between brackets"),
        pytest.param([NAMESPACES, "  # why", "", "", "  state: frozen # since May"],
                     ["  # why", "", "  state: frozen  # since May", NAMESPACES],
                     id="comments above a key go along"),
        pytest.param([NAMESPACES, "#  ownClaims: true", "  state: active"],
                     ["  #  ownClaims: true", "  state: active", NAMESPACES],
                     id="a line that was commented out"),
        pytest.param(["  state: 'active'", "  namespaces: [{'name': \"a\", clusters: [east]}]"],
                     ["  state: active", NAMESPACES], id="quotes that nobody needs"),
        pytest.param(["  state:", "    active # c", NAMESPACES],
                     ["  state: active  # c", NAMESPACES], id="a value below its key"),
        pytest.param(["  namespaces:", "    -", "      name: a", "      clusters:", "      - east",
                      "      # the last"],
                     ["  namespaces:", "    - name: a", "      clusters:", "        - east",
                      "      # the last"], id="a comment at the end of its list"),
        pytest.param(["  namespaces:", "    - # the only one", "      clusters: [east]",
                      "      name: a"],
                     ["  namespaces:", "    -  # the only one", "      name: a",
                      "      clusters: [east]"], id="a comment behind a dash"),
        pytest.param(["  namespaces: [", "    {name: a,", "     clusters: [east]},", "  ]"],
                     [NAMESPACES], id="brackets over several lines that fit on one"),
        pytest.param(["  namespaces: [  # all", "    {name: a,  clusters: [east]},", "  ]"],
                     ["  namespaces: [  # all", "    {name: a,  clusters: [east]},", "    ]"],
                     id="brackets with comments keep their lines, below their key"),
    ],
)  # fmt: skip
def test_forms(before: list[str], after: list[str]) -> None:
    assert formatted(spec(*before)) == spec(*after)
    assert formatted(spec(*after)) == spec(*after)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(["  namespaces:", "    - clusters: [east]", "      # about the name",
                      "      name: a"], id="a comment would come to stand above the item"),
        pytest.param(["  namespaces: [{name: &n a, clusters: [east]}]",
                      "  entitlements: [{name: *n, tier: t, guaranteed: 1}]", "  state: active"],
                     id="an anchor must come before its alias"),
    ],
)  # fmt: skip
def test_an_order_that_stays(rows: list[str]) -> None:
    keys = [row.split(":")[0].strip(" -") for row in rows if ":" in row]
    shown = formatted(spec(*rows)).split("\n")
    assert [row.split(":")[0].strip(" -") for row in shown[4:] if ":" in row] == keys


def test_what_tells_forms_apart_comes_first_and_what_they_share_last() -> None:
    head = "apiVersion: dracfg.dev/v1alpha1\nkind: SharingPolicy\nmetadata: {name: a}\nspec:\n"
    keys = ["guarantee: fits", "sizes: [5Gi]", "tenancy: sameTenant", "mode: consumable"]
    rows = [*keys, "capacity: {memory: {step: 5Gi, min: 5Gi, max: 5Gi}}"]
    assert formatted(head + "".join(f"  {row}\n" for row in rows)) == head + (
        "  mode: consumable\n  capacity: {memory: {min: 5Gi, max: 5Gi, step: 5Gi}}\n"
        "  tenancy: sameTenant\n  sizes: [5Gi]\n  guarantee: fits\n"
    )


def test_a_first_comment_is_the_files() -> None:
    text = "# schema\n\n\n# about\nkind: Tenant\napiVersion: dracfg.dev/v1alpha1\n"
    rest = "metadata: {name: vision}\nspec:\n" + NAMESPACES + "\n"
    assert formatted(text + rest) == "# schema\n\n# about\n" + HEAD + "spec:\n" + NAMESPACES + "\n"


def test_a_waiver_above_the_first_key_stays_there() -> None:
    text = "# dracfg: allow MOD001 until 2027-01-01 because of a test\nkind: Tenant\n"
    rest = f"apiVersion: dracfg.dev/v1alpha1\nmetadata: {{name: vision}}\nspec:\n{NAMESPACES}\n"
    assert formatted(text + rest) == text + rest


def test_documents_and_their_markers() -> None:
    one = spec(NAMESPACES)
    assert formatted(f"\n---   # first\n{one}\n\n# between\n\n---\n\n{one}\n\n# end\n\n") == (
        f"---   # first\n{one}\n# between\n---\n{one}\n# end\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        '  description: "no"', '  description: "1.34"', '  description: "2026-11-29"',
        '  description: "0x1F"', '  description: "~"', '  description: "a: b"',
        '  description: "1e3"', '  description: "12:30"', '  description: "1_000"',
    ],
)  # fmt: skip
def test_quotes_that_some_reader_needs(text: str) -> None:
    start = HEAD.replace("metadata: {name: vision}", "metadata:\n  name: vision\n" + text)
    whole = start + "spec:\n" + NAMESPACES + "\n"
    assert formatted(whole) == whole
    assert formatted(whole.replace('"', "'")) == whole


@pytest.mark.parametrize("header", ["|", ">", "|-", "|+", ">2", "|  # c"])
def test_block_scalars(header: str) -> None:
    body = "      one\n        two\n\n      three \n\n"
    deep = header.replace("2", "4")
    start = "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata:\n    name: vision\n"
    text = f"{start}    description: {deep}\n" + body.replace("      ", "        ")
    after = formatted(f"{text}spec:\n{NAMESPACES}\n")
    shown = body.replace("      ", "    ")
    end = "" if header == "|+" else "\n"
    assert f"  description: {header}\n{shown.rstrip(chr(10))}\n{end}" in after
    assert data(after) == data(f"{text}spec:\n{NAMESPACES}\n")


def test_long_text_keeps_its_lines() -> None:
    text = HEAD.replace(
        "{name: vision}", "\n   description: one\n      two\n\n     three\n   name: v"
    )
    after = formatted(f"{text}spec:\n{NAMESPACES}\n")
    assert "metadata:\n  name: v\n  description: one\n    two\n\n    three\n" in after


def test_a_long_list_goes_on_below_its_bracket() -> None:
    names = [f"cluster-number-{number}" for number in range(12)]
    rows = formatted(spec(f"  namespaces: [{{name: a, clusters: [{', '.join(names)}]}}]"))
    assert rows == spec(f"  namespaces: [{{name: a, clusters: [{', '.join(names)}]}}]")
    rows = formatted(spec("  namespaces:", f"    - name: a\n      clusters: [{', '.join(names)}]"))
    assert max(map(len, rows.split("\n"))) <= 100
    assert "\n                 cluster-number-4," in rows


@pytest.mark.parametrize(
    ("rows", "reason", "line"),
    [
        (["  ? state", "  : active", NAMESPACES], "a key is marked by a question mark", 5),
        (["  state:", "    # why", "    active", NAMESPACES],
         "a comment stands between a key and its value", 6),
    ],
)  # fmt: skip
def test_what_has_no_form(rows: list[str], reason: str, line: int) -> None:
    done = format_file(read(spec(*rows)))
    assert isinstance(done, Unformatted)
    assert (done.reason, done.line, done.findings) == (reason, line, ())


def test_errors_leave_a_file() -> None:
    done = format_file(read(spec("    namespace: []")))
    assert isinstance(done, Unformatted)
    assert {finding.code for finding in done.findings} == {"MOD004", "MOD005"}


def test_a_form_that_says_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        canonical, "layout", lambda _script: spec(NAMESPACES.replace("east", "west"))
    )
    done = format_file(read(spec(NAMESPACES)))
    assert isinstance(done, Unformatted)
    assert done.reason == "another form might not say the same"


def test_a_form_that_loses_a_comment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "layout", lambda _script: spec(NAMESPACES))
    done = format_file(read(spec("  # why", NAMESPACES)))
    assert isinstance(done, Unformatted)


def test_the_repositorys_own_documents() -> None:
    files = read_trees(ROOT, ["catalog", "tenants"]).files
    assert len(files) > 10
    for file in files.values():
        done = format_file(file)
        assert isinstance(done, Formatted)
        assert comments(done.text) == comments(file.text)
        assert data(done.text) == data(file.text)
        again = format_file(read(done.text))
        assert isinstance(again, Formatted)
        assert not again.is_changed


def comments(text: str) -> Counter[str]:
    """Comments of a text none of whose values holds a hash sign."""
    return Counter(match.rstrip() for match in re.findall(r"#.*", text))


def data(text: str) -> list[Any]:
    documents, faults = compose("tenants/a.yaml", text)
    assert not faults
    return [data_of(document.root) for document in documents]


# -- any way of writing it ---------------------------------------------------------------------------

TENANT: Mapping[str, Any] = {
    "apiVersion": "dracfg.dev/v1alpha1",
    "kind": "Tenant",
    "metadata": {"name": "vision", "description": "Who sees: everything, in 'one' place"},
    "spec": {
        "state": "active",
        "namespaces": [
            {"name": "on", "clusters": ["east", "west"], "share": 3},
            {"name": "b", "clusters": ["east"], "labels": {"z.example.com/z": "1.10", "a": "yes"}},
        ],
        "entitlements": [{"name": "gpu", "tier": "t", "guaranteed": {"10Gi": 1, "5Gi": 2}}],
        "profiles": [
            {"name": "p", "requests": [{"name": "gpu", "entitlement": "gpu", "size": "5Gi"}]}
        ],
    },
}
FREE = ("labels", "guaranteed")


class Writer:
    """Writes data in one of the many ways that say it; each choice is drawn."""

    def __init__(self, draw: st.DataObject) -> None:
        self.draw = draw
        self.comments = 0

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw.draw(st.sampled_from(options))

    def keys(self, value: Mapping[str, Any], name: str) -> list[str]:
        return list(value) if name in FREE else self.draw.draw(st.permutations(list(value)))

    def word(self, value: Any) -> str:
        if isinstance(value, int):
            return str(value)
        safe = re.fullmatch(r"[A-Za-z][a-z.0-9/]*|[0-9]+Gi", value) and value not in ("on", "yes")
        quoted = [f'"{value}"', "'" + value.replace("'", "''") + "'"]
        return str(self.pick([value, *quoted] if safe else quoted))

    def margin(self, pad: str) -> str:
        if not self.pick([True, False, False]):
            return ""
        rows = ""
        for kind in self.draw.draw(st.lists(st.sampled_from(["", "own", "left"]), max_size=2)):
            if kind:
                self.comments += 1
                rows += (pad if kind == "own" else "") + f"# c{self.comments}"
            rows += "\n"
        return rows

    def beside(self) -> str:
        if not self.pick([True, False, False]):
            return "\n"
        self.comments += 1
        return self.pick([" ", "    "]) + f"# b{self.comments}\n"

    def flow(self, value: Any, name: str) -> str:
        space = self.pick(["", " ", "\n          "])
        comma = self.pick([", ", ",", ",\n          "])
        if isinstance(value, Mapping):
            keys = self.keys(value, name)
            inner = comma.join(f"{self.word(key)}: {self.flow(value[key], key)}" for key in keys)
            return "{" + space + inner + space + "}"
        if isinstance(value, list):
            return "[" + space + comma.join(self.flow(item, name) for item in value) + space + "]"
        return self.word(value)

    def behind(self, value: Any, name: str, pad: str) -> str:
        """What stands behind a key and its colon."""
        if not isinstance(value, dict | list):
            return " " + self.word(value) + self.beside()
        if name not in ("", "spec") and self.pick([True, False]):
            return " " + self.flow(value, name) + self.beside()
        inner = pad + " " * self.pick([1, 2, 4])
        if isinstance(value, dict):
            return self.beside() + self.entries(value, name, inner)
        return self.beside() + self.items(value, name, self.pick([pad, inner]))

    def entries(self, value: Mapping[str, Any], name: str, pad: str) -> str:
        keys = self.keys(value, name)
        return "".join(
            f"{self.margin(pad)}{pad}{self.word(key)}:{self.behind(value[key], key, pad)}"
            for key in keys
        )

    def items(self, value: Sequence[Any], name: str, pad: str) -> str:
        return "".join(self.margin(pad) + pad + self.item(one, name, pad) for one in value)

    def item(self, value: Any, name: str, pad: str) -> str:
        if not isinstance(value, dict) or self.pick([True, False]):
            return f"- {self.flow(value, name)}{self.beside()}"
        gap = self.pick([1, 3])
        inner = pad + " " * (gap + 1)
        rows = self.entries(value, name, inner)
        if rows.startswith(inner) and not rows.lstrip().startswith("#"):
            return "-" + rows[len(pad) + 1 :]
        return f"-{self.beside()}{rows}"


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_way_of_writing_it(draw: st.DataObject) -> None:
    writer = Writer(draw)
    text = writer.entries(TENANT, "", "") + writer.margin("")
    done = format_file(read(text))
    assert isinstance(done, Formatted), done
    assert comments(done.text) == comments(text)
    assert sum(comments(text).values()) == writer.comments
    assert data(done.text) == data(text)
    again = format_file(read(done.text))
    assert isinstance(again, Formatted)
    assert again.text == done.text
    assert not re.search(r"[ \t]\n|\n\n\n", done.text)
