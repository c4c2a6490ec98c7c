"""`vllmwatch silence`: sets, lists and ends silences of Alertmanager."""

import getpass
import re
from datetime import timedelta
from typing import Annotated

import typer

from vllmwatch.cli.alert_name import near_alert
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.config.patterns import require_pattern
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.tables import columns
from vllmwatch.sinks import alertmanager
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader

_MATCHER = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)(=~|!~|!=|=)(.*)", re.DOTALL)
_FORMS = "Write label=value, label!=value, label=~pattern or label!~pattern."
_PATTERNS = "A pattern holds for the whole value: server=~'box.*'."
_DURATION = re.compile(r"(?:([0-9]{1,5})d)?(?:([0-9]{1,5})h)?(?:([0-9]{1,6})m)?")

Matchers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MATCHER...",
        help="What to silence, such as alertname=GpuLost or server=~'box:.*'; all must match. None: list silences.",
        show_default=False,
    ),
]
Lasts = Annotated[str, typer.Option("--for", help="How long, such as 30m, 2h or 1d12h.")]
Comment = Annotated[
    str, typer.Option("--comment", help="Why: those who come after you will ask. No silence is set without it.")
]
By = Annotated[str, typer.Option("--by", help="Who you are.", show_default="your user name")]
Expire = Annotated[
    str, typer.Option("--expire", metavar="ID", help="End the silence with this id.", show_default=False)
]


@with_file
def silence(
    load: ConfigLoader,
    *,
    matchers: Matchers = None,
    lasts: Lasts = "2h",
    comment: Comment = "",
    by: By = "",
    expire: Expire = "",
) -> None:
    """Silence alerts for a time; without a matcher, list the silences in force.

    For example `vllmwatch silence alertname=GpuLost node=gpu-box-1 --for 2h --comment "the card is being swapped"`.
    What it prints is the id of the silence, which ends before its time by --expire ID.
    """
    url = load().alertmanager_url
    if expire and matchers:
        raise VllmwatchError("a silence is either set or ended", hint="Leave out the matchers, or --expire.")
    if expire:
        alertmanager.expire(url, expire)
        typer.echo(f"{expire}: over")
    elif matchers:
        parsed, duration = [_matcher(text) for text in matchers], _duration(lasts)
        if not comment:
            raise VllmwatchError("a silence without a reason", hint="Say why with --comment.")
        typer.echo(alertmanager.silence(url, parsed, duration, by or _user(), comment))
    else:
        found = AlertmanagerReader(url).silences()
        rows = [
            (each.id, each.state, each.ends_at, each.created_by, " ".join(each.matchers), each.comment)
            for each in found
        ]
        typer.echo(columns([("ID", "STATE", "ENDS", "BY", "MATCHES", "COMMENT"), *rows]) if rows else "No silences.")


def _matcher(text: str) -> alertmanager.Matcher:
    match = _MATCHER.fullmatch(text)
    if match is None or not match[3].strip("\"'"):
        raise VllmwatchError(f"{text!r} is no matcher", hint=_advice(text))
    name, sign, value = match[1], match[2], match[3].strip("\"'")
    if "~" in sign:
        try:
            require_pattern(value)
        except ValueError as error:
            raise VllmwatchError(f"{text!r}: {error}", hint=_PATTERNS) from None
    return alertmanager.Matcher(name, value, is_pattern="~" in sign, is_equal=not sign.startswith("!"))


def _advice(text: str) -> str:
    """Return what a matcher looks like, by the example of what was given where that is the name of an alert."""
    known = near_alert(text)
    return f"Did you mean alertname={known}? {_FORMS}" if known else _FORMS


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # In a container, a number may be all that a user has.
        raise VllmwatchError("you have no user name here", hint="Say who you are with --by.") from None


def _duration(text: str) -> timedelta:
    match = _DURATION.fullmatch(text.strip())
    lasts = timedelta(0)
    if match is not None:
        days, hours, minutes = (int(part or 0) for part in match.groups())
        lasts = timedelta(days=days, hours=hours, minutes=minutes)
    if not timedelta(0) < lasts <= timedelta(days=366):
        raise VllmwatchError(f"{text!r} is no time to be silent for", hint="Write 30m, 2h or 1d12h; a year at most.")
    return lasts
