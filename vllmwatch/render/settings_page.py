"""docs/reference/settings.md: every setting, and the keys of a target."""

from collections.abc import Sequence

from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.catalog.settings import SERVER_KEYS, SETTINGS, TARGET_KEYS
from vllmwatch.render import mark
from vllmwatch.render.setting_examples import EXAMPLES
from vllmwatch.render.tables import code, table
from vllmwatch.spec.setting import Form, Setting

_INTRODUCTION = """\
# Settings

A setting is given as an option of the command, a variable of the environment, or a key of the configuration file; the
first of these that says something wins. The file is the one named by `--config`, else by `VLLMWATCH_CONFIG`, else
`vllmwatch.yml` in the working directory, else `/etc/vllmwatch/vllmwatch.yml`. `vllmwatch config` prints what is in
force and where it came from; `vllmwatch init` writes a file with every setting explained. Unknown keys and variables
are refused, and so is a wrong value, whether it wins or not.

In a variable, items of a list stand between commas (or in JSON), and an empty variable counts as not set, except where
an empty text has a meaning. Paths in the file are taken from the file's own folder."""

_TARGETS = """\
## Keys of a target

An entry of `targets` is an address (`gpu1:8000`, `https://gateway/chat`) or a mapping with these keys. `/metrics` is
added where the path does not end in it. The name of a server on its series, `server`, is the host and port of its
address, with the node's name for a loopback address, and the path before `/metrics` where there is one."""


_SERVERS = """\
## Keys of a server

Which GPU carries which server is found from the processes on the GPUs. Where the driver lists none, where their
numbers mean nothing in the exporter's own PID namespace, and where the API server is on another node, an entry of
`servers` tells, with these two keys. What processes show wins over it. The devices are shared out among the engines
that the server's page names, in order."""


_RECEIVERS = """\
## Keys of a receiver

An entry of `receivers` is a mapping with the keys `name`, `kind` and those of its kind. Secrets stand in files, whose
paths Alertmanager reads. `page_to` and `ticket_to` name who is told, `teams` who is told of the alerts of one team.
`vllmwatch rules` writes Alertmanager's configuration (0.28 or newer) of this."""


def _receiver_rows() -> list[tuple[str, ...]]:
    return [
        (
            code(kind.word),
            code(key.key),
            str(key.value),
            "one of these" if key.key in kind.one_of else "yes" if key.required else "no",
            key.help,
        )
        for kind in RECEIVER_KINDS
        for key in kind.keys
    ]


def render_settings_page() -> str:
    """Return the page."""
    sections = [_section(setting) for setting in SETTINGS]
    parts = [_INTRODUCTION, *sections, _TARGETS, _keys(TARGET_KEYS), _SERVERS, _keys(SERVER_KEYS)]
    parts += [_RECEIVERS, table(("kind", "key", "form", "needed", "meaning"), _receiver_rows())]
    return mark.markdown("\n\n".join(parts))


def _section(setting: Setting) -> str:
    rows = [
        ("form", f"one of {', '.join(map(code, setting.choices))}" if setting.choices else str(setting.form)),
        ("default", _default(setting)),
        ("variable", code(setting.environment)),
    ]
    if setting.option is not None:
        rows.append(("option", _option(setting)))
    if setting.minimum:
        rows.append(("least", f"{setting.minimum:g}"))
    if setting.read_at_start:
        rows.append(("change", "needs a restart: not taken up by a reload"))
    parts = [f"## {setting.key}", setting.help, table(("", ""), rows)]
    if example := EXAMPLES.get(setting.form):
        lines = "\n".join([f"{setting.key}:", *example])
        parts.append(f"```yaml\n{lines}\n```")
    return "\n\n".join(parts)


def _option(setting: Setting) -> str:
    if setting.form is Form.BOOLEAN:
        return f"{code(setting.option or '')}, {code((setting.option or '').replace('--', '--no-', 1))}"
    repeated = ", may be repeated" if setting.form in {Form.LIST, Form.TARGETS} else ""
    return f"{code(setting.option or '')}{repeated}"


def _default(setting: Setting) -> str:
    return setting.default_help if setting.default is None else code(setting.default_text)


def _keys(settings: Sequence[Setting]) -> str:
    rows = [(code(setting.key), str(setting.form), _default(setting), setting.help) for setting in settings]
    return table(("key", "form", "default", "meaning"), rows)
