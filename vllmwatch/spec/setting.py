"""A setting of vllmwatch: declared once, it becomes a key of the file, a variable and an option."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum

ENVIRONMENT_PREFIX = "VLLMWATCH_"
# No setting: the Makefile says by it that make runs the program, so that hints are about make.
CALLER_VARIABLE = "VLLMWATCH_CALLER"
_KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_OPTION = re.compile(r"--[a-z][a-z0-9]*(-[a-z0-9]+)*")

Default = str | int | float | bool | tuple[str, ...] | None


class Form(StrEnum):
    """What a value looks like; the text is what messages and reference pages say."""

    ADDRESS = "host:port"
    BOOLEAN = "true or false"
    BYTES = "a number of bytes (32MiB works too)"
    FILE = "a path of a file"
    LABELS = "a mapping of label names to texts"
    LIST = "a list of texts"
    MODELS = "a mapping of models to mappings of thresholds to values"
    NUMBER = "a number"
    NUMBERS = "a list of numbers above 0"
    QUIET_HOURS = "two times and a time zone, such as 22:00-07:00 Europe/Berlin"
    RECEIVERS = "a list of mappings with the keys name and kind, and those of the kind"
    SECONDS = "a number of seconds (90s, 5m, 1h work too)"
    SERVERS = "a list of mappings with the keys url and gpus"
    SEVERITIES = "a mapping of alerts to page, ticket or none"
    TARGETS = "a list of addresses, or of mappings with the key url"
    TEAMS = "a mapping of teams to mappings with the keys page_to and ticket_to"
    TEXT = "a text"
    URL = "an address such as http://host:9090"
    WHOLE_NUMBER = "a whole number"


NUMERIC: frozenset[Form] = frozenset({Form.BYTES, Form.NUMBER, Form.SECONDS, Form.WHOLE_NUMBER})
MAPPINGS: frozenset[Form] = frozenset({Form.MODELS, Form.SEVERITIES, Form.TEAMS})
LISTS: frozenset[Form] = frozenset({Form.LIST, Form.NUMBERS, Form.RECEIVERS, Form.SERVERS, Form.TARGETS})
_UNIT_SUFFIXES = {Form.SECONDS: "_seconds", Form.BYTES: "_bytes"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting.

    `help` is one sentence. `default` of None is worked out at the start; `default_help` then says how. `option` is
    the command-line option (None: not on the command line; a boolean's option also exists as `--no-…`). `choices`
    are the only texts allowed, where there are any; `minimum` is the least number allowed; an empty text is refused
    unless it `may_be_empty`. A `secret` is masked wherever settings are shown. One that is `read_at_start` alone is
    left as it was when the configuration is reloaded. A name in seconds or bytes ends in its unit.
    """

    key: str
    form: Form
    default: Default
    help: str
    option: str | None = None
    default_help: str = ""
    choices: tuple[str, ...] = ()
    minimum: float = 0
    may_be_empty: bool = False
    secret: bool = False
    read_at_start: bool = False

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise ValueError(f"setting {self.key!r}: the key must be lower-case words joined by underscores")
        if not self.help or not self.help[0].isupper() or not self.help.endswith(".") or "\n" in self.help:
            raise ValueError(f"setting {self.key!r}: help must be one sentence, capital first, full stop at the end")
        if self.option is not None and not _OPTION.fullmatch(self.option):
            raise ValueError(f"setting {self.key!r}: the option must be lower-case words after two dashes")
        for form, suffix in _UNIT_SUFFIXES.items():
            if (self.form is form) != self.key.endswith(suffix):
                raise ValueError(f"setting {self.key!r}: settings in {suffix[1:]}, and only they, end in {suffix!r}")
        self._require_fitting_default()

    def _require_fitting_default(self) -> None:
        if self.default is None:
            return
        if (self.form is Form.BOOLEAN) != isinstance(self.default, bool):
            raise ValueError(f"setting {self.key!r}: the default must be {self.form}")
        if self.form in NUMERIC and (not isinstance(self.default, int | float) or self.default < self.minimum):
            raise ValueError(f"setting {self.key!r}: the default must be {self.form}, at least {self.minimum}")
        if (self.form in LISTS | MAPPINGS) != isinstance(self.default, tuple):
            raise ValueError(f"setting {self.key!r}: the default must be {self.form}")
        if self.choices and self.default not in self.choices:
            raise ValueError(f"setting {self.key!r}: the default must be one of {', '.join(self.choices)}")

    @property
    def default_text(self) -> str:
        """The default as JSON, which YAML reads too."""
        return json.dumps({} if self.form in MAPPINGS and not self.default else self.default)

    @property
    def environment(self) -> str:
        """The name of the environment variable."""
        return ENVIRONMENT_PREFIX + self.key.upper()
