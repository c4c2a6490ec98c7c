"""A configuration file with every setting explained; settings at their defaults stand in comments."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from vllmwatch.catalog.settings import SETTINGS, TARGET_KEYS
from vllmwatch.render.setting_examples import EXAMPLES
from vllmwatch.spec.setting import Form, Setting

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class FoundTarget:
    """A server that was found.

    `note` says how; `stable` that its address outlives a restart; `any_certificate` that its certificate cannot name
    the address.
    """

    url: str
    note: str
    stable: bool = True
    any_certificate: bool = False

    @property
    def line(self) -> str:
        """The entry of the list of targets."""
        address = json.dumps(self.url)
        entry = f"{{url: {address}, insecure_skip_verify: true}}" if self.any_certificate else address
        return f"  - {entry}  # {self.note}"


def render_config_file(found: Sequence[FoundTarget] = ()) -> str:
    """Return the text of a vllmwatch.yml; the targets found that have a stable address are in force."""
    head = (
        "# Settings of vllmwatch. Each is shown with its default; take the # away to change it.\n"
        "# A variable of the environment wins over this file, an option of the command line over both.\n"
    )
    return head + "".join(f"\n{_block(setting, found)}" for setting in SETTINGS)


def _block(setting: Setting, found: Sequence[FoundTarget]) -> str:
    help_text = textwrap.fill(setting.help, _WIDTH, initial_indent="# ", subsequent_indent="# ")
    facts = f"# {_facts(setting)}"
    body = _targets(found) if setting.form is Form.TARGETS else f"#{setting.key}: {_default(setting)}\n"
    example = "" if setting.form is Form.TARGETS else _example(setting.form)
    return f"{help_text}\n{facts}\n{body}{example}"


def _example(form: Form) -> str:
    return "".join(f"#{line}\n" for line in EXAMPLES.get(form, ()))


def _facts(setting: Setting) -> str:
    form = f"One of: {', '.join(setting.choices)}." if setting.choices else f"Form: {setting.form}."
    option = f" Option: {setting.option}." if setting.option else ""
    return f"{form} Variable: {setting.environment}.{option}"


def _default(setting: Setting) -> str:
    return f"  # {setting.default_help}" if setting.default is None else setting.default_text


def _targets(found: Sequence[FoundTarget]) -> str:
    keys = textwrap.fill(
        f"Keys of a mapping: {', '.join(key.key for key in TARGET_KEYS)}.",
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
    )
    lines = [keys]
    stable = [target for target in found if target.stable]
    lines.append("targets:" if stable else "#targets:")
    lines.extend(target.line for target in stable)
    lines.extend(f"#{target.line}" for target in found if not target.stable)
    return "\n".join(lines) + "\n" + ("" if found else _example(Form.TARGETS))
