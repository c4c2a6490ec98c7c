"""`vllmwatch init` writes a file that vllmwatch reads, and writes over nothing unasked."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from vllmwatch.cli.init import found_targets
from vllmwatch.config import load_config
from vllmwatch.render.config_file import render_config_file
from vllmwatch.sources.processes import Found, FoundServer, Process, ServerTree
from vllmwatch.sources.target import Access, Origin, Target


def test_a_fresh_file_says_nothing_but_defaults(run: CommandLine, tmp_path: Path) -> None:
    outcome = run("init", "--no-discover")
    assert outcome.out == "vllmwatch.yml: written, with 0 servers found on this host\n"
    file = tmp_path / "vllmwatch.yml"
    assert file.stat().st_mode & 0o777 == 0o644
    config = load_config({}, {}, file=file, hostname="here", directory=tmp_path)
    assert set(config.origins.values()) == {"default"}
    assert [path.name for path in tmp_path.iterdir()] == ["vllmwatch.yml"]


def test_a_file_that_is_there_stays_unless_forced(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    file.write_text("node: mine\n")
    outcome = run("init", "mine.yml", "--no-discover")
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "error: mine.yml: there is such a file already",
        "hint: Write over it with --force, or name another.",
    ]
    assert file.read_text() == "node: mine\n"
    assert run("init", "mine.yml", "--no-discover", "--force").code == 0
    assert "#node:" in file.read_text()


@pytest.mark.parametrize("name", [".", "missing/vllmwatch.yml"])
def test_a_place_that_cannot_be_written_is_named(run: CommandLine, name: str) -> None:
    outcome = run("init", name, "--no-discover")
    assert outcome.code == 1
    assert outcome.err.startswith(f"error: {name}: ")
    assert "hint: Name " in outcome.err


def target(url: str, server: str, *, loading: bool = False) -> Target:
    access = Access(insecure_skip_verify=url.startswith("https"))
    return Target(url, server, "node1", Origin.PROCESS, access, pid=7, loading=loading)


def test_servers_that_are_found_are_written_down_and_read_back(tmp_path: Path) -> None:
    tree = ServerTree(Process(7, 1, 0.0, ("vllm",)), (), ())
    found = Found(
        (
            FoundServer(tree, (target("http://127.0.0.1:8000/metrics", "node1:8000"),)),
            FoundServer(tree, (target("https://127.0.0.1:8001/metrics", "node1:8001", loading=True),)),
            FoundServer(tree, (target("http://172.17.0.2:8000/metrics", "node1/172.17.0.2:8000"),)),
        ),
        (),
    )
    file = tmp_path / "vllmwatch.yml"
    file.write_text(render_config_file(found_targets(found)))
    targets = load_config({}, {}, file=file, hostname="node1", directory=tmp_path).targets
    assert [(entry.url, entry.server, entry.access.insecure_skip_verify) for entry in targets] == [
        ("http://127.0.0.1:8000/metrics", "node1:8000", False),
        ("https://127.0.0.1:8001/metrics", "node1:8001", True),
    ]
    assert '#  - "http://172.17.0.2:8000/metrics"  # node1/172.17.0.2:8000, running, process 7' in file.read_text()
