"""What the configuration and servers' environments say where processes cannot."""

import time
from collections.abc import Mapping

from tests.exporter.join.looks import (
    GIB,
    Pids,
    found,
    gpu,
    instance,
    joined,
    links,
    lost,
    nvml,
    process,
    reasons,
    sample,
    target,
)
from tests.sources.processes.tables import SERVE, SUPERVISED, Row
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.processes import Found
from vllmwatch.sources.processes.environment import VisibleDevices
from vllmwatch.sources.target import ServerGpus, Target

NOBODY = found([(1, 0, ("/sbin/init",))])
BLIND = Pids(own_namespace=True)
FOREIGN = nvml(*(gpu(at, [process(4000 + at, GIB)], used=9 * GIB) for at in range(3)))


def mapping(server: str, *gpus: str, url: str = "") -> ServerGpus:
    return ServerGpus(url or f"http://{server}/metrics", server, gpus)


def mapped(snapshot: NvmlSnapshot, *mappings: ServerGpus, samples: tuple[TargetSample, ...] = ()) -> Joined:
    return joined(snapshot, NOBODY, samples, mappings=mappings, pids=BLIND)


def test_a_mapping_fills_in_where_processes_cannot_be_seen() -> None:
    up = sample(target(8000), "0")
    here = mapped(FOREIGN, mapping("box:8000", "GPU-B", "0"), samples=(up,))
    assert links(here) == [("box:8000", "0", "", "GPU-A"), ("box:8000", "0", "", "GPU-B")]
    assert reasons(here) == {"GPU-C": {"pid_namespace"}}
    assert here.notes == ()


def test_a_mapping_gives_engines_their_gpus_in_order() -> None:
    up = sample(target(8000), "10", "2")
    gpus = nvml(*(gpu(at, None, used=9 * GIB) for at in range(4)))
    here = mapped(gpus, mapping("box:8000", "GPU-D", "GPU-C", "GPU-B", "GPU-A"), samples=(up,))
    assert sorted(links(here)) == [
        ("box:8000", "10", "", "GPU-A"),
        ("box:8000", "10", "", "GPU-B"),
        ("box:8000", "2", "", "GPU-C"),
        ("box:8000", "2", "", "GPU-D"),
    ]
    assert reasons(here) == {}


def test_engines_that_do_not_divide_the_gpus_are_not_guessed() -> None:
    for engines, names in ((("0", "1"), "ABC"), (("0", "1"), "A")):
        here = mapped(
            FOREIGN, mapping("box:8000", *(f"GPU-{name}" for name in names)), samples=(sample(target(8000), *engines),)
        )
        assert links(here) == [("box:8000", "", "", f"GPU-{name}") for name in names]


def test_a_mapping_of_a_name_that_is_no_gpu_says_so() -> None:
    (note,) = mapped(FOREIGN, mapping("box:8000", "GPU-A", "17", url="http://me/metrics?key=s3cret")).notes
    assert note == "servers: http://me/metrics: there is no GPU '17' on this host"


def test_a_mapping_names_the_server_of_workers_whose_api_server_is_elsewhere() -> None:
    rows: tuple[Row, ...] = ((40, 1, (*SERVE, "--headless")), (41, 40, ("VLLM::EngineCore_DP1",)))
    gpus = nvml(gpu(0, [process(41, GIB)]))
    here = joined(gpus, found(rows), [], mappings=[mapping("head:8000", "GPU-A")])
    assert (links(here), reasons(here)) == ([("head:8000", "0", "", "GPU-A")], {})


def test_a_mapping_leaves_what_it_does_not_answer() -> None:
    gpus = nvml(gpu(0, [process(41, GIB)]))
    here = joined(gpus, found([(41, 1, ("VLLM::EngineCore",))]), [], mappings=[mapping("head:8000", "GPU-A")])
    assert (links(here), reasons(here)) == ([("head:8000", "0", "", "GPU-A")], {"GPU-A": {"orphaned"}})


def test_a_mapping_to_an_instance_is_of_the_instance() -> None:
    parts = [instance("MIG-1", 2, 0, None), instance("MIG-2", 5, 0, None)]
    here = mapped(nvml(gpu(0, None, used=30 * GIB, instances=parts)), mapping("box:8000", "MIG-2"))
    assert links(here) == [("box:8000", "0", "", "MIG-2")]
    assert reasons(here) == {}


