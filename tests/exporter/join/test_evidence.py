"""Whose the processes on GPUs are, by the tables of processes of whole hosts."""

import pytest

from tests.exporter.join.looks import (
    GIB,
    Pids,
    found,
    gpu,
    instance,
    joined,
    links,
    nvml,
    process,
    reasons,
    sample,
    target,
)
from tests.sources.processes.tables import PYTHON, SERVE, SUPERVISED, Row
from vllmwatch.spec.join import Holder
from vllmwatch.spec.reason import Reason

ONE: tuple[Row, ...] = (
    (1, 0, ("/sbin/init",)),
    (20, 1, (*SERVE, "--port", "8000")),
    (21, 20, ("VLLM::EngineCore",)),
    (22, 21, ("VLLM::Worker",)),
)
OTHER: tuple[Row, ...] = (
    (30, 1, (*SERVE, "--port", "8001")),
    (31, 30, ("VLLM::EngineCore",)),
)
ONE_UP = sample(target(8000, 20), "0")
OTHER_UP = sample(target(8001, 30), "0")


def data_parallel() -> tuple[Row, ...]:
    """DP 2, TP 4: engines 110 and 120, with workers 111 to 114 and 121 to 124."""
    rows: list[Row] = [(1, 0, ("/sbin/init",)), (100, 1, (*SERVE, "-dp", "2", "-tp", "4"))]
    rows.append((101, 100, ("VLLM::DPCoordinator",)))
    for rank in range(2):
        engine = 110 + 10 * rank
        rows.append((engine, 100, (f"VLLM::EngineCore_DP{rank}",)))
        rows += [(engine + 1 + at, engine, (f"VLLM::Worker_DP{rank}_TP{at}",)) for at in range(4)]
    return tuple(rows)


def test_eight_gpus_carry_two_engines_of_four_workers() -> None:
    pids = [111, 112, 113, 114, 121, 122, 123, 124]
    gpus = [gpu(at, [process(pid)], used=70 * GIB) for at, pid in enumerate(reversed(pids))]
    found_here = joined(nvml(*gpus), found(data_parallel()), [sample(target(8000, 100), "0", "1")])
    assert sorted(links(found_here)) == [
        ("box:8000", "0", "TP0", "GPU-H"),
        ("box:8000", "0", "TP1", "GPU-G"),
        ("box:8000", "0", "TP2", "GPU-F"),
        ("box:8000", "0", "TP3", "GPU-E"),
        ("box:8000", "1", "TP0", "GPU-D"),
        ("box:8000", "1", "TP1", "GPU-C"),
        ("box:8000", "1", "TP2", "GPU-B"),
        ("box:8000", "1", "TP3", "GPU-A"),
    ]
    assert reasons(found_here) == {}


def test_stages_of_a_pipeline_have_ranks_of_their_own() -> None:
    rows: tuple[Row, ...] = (
        (20, 1, (*SERVE, "-pp", "2")),
        (21, 20, ("VLLM::EngineCore",)),
        (22, 21, ("VLLM::Worker_PP0",)),
        (23, 21, ("VLLM::Worker_PP1",)),
    )
    gpus = nvml(gpu(0, [process(23)]), gpu(1, [process(22)]))
    assert links(joined(gpus, found(rows), [ONE_UP])) == [
        ("box:8000", "0", "PP0", "GPU-B"),
        ("box:8000", "0", "PP1", "GPU-A"),
    ]


def test_two_servers_share_a_gpu_and_each_holds_its_own_memory() -> None:
    gpus = nvml(gpu(0, [process(22, 30 * GIB), process(31, 20 * GIB), process(950, 3 * GIB), process(951, GIB)]))
    here = joined(gpus, found((*ONE, *OTHER)), [ONE_UP, OTHER_UP])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A"), ("box:8001", "0", "TP0", "GPU-A")]
    assert here.held == {
        ("GPU-A", Holder.SERVER, "box:8000"): 30 * GIB,
        ("GPU-A", Holder.SERVER, "box:8001"): 20 * GIB,
        ("GPU-A", Holder.OTHER, ""): 4 * GIB,
    }


def test_the_context_of_an_engine_beside_its_worker_is_no_second_worker() -> None:
    gpus = nvml(gpu(0, [process(20, GIB), process(21, GIB), process(22, 30 * GIB)]))
    here = joined(gpus, found(ONE), [ONE_UP])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A")]
    assert here.held == {("GPU-A", Holder.SERVER, "box:8000"): 32 * GIB}


def test_memory_that_is_not_known_makes_no_sum() -> None:
    gpus = nvml(gpu(0, [process(22, None), process(21, GIB), process(950, 5)]), gpu(1, [process(22, 7)]))
    here = joined(gpus, found(ONE), [ONE_UP])
    assert here.held == {("GPU-A", Holder.OTHER, ""): 5, ("GPU-B", Holder.SERVER, "box:8000"): 7}
    assert {uuid for *_, uuid in links(here)} == {"GPU-A", "GPU-B"}


