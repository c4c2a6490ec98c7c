"""`vllmwatch config` shows what is in force, and no secret."""

import json
from pathlib import Path

import yaml

from tests.cli.command_line import CommandLine
from vllmwatch.catalog.settings import SETTINGS

FILE = """\
series_limit: 7
targets:
  - {url: "https://me:s3cret@gpu1/?key=s3cret", labels: {rack: "7"}}
  - {url: "gpu2:8000", bearer_token: s3cret}
  - {url: "gpu3:8000", bearer_token_file: token}
"""


def test_each_setting_is_shown_with_its_origin(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(FILE)
    outcome = run("config", "--no-discover", "--json", VLLMWATCH_NODE="rack7")
    shown = json.loads(outcome.out)
    assert shown["file"] == str(tmp_path / "vllmwatch.yml")
    assert list(shown["settings"]) == [setting.key for setting in SETTINGS]
    assert shown["settings"]["series_limit"] == {"value": 7, "origin": f"{tmp_path}/vllmwatch.yml:1"}
    assert shown["settings"]["discover"] == {"value": False, "origin": "--no-discover"}
    assert shown["settings"]["node"] == {"value": "rack7", "origin": "VLLMWATCH_NODE"}
    assert shown["settings"]["log_level"] == {"value": "info", "origin": "default"}


def test_secrets_are_masked_and_their_places_are_not(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(FILE)
    outcome = run("config", "--json")
    text = run("config").out
    assert "s3cret" not in outcome.out + text
    assert json.loads(outcome.out)["settings"]["targets"]["value"] == [
        {
            "url": "https://gpu1:443/metrics?***",
            "server": "gpu1:443",
            "node": "gpu1",
            "labels": {"rack": "7"},
            "username": "me",
            "password": "***",
        },
        {"url": "http://gpu2:8000/metrics", "server": "gpu2:8000", "node": "gpu2", "bearer_token": "***"},
        {
            "url": "http://gpu3:8000/metrics",
            "server": "gpu3:8000",
            "node": "gpu3",
            "bearer_token_file": f"{tmp_path}/token",
        },
    ]


def test_the_text_is_yaml_with_the_origins_beside_it(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(FILE)
    outcome = run("config", "--listen", ":1")
    lines = outcome.out.splitlines()
    assert lines[0] == f"# Configuration file: {tmp_path}/vllmwatch.yml"
    assert [line.split("  # ")[1].strip() for line in lines if line.startswith("listen")] == ["--listen"]
    shown = yaml.safe_load(outcome.out)
    assert shown.keys() == {setting.key for setting in SETTINGS}
    assert shown["listen"] == ":1"
    assert [target["server"] for target in shown["targets"]] == ["gpu1:443", "gpu2:8000", "gpu3:8000"]


def test_without_a_file_it_says_so(run: CommandLine) -> None:
    assert run("config").out.startswith("# Configuration file: none\nlisten: ")


def test_text_that_is_not_utf_8_is_a_fault_and_no_traceback(run: CommandLine, tmp_path: Path) -> None:
    outcome = run("config", VLLMWATCH_NODE="gpu\udcff")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines()[0] == (
        "error: VLLMWATCH_NODE: a text in Unicode is asked for (UTF-8, no half of a character)"
    )
    (tmp_path / "vllmwatch.yml").write_text('node: "\\ud800"\n')
    outcome = run("config", VLLMWATCH_NODE="")
    assert (outcome.code, outcome.out) == (1, "")
    assert "vllmwatch.yml:1: node: a text in Unicode is asked for" in outcome.err


def test_a_file_whose_name_is_not_utf_8_is_read_and_shown(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "a\udcff.yml"
    file.write_text("series_limit: 7\nbroken: 1\n")
    assert f"error: {tmp_path}/a\\udcff.yml:2: unknown key 'broken'" in run("config", "--config", str(file)).err
    file.write_text("series_limit: 7\n")
    lines = run("config", "--config", str(file)).out.splitlines()
    assert lines[0] == f"# Configuration file: {tmp_path}/a\\udcff.yml"
    assert [line.split("# ")[1] for line in lines if line.startswith("series_limit")] == [f"{tmp_path}/a\\udcff.yml:1"]


def test_mappings_of_servers_are_shown_without_secrets(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "vllmwatch.yml"
    file.write_text('servers:\n  - {url: "http://me:s3cret@localhost:8000/?key=s3cret", gpus: [1, "18:00.0"]}\n')
    expected = [{"url": "http://localhost:8000/metrics?***", "server": "box:8000", "gpus": ["1", "18:00.0"]}]
    shown = json.loads(run("config", "--json", "--node", "box").out)["settings"]["servers"]
    assert shown == {"value": expected, "origin": f"{file}:1"}
    assert yaml.safe_load(run("config", "--node", "box").out)["servers"] == expected
