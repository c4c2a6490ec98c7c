"""The servers of the boards' world beside the real one: recorded pages of many releases, each in a state of its own."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.exporter.vllm.pages import RECORDED
from tests.real.board_gpus import BROKEN, HOT, INSTANCES, LOST, MODULE, NARROW, OLD, SHARED
from tests.real.moving_pages import MovingPage, moving
from tests.servers import Server, answering, response

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
USAGE = "vllm:kv_cache_usage_perc"
FLOPS = "vllm:estimated_flops_per_gpu_total"
READ = "vllm:estimated_read_bytes_per_gpu_total"
WRITTEN = "vllm:estimated_write_bytes_per_gpu_total"
PREEMPTIONS = "vllm:num_preemptions_total"
WORK = {FLOPS: 2e14, READ: 8e11, WRITTEN: 2e11}
MODEL = "org/Name.7B"
PATH_MODEL = "/models/Llama 3 (8B)"
GONE_MODEL = "org/gone"


@dataclass(frozen=True, slots=True)
class StandIn:
    """A server that gives a recorded page: the file's middle name, its model, and its state.

    `share`, `gauges`, `steps` and `fill` are those of MovingPage; `changes` are texts of the page that are put
    otherwise; `gpus` are what the configuration maps it to.
    """

    name: str
    page: str
    model: str
    share: float = 0.2
    gauges: Mapping[str, float] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    fill: float = 0.0
    changes: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()
    node: str = "gpu-1"

    def moving(self) -> MovingPage:
        """Return its page."""
        text = (RECORDED / f"vllm_{self.page}.prom").read_text()
        for old, new in {"org/tiny": self.model, **self.changes}.items():
            assert old in text, f"{self.page} has no {old}"
            text = text.replace(old, new)
        return MovingPage(text, share=self.share, gauges=self.gauges, steps=self.steps, fill=self.fill)


def _finished(reason: str) -> str:
    return f'vllm:request_success_total{{finished_reason="{reason}"}}'


def _devices(*indices: int) -> tuple[str, ...]:
    return tuple(map(str, indices))


STAND_INS: tuple[StandIn, ...] = (
    # Everything that vLLM can tell: speculation, transfer between servers, tiers below the GPU, three GPUs an engine.
    StandIn(
        "rich",
        "0.33.0_registry_connectors",
        MODEL,
        share=1.0,
        steps={**WORK, PREEMPTIONS: 1.0, _finished("error"): 0.0},
        fill=2.0,
        gpus=_devices(HOT, NARROW, BROKEN),
    ),
    StandIn(
        "twin",
        "0.33.0_registry",
        MODEL,
        share=1.0,
        steps={**WORK, _finished("error"): 0.0},
        fill=0.1,
        node="gpu-2",
        gpus=("0",),
    ),
    StandIn("other", "0.32.0_loaded", PATH_MODEL, node="gpu-2", steps=WORK, gpus=("1",)),
    # The same model by another release.
    StandIn("older", "0.20.2_loaded", MODEL, gpus=_devices(SHARED)),
    StandIn("oldest", "0.6.6_registry_one_process", "org/old", share=1.0, gpus=INSTANCES[1:]),
    StandIn("old", "0.10.2_loaded", "org/old", gpus=INSTANCES[:1]),
    # A full cache and a growing queue; one that fills up.
    StandIn(
        "full",
        "0.32.0_kv_pressure",
        "org/full",
        gauges={RUNNING: 3, WAITING: 25, USAGE: 0.995},
        steps={WAITING: 0.5, PREEMPTIONS: 1.0},
    ),
    StandIn("filling", "0.32.0_loaded", PATH_MODEL, gauges={USAGE: 0.82}, steps={USAGE: 0.0005}),
    # Two engines, requests that end in errors, and answers of 5xx; one of its GPUs is lost.
    StandIn(
        "erring",
        "0.32.0_data_parallel_2",
        "org/erring",
        steps={_finished("error"): 1.0, 'http_requests_total{status="5xx"}': 1.0, **WORK},
        changes={'status="4xx"': 'status="5xx"'},
        gpus=_devices(LOST, MODULE),
    ),
    StandIn("rejecting", "0.32.0_loaded", "org/full", steps={"vllm:admission_rejections_total": 3.0}),
    StandIn("aborting", "0.30.0_loaded", "org/aborting", steps={_finished("abort"): 4.0}),
    # Slower than every objective: what ended within the objective grows no more.
    StandIn(
        "slow",
        "0.32.0_loaded",
        "org/slow",
        share=1.0,
        steps={
            f'{histogram}_bucket{{le="{edge}"}}': 0.0
            for histogram, edge in (
                ("vllm:e2e_request_latency_seconds", "2.0"),
                ("vllm:time_to_first_token_seconds", "2.5"),
                ("vllm:inter_token_latency_seconds", "0.1"),
                ("vllm:request_queue_time_seconds", "1.0"),
            )
        },
    ),
    StandIn("stuck", "0.28.0_loaded", "org/stuck", share=0.0, gauges={RUNNING: 3, WAITING: 2}, gpus=_devices(SHARED)),
    StandIn("stalled", "0.24.0_loaded", "org/stuck", share=0.0, gauges={RUNNING: 0, WAITING: 4}),
    StandIn("idle", "0.32.0_idle", "org/idle", share=0.0, gpus=_devices(OLD)),
    StandIn(
        "asleep",
        "0.31.0_registry",
        "org/asleep",
        share=0.0,
        gauges={
            RUNNING: 0,
            WAITING: 2,
            'vllm:engine_sleep_state{sleep_state="awake"}': 0,
            'vllm:engine_sleep_state{sleep_state="weights_offloaded"}': 1,
        },
    ),
    StandIn("restarting", "0.29.0_registry", "org/restarting", share=1.0),
    # Its page lacks the use of the KV cache and the edge of an objective, and has a line that no one can read.
    StandIn(
        "bare",
        "0.14.1_loaded",
        "org/bare",
        changes={USAGE: "vllm:renamed_perc", 'le="2.0"': 'le="2.2"', "python_info{": "broken{{"},
    ),
    # All servers of one model; they go away.
    StandIn("gone-a", "0.32.0_idle", GONE_MODEL),
    StandIn("gone-b", "0.32.0_idle", GONE_MODEL),
)


class Servers:
    """The running stand-ins, a server that is a web page, and an address on which nobody ever listened."""

    def __init__(self, running: ExitStack) -> None:
        self.pages = {each.name: each.moving() for each in STAND_INS}
        self._servers = {
            each.name: Server(moving(self.pages[each.name], each.page.partition("_")[0])) for each in STAND_INS
        }
        html = Server(answering(response(b"<html>Sign in</html>", content_type="text/html")))
        nobody = Server(answering(b""))
        nobody.close()
        self._others = {"web": html, "never": nobody}
        for server in (*self._servers.values(), html):
            running.callback(server.close)

    def targets(self, node: str) -> list[dict[str, str]]:
        """Return the entries of `targets` of a node's exporter."""
        named = {each.name: self._servers[each.name] for each in STAND_INS if each.node == node}
        others = self._others if node == "gpu-1" else {}
        return [{"url": server.url(), "server": f"{node}:{name}"} for name, server in (named | others).items()]

    def mappings(self, node: str) -> list[dict[str, object]]:
        """Return the entries of `servers` of a node's exporter."""
        mapped = [each for each in STAND_INS if each.node == node and each.gpus]
        return [{"url": self._servers[each.name].url(), "gpus": list(each.gpus)} for each in mapped]

    def leave(self) -> None:
        """Let all servers of one model go away."""
        for name in ("gone-a", "gone-b"):
            self._servers[name].close()

    def restart(self) -> None:
        """Restart the server that is restarted over and over."""
        self.pages["restarting"].restart()