def test_two_servers_on_two_instances_of_one_gpu() -> None:
    first = instance("MIG-1", 2, 0, [process(22, 30 * GIB, 2, 0)])
    second = instance("MIG-2", 5, 0, [process(31, 20 * GIB, 5, 0)])
    for whole in ((), None, [process(22, 30 * GIB, 2, 0), process(31, 20 * GIB, 5, 0)]):
        here = joined(nvml(gpu(0, whole, instances=[first, second])), found((*ONE, *OTHER)), [ONE_UP, OTHER_UP])
        assert links(here) == [("box:8000", "0", "TP0", "MIG-1"), ("box:8001", "0", "TP0", "MIG-2")]
        assert {link.device.parent_uuid for link in here.links} == {"GPU-A"}
        assert here.held == {
            ("GPU-A", Holder.SERVER, "box:8000"): 30 * GIB,
            ("GPU-A", Holder.SERVER, "box:8001"): 20 * GIB,
        }


def test_instances_are_known_from_the_list_of_the_gpu_alone() -> None:
    parts = [instance("MIG-1", 2, 0, None), instance("MIG-2", 5, 0, None)]
    gpus = nvml(gpu(0, [process(22, GIB, 5, 0)], instances=parts))
    assert links(joined(gpus, found(ONE), [ONE_UP])) == [("box:8000", "0", "TP0", "MIG-2")]


def test_a_process_of_an_instance_counts_once_where_lists_leave_out_the_instance() -> None:
    parts = [instance("MIG-1", 2, 0), instance("MIG-2", 5, 0, [process(22, GIB)])]
    here = joined(nvml(gpu(0, [process(22, GIB)], instances=parts)), found(ONE), [ONE_UP])
    assert links(here) == [("box:8000", "0", "TP0", "MIG-2")]
    assert here.held == {("GPU-A", Holder.SERVER, "box:8000"): GIB}


SUPERVISED_PAGES = (target(8130, 300), target(8131, 300))


def test_ranks_with_pages_of_their_own_are_servers_of_their_own() -> None:
    gpus = nvml(gpu(0, [process(321)]), gpu(1, [process(320)]))
    host = found(SUPERVISED, {300: SUPERVISED_PAGES})
    samples = [sample(SUPERVISED_PAGES[0], "0"), sample(SUPERVISED_PAGES[1], "1")]
    expected = [("box:8130", "0", "TP0", "GPU-B"), ("box:8131", "1", "TP0", "GPU-A")]
    assert links(joined(gpus, host, samples)) == expected


def test_ranks_whose_pages_were_never_read_are_known_by_their_place() -> None:
    gpus = nvml(gpu(0, [process(321)]), gpu(1, [process(320)]))
    host = found(SUPERVISED, {300: SUPERVISED_PAGES})
    samples = [sample(SUPERVISED_PAGES[1]), sample(SUPERVISED_PAGES[0], reason=Reason.LOADING)]
    expected = [("box:8130", "0", "TP0", "GPU-B"), ("box:8131", "1", "TP0", "GPU-A")]
    assert links(joined(gpus, host, samples)) == expected


def test_ranks_of_a_second_host_have_places_from_their_first_on() -> None:
    rows = (
        *SUPERVISED[:2],
        (310, 300, ("VLLM::APIServer_DP2",)),
        (311, 300, ("VLLM::APIServer_DP3",)),
        *SUPERVISED[-2:],
    )
    gpus = nvml(gpu(0, [process(320)]), gpu(1, [process(321)]))
    here = joined(gpus, found(rows, {300: SUPERVISED_PAGES}), [sample(page) for page in SUPERVISED_PAGES])
    assert links(here) == [("box:8130", "2", "TP0", "GPU-A"), ("box:8131", "3", "TP0", "GPU-B")]


def test_a_rank_that_is_no_target_is_not_put_to_another_ranks_page() -> None:
    gpus = nvml(gpu(0, [process(321)]), gpu(1, [process(320)]))
    host = found(SUPERVISED, {300: SUPERVISED_PAGES})
    here = joined(gpus, host, [sample(SUPERVISED_PAGES[1], "1")])
    assert links(here) == [("box:8131", "1", "TP0", "GPU-A")]
    assert reasons(here) == {"GPU-B": {"no_target"}}


def test_one_of_several_engines_without_a_name_is_not_guessed() -> None:
    rows = (*ONE[:2], (21, 20, ("VLLM::EngineCore",)), (23, 20, ("VLLM::EngineCore",)))
    gpus = nvml(gpu(0, [process(21)]), gpu(1, [process(23)]))
    here = joined(gpus, found(rows), [sample(target(8000, 20), "0", "1")])
    assert {engine for _, engine, _, _ in links(here)} == {""}


