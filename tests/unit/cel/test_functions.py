"""Every declared overload is computed, and the functions keep to their edges."""

import pytest

from dracfg.cel.functions import IMPLEMENTATIONS
from dracfg.cel.functions.lists import equal, includes, index_of, last_index_of
from dracfg.cel.functions.regexes import compile_pattern, find_all
from dracfg.cel.functions.urls import Url, is_url
from dracfg.cel.outcomes import Unmodelled
from dracfg.cel.signatures import Type, libraries

DECLARED = {
    (overload.name, overload.member) for library in libraries() for overload in library.overloads
}


def test_declared_and_computed_are_the_same() -> None:
    operators = {key for key in DECLARED if key[0].startswith("_")}
    assert DECLARED - operators == set(IMPLEMENTATIONS)


def test_overload_ids_are_unique() -> None:
    identifiers = [overload.id for library in libraries() for overload in library.overloads]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize(
    "text", ["int", "list(string)", "map(string, list(kubernetes.Quantity))", "optional_type(dyn)"]
)
def test_types_are_printed_as_read(text: str) -> None:
    assert str(Type.parse(text)) == text


@pytest.mark.parametrize("text", ["", "list(", "list(int))", "int string", "(int)"])
def test_no_types(text: str) -> None:
    with pytest.raises(ValueError):
        Type.parse(text)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [(1, 1.0, True), (1, True, False), (True, True, True), ("1", 1, False), ([1], [1.0], True),
     ([1], [1, 2], False), (None, None, True), (None, 0, False)],
)  # fmt: skip
def test_equality(left: object, right: object, same: bool) -> None:
    assert equal(left, right) is same
    assert equal(right, left) is same


def test_lists() -> None:
    assert index_of([1, True, "1"], True) == 1
    assert last_index_of([1, 2, 1], 1) == 2
    assert last_index_of([], 1) == -1


def test_includes_stops_after_48_values() -> None:
    assert includes(list(range(49)), 47)
    with pytest.raises(ValueError, match="longer than 48"):
        includes(list(range(49)), 48)
    assert not includes(list(range(48)), 48)


@pytest.mark.parametrize(
    "pattern", [r"\pL", r"[[:alpha:]]", r"a\z", r"\Qa\E", "a(?i)b", "(?U)a", "(?-s)."]
)
def test_patterns_that_only_go_knows(pattern: str) -> None:
    with pytest.raises(Unmodelled):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "(?=a)", "(?<!a)b", r"(a)\8", "a++", "(?P=x)", "*"])
def test_patterns_that_go_refuses(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["(?i)a", "(?:a|b)+?", r"\bx\d{2,3}$", "(?P<name>a)", "[^-a]", r"a\+"]
)
def test_patterns_that_both_know(pattern: str) -> None:
    assert compile_pattern(pattern)


def test_find_all_as_go_does() -> None:
    assert find_all("baaab", "a*") == ["", "aaa", ""]
    assert find_all("ab", "", 2) == ["", ""]
    assert find_all("aaa", "a", 0) == []


@pytest.mark.parametrize(
    ("text", "valid"),
    [("https://example.com", True), ("http://[::1]:8080/x", True), ("/path", True), ("", False),
     ("example.com", False), ("mailto:someone@example.com", False), ("https://a b/", False),
     ("https://example.com:port/", False),
     ("https://example.com/%zz", False), ("https://example.com/\n", False), ("unix:///run/x.sock", True)],
)  # fmt: skip
def test_urls(text: str, valid: bool) -> None:
    assert is_url(text) is valid


def test_url_parts() -> None:
    url = Url.parse("https://user:secret@[2001:db8::1]:8443/a?b=c#d")
    assert (url.host, url.hostname, url.port) == ("[2001:db8::1]:8443", "2001:db8::1", "8443")
