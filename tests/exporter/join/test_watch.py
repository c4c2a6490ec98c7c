"""The join over time: when it is made anew, and what is remembered of GPUs that are lost."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.exporter.join.looks import GIB, Pids, found, gpu, links, lost, nvml, process, sample, target
from tests.sources.processes.tables import SERVE, Row
from vllmwatch.exporter.join.watch import JoinWatch
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.processes.pids import ResolvedPids
from vllmwatch.sources.target import ServerGpus

TWO: tuple[Row, ...] = (
    (20, 1, (*SERVE, "--port", "8000", "-tp", "2")),
    (21, 20, ("VLLM::EngineCore",)),
    (22, 21, ("VLLM::Worker_TP0",)),
    (23, 21, ("VLLM::Worker_TP1",)),
)
HOST = found(TWO)
UP = [sample(target(8000, 20), "0")]
FIRST, SECOND, THIRD = gpu(0, [process(22, GIB)]), gpu(1, [process(23, GIB)]), gpu(2)
WHOLE = nvml(FIRST, SECOND, THIRD)
CARRIED = ("box:8000", "0", "TP1", "GPU-B")


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def pids() -> Pids:
    return Pids([*HOST.parts])


@pytest.fixture
def watch(clock: Time, pids: Pids) -> JoinWatch:
    return JoinWatch((), pids, clock=clock)


def silent() -> NvmlSnapshot:
    return replace(WHOLE, up=False, gpus=tuple(map(lost, WHOLE.gpus)))


def test_a_join_is_made_anew_when_something_that_it_rests_on_changed(watch: JoinWatch, pids: Pids) -> None:
    for look in (WHOLE, nvml(FIRST, SECOND, THIRD)):
        assert len(watch.join(look, HOST, UP).links) == 2
    assert pids.asked == 1, "a look that shows the same"
    watch.join(nvml(FIRST, gpu(1, [process(23, 2 * GIB)]), THIRD), HOST, UP)
    watch.join(nvml(FIRST, gpu(1, []), THIRD), HOST, UP)
    watch.join(nvml(FIRST, gpu(1, [], used=9 * GIB), THIRD), HOST, UP)
    assert pids.asked == 4, "other processes, other memory, a GPU in use"
    watch.join(nvml(FIRST, gpu(1, [], used=10 * GIB), THIRD), HOST, UP)
    assert pids.asked == 4, "how much a GPU is used is of no interest"
    watch.join(WHOLE, found(TWO), UP)
    watch.join(WHOLE, found(TWO), [sample(target(8000, 20), "0", "1")])
    assert pids.asked == 6, "another look at the host, other engines"


def test_a_change_of_engines_alone_shows_in_the_join(watch: JoinWatch) -> None:
    host = found([(20, 1, SERVE), (21, 20, ("VLLM::EngineCore",))])
    look = nvml(gpu(0, [process(21)]))
    assert links(watch.join(look, host, [sample(target(8000, 20))])) == [("box:8000", "0", "TP0", "GPU-A")]
    assert links(watch.join(look, host, [sample(target(8000, 20), "3")])) == [("box:8000", "3", "TP0", "GPU-A")]


def test_a_lost_gpu_keeps_its_engine_for_an_hour_and_no_longer(watch: JoinWatch, clock: Time) -> None:
    watch.join(WHOLE, HOST, UP)
    without = nvml(FIRST, lost(SECOND), THIRD)
    for seconds in (15, 3600):
        clock.now = 1000 + seconds
        assert CARRIED in links(watch.join(without, HOST, UP)), seconds
    clock.now = 1000 + 3601
    assert links(watch.join(without, HOST, UP)) == [("box:8000", "0", "TP0", "GPU-A")]


def test_a_gpu_that_the_driver_no_longer_counts_is_lost_too(watch: JoinWatch, clock: Time) -> None:
    watch.join(WHOLE, HOST, UP)
    clock.now += 60
    assert CARRIED in links(watch.join(nvml(FIRST, THIRD), HOST, UP))


def test_a_lost_gpu_keeps_a_worker_without_a_rank_beside_others_like_it(watch: JoinWatch, pids: Pids) -> None:
    """Releases before 0.10 give their processes no titles."""
    rows: tuple[Row, ...] = ((20, 1, SERVE), (22, 20, ("python3", "-c", "spawn")), (23, 20, ("python3", "-c", "spawn")))
    host = found(rows)
    assert [uuid for *_, uuid in links(watch.join(WHOLE, host, UP))] == ["GPU-A", "GPU-B"]
    here = links(watch.join(nvml(FIRST, lost(SECOND), THIRD), host, UP))
    assert here == [("box:8000", "0", "", "GPU-A"), ("box:8000", "0", "", "GPU-B")]


def test_a_lost_gpu_that_the_configuration_names_is_there_once(clock: Time, pids: Pids) -> None:
    mapping = ServerGpus("http://far:8000/metrics", "far:8000", ("GPU-B",))
    mapped = JoinWatch((mapping,), pids, clock=clock)
    alone = gpu(1, None, used=9 * GIB)
    for look in (nvml(FIRST, alone), nvml(FIRST, lost(alone)), nvml(lost(gpu(0, uuid="GPU-B")))):
        assert [link for link in links(mapped.join(look, HOST, [])) if link[0] == "far:8000"] == [
            ("far:8000", "0", "", "GPU-B")
        ]


def test_a_lost_gpu_keeps_its_engine_when_the_server_has_ended(watch: JoinWatch) -> None:
    watch.join(WHOLE, HOST, UP)
    assert links(watch.join(nvml(gpu(0), lost(SECOND), THIRD), found([]), [])) == [CARRIED]


def test_a_lost_gpu_loses_its_engine_to_the_gpu_that_carries_it_now(watch: JoinWatch) -> None:
    watch.join(WHOLE, HOST, UP)
    moved = nvml(FIRST, lost(SECOND), gpu(2, [process(23, GIB)]))
    assert ("box:8000", "0", "TP1", "GPU-C") in links(watch.join(moved, HOST, UP))
    assert CARRIED not in links(watch.join(moved, HOST, UP))


def test_a_gpu_that_is_back_without_its_worker_carries_nothing(watch: JoinWatch) -> None:
    watch.join(WHOLE, HOST, UP)
    watch.join(nvml(FIRST, lost(SECOND), THIRD), HOST, UP)
    back = nvml(FIRST, gpu(1), THIRD)
    assert links(watch.join(back, HOST, UP)) == [("box:8000", "0", "TP0", "GPU-A")]
    assert CARRIED not in links(watch.join(nvml(FIRST, lost(SECOND), THIRD), HOST, UP))


def test_all_gpus_keep_their_engines_while_the_driver_does_not_answer(watch: JoinWatch) -> None:
    before = links(watch.join(WHOLE, HOST, UP))
    assert links(watch.join(silent(), HOST, UP)) == before
    assert watch.join(silent(), HOST, UP).held == {}


def test_what_was_carried_is_known_to_the_watch_that_takes_over(watch: JoinWatch, clock: Time, pids: Pids) -> None:
    watch.join(WHOLE, HOST, UP)
    clock.now += 1800
    next_watch = JoinWatch((), pids, remembered=watch.remembered(), clock=clock)
    without = nvml(FIRST, lost(SECOND), THIRD)
    assert CARRIED in links(next_watch.join(without, HOST, UP))
    clock.now += 1801
    assert CARRIED not in links(next_watch.join(without, HOST, UP))


def test_a_fault_of_the_join_costs_the_join_alone(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(Pids):
        def resolve(self, numbers: frozenset[int], known: Mapping[int, float]) -> ResolvedPids:
            raise RuntimeError("boom")

    here = JoinWatch((), Faulty()).join(WHOLE, HOST, UP)
    assert (here.links, here.notes) == ((), ("the join failed: RuntimeError: boom",))
    assert "could not be joined" in caplog.text
