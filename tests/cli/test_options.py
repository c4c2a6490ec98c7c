"""The options are the settings: none is missing, none is more."""

from pathlib import Path

import pytest

from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.cli.commands import COMMANDS, load
from vllmwatch.cli.options import config_loader
from vllmwatch.errors import ConfigError
from vllmwatch.spec.setting import Form


def options_of(name: str) -> dict[str, tuple[str, ...]]:
    (entry,) = [entry for entry in COMMANDS if entry.name == name]
    parameters = [parameter for parameter in load(entry).params if parameter.name is not None]
    return {str(parameter.name): (*parameter.opts, *parameter.secondary_opts) for parameter in parameters}


@pytest.mark.parametrize(("command", "own"), [("exporter", set[str]()), ("config", {"as_json"})])
def test_a_command_has_an_option_for_each_setting_that_has_one(command: str, own: set[str]) -> None:
    found = options_of(command)
    expected = {setting.key: setting for setting in SETTINGS if setting.option is not None}
    assert found.keys() - own - {"help"} == expected.keys() | {"config_file"}
    for key, setting in expected.items():
        option = setting.option or ""
        negative = (option.replace("--", "--no-", 1),) if setting.form is Form.BOOLEAN else ()
        assert found[key] == (option, *negative)
    assert found["config_file"] == ("--config",)


def test_the_file_is_read_again_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "vllmwatch.yml"
    load_config = config_loader({"listen": "127.0.0.1:1"}, None)
    assert load_config().series_limit == 50_000
    file.write_text("series_limit: 7\nlisten: 127.0.0.1:2\n")
    assert (load_config().series_limit, load_config().listen) == (7, "127.0.0.1:1")
    file.write_text("series_limit: none\n")
    with pytest.raises(ConfigError, match="series_limit"):
        load_config()
