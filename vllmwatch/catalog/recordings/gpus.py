"""Faults of GPUs, each counted once however often it was scraped, and whom they hurt; alerts alone read these."""

from vllmwatch.catalog import gpu, gpu_health, gpu_labels
from vllmwatch.catalog.joined import GPU_HELD_MEMORY, GPU_UNMAPPED
from vllmwatch.catalog.labels import SERVER
from vllmwatch.catalog.recordings.join import ENGINE_DEVICES_REMEMBERED, SERVER_MODEL
from vllmwatch.catalog.recordings.terms import DEVICE, ON_DEVICE, ON_WHO, own
from vllmwatch.catalog.xids import APPLICATION_XIDS, CRITICAL_XIDS
from vllmwatch.spec.metric import Label, Metric
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import Group, Recording
from vllmwatch.spec.unit import BYTES, CELSIUS, COUNT, INFO, RATIO, TIMESTAMP, Unit

XID_SECONDS = 900
"""How long an XID event is news."""
# Where a card does not say at which temperature its memory slows down: HBM of A100 and H100 does at 95 °C.
_MEMORY_MAX_CELSIUS = 95
# A margin that does not move for as long is no reading: some cards tell 0 always.
_MOVED = "6h"
_THERMAL = 'reason=~"hardware_thermal_slowdown|software_thermal_slowdown"'
_BRAKE = 'reason="hardware_power_brake"'
# Each of these says that a link failed, and not only that it was busy.
_LINK_FAULTS = 'kind=~"replay|recovery|recovery_failed"'
_ASKED = 'action!="none"'
_SLOWS = 'kind="slowdown"'
_MEMORY_SLOWS = 'kind="memory_max"'
_DEAD = 'holder="dead"'
_DEAD_OR_OTHER = 'holder=~"dead|other"'
_ORPHANED = 'reason="orphaned"'

_SERVER_OF = aggregate("group", ("node", "server", "uuid"), ENGINE_DEVICES_REMEMBERED.name)
_ALONE = f"({SERVER_MODEL} and on (server) (count by (server) ({SERVER_MODEL}) == 1))"
_MODEL_NAME = Label("model_name", "The model that the server serves.")


def _gpu(figure: str, how: str, help_text: str, unit: Unit, expression: str, *labels: Label) -> Recording:
    return Recording("gpu", figure, how, help_text, unit, expression, labels)


def _most(metric: Metric, *matchers: str, labels: tuple[str, ...] = ()) -> str:
    return aggregate("max", (*DEVICE, *labels), own(metric, *matchers))


def _of_node(figure: str, help_text: str, fault: str, *labels: Label) -> Recording:
    """Return how many GPUs of its node have a fault, on each of them."""
    return _gpu(
        figure,
        "count",
        f"GPUs of the node {help_text}; on each of those.",
        COUNT,
        f"({fault}) * 0\n+ on (node) group_left () count by (node) ({fault})",
        *labels,
    )


def _throttled(figure: str, help_text: str, reason: str) -> Recording:
    """Return the share of time from the counter of seconds, and where the card has none from samples of the state."""
    seconds = own(gpu.GPU_THROTTLE_SECONDS, reason, window="5m")
    state = own(gpu.GPU_THROTTLE_ACTIVE, reason, window="5m")
    return _gpu(
        figure,
        "ratio_rate5m",
        help_text,
        RATIO,
        f"{aggregate('max', DEVICE, f'rate({seconds})')}\n"
        f"or {ON_DEVICE}\n"
        f"{aggregate('max', DEVICE, f'avg_over_time({state})')}",
    )


def _last_xid(figure: str, help_text: str, numbers: tuple[int, ...]) -> Recording:
    last = _most(gpu_health.GPU_XID_LAST, _one_of(numbers), labels=("xid",))
    return _gpu(
        f"{figure}_timestamp_seconds",
        "last15m",
        help_text,
        TIMESTAMP,
        f"topk by (node, uuid) (1, {last} > time() - {XID_SECONDS})",
        gpu_labels.XID,
    )


