"""The fleet as data."""

from tests.exporter.vllm.pages import translate
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.figures.reckoner import FleetFigures, Reckoner
from vllmwatch.exporter.fleet import EngineState, Fleet, fleet_of
from vllmwatch.exporter.http_sd import http_sd
from vllmwatch.exporter.vllm.translator import TranslatedPage
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.nvml.snapshot import GpuIdentity, GpuSnapshot, NvmlSnapshot
from vllmwatch.sources.target import Access, Origin, Target
from vllmwatch.sources.xid import NO_XIDS
from vllmwatch.spec.reason import Reason


def sample(
    page: TranslatedPage | None, reason: Reason | None = None, url: str = "http://h:8000/metrics"
) -> TargetSample:
    target = Target(url, "h:8000", "h", Origin.STATIC, Access(bearer_token="secret"))
    return TargetSample(target, Facts(model_name="org/m"), page, reason, "", 0.1)


def fleet(*samples: TargetSample, gpus: NvmlSnapshot | None = None) -> Fleet:
    return fleet_of(Collection(samples, ("a problem",), gpus, NO_XIDS, 0.1, 1000.0), "box", FleetFigures())


def engines(page: str) -> list[EngineState]:
    (server,) = fleet(sample(translate(page))).servers
    return server.engines


def test_each_engine_has_its_own_figures() -> None:
    page = "# TYPE vllm:num_requests_running gauge\n# TYPE vllm:kv_cache_usage_perc gauge\n"
    for engine, running, usage in (("0", 2, 0.05), ("1", 250, 0.99)):
        page += f'vllm:num_requests_running{{engine="{engine}"}} {running}\n'
        page += f'vllm:kv_cache_usage_perc{{engine="{engine}"}} {usage}\n'
    assert engines(page) == [EngineState("0", "", 2, None, 0.05), EngineState("1", "", 250, None, 0.99)]


def test_processes_of_one_engine_add_up_in_counts_and_not_in_ratios() -> None:
    page = "# TYPE vllm:num_requests_waiting gauge\n# TYPE vllm:kv_cache_usage_perc gauge\n"
    for pid in (7, 8):
        page += f'vllm:num_requests_waiting{{engine="0",pid="{pid}"}} 3\n'
        page += f'vllm:kv_cache_usage_perc{{engine="0",pid="{pid}"}} 0.{pid}\n'
    assert engines(page) == [EngineState("0", "", None, 6, 0.8)]


def test_models_that_share_the_number_of_an_engine_are_told_apart_whatever_their_names() -> None:
    """So it is on a page of Ray's with the metrics of several applications."""
    page = "# TYPE vllm:num_requests_running gauge\n"
    for name, running in (("org/a", 3), (r"mod\"\\el\n日本", 5)):
        page += f'vllm:num_requests_running{{engine="0",model_name="{name}"}} {running}\n'
    collection = Collection((sample(translate(page)),), (), None, NO_XIDS, 0.1, 1000.0)
    reckoner = Reckoner()
    reckoner.observe(collection)
    (server,) = fleet_of(collection, "box", reckoner.figures()).servers
    told = [(each.engine, each.model_name, each.requests_running, each.figures) for each in server.engines]
    assert told == [
        ("0", "org/a", 3, {"requests_running:max": 3}),
        ("0", 'mod"\\el\n日本', 5, {"requests_running:max": 5}),
    ]
    assert server.figures["requests_running:sum"] == 8


def test_what_is_not_a_number_is_not_known() -> None:
    page = "# TYPE vllm:kv_cache_usage_perc gauge\n" + 'vllm:kv_cache_usage_perc{engine="0"} NaN\n'
    page += 'vllm:kv_cache_usage_perc{engine="1"} +Inf\n'
    assert engines(page) == []


def test_a_server_that_is_down_has_its_reason_and_what_is_known() -> None:
    (server,) = fleet(sample(None, Reason.REFUSED, "http://h:8000/metrics?token=secret")).servers
    assert (server.up, server.reason, server.model_name, server.engines) == (False, "refused", "org/m", [])
    assert "secret" not in repr(server)


def test_gpus_that_are_lost_are_shown_without_figures() -> None:
    lost = NvmlSnapshot(True, None, (GpuSnapshot(GpuIdentity("GPU-1", 3, "H100"), up=False),), 0, "590", "13", 0.1)
    state = fleet(gpus=lost)
    (gpu,) = state.gpus
    assert (gpu.uuid, gpu.index, gpu.name, gpu.up, gpu.temperature_celsius) == ("GPU-1", 3, "H100", False, None)
    assert state.nvml.up
    assert state.problems == ["a problem"]
    assert fleet().nvml.reason == "disabled"


def test_discovery_for_prometheus_leaves_out_the_gone_and_the_secret() -> None:
    groups = http_sd([sample(None, Reason.GONE), sample(None, Reason.REFUSED, "https://[::1]/vllm/metrics")], None)
    assert [group["targets"] for group in groups] == [["[::1]:443"]]
    assert "secret" not in repr(groups)
