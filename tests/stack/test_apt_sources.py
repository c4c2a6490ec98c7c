"""The machine's package sources are read in both forms, and its own archive is told from all others."""

import pytest

from vllmwatch.stack.apt_sources import (
    Distribution,
    Source,
    archive_of,
    candidate,
    read_deb822,
    read_one_line,
    read_os_release,
    source_line,
    suites_from,
)
from vllmwatch.stack.version import Version

BOOKWORM = Distribution("debian", "bookworm")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib
deb [arch=amd64 signed-by=/etc/apt/keyrings/vendor.gpg] https://vendor.example/apt bookworm main
deb  [ signed-by=/k.gpg ]  http://mirror.example/security  bookworm-security  main
"""

DEB822 = f"""\
# The mirror
Types: deb deb-src
URIs: http://mirror.example/debian
 http://second.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: {KEYRING}

Types: deb
Enabled: no
URIs: http://disabled.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://sources.example/debian
Suites: bookworm

types: deb
uris: http://inline.example/debian
suites: trixie
signed-by:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY
"""


def test_one_line_form_keeps_binary_sources_and_their_keyring() -> None:
    assert read_one_line(ONE_LINE) == [
        Source("http://mirror.example/debian", "bookworm", ("main", "contrib")),
        Source("https://vendor.example/apt", "bookworm", ("main",), "/etc/apt/keyrings/vendor.gpg"),
        Source("http://mirror.example/security", "bookworm-security", ("main",), "/k.gpg"),
    ]


def test_deb822_form_gives_one_source_per_address_and_suite() -> None:
    assert read_deb822(DEB822) == [
        Source("http://mirror.example/debian", "bookworm", ("main",), KEYRING),
        Source("http://mirror.example/debian", "bookworm-updates", ("main",), KEYRING),
        Source("http://second.example/debian", "bookworm", ("main",), KEYRING),
        Source("http://second.example/debian", "bookworm-updates", ("main",), KEYRING),
        Source("http://inline.example/debian", "trixie", ()),
    ]


def test_own_archive_is_neither_updates_nor_security() -> None:
    sources = [
        Source("http://mirror.example/security", "bookworm-security"),
        Source("http://mirror.example/debian", "bookworm-updates"),
        Source("http://mirror.example/debian", "bookworm"),
    ]
    assert archive_of(sources, BOOKWORM) == sources[2]


@pytest.mark.parametrize(
    "vendor",
    [
        Source("https://vendor.example/linux/debian", "bookworm", ("stable",)),
        Source("https://vendor.example", "bookworm", ("main",)),
        Source("https://vendor.example", "stable", ("main",)),
    ],
)
def test_third_party_with_the_name_of_the_release_is_not_the_archive(vendor: Source) -> None:
    own = Source("http://mirror.example/packages/", "bookworm")
    updates = Source("http://mirror.example/packages", "bookworm-updates")
    assert archive_of([vendor, own, updates], BOOKWORM) == own
    assert archive_of([vendor, Source("http://m.example/debian", "bookworm")], BOOKWORM) != vendor
    assert archive_of([vendor], BOOKWORM) is None


def test_an_alias_of_the_release_stands_in_for_its_name() -> None:
    assert archive_of([Source("http://m.example/debian", "stable")], BOOKWORM) == Source(
        "http://m.example/debian", "stable"
    )


def test_no_archive_of_the_distribution_is_none() -> None:
    assert archive_of([Source("http://vendor.example", "./")], BOOKWORM) is None


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ('ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian GNU/Linux 12"\n', BOOKWORM),
        ("ID=ubuntu\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n", Distribution("ubuntu", "noble")),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\nUBUNTU_CODENAME=noble\n', Distribution("ubuntu", "noble")),
        ("ID=raspbian\nID_LIKE=debian\nDEBIAN_CODENAME=trixie\n", Distribution("debian", "trixie")),
        ('ID="fedora"\nVERSION_ID=43\n', None),
        ("", None),
    ],
)
def test_distribution_comes_from_os_release(text: str, distribution: Distribution | None) -> None:
    assert read_os_release(text) == distribution


def test_own_suite_comes_first_and_older_ones_never() -> None:
    assert suites_from(Distribution("debian", "trixie")) == ("trixie", "forky", "sid")


def test_an_unknown_release_stands_alone() -> None:
    assert suites_from(Distribution("debian", "duke")) == ("duke",)


def test_another_suite_of_the_same_archive_keeps_address_and_keyring() -> None:
    source = Source("http://mirror.example/debian", "bookworm", ("main",), KEYRING)
    line = source_line(source, "trixie", "main")
    assert line == f"deb [signed-by={KEYRING}] http://mirror.example/debian trixie main\n"


def test_newest_version_of_a_package_wins_by_number() -> None:
    shown = "Package: prometheus\nVersion: 2.9.1-1\n\nPackage: prometheus\nVersion: 2.53.3+ds1-2\n"
    assert candidate(shown) == Version(2, 53, 3)
    assert candidate("") is None
