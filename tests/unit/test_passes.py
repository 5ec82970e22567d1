"""What is made while all is kept is not walked when that is over."""

import gc
from typing import Any

from dracfg.passes import keeping_all


def test_what_was_made_meanwhile_counts_as_old() -> None:
    walked: list[dict[str, int]] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            walked.append(info)

    gc.callbacks.append(note)
    try:
        with keeping_all():
            made: list[Any] = [[] for _ in range(10 * gc.get_threshold()[0])]
            assert not gc.isenabled()
        again: list[Any] = [[] for _ in range(gc.get_threshold()[0] // 2)]
    finally:
        gc.callbacks.remove(note)
    assert gc.isenabled()
    assert not walked
    assert made and again


def test_a_cycle_is_found_later_all_the_same() -> None:
    class Thing:
        """Something that holds itself."""

    with keeping_all():
        thing: Any = Thing()
        thing.itself = thing
        del thing
    before = len([one for one in gc.get_objects() if isinstance(one, Thing)])
    gc.collect()
    assert (before, [one for one in gc.get_objects() if isinstance(one, Thing)]) == (1, [])


def test_inside_of_another_nothing_begins_again() -> None:
    with keeping_all():
        with keeping_all():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
