"""`vllmwatch generate logs`: what ships and keeps logs, by the settings in force."""

from pathlib import Path

import yaml

from tests.cli.command_line import CommandLine
from tests.render.alloy.interpreter import World, value_of
from tests.render.alloy.language import Block, parse

SETTINGS = """\
log_files: ["chat=/srv/chat.log"]
log_units: ["gpu1:8000=vllm"]
log_containers: false
log_payloads: true
log_retention_seconds: 30d
log_time_zone: Europe/Berlin
loki_url: http://loki.example:3100/
alertmanager_url: http://alerts.example:9093
severities: {VllmOutOfMemory: page}
"""


def test_the_files_are_those_of_the_settings(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(SETTINGS)
    out = tmp_path / "out"
    first, second = (run("generate", "logs", "--out", str(out)) for _ in range(2))
    assert (first.code, first.err, second.code) == (0, "", 0)
    assert f"{out / 'alloy/config.alloy'}: missing, written\n" in first.out
    assert second.out == f"{out}: 4 files are as the settings say\n"
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    assert files == ["alloy/config.alloy", "loki/loki.yml", "loki/rules/alerts_logs.yml", "otel/collector.yml"]
    assert all("from the settings" in (out / name).read_text().partition("\n")[0] for name in files)


def test_alloy_loki_and_the_rules_have_the_values(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(SETTINGS)
    out = tmp_path / "out"
    assert run("generate", "logs", "--out", str(out)).code == 0
    found = [each for each in parse((out / "alloy/config.alloy").read_text()) if isinstance(each, Block)]
    labels = [(each.name, each.label) for each in found if each.name.startswith("loki.source")]
    assert labels == [
        ("loki.source.journal", "kernel"),
        ("loki.source.journal", "unit_gpu1_8000"),
        ("loki.source.file", "servers"),
    ]
    (endpoint,) = found[-1].blocks()
    assert value_of(endpoint.attributes()["url"], World()) == "http://loki.example:3100/loki/api/v1/push"
    assert 'payload = "kept"' in (out / "alloy/config.alloy").read_text()
    loki = yaml.safe_load((out / "loki/loki.yml").read_text())
    assert loki["limits_config"]["retention_period"] == "720h"
    assert loki["ruler"]["alertmanager_url"] == "http://alerts.example:9093"
    rules = yaml.safe_load((out / "loki/rules/alerts_logs.yml").read_text())["groups"][0]["rules"]
    assert {rule["alert"]: rule["labels"]["severity"] for rule in rules}["VllmOutOfMemory"] == "page"
    collector = yaml.safe_load((out / "otel/collector.yml").read_text())
    assert collector["receivers"]["filelog/1"]["include"] == ["/srv/chat.log"]


def test_what_is_no_longer_as_it_should_be_is_told(run: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("generate", "logs", "--out", str(out)).code == 0
    assert not (out / "otel").exists()
    (tmp_path / "vllmwatch.yml").write_text("log_retention_seconds: 2d\n")
    outcome = run("generate", "logs", "--check", "--out", str(out))
    assert (outcome.code, outcome.out) == (1, f"{out / 'loki/loki.yml'}: differs\n")
    assert "hint: Run `vllmwatch generate logs --out" in outcome.err


def test_a_log_of_which_nobody_said_whose_it_is_cannot_be_shipped(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text("log_files: [/srv/chat.log]\n")
    outcome = run("generate", "logs", "--out", str(tmp_path / "out"))
    assert outcome.code == 1
    assert "log_files: /srv/chat.log: " in outcome.err
    assert "hint: Write SERVER=/srv/chat.log" in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_file_of_a_person_is_not_overwritten(run: CommandLine, tmp_path: Path) -> None:
    mine = tmp_path / "out" / "loki" / "loki.yml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine: true\n")
    outcome = run("generate", "logs", "--out", str(tmp_path / "out"))
    assert outcome.code == 1
    assert "not written by vllmwatch" in outcome.err
    assert mine.read_text() == "mine: true\n"
    assert not (tmp_path / "out" / "alloy").exists()


def test_settings_that_cannot_be_meant_are_refused(run: CommandLine, tmp_path: Path) -> None:
    for text, words in (
        ("log_time_zone: Europe/Atlantis", "there is no time zone 'Europe/Atlantis'"),
        ("log_retention_seconds: 1h", "log_retention_seconds"),
        ("log_payload_retention_seconds: 60", "86400"),
    ):
        (tmp_path / "vllmwatch.yml").write_text(f"{text}\n")
        outcome = run("generate", "logs", "--out", str(tmp_path / "out"))
        assert outcome.code == 1
        assert words in outcome.err


def test_a_word_and_a_folder_go_together(run: CommandLine) -> None:
    assert "logs and --out go together" in run("generate", "logs").err
    assert "dashboards and --out go together" in run("generate", "--out", "x").err
    unknown = run("generate", "loggs", "--out", "x")
    assert (unknown.code, "'loggs' is nothing to generate" in unknown.err) == (1, True)
    assert "dashboards or logs" in unknown.err
