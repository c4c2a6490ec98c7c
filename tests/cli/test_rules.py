"""`vllmwatch rules`: what it writes, what it warns of, and what it says the second time."""

from pathlib import Path

from tests.cli.command_line import CommandLine

RECEIVERS = "receivers: [{name: hook, kind: webhook, url_file: /h}]\npage_to: [hook]\n"
LINKS = "runbook_base_url: https://watch.example/runbooks\ngrafana_url: https://grafana.example\n"


def test_rules_and_routes_are_written_once(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS + LINKS)
    output = tmp_path / "out"
    first, second = (run("rules", "--output", str(output)) for _ in range(2))
    assert (first.code, first.err, second.code, second.err) == (0, "", 0, "")
    assert "files are as the settings say" in first.out
    assert "of them just written" in first.out
    assert "just written" not in second.out
    assert (output / "alertmanager.yml").is_file()
    assert {path.name for path in (output / "rules").iterdir()} >= {"latency.yml", "alerts_servers.yml"}


def test_a_check_names_what_is_not_as_the_settings_say(run: CommandLine, tmp_path: Path) -> None:
    output = tmp_path / "out"
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS + LINKS)
    assert run("rules", "--output", str(output)).code == 0
    (tmp_path / "vllmwatch.yml").write_text(f"{RECEIVERS}{LINKS}gpu_temperature_celsius: 80\n")
    outcome = run("rules", "--check", "--output", str(output))
    assert outcome.code == 1
    assert outcome.out.splitlines() == [f"{output / 'rules' / 'alerts_gpus.yml'}: differs"]
    assert "1 file(s) are not as the settings say" in outcome.err


def test_without_a_receiver_it_says_so_loudly(run: CommandLine, tmp_path: Path) -> None:
    outcome = run("rules", "--output", str(tmp_path / "out"))
    assert outcome.code == 0
    assert outcome.err.startswith("warning: no page reaches anybody: set `receivers` and `page_to`")
    assert "NOBODY IS TOLD" in (tmp_path / "out" / "alertmanager.yml").read_text()


def test_links_that_lead_to_the_machine_of_whoever_reads_are_told(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS)
    outcome = run("rules", "--output", str(tmp_path / "out"))
    runbooks, boards = outcome.err.splitlines()
    assert "links to runbooks" in runbooks
    assert "`runbook_base_url`" in runbooks
    assert "links to boards" in boards
    assert "`grafana_url`" in boards
