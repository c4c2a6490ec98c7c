"""The contract both ways: what the catalogue declares of the exporter is exported, and nothing else is."""

import asyncio
import re
import socket

from tests.exporter.join import looks
from tests.exporter.services import configured, exporter, target
from tests.exporter.vllm.pages import RECORDED, fetched, translator
from tests.servers import answering, closing_after, response, serving, vllm
from vllmwatch.catalog import exporter as catalog
from vllmwatch.catalog import gpu, joined, logs
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.log_tally import LogPlace, LogReading, LogTally
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.page import ConfigState, PageWriter
from vllmwatch.exporter.service import Configured
from vllmwatch.exporter.vllm.translator import TranslatedPage
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.discovery import Discovered
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.sources.logs.state import LogState
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.processes.environment import VisibleDevices
from vllmwatch.sources.xid import NO_XIDS
from vllmwatch.spec.join import HOLDER_MEANINGS, UNMAPPED_MEANINGS, Holder, Unmapped
from vllmwatch.spec.metric import Metric
from vllmwatch.spec.reason import DROP_MEANINGS, REASON_MEANINGS, DropReason, Reason

SAMPLE = re.compile(r"^(vllmwatch_\w+)\{(.*)\} ", re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
PAGE = b"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"
FAULTY = PAGE + b"vllm:num_requests_running 2\nnot a line\n# TYPE odd counter\nodd 1\nvllmwatch_x 1\n"
ODD = PAGE + b"# TYPE odd gauge\nodd 1\n"
ROUTER = b"# TYPE vllm:current_qps gauge\nvllm:current_qps 1\n"


class Vanishing:
    """Discovery that finds a target once."""

    def __init__(self, found: Discovered) -> None:
        self._found = found

    def discover(self) -> Discovered:
        found, self._found = self._found, Discovered(())
        return found


async def pages_of_all_states() -> str:
    """Return the pages of targets in every state that can be had quickly."""
    with (
        serving(vllm(PAGE)) as good,
        serving(answering(response(FAULTY))) as faulty,
        serving(answering(response(ODD))) as odd,
        serving(answering(response(ROUTER))) as router,
        serving(closing_after(b"")) as dead,
    ):
        servers = {"odd": odd, "good": good, "faulty": faulty, "router": router, "dead": dead}
        targets = [target(server.url(), f"{name}:1") for name, server in servers.items()]
        async with exporter(lambda: configured(targets)) as (client, _):
            together = (await client.get("/metrics")).text
        vanishing = Configured(ExporterOptions(node="box"), Vanishing(Discovered(tuple(targets), ("a problem",))))
        async with exporter(lambda: vanishing) as (client, _):
            await client.get("/metrics")
            return together + (await client.get("/metrics")).text


PAGES = asyncio.run(pages_of_all_states())

SERVE = ("vllm", "serve", "m")
HOST = looks.found(
    [
        (20, 1, SERVE),
        (21, 20, ("VLLM::EngineCore",)),
        (30, 1, SERVE),
        (31, 30, ("VLLM::EngineCore",)),
        (40, 1, (*SERVE, "--headless")),
        (41, 40, ("VLLM::EngineCore_DP1",)),
        (51, 1, ("VLLM::EngineCore",)),
        (60, 1, ("python3", "batch.py")),
        (61, 60, ("VLLM::EngineCore",)),
        (71, 1, ("ray::RayWorkerWrapper",)),
    ],
    devices={20: VisibleDevices("0", "void")},
)


def joined_pages() -> str:
    """Return pages with a GPU for every state that the join knows."""
    kinds = [[looks.process(pid)] for pid in (21, 31, 41, 51, 61, 71, 950, 960)]
    gpus = [looks.gpu(at, listed) for at, listed in enumerate(kinds)]
    silent = [looks.gpu(8, None, used=9 * looks.GIB), looks.gpu(9, (), used=9 * looks.GIB)]
    seen = looks.Pids([*HOST.parts], dead=[950])
    sample = looks.sample(looks.target(8000, 20), "0")
    whole = looks.nvml(*gpus, *silent)
    own = looks.nvml(*gpus[:1])
    return _page(whole, looks.joined(whole, HOST, [sample], pids=seen)) + _page(
        own, looks.joined(own, HOST, [sample], pids=looks.Pids(own_namespace=True))
    )


def _page(gpus: NvmlSnapshot, found: Joined) -> str:
    samples = []
    for port, name in ((8000, "vllm_0.32.0_idle"), (8001, "vllm_0.9.2_loaded")):
        page = translator(f"box:{port}").translate(fetched((RECORDED / f"{name}.prom").read_bytes()))
        assert isinstance(page, TranslatedPage)
        samples.append(TargetSample(looks.target(port), Facts(), page, None, "", 0.1))
    collection = Collection(tuple(samples), (), gpus, NO_XIDS, 0.1, 1.0, joined=found)
    options = ExporterOptions(node="box", price_per_gpu_hour=2.5, price_per_kilowatt_hour=0.3)
    return PageWriter(options, 1.0).write(collection, ConfigState(True, 1.0)).decode()


JOINED_PAGES = joined_pages()


def by_name(metrics: tuple[Metric, ...]) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


def test_every_declared_metric_of_the_exporter_is_exported() -> None:
    exported = {name for name, _ in SAMPLE.findall(PAGES)}
    assert exported == by_name(catalog.METRICS).keys()


def test_every_exported_sample_has_the_declared_labels_and_values() -> None:
    declared = by_name(catalog.METRICS)
    for name, text in SAMPLE.findall(PAGES):
        labels = LABEL.findall(text)
        metric = declared[name]
        assert [label for label, _ in labels] == [label.name for label in metric.labels], name
        for (_, value), label in zip(labels, metric.labels, strict=True):
            assert not label.values or value in label.values or value == "", (name, value)


def test_every_declared_metric_of_the_join_is_exported_with_its_labels() -> None:
    declared = by_name(joined.METRICS)
    exported = set()
    for name, text in SAMPLE.findall(JOINED_PAGES):
        if (metric := declared.get(name)) is None:
            assert name in by_name(catalog.METRICS) | by_name(gpu.METRICS), name
            continue
        exported.add(name)
        labels = LABEL.findall(text)
        assert [label for label, _ in labels] == [label.name for label in metric.labels], name
        for (_, value), label in zip(labels, metric.labels, strict=True):
            assert not label.values or value in label.values, (name, value)
    assert exported == declared.keys()


def test_every_reason_holder_and_basis_of_the_join_was_seen() -> None:
    def seen(label: str, name: str) -> set[str]:
        return set(re.findall(rf'^vllmwatch_{name}\{{.*{label}="(\w+)"', JOINED_PAGES, re.MULTILINE))

    assert seen("reason", "gpu_unmapped") == set(Unmapped) == UNMAPPED_MEANINGS.keys()
    assert seen("holder", "gpu_held_memory_bytes") == set(Holder) == HOLDER_MEANINGS.keys()
    assert seen("basis", "engine_kv_cache_size_tokens") == {"reported", "blocks"}


def test_every_drop_reason_and_role_was_seen() -> None:
    dropped = re.findall(r'^vllmwatch_target_dropped_samples\{.*reason="(\w+)"', PAGES, re.MULTILINE)
    assert set(dropped) == set(DropReason)
    roles = re.findall(r'^vllmwatch_target_info\{.*role="(\w*)"', PAGES, re.MULTILINE)
    assert set(roles) == {"server", "router", ""}


def test_every_reason_has_a_meaning() -> None:
    assert REASON_MEANINGS.keys() == set(Reason)
    assert DROP_MEANINGS.keys() == set(DropReason)


def logged_page() -> str:
    """Return a page with a log that was read and one that cannot be."""
    tally = LogTally(LogState())
    tally.begin("box:8000")
    line = LineReader(LOG_CATALOG).read("(Worker pid=1) ERROR 01-01 00:00:00 [a.py:1] CUDA out of memory.")
    tally.count("box:8000", line, line.event, 5.0)
    places = (LogPlace("box:8000", "/a.log", ""), LogPlace("", "/b.log", "no such file or directory"))
    reading = LogReading(places, tally.events, tally.lines, tally.told)
    collection = Collection((), (), None, NO_XIDS, 0.1, 1.0, logs=reading)
    return PageWriter(ExporterOptions(node="box"), 1.0).write(collection, ConfigState(True, 1.0)).decode()


def test_every_declared_metric_of_logs_is_exported_with_its_labels() -> None:
    declared, seen = by_name(logs.METRICS), set()
    for name, text in SAMPLE.findall(logged_page()):
        if (metric := declared.get(name)) is not None:
            seen.add(name)
            labels = LABEL.findall(text)
            assert [label for label, _ in labels] == [label.name for label in metric.labels], name
            for (_, value), label in zip(labels, metric.labels, strict=True):
                assert not label.values or value in label.values, (name, value)
    assert seen == declared.keys()


def test_every_event_and_level_begins_at_0_and_an_unreadable_log_says_so() -> None:
    page = logged_page()
    events = re.findall(
        r'^vllmwatch_log_events_total\{server="box:8000",node="box",event="(\w+)"\} (\S+)$', page, re.MULTILINE
    )
    assert dict(events) == {event: "1" if event == "cuda_out_of_memory" else "0" for event in logs.COUNTED_EVENTS}
    assert re.findall(r'^vllmwatch_log_event_last_timestamp_seconds\{.*event="(\w+)"\} (\S+)$', page, re.MULTILINE) == [
        ("cuda_out_of_memory", "5.0")
    ]
    lines = dict(re.findall(r'^vllmwatch_log_lines_total\{.*level="(\w+)"\} (\S+)$', page, re.MULTILINE))
    assert lines == {"debug": "0", "info": "0", "warning": "0", "error": "1", "critical": "0", "other": "0"}
    readable = re.findall(r'^vllmwatch_log_readable\{.*log="(\S+)"\} (\S+)$', page, re.MULTILINE)
    assert readable == [("/a.log", "1"), ("/b.log", "0")]


def test_no_metric_is_declared_twice() -> None:
    names = [metric.name for metric in (*catalog.METRICS, *gpu.METRICS, *joined.METRICS, *logs.METRICS)]
    assert len(set(names)) == len(names)


def test_every_metric_of_ours_says_on_which_node() -> None:
    for metric in (*catalog.METRICS, *gpu.METRICS, *joined.METRICS, *logs.METRICS):
        assert "node" in {label.name for label in metric.labels}, metric.name


def test_the_fixed_names_are_declared() -> None:
    """Rules and users lean on these names."""
    fixed = """
    gpu_info gpu_up gpu_temperature_celsius gpu_memory_temperature_celsius gpu_temperature_threshold_celsius
    gpu_power_watts gpu_power_instant_watts gpu_power_limit_watts gpu_energy_joules_total gpu_utilization_ratio
    gpu_memory_activity_ratio gpu_memory_used_bytes gpu_memory_free_bytes gpu_memory_reserved_bytes
    gpu_memory_total_bytes gpu_clock_hertz gpu_clock_max_hertz gpu_throttle_active gpu_throttle_seconds_total
    gpu_fan_speed_ratio gpu_ecc_errors_total gpu_row_remap_pending gpu_row_remap_failure gpu_pcie_link_width
    gpu_pcie_link_width_max gpu_nvlink_up gpu_xid_errors_total gpu_xid_last_timestamp_seconds nvml_up target_up
    target_error target_scrape_duration_seconds target_samples target_info build_info
    """
    declared = by_name(catalog.METRICS) | by_name(gpu.METRICS)
    labels = {
        "gpu_temperature_threshold_celsius": "kind",
        "gpu_clock_hertz": "domain",
        "gpu_clock_max_hertz": "domain",
        "gpu_throttle_active": "reason",
        "gpu_throttle_seconds_total": "reason",
        "gpu_fan_speed_ratio": "fan",
        "gpu_nvlink_up": "link",
        "gpu_xid_errors_total": "xid",
        "gpu_xid_last_timestamp_seconds": "xid",
        "target_error": "reason",
    }
    for name in fixed.split():
        names = [label.name for label in declared[f"vllmwatch_{name}"].labels]
        if name.startswith("gpu_"):
            assert {"uuid", "gpu"} <= set(names), name
        if name in labels:
            assert labels[name] in names, name
    ecc = declared["vllmwatch_gpu_ecc_errors_total"].labels
    closed = {label.name: set(label.values) for label in ecc if label.values}
    assert closed == {"kind": {"corrected", "uncorrected"}, "lifetime": {"volatile", "aggregate"}}


def test_a_port_of_nobody_is_refused() -> None:
    """The commonest reason of all, which the pages above lack."""

    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        async with exporter(lambda: configured([target(f"http://127.0.0.1:{port}/metrics")])) as (client, _):
            assert 'reason="refused"} 1\n' in (await client.get("/metrics")).text

    asyncio.run(test())
