"""Which of a page's values figures are made of, decided once for pages of the same series."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vllmwatch.catalog.latencies import LATENCIES
from vllmwatch.catalog.objectives import Objective
from vllmwatch.exporter.vllm.plan import PagePlan, picker
from vllmwatch.sources.vllm.text import read_sample

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
KV_USAGE = "vllm:kv_cache_usage_perc"
AWAKE = "vllm:engine_sleep_state"
FINISHED = "vllm:request_success_total"
FIRST_TOKENS = "vllm:time_to_first_token_seconds_count"
PROMPT_TOKENS = "vllm:prompt_tokens_total"
GENERATION_TOKENS = "vllm:generation_tokens_total"
CACHED_TOKENS = "vllm:prompt_tokens_cached_total"
TOKENS_BY_SOURCE = "vllm:prompt_tokens_by_source_total"
PREFIX_HITS = "vllm:prefix_cache_hits_total"
PREFIX_QUERIES = "vllm:prefix_cache_queries_total"
PREEMPTIONS = "vllm:num_preemptions_total"
STEPS = "vllm:iteration_tokens_total_count"
FLOPS = "vllm:estimated_flops_per_gpu_total"
BYTES_READ = "vllm:estimated_read_bytes_per_gpu_total"
BYTES_WRITTEN = "vllm:estimated_write_bytes_per_gpu_total"
REJECTIONS = "vllm:admission_rejections_total"
HTTP_REQUESTS = "http_requests_total"
START = "process_start_time_seconds"
CACHE_CONFIGURATION = "vllm:cache_config_info"
# Not a metric of vLLM's: whether the target was up.
UP = "up"

# The labels beyond engine and model that tell a metric's series apart, where figures need them.
_WANTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((RUNNING, WAITING, KV_USAGE, PROMPT_TOKENS, GENERATION_TOKENS, CACHED_TOKENS), ()),
    **dict.fromkeys((PREFIX_HITS, PREFIX_QUERIES, PREEMPTIONS, STEPS, FLOPS, BYTES_READ, BYTES_WRITTEN, START), ()),
    AWAKE: ("sleep_state",),
    FINISHED: ("finished_reason",),
    TOKENS_BY_SOURCE: ("source",),
    REJECTIONS: ("reason",),
    HTTP_REQUESTS: ("handler", "method", "status"),
    **{f"{latency.metric}_bucket": ("le",) for latency in LATENCIES},
    **{f"{latency.metric}_count": () for latency in LATENCIES},
}
_FAMILIES = frozenset(
    name.removesuffix("_bucket").removesuffix("_count") if name not in {FINISHED, PREEMPTIONS} else name
    for name in _WANTED
)
# What must be the same on all servers of a model: catalog/recordings/health.py, CONFIGURATION.
_CONFIGURATION = ("block_size", "cache_dtype", "enable_prefix_caching", "gpu_memory_utilization")

# Of these there are figures over more than a quarter of an hour.
_LONG = frozenset({UP, RUNNING, PROMPT_TOKENS, GENERATION_TOKENS, START})


@dataclass(frozen=True, slots=True)
class Key:
    """A series: metric, engine and model (empty where it has none), and the values of its other wanted labels."""

    metric: str
    engine: str = ""
    model_name: str = ""
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which series a page has for figures.

    `places` gives the number of each among the values that `pick` takes; that of `UP` comes after those.
    """

    places: Mapping[Key, int] = field(default_factory=lambda: {Key(UP): 0})
    pick: Callable[[Sequence[bytes]], tuple[bytes, ...]] = lambda _: ()
    configurations: frozenset[tuple[str, ...]] = frozenset()
    """The cache configurations of the page's engines."""
    long_places: Mapping[Key, int] = field(default_factory=lambda: {Key(UP): 0})
    long_taken: tuple[int, ...] = (0,)
    """Which of the series are kept for an hour, and where each is among all."""
    again: tuple[tuple[int, int], ...] = ()
    """Series that differ in a label of no interest, such as the process: where each is picked, and where shown."""
    extras_of: Mapping[tuple[str, str, str], Sequence[tuple[str, ...]]] = field(default_factory=dict)
    """The other labels of each metric's series, by metric, engine and model."""

    def engines(self) -> Iterable[tuple[str, str]]:
        """Return engine and model of every series of an engine, each pair once, in order."""
        return dict.fromkeys((key.engine, key.model_name) for key in self.places if key.engine)

    def extras(self, metric: str, engine: str = "", model_name: str = "") -> Sequence[tuple[str, ...]]:
        """Return the other labels of a metric's series of one engine (or of the server)."""
        return self.extras_of.get((metric, engine, model_name), ())


EMPTY = Layout()


def lay_out(plan: PagePlan, objectives: Sequence[Objective]) -> Layout:
    """Return where the values for figures are among those of a plan's pages, latencies counted at the objectives."""
    slots: dict[Key, int] = {}
    again: list[tuple[int, Key]] = []
    configurations: set[tuple[str, ...]] = set()
    for family in plan.families:
        if family.name != CACHE_CONFIGURATION and family.name not in _FAMILIES:
            continue
        for slot, series in zip(range(family.slots.start, family.slots.stop), family.series, strict=True):
            sample = read_sample(f"{series} 0".encode())
            labels = dict(sample.labels)
            if family.name == CACHE_CONFIGURATION:
                configurations.add(tuple(labels.get(name, "") for name in _CONFIGURATION))
            elif (key := _key_of(sample.name, labels)) in slots:
                again.append((slot, key))
            elif key is not None:
                slots[key] = slot
    return _layout(slots, again, frozenset(configurations), objectives)


def _key_of(name: str, labels: Mapping[str, str]) -> Key | None:
    """Return the key of a series, or None where figures have no use for it."""
    wanted = _WANTED.get(name)
    if wanted is None or ("le" in wanted and not _is_edge(labels.get("le", ""))):
        return None
    extra = tuple(labels.get(label, "") for label in wanted)
    return Key(name, labels.get("engine", ""), labels.get("model_name", ""), extra)


def _is_edge(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def _layout(
    slots: Mapping[Key, int],
    again: Sequence[tuple[int, Key]],
    configurations: frozenset[tuple[str, ...]],
    objectives: Sequence[Objective],
) -> Layout:
    """Return the layout of keys with their slots, and of slots that are of the same keys again."""
    places = {key: number for number, key in enumerate((*slots, Key(UP)))}
    of_bucket = {f"{objective.latency.metric}_bucket": objective for objective in objectives}
    long = _LONG | {f"{objective.latency.metric}_count" for objective in objectives}
    kept = [key for key in places if key.metric in long or _is_counted_at(key, of_bucket.get(key.metric))]
    extras: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for key in slots:
        extras.setdefault((key.metric, key.engine, key.model_name), []).append(key.extra)
    return Layout(
        places,
        picker([*slots.values(), *(slot for slot, _ in again)]),
        configurations,
        {key: number for number, key in enumerate(kept)},
        tuple(places[key] for key in kept),
        tuple((len(slots) + number, places[key]) for number, (_, key) in enumerate(again)),
        extras,
    )


def _is_counted_at(key: Key, objective: Objective | None) -> bool:
    """Whether a series is the bucket at which its model is counted."""
    return objective is not None and key.extra == (objective.edge_of(key.model_name),)
