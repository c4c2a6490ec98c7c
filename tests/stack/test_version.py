"""Versions are read from what programs and packages say, and compared as numbers."""

import pytest

from vllmwatch.stack.version import MINIMUM, Version, parse


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("prometheus, version 2.53.3+ds1 (branch: debian/sid)", Version(2, 53, 3)),
        (", version 3.5.0 (branch: HEAD, revision: 8be3a95)", Version(3, 5, 0)),
        ("2.42.0+ds-5+b5", Version(2, 42, 0)),
        ("1:2.53.3-2", Version(2, 53, 3)),
        (" 3.6", Version(3, 6, 0)),
        ("unknown", None),
    ],
)
def test_the_first_release_number_is_the_version(text: str, version: Version | None) -> None:
    assert parse(text) == version


def test_versions_compare_as_numbers_not_as_text() -> None:
    assert Version(2, 9) < MINIMUM < Version(2, 100) < Version(3, 0)
