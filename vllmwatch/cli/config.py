"""`vllmwatch config`: the settings in force, and where each came from."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

import typer

from vllmwatch.catalog.settings import SETTINGS, TARGET_KEYS
from vllmwatch.cli.options import ConfigLoader, with_settings
from vllmwatch.config import Config
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.target import Access, ServerGpus, Target
from vllmwatch.sources.unicode_text import writable
from vllmwatch.spec.receiver import QuietHours, Receiver, Team
from vllmwatch.spec.setting import Form

MASK = "***"
_SECRETS = frozenset(setting.key for setting in (*SETTINGS, *TARGET_KEYS) if setting.secret)
_MAPPINGS = frozenset(
    setting.key for setting in SETTINGS if setting.form in {Form.RECEIVERS, Form.SERVERS, Form.TARGETS, Form.TEAMS}
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@with_settings
def config(load: ConfigLoader, *, as_json: Json = False) -> None:
    """Print the settings in force, and where each came from.

    Secrets are masked. The options are those of `vllmwatch exporter`, so that the same words show what it would do.
    """
    settings = describe(load())
    typer.echo(json.dumps(settings, indent=2) if as_json else writable(as_text(settings)))


def describe(settings: Config) -> dict[str, Any]:
    """Return each setting by key with its value (secrets masked) and its origin, and the file that was read."""
    values = {
        setting.key: {
            "value": _plain(setting.key, getattr(settings, setting.key)),
            "origin": settings.origins[setting.key],
        }
        for setting in SETTINGS
    }
    return {"file": None if settings.file is None else str(settings.file), "settings": values}


def as_text(described: Mapping[str, Any]) -> str:
    """Return a line a setting and a line a target; the origins stand in a column of their own."""
    rows: list[tuple[str, str]] = []
    for key, entry in described["settings"].items():
        value, origin = entry["value"], entry["origin"]
        if key in _MAPPINGS and value:
            rows.append((f"{key}:", origin))
            rows.extend((f"  - {_one_line(target)}", "") for target in value)
        else:
            rows.append((f"{key}: {_shown(value)}", origin))
    width = min(60, max(len(text) for text, origin in rows if origin))
    lines = [f"{text:<{width}}  # {origin}" if origin else text for text, origin in rows]
    return "\n".join([f"# Configuration file: {described['file'] or 'none'}", *lines])


def _plain(key: str, value: object) -> object:
    if key in _SECRETS and value is not None:
        return MASK
    if isinstance(value, tuple):
        return [_entry(entry) for entry in value]
    if isinstance(value, QuietHours):
        return f"{value.start}-{value.end} {value.time_zone}"
    return value


def _entry(entry: object) -> object:
    if isinstance(entry, ServerGpus):
        return {"url": mask_secrets(entry.url), "server": entry.server, "gpus": list(entry.gpus)}
    if isinstance(entry, Receiver):
        return {"name": entry.name, "kind": entry.kind.word, **entry.values}
    if isinstance(entry, Team):
        return {"team": entry.name, "page_to": list(entry.pages), "ticket_to": list(entry.tickets)}
    return _target(entry) if isinstance(entry, Target) else entry


def _target(target: Target) -> dict[str, object]:
    """Return what a target is, without what is not set."""
    access = {
        field.name: _plain(field.name, getattr(target.access, field.name))
        for field in fields(Access)
        if getattr(target.access, field.name)
    }
    labels = {"labels": dict(target.labels)} if target.labels else {}
    return {"url": mask_secrets(target.url), "server": target.server, "node": target.node, **labels, **access}


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _one_line(target: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{key}: {_shown(value)}" for key, value in target.items()) + "}"