def _one_of(numbers: tuple[int, ...]) -> str:
    return f'xid=~"{"|".join(map(str, numbers))}"'


_UNPLACED = aggregate("max", ("node", "pci_bus_id", "xid"), own(gpu_health.XID_UNPLACED_LAST, _one_of(CRITICAL_XIDS)))
WHOM = _gpu(
    "info",
    "last1h",
    "Whom a GPU carries or carried within the last hour, with the model; without both where it is nobody; 1 always.",
    INFO,
    f"{_SERVER_OF} * on (server) group_left (model_name) {_ALONE}\n"
    f"or\n{_SERVER_OF} * {ON_WHO} group_left (model_name) {SERVER_MODEL}\n"
    f"or on (node, server, uuid)\n{_SERVER_OF}\n"
    f"or {ON_DEVICE}\n{aggregate('group', DEVICE, own(gpu.GPU_UP))}",
    SERVER,
    _MODEL_NAME,
)
_SLOWDOWN = _gpu(
    "slowdown_margin_celsius",
    "now",
    "Degrees below the temperature at which the card itself halves its clocks; absent where it tells none.",
    CELSIUS,
    f"{_most(gpu.GPU_TEMPERATURE_THRESHOLD, _SLOWS)} - {ON_DEVICE} {_most(gpu.GPU_TEMPERATURE)}\n"
    f"or\n"
    f"{aggregate('min', DEVICE, own(gpu.GPU_TEMPERATURE_MARGIN))}\n"
    f"- {ON_DEVICE} {_most(gpu.GPU_TEMPERATURE_MARGIN_THRESHOLD, _SLOWS)}\n"
    f"and {ON_DEVICE} ("
    f"{aggregate('max', DEVICE, f'changes({own(gpu.GPU_TEMPERATURE_MARGIN, window=_MOVED)})')} > 0)",
)
_MEMORY_MAX = _gpu(
    "memory_max_celsius",
    "now",
    f"Highest operating temperature of the memory: the card's own, or {_MEMORY_MAX_CELSIUS} where it tells none.",
    CELSIUS,
    either(
        _most(gpu.GPU_TEMPERATURE_THRESHOLD, _MEMORY_SLOWS),
        f"{_most(gpu.GPU_MEMORY_TEMPERATURE)} * 0 + {_MEMORY_MAX_CELSIUS}",
    ),
)
_LINKS_UP = (*DEVICE, "link")
_UP_WITHIN_A_DAY = own(gpu_health.GPU_NVLINK_UP, window="1d")
_LINK_ERRORS = own(gpu_health.GPU_NVLINK_ERRORS, _LINK_FAULTS, window="1h")
_NVLINKS_DOWN = _gpu(
    "nvlinks_down",
    "count",
    "NVLinks of a GPU that are down and were up within a day; those that never were are not wired.",
    COUNT,
    aggregate(
        "count",
        DEVICE,
        f"{aggregate('max', _LINKS_UP, own(gpu_health.GPU_NVLINK_UP))} == 0\n"
        f"and on (node, uuid, link) "
        f"{aggregate('max', _LINKS_UP, f'max_over_time({_UP_WITHIN_A_DAY})')} == 1\n"
        f"unless {ON_DEVICE} {_most(gpu.GPU_MIG_MODE)} == 1",
    ),
)
_NVLINK_ERRORS = _gpu(
    "nvlink_errors",
    "increase1h",
    "Times that NVLinks of a GPU sent again or were trained again within an hour.",
    COUNT,
    aggregate(
        "sum",
        DEVICE,
        aggregate("max", (*_LINKS_UP, "kind"), f"increase({_LINK_ERRORS})"),
    ),
)
_ECC = own(gpu_health.GPU_ECC_ERRORS, 'kind="uncorrected"', 'lifetime="volatile"', window="15m")
_KNOWN = aggregate("count", ("node",), aggregate("group", DEVICE, own(gpu.GPU_UP)))
_GPUS_UP = Recording(
    "node",
    "gpus_up",
    "count",
    "GPUs of a node that answer.",
    COUNT,
    aggregate("count", ("node",), f"{_most(gpu.GPU_UP)} == 1"),
)

