"""Targets of several sources become one list: each server once, each name once."""

import pytest

from vllmwatch.sources.address import parse_address, target_from_address
from vllmwatch.sources.discovery import Discovered, Discovery, StaticTargets
from vllmwatch.sources.own_host import own_names
from vllmwatch.sources.target import Origin, Target


class Fixed:
    """A source with a fixed answer."""

    def __init__(self, *targets: Target, problems: tuple[str, ...] = ()) -> None:
        self._answer = Discovered(targets, problems)

    def discover(self) -> Discovered:
        return self._answer


class Broken:
    """A source with a fault of its own."""

    def discover(self) -> Discovered:
        raise RuntimeError("out of order")


def target(address: str, origin: Origin = Origin.STATIC, server: str | None = None) -> Target:
    return target_from_address(parse_address(address), origin=origin, this_node="node1", server=server)


def process(address: str, *, loading: bool = False, server: str = "node1:8000") -> Target:
    return Target(f"http://{address}/metrics", server, "node1", Origin.PROCESS, pid=77, loading=loading)


def discover(*sources: Fixed | Broken | StaticTargets, own: tuple[str, ...] = ("node1", "10.0.0.5")) -> Discovered:
    return Discovery(sources, lambda: frozenset(own)).discover()


def test_what_is_written_down_wins_over_files_and_these_over_processes() -> None:
    static = target("gpu1:8000")
    by_file = target("http://GPU1:8000/metrics/", Origin.FILE_SD, server="other")
    more = target("gpu2:8000", Origin.FILE_SD)
    found = discover(Fixed(process("127.0.0.1:8000")), Fixed(by_file, more), StaticTargets([static]))
    assert [(entry.server, entry.origin) for entry in found.targets] == [
        ("gpu1:8000", Origin.STATIC),
        ("gpu2:8000", Origin.FILE_SD),
        ("node1:8000", Origin.PROCESS),
    ]
    assert found.problems == ()


@pytest.mark.parametrize(
    "written",
    ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "10.0.0.5:8000", "node1:8000", "node1.example:8000/vllm"],
)
def test_a_server_found_here_and_written_down_is_one_server(written: str) -> None:
    found = discover(StaticTargets([target(written)]), Fixed(process("127.0.0.1:8000", loading=True)))
    (only,) = found.targets
    assert (only.origin, only.url) == (Origin.STATIC, target(written).url)
    assert (only.pid, only.loading) == (77, True)


@pytest.mark.parametrize("written", ["localhost:8001", "gpu1:8000", "10.0.0.6:8000", "node2.example:8000"])
def test_other_ports_and_other_hosts_are_other_servers(written: str) -> None:
    found = discover(StaticTargets([target(written)]), Fixed(process("127.0.0.1:8000")))
    assert len(found.targets) == 2
    assert found.targets[0].pid is None


def test_two_paths_behind_one_gateway_are_two_servers() -> None:
    found = discover(StaticTargets([target("https://gw/a"), target("https://gw/b")]))
    assert [entry.server for entry in found.targets] == ["gw:443/a", "gw:443/b"]


def test_two_servers_of_one_name_are_a_problem_and_never_one_series() -> None:
    first, second = target("gpu1:8000", server="chat"), target("gpu2:8000", Origin.FILE_SD, server="chat")
    found = discover(Fixed(second), StaticTargets([first]))
    assert found.targets == (first,)
    (problem,) = found.problems
    assert "http://gpu1:8000/metrics" in problem
    assert "http://gpu2:8000/metrics" in problem
    assert "'chat'" in problem


def test_two_servers_of_one_name_are_told_apart_without_their_secrets() -> None:
    first, second = target("gpu1:8000?key=s3cret"), target("gpu1:8000?key=s3cret2", Origin.FILE_SD)
    (problem,) = discover(StaticTargets([first]), Fixed(second)).problems
    assert "s3cret" not in problem
    assert "http://gpu1:8000/metrics?***" in problem


def test_a_problem_with_bytes_that_are_no_text_can_be_written() -> None:
    found = discover(Fixed(problems=("/etc/\udcff.yml: broken",)))
    assert found.problems == ("/etc/\\udcff.yml: broken",)


def test_a_source_that_fails_costs_its_own_targets_alone() -> None:
    found = discover(Broken(), Fixed(target("gpu1:8000"), problems=("b.yml: gone",)))
    assert [entry.server for entry in found.targets] == ["gpu1:8000"]
    assert found.problems == ("Broken: RuntimeError: out of order", "b.yml: gone")


def test_names_of_this_host_that_cannot_be_had_are_no_fault() -> None:
    def failing() -> frozenset[str]:
        raise OSError("no interfaces")

    assert len(Discovery([StaticTargets([target("gpu1:8000")])], failing).discover().targets) == 1


def test_this_host_knows_its_own_loopback_address_and_name() -> None:
    names = own_names()
    assert "127.0.0.1" in names
    assert all(name == name.lower() and "%" not in name for name in names)
