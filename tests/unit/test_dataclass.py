"""Classes of ours behave as those of the standard library, and have no method before it is called."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from dracfg.dataclass import dataclass

OPTIONS = (
    {},
    {"eq": False},
    {"order": True},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "order": True},
)


def point(make: Callable[..., Any], **options: bool) -> Any:
    @make(**options)
    class Point:
        """A place."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, hash=False)
        note: str = field(default="", compare=False, repr=False)
        seen: dict[str, int] = field(default_factory=dict, init=False, compare=False)

    return Point


def both(**options: bool) -> tuple[Any, Any]:
    return point(dataclasses.dataclass, **options), point(dataclass, **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
class TestAsInTheStandardLibrary:
    def test_what_is_seen(self, options: Mapping[str, bool]) -> None:
        theirs, ours = both(**options)
        for arguments in ((1,), (1, 3), (1, 3, ["a"], "n")):
            one, other = theirs(*arguments), ours(*arguments)
            assert repr(one) == repr(other)
            assert dataclasses.asdict(one) == dataclasses.asdict(other)
            assert repr(dataclasses.replace(one, y=9)) == repr(dataclasses.replace(other, y=9))
        assert [f.name for f in dataclasses.fields(ours)] == [
            f.name for f in dataclasses.fields(theirs)
        ]
        assert ours.__match_args__ == theirs.__match_args__
        assert ours.__doc__ == theirs.__doc__
        assert hasattr(ours(1), "__dict__") is hasattr(theirs(1), "__dict__")

    def test_what_is_made_anew_for_each(self, options: Mapping[str, bool]) -> None:
        _, ours = both(**options)
        assert ours(1).tags is not ours(1).tags
        assert ours(1).seen is not ours(1).seen

    def test_what_is_equal(self, options: Mapping[str, bool]) -> None:
        for make in both(**options):
            same = make(1, note="a") == make(1, note="b")
            assert same is options.get("eq", True)
            assert make(1) != make(2)
            assert make(1) != (1, 2, [])

    def test_what_has_a_hash(self, options: Mapping[str, bool]) -> None:
        theirs, ours = (_hash_of(make(1, 2, ["a"])) for make in both(**options))
        assert (ours is None) is (theirs is None)
        if options.get("eq", True):
            assert ours == theirs

    def test_what_has_an_order(self, options: Mapping[str, bool]) -> None:
        for make in both(**options):
            if options.get("order"):
                assert make(1) < make(1, 3) <= make(1, 3) < make(2)
                assert make(2) > make(1) >= make(1)
            else:
                with pytest.raises(TypeError):
                    _ = make(1) < make(2)

    def test_what_can_be_changed(self, options: Mapping[str, bool]) -> None:
        for make in both(**options):
            made = make(1)
            if options.get("frozen"):
                with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
                    made.x = 2
                with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
                    del made.x
            else:
                made.x = 2
                assert made.x == 2

    def test_what_is_refused(self, options: Mapping[str, bool]) -> None:
        for make in both(**options):
            for wrong in ((), (1, 2, [], "", {})):
                with pytest.raises(TypeError, match="__init__"):
                    make(*wrong)
            with pytest.raises(TypeError, match="seen"):
                make(1, seen={})


def _hash_of(value: object) -> int | None:
    try:
        return hash(value)
    except TypeError:
        return None


@dataclass(frozen=True, slots=True)
class Base:
    x: int

    def twice(self) -> int:
        return 2 * self.x


@dataclass(frozen=True, slots=True)
class Grown(Base):
    y: int = 3
    size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.x + self.y)


@dataclass(frozen=True, eq=False)
class Asking:
    x: int

    @cached_property
    def answer(self) -> list[int]:
        return [self.x]


@dataclass(frozen=True, slots=True)
class Own:
    x: int

    def __repr__(self) -> str:
        return "own"

    def __hash__(self) -> int:
        return 7


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Box(Generic[Item]):
    item: Item
    others: ClassVar[list[str]] = []


@dataclass(slots=True)
class Holder:
    inner: object = None


