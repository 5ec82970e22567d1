"""Stamps and lengths of time."""

from datetime import UTC, datetime, timedelta

import pytest

from dracfg.source.times import format_length, format_time, parse_length, parse_time


@pytest.mark.parametrize(
    "stamp",
    ["2026-11-29T12:00:00Z", "2026-11-29T12:00:00.123456789Z", "2026-11-29T13:30:00+01:30"],
)
def test_stamps(stamp: str) -> None:
    assert parse_time(stamp) == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert format_time(datetime(2026, 11, 29, 12, tzinfo=UTC)) == "2026-11-29T12:00:00Z"


@pytest.mark.parametrize(
    "stamp", [None, "", "2026-11-29", "2026-13-29T12:00:00Z", "2026-11-29 12:00:00Z"]
)
def test_what_is_no_stamp(stamp: str | None) -> None:
    assert parse_time(stamp) is None


@pytest.mark.parametrize(
    ("text", "seconds", "shown"),
    [
        ("15m", 900, "15m"),
        ("1h30m", 5400, "1h30m"),
        ("90s", 90, "1m30s"),
        ("500ms", 0.5, "0s"),
        ("2d3h4m", 183840, "2d3h"),
    ],
)
def test_lengths(text: str, seconds: float, shown: str) -> None:
    assert parse_length(text) == timedelta(seconds=seconds)
    assert format_length(parse_length(text)) == shown
