"""The machine's own package sources, read from both forms that apt knows; pure text in, values out."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vllmwatch.stack.version import Version, parse

# Codenames in order of release. Debian: https://www.debian.org/releases/; Ubuntu: https://wiki.ubuntu.com/Releases
SUITES: Mapping[str, tuple[str, ...]] = {
    "debian": ("bookworm", "trixie", "forky", "sid"),
    "ubuntu": ("jammy", "noble", "plucky", "questing", "resolute"),
}
# Prometheus lies in Ubuntu's "universe".
COMPONENTS: Mapping[str, str] = {"debian": "main", "ubuntu": "main universe"}
_ALIASES = frozenset({"oldstable", "stable", "testing", "unstable"})
_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^]]*)]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<components>[^#]*)")


@dataclass(frozen=True, slots=True)
class Source:
    """One archive: its address, one suite, its components, and the keyring that signs it ("" where none is named)."""

    uri: str
    suite: str
    components: tuple[str, ...] = ("main",)
    signed_by: str = ""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What /etc/os-release says: the distribution's id (Debian's or Ubuntu's) and the codename of its release."""

    name: str
    codename: str


def read_os_release(text: str) -> Distribution | None:
    """Return the distribution, or None where it is neither Debian nor Ubuntu nor made from one of them."""
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    values = {key: value.strip().strip("\"'") for key, value in fields.items()}
    if values.get("UBUNTU_CODENAME"):
        return Distribution("ubuntu", values["UBUNTU_CODENAME"])
    if values.get("ID") in SUITES:
        return Distribution(values["ID"], values.get("VERSION_CODENAME", ""))
    if "debian" in values.get("ID_LIKE", "").split() and values.get("DEBIAN_CODENAME"):
        return Distribution("debian", values["DEBIAN_CODENAME"])
    return None


def read_one_line(text: str) -> list[Source]:
    """Return the binary sources of a `.list` file (`deb [options] uri suite component…`)."""
    sources = []
    for line in text.splitlines():
        found = _ONE_LINE.match(line.strip())
        if found:
            options = dict(pair.split("=", 1) for pair in (found["options"] or "").split() if "=" in pair)
            components = tuple(found["components"].split())
            sources.append(Source(found["uri"], found["suite"], components, options.get("signed-by", "")))
    return sources


def read_deb822(text: str) -> list[Source]:
    """Return the binary sources of a `.sources` file (paragraphs of fields); one per address and suite.

    A key that stands in the field Signed-By itself, rather than a path, is not carried over.
    """
    sources = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = _fields(paragraph)
        if fields.get("enabled", "yes").lower() in {"no", "false", "0"} or "deb" not in fields.get("types", "").split():
            continue
        signed_by = fields.get("signed-by", "")
        keyring = signed_by if signed_by.startswith("/") else ""
        components = tuple(fields.get("components", "").split())
        sources += [
            Source(uri, suite, components, keyring)
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return sources


def _fields(paragraph: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    key = ""
    for line in paragraph.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] in " \t" and key:
            fields[key] = f"{fields[key]} {line.strip()}".strip()
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            fields[key] = value.strip()
    return fields


def archive_of(sources: Iterable[Source], distribution: Distribution) -> Source | None:
    """Return the source of the release itself: not its updates, not its security archive, not a third party's.

    Third parties name their suites after releases too. The distribution's own archive has the component "main", and
    it is the one that has the release's updates as well, or whose address ends in the distribution's name.
    """
    known = list(sources)
    names = {distribution.codename, *_ALIASES}
    with_updates = {source.uri.rstrip("/") for source in known if source.suite.endswith("-updates")}

    def likeness(source: Source) -> tuple[bool, bool, bool]:
        address = source.uri.rstrip("/")
        named = address.endswith(f"/{distribution.name}")
        return (address in with_updates, named, source.suite == distribution.codename)

    candidates = [source for source in known if source.suite in names and "main" in source.components]
    best = max(candidates, key=likeness, default=None)
    return best if best is not None and any(likeness(best)[:2]) else None


def suites_from(distribution: Distribution) -> tuple[str, ...]:
    """Return the distribution's own suite and the newer ones; a release we have not heard of stands alone."""
    known = SUITES[distribution.name]
    if distribution.codename not in known:
        return (distribution.codename,)
    return known[known.index(distribution.codename) :]


def source_line(source: Source, suite: str, components: str) -> str:
    """Return the one-line form of a source for another suite of the same archive."""
    options = f"[signed-by={source.signed_by}] " if source.signed_by else ""
    return f"deb {options}{source.uri} {suite} {components}\n"


def candidate(show: str) -> Version | None:
    """Return the newest upstream version in what `apt-cache show PACKAGE` printed, or None where it has none."""
    versions = [parse(line.partition(":")[2]) for line in show.splitlines() if line.startswith("Version:")]
    return max((version for version in versions if version is not None), default=None)
