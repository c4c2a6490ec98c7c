"""A setting refuses a name, a default or a help that would mislead."""

from typing import Any

import pytest

from vllmwatch.catalog.settings import SETTINGS, TARGET_KEYS
from vllmwatch.spec.setting import Form, Setting


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"key": "Listen"}, "lower-case"),
        ({"help": "no capital."}, "one sentence"),
        ({"help": "No full stop"}, "one sentence"),
        ({"option": "-x"}, "two dashes"),
        ({"form": Form.SECONDS, "default": 1}, "'_seconds'"),
        ({"key": "wait_seconds"}, "'_seconds'"),
        ({"key": "limit_bytes"}, "'_bytes'"),
        ({"form": Form.BOOLEAN, "default": 1}, "true or false"),
        ({"default": True}, "a text"),
        ({"form": Form.WHOLE_NUMBER, "default": 0, "minimum": 1}, "at least 1"),
        ({"form": Form.WHOLE_NUMBER, "default": "1"}, "a whole number"),
        ({"form": Form.LIST, "default": "a"}, "a list"),
        ({"default": ("a",)}, "a text"),
        ({"choices": ("a", "b"), "default": "c"}, "one of a, b"),
    ],
)
def test_nonsense_is_refused(fields: dict[str, Any], why: str) -> None:
    good: dict[str, Any] = {"key": "name", "form": Form.TEXT, "default": "x", "help": "A name."}
    assert Setting(**good).environment == "VLLMWATCH_NAME"
    with pytest.raises(ValueError, match=why):
        Setting(**(good | fields))


@pytest.mark.parametrize("settings", [SETTINGS, TARGET_KEYS])
def test_no_two_settings_share_a_key_or_an_option(settings: tuple[Setting, ...]) -> None:
    keys = [setting.key for setting in settings]
    options = [setting.option for setting in settings if setting.option]
    assert len(set(keys)) == len(keys)
    assert len(set(options)) == len(options)


def test_a_default_worked_out_at_the_start_is_explained() -> None:
    for setting in (*SETTINGS, *TARGET_KEYS):
        assert bool(setting.default_help) == (setting.default is None), setting.key