def test_a_mapping_finds_its_server_under_every_name_of_this_host() -> None:
    named = sample(Target("http://127.0.0.1:8000/metrics", "chat", "box", target(8000).origin), "3")
    here = mapped(FOREIGN, mapping("box:8000", "GPU-A", url="http://localhost:8000/metrics"), samples=(named,))
    assert links(here) == [("chat", "3", "", "GPU-A")]
    here = mapped(FOREIGN, mapping("box:8001", "GPU-A", url="http://localhost:8001/metrics"), samples=(named,))
    assert links(here) == [("box:8001", "0", "", "GPU-A")]


ONE: tuple[Row, ...] = (
    (20, 1, (*SERVE, "--port", "8000")),
    (21, 20, ("VLLM::EngineCore",)),
    (22, 21, ("VLLM::Worker",)),
)
ONE_UP = sample(target(8000, 20), "0")


def test_a_mapping_against_what_the_processes_of_its_server_say_is_left_aside() -> None:
    gpus = nvml(gpu(0, [process(22)]), gpu(1))
    here = joined(gpus, found(ONE), [ONE_UP], mappings=[mapping("box:8000", "GPU-B")])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A")]
    assert here.notes == (
        "servers: http://box:8000/metrics: it is on GPU-A by its processes, not on GPU-B; the mapping is left aside",
    )


def test_a_mapping_that_says_what_the_processes_say_is_silent() -> None:
    gpus = nvml(gpu(0, [process(22)]), gpu(1))
    here = joined(gpus, found(ONE), [ONE_UP], mappings=[mapping("box:8000", "GPU-A")])
    assert (links(here), here.notes) == ([("box:8000", "0", "TP0", "GPU-A")], ())


def test_a_mapping_to_a_gpu_that_another_server_has_by_its_processes_is_left_aside() -> None:
    here = joined(nvml(gpu(0, [process(22)])), found(ONE), [ONE_UP], mappings=[mapping("far:8000", "GPU-A")])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A")]
    assert here.notes == (
        "servers: http://far:8000/metrics: GPU-A carries box:8000 by its processes; the mapping is left aside",
    )


def test_a_mapping_to_a_gpu_that_is_shared_with_workers_from_elsewhere_is_believed() -> None:
    rows = (*ONE, (40, 1, (*SERVE, "--headless")), (41, 40, ("VLLM::EngineCore_DP1",)))
    gpus = nvml(gpu(0, [process(22), process(41)]))
    here = joined(gpus, found(rows), [ONE_UP], mappings=[mapping("far:8000", "GPU-A")])
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A"), ("far:8000", "0", "", "GPU-A")]
    assert (reasons(here), here.notes) == ({}, ())


def test_a_thousand_mappings_hold_up_no_scrape() -> None:
    """Each looks for its server by another name of the host, as the slowest way is."""
    names = [f"box:{1000 + number}" for number in range(1000)]
    up = tuple(sample(target(1000 + number), "0") for number in range(1000))
    mappings = [mapping(f"other:{at}", "0", url=f"http://[::1]:{1000 + at}/metrics") for at in range(1000)]
    begun = time.process_time()
    here = mapped(FOREIGN, *mappings, samples=up)
    assert time.process_time() - begun < 3
    assert [link.server for link in here.links] == sorted(names)


def test_two_mappings_may_share_a_gpu() -> None:
    here = mapped(FOREIGN, mapping("box:8000", "GPU-A"), mapping("box:8001", "GPU-A"))
    assert [server for server, *_ in links(here)] == ["box:8000", "box:8001"]


def in_our_container(
    variables: Mapping[int, VisibleDevices], *rows: Row, samples: tuple[TargetSample, ...] = (ONE_UP,)
) -> Joined:
    """Join where servers can be seen and the driver's numbers are those of the host."""
    host = found(rows or ONE, {300: (target(8130, 300), target(8131, 300))}, variables)
    return joined(FOREIGN, host, samples, pids=BLIND)


def shared(cuda: str | None, order: str | None = None) -> VisibleDevices:
    return VisibleDevices(cuda, None, order, shared_view=True)


def test_an_environment_fills_in_where_processes_cannot_be_told() -> None:
    here = in_our_container({20: shared("GPU-B")})
    assert links(here) == [("box:8000", "0", "TP0", "GPU-B")]
    assert reasons(here) == {"GPU-A": {"pid_namespace"}, "GPU-C": {"pid_namespace"}}