def test_a_class_grows_from_another() -> None:
    assert repr(Grown(1)) == "Grown(x=1, y=3, size=4)"
    assert Grown(1, 2).twice() == 2
    assert Grown(1) != Base(1)
    assert "__dict__" not in dir(Grown(1))


@pytest.mark.parametrize("value", [Base(1), Grown(1, 5)], ids=repr)
def test_a_frozen_value_goes_to_another_process_and_back(value: object) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


def test_properties_are_kept() -> None:
    made = Asking(2)
    assert made.answer is made.answer


def test_methods_of_its_own_stay() -> None:
    assert (repr(Own(1)), hash(Own(1)), Own(1) == Own(1)) == ("own", 7, True)


def test_a_class_may_be_generic() -> None:
    assert Box[int](1) == Box(1)
    assert [f.name for f in dataclasses.fields(Box(1))] == ["item"]
    assert Box.others == []


def test_fields_may_bear_any_names() -> None:
    @dataclass(frozen=True)
    class Names:
        set: int
        other: int = 2
        MISSING: list[int] = field(default_factory=list)
        cls: str = field(default="a", init=False)

    assert Names(1) == Names(set=1, other=2, MISSING=[])
    assert repr(Names(1)).endswith("Names(set=1, other=2, MISSING=[], cls='a')")


def test_fields_may_bear_the_names_that_stand_for_others() -> None:
    @dataclass(order=True)
    class Numbered:
        _1: int
        _0: int = 5
        _make_0: list[int] = field(default_factory=list)
        _MISSING: int = 7

    made = Numbered(1, _MISSING=8)
    assert vars(made) == {"_1": 1, "_0": 5, "_make_0": [], "_MISSING": 8}
    assert Numbered(1) < Numbered(1, 6) < Numbered(2)


def test_classes_alike_keep_their_names_apart() -> None:
    @dataclass(frozen=True)
    class First:
        a: int
        b: int = 2

    @dataclass(frozen=True)
    class Second:
        c: int
        d: int = 4

    assert (vars(First(1)), vars(Second(3))) == ({"a": 1, "b": 2}, {"c": 3, "d": 4})
    assert str(inspect.signature(Second)) == "(c, d=4)"
    assert First.__init__.__qualname__.endswith("First.__init__")
    with pytest.raises(TypeError, match="'a'"):
        Second(a=1)  # type: ignore[call-arg]


def test_what_must_be_given_stands_first() -> None:
    @dataclass(frozen=True)
    class Late:
        a: int = 1
        b: int = field()  # type: ignore[misc]

    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):
        Late(1, 2)


def test_what_holds_itself_is_shown() -> None:
    made = Holder()
    made.inner = made
    assert repr(made) == "Holder(inner=...)"


def test_a_method_may_be_asked_for_while_another_thread_makes_it() -> None:
    @dataclass(frozen=True)
    class Asked:
        x: int

    waiting = vars(Asked)["__init__"]
    assert Asked(1) == Asked(1)
    made = waiting.__get__(None, Asked)
    assert made is vars(Asked)["__init__"] is not waiting


def test_a_class_and_its_base_have_methods_of_their_own() -> None:
    @dataclass(frozen=True)
    class First:
        x: int

    @dataclass(frozen=True)
    class Second(First):
        y: int

    class Third(Second):
        pass

    assert vars(Third(1, 2)) == {"x": 1, "y": 2}
    assert vars(First(1)) == {"x": 1}
    assert (Third(1, 2) == Third(1, 3), First(1) == First(1)) == (False, True)
    assert "__init__" not in vars(Third)


def test_methods_are_written_when_they_are_first_called() -> None:
    made = point(dataclass, frozen=True, slots=True)
    names = ("__init__", "__eq__", "__hash__")
    before = {name: vars(made)[name] for name in names}
    one = made(1)
    assert vars(made)["__init__"] is not before["__init__"]
    assert [vars(made)[name] is before[name] for name in names] == [False, True, True]
    assert one == made(1)
    assert vars(made)["__eq__"] is not before["__eq__"]
    assert made.__init__.__qualname__.endswith("Point.__init__")
