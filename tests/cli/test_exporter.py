"""`vllmwatch exporter`: what a reload takes up, and what it says of the rest."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from vllmwatch.catalog.settings import ALERTING, SETTINGS
from vllmwatch.catalog.shipping import SHIPPING
from vllmwatch.cli.exporter import _reload
from vllmwatch.config import Config, load_config

# Reckoned from other settings.
DERIVED = frozenset({"page_receivers", "thresholds"})


def config(**options: object) -> Config:
    return load_config(options, {}, file=None, hostname="here", directory=Path("/nowhere"))


def test_each_change_that_needs_a_restart_is_said(caplog: pytest.LogCaptureFixture) -> None:
    changed = config(
        listen="127.0.0.1:1", nvml=False, kernel_log="", log_level="debug", log_format="json", series_limit="7"
    )
    configured = _reload(lambda: changed, config())
    assert configured.options.series_limit == 7
    assert [(record.levelno, record.message) for record in caplog.records] == [
        (logging.WARNING, "--listen: listen changed: this needs a restart"),
        (logging.WARNING, "--no-nvml: nvml changed: this needs a restart"),
        (logging.WARNING, "option kernel_log: kernel_log changed: this needs a restart"),
        (logging.WARNING, "--log-level: log_level changed: this needs a restart"),
        (logging.WARNING, "option log_format: log_format changed: this needs a restart"),
    ]


def test_a_reload_without_such_a_change_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    before = config(log_level="debug")
    assert _reload(lambda: replace(before, node="other"), before).options.node == "other"
    assert caplog.records == []


def test_a_setting_is_read_at_the_start_or_is_one_of_the_options_or_says_where_targets_are() -> None:
    at_start = {setting.key for setting in SETTINGS if setting.read_at_start}
    taken_up = {
        *(field for field in _reload(config, config()).options.__slots__ if field not in DERIVED),
        *("targets", "target_files", "discover", "discover_interval_seconds", "log_files", "log_units"),
    }
    # What is written into rules and routes is none of the exporter's business.
    of_alerts = {setting.key for setting in (*ALERTING, *SHIPPING)}
    assert at_start & taken_up == set()
    assert at_start | taken_up | of_alerts == {setting.key for setting in SETTINGS}
    assert of_alerts & (at_start | taken_up) == set()