def test_an_environment_names_ranks_by_the_flags() -> None:
    rows: tuple[Row, ...] = ((20, 1, (*SERVE, "-tp", "2", "-pp", "1", "--port", "8000")),)
    assert links(in_our_container({20: shared("2,1,0")}, *rows)) == [
        ("box:8000", "0", "TP0", "GPU-A"),
        ("box:8000", "0", "TP1", "GPU-C"),
    ]
    rows = ((20, 1, (*SERVE, "-tp", "1", "-pp", "3", "--port", "8000")),)
    assert [(rank, uuid) for *_, rank, uuid in links(in_our_container({20: shared("0,1,2")}, *rows))] == [
        ("PP0_TP0", "GPU-B"),
        ("PP1_TP0", "GPU-C"),
        ("PP2_TP0", "GPU-A"),
    ]


def test_an_environment_that_leaves_a_choice_fills_in_nothing() -> None:
    assert links(in_our_container({20: shared(None)})) == []
    assert links(in_our_container({20: VisibleDevices(nvidia="1,2", shared_view=True)})) == []
    rows: tuple[Row, ...] = ((20, 1, (*SERVE, "-tp", "3")),)
    assert len(links(in_our_container({20: shared(None)}, *rows))) == 3


def test_an_environment_with_fewer_gpus_than_the_server_takes_fills_in_nothing() -> None:
    assert links(in_our_container({20: shared("0,1")}, (20, 1, (*SERVE, "-tp", "4")))) == []
    assert links(in_our_container({20: shared("")})) == []


def test_an_environment_is_silent_where_the_lists_can_be_read() -> None:
    gpus = nvml(gpu(0), gpu(1, [process(950)]), gpu(2))
    here = joined(gpus, found(ONE, None, {20: shared("GPU-B")}), [ONE_UP])
    assert (links(here), reasons(here)) == ([], {})


def test_an_environment_whose_gpu_nobody_uses_is_not_believed() -> None:
    gpus = nvml(gpu(0, [], used=9 * GIB), gpu(1))
    host = found(ONE, None, {20: shared("GPU-B")})
    assert links(joined(gpus, host, [ONE_UP])) == []
    host = found(ONE, None, {20: shared("GPU-A")})
    here = joined(gpus, host, [ONE_UP])
    assert (links(here), reasons(here)) == ([("box:8000", "0", "TP0", "GPU-A")], {})


def test_an_environment_of_which_a_gpu_tells_otherwise_is_not_believed() -> None:
    host = found(((20, 1, (*SERVE, "-tp", "2")),), None, {20: shared("GPU-A,GPU-B")})
    assert links(joined(nvml(gpu(0, [], used=9 * GIB), gpu(1)), host, [ONE_UP])) == []


def test_an_environment_goes_on_to_tell_when_one_of_its_gpus_is_lost() -> None:
    host = found(((20, 1, (*SERVE, "-tp", "2")),), None, {20: shared("GPU-A,GPU-B")})
    gpus = nvml(FOREIGN.gpus[0], lost(FOREIGN.gpus[1]), FOREIGN.gpus[2])
    here = joined(gpus, host, [ONE_UP], pids=BLIND)
    assert links(here) == [("box:8000", "0", "TP0", "GPU-A"), ("box:8000", "0", "TP1", "GPU-B")]
    assert reasons(here) == {"GPU-C": {"pid_namespace"}}


def test_an_environment_whose_numbers_tell_nothing_says_so_of_gpus_that_nobody_else_answers() -> None:
    rows: tuple[Row, ...] = (*ONE, (30, 1, (*SERVE, "--port", "8001")))
    both = (ONE_UP, sample(target(8001, 30), "0"))
    here = in_our_container({20: VisibleDevices("0", "void"), 30: shared("GPU-A")}, *rows, samples=both)
    assert links(here) == [("box:8001", "0", "TP0", "GPU-A")]
    assert reasons(here) == {
        "GPU-B": {"pid_namespace", "device_order"},
        "GPU-C": {"pid_namespace", "device_order"},
    }


def test_an_environment_of_ranks_with_pages_of_their_own_is_spread_over_them() -> None:
    pages = (sample(target(8131, 300), "1"), sample(target(8130, 300), "0"))
    assert links(in_our_container({300: shared("0,1")}, *SUPERVISED, samples=pages)) == [
        ("box:8130", "0", "TP0", "GPU-B"),
        ("box:8131", "1", "TP0", "GPU-C"),
    ]


def test_the_configuration_wins_over_the_environment() -> None:
    host: Found = found(ONE, None, {20: shared("GPU-B")})
    here = joined(FOREIGN, host, [ONE_UP], mappings=[mapping("box:8000", "GPU-C")], pids=BLIND)
    assert links(here) == [("box:8000", "0", "", "GPU-C")]
