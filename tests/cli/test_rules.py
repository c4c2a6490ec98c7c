"""`vllmwatch rules`: what it writes, what it warns of, and what it says the second time."""

import shlex
from pathlib import Path

from tests.cli.command_line import CommandLine

RECEIVERS = "receivers: [{name: hook, kind: webhook, url: http://127.0.0.1:9/}]\npage_to: [hook]\n"
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


def test_the_file_that_was_named_stands_in_warnings_and_hints(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "my box.yml").write_text("team: ours\n")
    outcome = run("rules", "--config", "my box.yml", "--check", "--output", "my rules")
    warning, _, hint = outcome.err.splitlines()
    assert warning.endswith("set `receivers` and `page_to` (my box.yml)")
    command = hint.partition("`")[2].partition("`")[0]
    assert command == "vllmwatch rules --output 'my rules' --config 'my box.yml'"
    assert run(*shlex.split(command)[1:]).code == 0
    assert run("rules", "--config", "my box.yml", "--check", "--output", "my rules").code == 0


def test_a_file_where_a_folder_belongs_is_told(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine\n")
    for words in (("rules", "--output", "out"), ("generate", "dashboards", "--out", "out")):
        outcome = run(*words)
        assert outcome.code == 1
        assert outcome.err.startswith(f"error: {words[-2]}: out is a file; a folder is asked for\n")
    assert (tmp_path / "out").read_text() == "mine\n"


def test_links_that_lead_to_the_machine_of_whoever_reads_are_told(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS)
    outcome = run("rules", "--output", str(tmp_path / "out"))
    runbooks, boards = outcome.err.splitlines()
    assert "links to runbooks" in runbooks
    assert "`runbook_base_url`" in runbooks
    assert "links to boards" in boards
    assert "`grafana_url`" in boards


def test_a_secret_that_is_not_there_and_a_team_without_pages_are_told(run: CommandLine, tmp_path: Path) -> None:
    receivers = RECEIVERS.replace("url: http://127.0.0.1:9/", "url_file: there")
    (tmp_path / "vllmwatch.yml").write_text(f"{receivers}{LINKS}teams: {{batch: {{ticket_to: [hook]}}}}\n")
    team, secret = run("rules", "--output", str(tmp_path / "out")).err.splitlines()
    assert team.startswith("warning: no page of the team batch reaches anybody")
    assert secret.startswith(f"warning: the receiver hook has its secret from {tmp_path / 'there'}, which is not there")
    (tmp_path / "there").write_text("http://127.0.0.1:9/secret")
    (tmp_path / "vllmwatch.yml").write_text(f"{receivers}{LINKS}")
    assert run("rules", "--output", str(tmp_path / "out")).err == ""


def test_pages_of_a_team_of_ones_own_reach_somebody(run: CommandLine, tmp_path: Path) -> None:
    receivers = RECEIVERS.replace("page_to: [hook]", "team: ours\nteams: {ours: {page_to: [hook]}}")
    (tmp_path / "vllmwatch.yml").write_text(receivers + LINKS)
    assert run("rules", "--output", str(tmp_path / "out")).err == ""
    assert "NOBODY IS TOLD" not in (tmp_path / "out" / "alertmanager.yml").read_text()


def test_what_a_person_wrote_is_never_overwritten(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS + LINKS)
    output = tmp_path / "out"
    (output / "rules").mkdir(parents=True)
    (output / "rules" / "mine.yml").write_text("groups: []\n")
    for name, make in (("alertmanager.yml", Path.touch), ("vllmwatch.tmpl", Path.mkdir)):
        make(output / name)
        outcome = run("rules", "--output", str(output))
        assert outcome.code == 1
        assert outcome.err.startswith(f"error: {output / name}: not written by vllmwatch, and would be overwritten")
        # Neither that file nor any other is written.
        assert sorted(path.name for path in output.rglob("*")) == sorted(("mine.yml", name, "rules"))
        (output / name).rmdir() if (output / name).is_dir() else (output / name).unlink()
    assert run("rules", "--output", str(output)).code == 0
    # A rule file of one's own beside ours stays, and is none of ours.
    assert run("rules", "--check", "--output", str(output)).code == 0
    assert (output / "rules" / "mine.yml").read_text() == "groups: []\n"


def test_what_was_written_before_is_written_anew(run: CommandLine, tmp_path: Path) -> None:
    output = tmp_path / "out"
    for degrees in (80, 81):
        (tmp_path / "vllmwatch.yml").write_text(f"{RECEIVERS}{LINKS}gpu_temperature_celsius: {degrees}\n")
        assert run("rules", "--output", str(output)).code == 0
        assert f"> {degrees}" in (output / "rules" / "alerts_gpus.yml").read_text()
    for path in (output / "alertmanager.yml", output / "vllmwatch.tmpl", *(output / "rules").iterdir()):
        assert "Generated by vllmwatch from the settings" in path.read_text().partition("\n")[0]


def test_a_threshold_at_an_edge_of_ones_own_is_counted_there(run: CommandLine, tmp_path: Path) -> None:
    edges = "request_latency_edges: [3]\nrequest_latency_p99_seconds: 3\n"
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS + LINKS + edges)
    assert run("rules", "--output", str(tmp_path / "out")).code == 0
    assert 'le="3.0"' in (tmp_path / "out" / "rules" / "latency.yml").read_text()


def test_an_empty_name_of_a_folder_is_refused(run: CommandLine, tmp_path: Path) -> None:
    outcome = run("rules", "--output", "")
    assert outcome.code == 1
    assert "--output: the name of a folder is asked for" in outcome.err
    assert list(tmp_path.iterdir()) == []