def test_a_server_that_loads_has_the_engine_of_a_server_with_one() -> None:
    gpus = nvml(gpu(0, [process(22)]))
    here = joined(gpus, found(ONE), [sample(target(8000, 20), reason=Reason.LOADING)])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A")]


def test_a_pid_that_a_gone_server_had_is_not_that_servers() -> None:
    gone = sample(target(8009, 20), "0", reason=Reason.GONE)
    assert links(joined(nvml(gpu(0, [process(22)])), found(ONE), [gone, ONE_UP])) == [("box:8000", "0", "TP0", "GPU-A")]


def test_a_worker_that_died_holds_memory_that_is_nobodys() -> None:
    gpus = nvml(gpu(0, [process(22, 30 * GIB)]))
    here = joined(gpus, found(ONE[:3]), [ONE_UP], pids=Pids([20, 21], dead=[22]))
    assert (links(here), reasons(here)) == ([], {})
    assert here.held == {("GPU-A", Holder.DEAD, ""): 30 * GIB}


def test_a_pid_that_went_to_another_process_since_the_look_is_not_the_workers() -> None:
    pids = Pids()
    pids.resolved.here[22] = 9999.0  # type: ignore[index]
    here = joined(nvml(gpu(0, [process(22, GIB)])), found(ONE), [ONE_UP], pids=pids)
    assert links(here) == []
    assert here.held == {("GPU-A", Holder.OTHER, ""): GIB}


@pytest.mark.parametrize(
    ("rows", "pid", "reason"),
    [
        (((40, 1, ("ray::RayWorkerWrapper.execute_method",)),), 40, "ray"),
        (((40, 1, ("ray::ServeReplica:app",)), (41, 40, ("VLLM::EngineCore",))), 41, "ray"),
        (((40, 1, ("VLLM::EngineCore",)), (41, 40, ("VLLM::Worker_TP0",))), 41, "orphaned"),
        (((40, 1, (PYTHON, "batch.py")), (41, 40, ("VLLM::EngineCore",))), 41, "offline"),
        (((40, 1, (PYTHON, "b.py")), (41, 40, ("VLLM::EngineCore",)), (42, 41, ("VLLM::Worker_TP1",))), 42, "offline"),
        (((40, 1, (*SERVE, "--headless")), (41, 40, ("VLLM::EngineCore_DP1",))), 41, "elsewhere"),
        (((40, 1, SERVE), (41, 40, ("VLLM::EngineCore",))), 41, "no_target"),
    ],
)
def test_parts_of_vllm_that_serve_no_target_say_why(rows: tuple[Row, ...], pid: int, reason: str) -> None:
    here = joined(nvml(gpu(0, [process(pid, GIB)])), found((ONE[0], *rows)), [])
    assert (links(here), reasons(here)) == ([], {"GPU-A": {reason}})
    assert here.held == {("GPU-A", Holder.OTHER, ""): GIB}


def test_a_process_of_somebody_else_is_no_question() -> None:
    here = joined(nvml(gpu(0, [process(950)])), found(ONE), [ONE_UP])
    assert (links(here), reasons(here)) == ([], {})


@pytest.mark.parametrize(
    ("used", "utilization", "listed", "reason"),
    [
        (40 * GIB, 0.0, (), "empty_process_list"),
        (0, 0.5, (), "empty_process_list"),
        (None, 0.5, (), "empty_process_list"),
        (40 * GIB, None, None, "no_process_list"),
        (GIB // 2, 0.0, (), None),
        (None, 0.0, None, None),
        (None, None, (), None),
    ],
)
def test_an_empty_list_is_a_question_where_the_gpu_is_in_use(
    used: int | None, utilization: float | None, listed: tuple[()] | None, reason: str | None
) -> None:
    gpus = nvml(gpu(0, listed, used=used, utilization=utilization))
    assert reasons(joined(gpus, found(ONE), [ONE_UP])) == ({} if reason is None else {"GPU-A": {reason}})


def test_in_a_namespace_of_our_own_numbers_that_are_not_believed_say_so() -> None:
    """The number 22 is that of a local worker too."""
    gpus = nvml(gpu(0, [process(22, GIB)]), gpu(1, [], used=9 * GIB), gpu(2))
    here = joined(gpus, found(ONE), [ONE_UP], pids=Pids(own_namespace=True))
    assert (links(here), reasons(here)) == ([], {"GPU-A": {"pid_namespace"}, "GPU-B": {"pid_namespace"}})
    assert here.held == {("GPU-A", Holder.UNSEEN, ""): GIB}


def test_a_process_that_the_system_hides_says_so() -> None:
    here = joined(nvml(gpu(0, [process(4711, GIB)])), found(ONE), [ONE_UP], pids=Pids())
    assert (here.held, reasons(here)) == ({("GPU-A", Holder.UNSEEN, ""): GIB}, {"GPU-A": {"hidden"}})
