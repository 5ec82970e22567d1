"""Options that the suites share."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected trees of tests/golden anew; review them as output",
    )