GROUP = Group(
    "gpus",
    "Faults of GPUs, each counted once, and whom they hurt; alerts read these.",
    30,
    (
        WHOM,
        _of_node(
            "lost",
            "that do not answer while the driver does",
            f"{_most(gpu.GPU_UP)} == 0 and on (node) {aggregate('max', ('node',), own(gpu.NVML_UP))} == 1",
        ),
        _of_node(
            "row_remap_failed",
            "that could not replace a bad row of memory",
            f"{_most(gpu_health.GPU_ROW_REMAP_FAILURE)} == 1",
        ),
        _of_node(
            "row_remap_pending",
            "that wait for a reset to replace a bad row of memory",
            f"{_most(gpu_health.GPU_ROW_REMAP_PENDING)} == 1",
        ),
        _of_node(
            "recovery_asked",
            "for which the driver asks for an action",
            f"topk by (node, uuid) (1, {_most(gpu_health.GPU_RECOVERY_ACTION, _ASKED, labels=('action',))})",
            gpu_labels.RECOVERY_ACTION,
        ),
        _last_xid(
            "xid_critical", "When a GPU last raised an XID event that asks for more than a restart.", CRITICAL_XIDS
        ),
        Recording(
            "node",
            "xid_unplaced_timestamp_seconds",
            "last15m",
            "When such an event came last from a PCI address at which no GPU has been seen.",
            TIMESTAMP,
            f"{_UNPLACED} > time() - {XID_SECONDS}",
            (gpu_labels.PCI_BUS_ID, gpu_labels.XID),
        ),
        _last_xid("xid_application", "When a GPU last raised an XID event that ends a program.", APPLICATION_XIDS),
        _SLOWDOWN,
        _MEMORY_MAX,
        _throttled("thermal_throttle", "Share of time in which heat held the clocks down.", _THERMAL),
        _throttled("power_brake", "Share of time in which the power brake held the clocks down.", _BRAKE),
        _gpu(
            "uncorrected_ecc_errors",
            "increase15m",
            "Errors of memory that ECC could not mend.",
            COUNT,
            f"round({aggregate('max', DEVICE, f'increase({_ECC})')})",
        ),
        _gpu(
            "retired_pages",
            "sum",
            "Pages of memory that were taken out of use (before Ampere).",
            COUNT,
            aggregate("sum", DEVICE, _most(gpu_health.GPU_RETIRED_PAGES, labels=("cause",))),
        ),
        _gpu(
            "utilization_ratio",
            "avg15m",
            "Share of time in which any kernel ran on the GPU.",
            RATIO,
            aggregate("max", DEVICE, f"avg_over_time({own(gpu.GPU_UTILIZATION, window='15m')})"),
        ),
        _NVLINKS_DOWN,
        _NVLINK_ERRORS,
        _gpu(
            "abandoned_memory_bytes",
            "max",
            "Memory of a GPU that dead processes hold, or vLLM processes whose server is gone.",
            BYTES,
            either(
                f"{aggregate('sum', DEVICE, _most(GPU_HELD_MEMORY, _DEAD_OR_OTHER, labels=('holder',)))}\n"
                f"and {ON_DEVICE} {_most(GPU_UNMAPPED, _ORPHANED)} == 1",
                _most(GPU_HELD_MEMORY, _DEAD),
            ),
        ),
        _GPUS_UP,
        Recording(
            "node",
            "gpus_missing",
            "max6h",
            "GPUs that a node had within 6 hours and that nobody knows any more; lost ones are known.",
            COUNT,
            f"max_over_time({_GPUS_UP.name}[6h]) - {_KNOWN} > 0",
        ),
    ),
)
