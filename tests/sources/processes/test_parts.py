"""The place of each of vLLM's processes, by tables as they were seen on real hosts."""

import pytest

from tests.sources.processes.tables import DATA_PARALLEL, ONE_SERVER, PYTHON, SERVE, SUPERVISED, Row, processes
from vllmwatch.sources.processes.parts import Lone, Part, parts_of
from vllmwatch.sources.processes.roles import Role
from vllmwatch.sources.processes.servers import find_servers
from vllmwatch.sources.processes.table import Process


def parts(*rows: Row) -> dict[int, Part]:
    table = processes(rows)
    return parts_of(table, find_servers(table))


def places(found: dict[int, Part]) -> dict[int, tuple[int | None, int | None, str]]:
    return {pid: (part.root_pid, part.data_parallel_rank, part.rank) for pid, part in found.items()}


def test_the_only_worker_of_an_engine_is_the_first() -> None:
    found = parts(*ONE_SERVER)
    assert places(found) == {
        5037: (5037, None, ""),
        5195: (5037, None, ""),
        5196: (5037, None, ""),
        5231: (5037, None, "TP0"),
    }
    assert found[5231].role is Role.WORKER


def test_a_worker_has_the_rank_of_its_engine() -> None:
    found = places(parts(*DATA_PARALLEL))
    assert found[8232] == (8146, 0, "TP0")
    assert found[8241] == (8146, 1, "TP0")
    assert found[8203] == (8146, 1, "")
    assert found[8204] == (8146, None, ""), "an API server's number is no rank of an engine"


def test_an_engine_without_workers_is_its_own_worker() -> None:
    found = places(parts(*SUPERVISED))
    assert found[320] == (300, 0, "TP0")
    assert found[321] == (300, 1, "TP0")
    assert found[300] == (300, None, "")


def test_several_workers_have_the_ranks_of_their_titles_and_no_other() -> None:
    found = parts(
        (10, 1, SERVE), (11, 10, ("VLLM::EngineCore",)), (12, 11, ("VLLM::Worker",)), (13, 11, ("VLLM::Worker",))
    )
    assert [found[pid].rank for pid in (11, 12, 13)] == ["", "", ""]


def test_a_title_with_a_number_that_no_rank_has_is_no_fault() -> None:
    found = parts((10, 1, SERVE), (11, 10, (f"VLLM::EngineCore_DP{'9' * 5000}",)), (12, 11, ("VLLM::Worker_TP٣",)))
    assert [(found[pid].data_parallel_rank, found[pid].rank) for pid in (11, 12)] == [(None, ""), (None, "TP0")]


@pytest.mark.parametrize(
    ("above", "lone"),
    [
        ((("ray::ServeReplica:app",),), Lone.RAY),
        ((("bash",), ("ray::ServeReplica:app",)), Lone.RAY),
        (((PYTHON, "batch.py"),), Lone.PROGRAM),
        ((("bash",),), Lone.ORPHAN),
        ((("/usr/bin/tini", "--", "python", "serve.py"),), Lone.ORPHAN),
        ((), Lone.ORPHAN),
        (((),), Lone.ORPHAN),
    ],
)
def test_a_part_without_a_server_says_whose_it_is(above: tuple[tuple[str, ...], ...], lone: Lone) -> None:
    line: list[Row] = [(20 - at, 19 - at, words) for at, words in enumerate(above)]
    found = parts(
        *line, (30, 20, ("VLLM::EngineCore",)), (31, 30, ("VLLM::Worker_TP0",)), (32, 30, ("VLLM::Worker_TP1",))
    )
    assert {found[pid].lone for pid in (30, 31, 32)} == {lone}
    assert {found[pid].root_pid for pid in (30, 31, 32)} == {None}


def test_a_part_of_a_server_is_not_alone() -> None:
    assert {part.lone for part in parts(*ONE_SERVER).values()} == {None}


def test_a_part_whose_parents_pid_is_another_process_now_has_no_server() -> None:
    table = (Process(20, 1, 60.0, SERVE), Process(900, 20, 50.0, ("VLLM::Worker",)))
    found = parts_of(table, find_servers(table))
    assert (found[900].root_pid, found[900].lone) == (None, Lone.ORPHAN)


def test_other_processes_are_no_parts() -> None:
    assert parts((10, 1, ("bash",)), (11, 10, (PYTHON, "train.py"))) == {}
