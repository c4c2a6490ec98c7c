"""The board of GPUs and nodes: heat, power, clocks and what holds them down, memory and who holds it, faults, links."""

from vllmwatch.catalog.boards._words import GPU, NODE_OF_GPUS, Scope, column, lines, panel, row
from vllmwatch.catalog.gpu_labels import RECOVERY_ACTION
from vllmwatch.catalog.thresholds import GPU_TEMPERATURE
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NONE_FOUND, Color, Dashboard, Limits, Look, Query, Value
from vllmwatch.spec.recording import EVENTS_PER_SECOND
from vllmwatch.spec.unit import BYTES_PER_SECOND, NUMBER, TIMESTAMP

_SCOPE = Scope((NODE_OF_GPUS, GPU))
_CARD = ("node", "uuid", "gpu")
_ANY_ACTION = 'action!="none"'
_YES = {0.0: Value("no", Color.WELL), 1.0: Value("yes", Color.BAD)}

_WELL = row(
    "Are all of them there?",
    panel(
        "When did each GPU answer?",
        Look.STATES,
        _SCOPE.lowest("vllmwatch_gpu_up"),
        of=("vllmwatch_gpu_up",),
        width=12,
        unit=NUMBER,
        values={0.0: Value("lost", Color.BAD), 1.0: Value("answers", Color.WELL)},
        alerts=("GpuLost", "NvmlDown"),
    ),
    panel(
        "Which cards are they, and whom do they carry?",
        Look.TABLE,
        column(
            Query(
                "topk($most, group by (node, gpu, uuid, name, pci_bus_id, vbios_version) "
                f"({_SCOPE.select('vllmwatch_gpu_info')}))",
                ("node", "gpu", "uuid", "name", "pci_bus_id", "vbios_version"),
            ),
            "There",
            NUMBER,
        ),
        of=("vllmwatch_gpu_info",),
        width=12,
        unit=NUMBER,
        hidden=("There",),
    ),
    lines(
        "How many GPUs does each node have?",
        _SCOPE.highest("vllmwatch:node:gpus_up:count", word="answer"),
        _SCOPE.highest("vllmwatch:node:gpus_missing:max6h", word="missing"),
        of=("vllmwatch:node:gpus_up:count", "vllmwatch:node:gpus_missing:max6h"),
        width=12,
        alerts=("GpuCountLow",),
    ),
    panel(
        "Which engines are on them?",
        Look.TABLE,
        column(
            Query(
                "topk($most, group by (node, gpu, uuid, server, engine, rank) "
                f"({_SCOPE.select('vllmwatch_engine_gpu_info')}))",
                ("node", "gpu", "uuid", "server", "engine", "rank"),
            ),
            "There",
            NUMBER,
        ),
        of=("vllmwatch_engine_gpu_info",),
        width=12,
        unit=NUMBER,
        no_data="Not known; see docs/join.md",
        hidden=("There",),
        alerts=("GpuUsersUnknown",),
    ),
)
_HEAT = row(
    "Are they too hot?",
    lines(
        "How hot is each GPU?",
        _SCOPE.highest("vllmwatch_gpu_temperature_celsius"),
        of=("vllmwatch_gpu_temperature_celsius",),
        limits=Limits(bad_above=GPU_TEMPERATURE.key),
        alerts=("GpuTemperatureHigh",),
    ),
    lines(
        "How far from its own slowdown is each card?",
        _SCOPE.lowest("vllmwatch:gpu:slowdown_margin_celsius:now"),
        of=("vllmwatch:gpu:slowdown_margin_celsius:now",),
        no_data="The cards tell no limit",
        limits=Limits(bad_below=5.0),
        alerts=("GpuNearSlowdown",),
    ),
    lines(
        "How hot is the memory?",
        _SCOPE.highest("vllmwatch_gpu_memory_temperature_celsius"),
        of=("vllmwatch_gpu_memory_temperature_celsius",),
        no_data="The cards have no such sensor",
        limits=Limits(bad_above=95.0),
        alerts=("GpuMemoryTemperatureHigh",),
    ),
    lines(
        "Does heat or the power brake hold clocks down?",
        _SCOPE.highest("vllmwatch:gpu:thermal_throttle:ratio_rate5m", word="heat"),
        _SCOPE.highest("vllmwatch:gpu:power_brake:ratio_rate5m", word="brake"),
        of=("vllmwatch:gpu:thermal_throttle:ratio_rate5m", "vllmwatch:gpu:power_brake:ratio_rate5m"),
        no_data="The driver does not count it",
        at_most_one=True,
        limits=Limits(bad_above=0.1),
        alerts=("GpuThermalThrottle", "GpuPowerBrake"),
    ),
    panel(
        "Why are clocks held down now?",
        Look.STATES,
        Query(
            f"topk($most, max by (node, gpu, uuid, reason) ({_SCOPE.select('vllmwatch_gpu_throttle_active')}) == 1)",
            ("node", "gpu", "uuid", "reason"),
            "{{reason}} GPU {{gpu}} ({{node}})",
        ),
        of=("vllmwatch_gpu_throttle_active",),
        also="An idle GPU and one at its power limit are well.",
        width=16,
        unit=NUMBER,
        no_data="Nothing holds them down",
        values={1.0: Value("held", Color.CARE)},
        alerts=("GpuThermalThrottle", "GpuPowerBrake"),
    ),
)
_POWER = row(
    "What do they draw, and what do they do?",
    lines(
        "How much power does each draw?",
        _SCOPE.highest("vllmwatch_gpu_power_watts"),
        of=("vllmwatch_gpu_power_watts",),
    ),
    lines(
        "How much may each draw?",
        _SCOPE.lowest("vllmwatch_gpu_power_limit_watts"),
        of=("vllmwatch_gpu_power_limit_watts",),
        also="A limit below its like was lowered by somebody.",
    ),
    lines(
        "How fast are the clocks?",
        _SCOPE.lowest("vllmwatch_gpu_clock_hertz", 'domain="sm"', by=_CARD),
        of=("vllmwatch_gpu_clock_hertz",),
        also="Of the multiprocessors (SM).",
        alerts=("GpuStraggler",),
    ),
    lines(
        "How busy is each?",
        _SCOPE.highest("vllmwatch_gpu_utilization_ratio"),
        of=("vllmwatch_gpu_utilization_ratio",),
        also="A GPU whose engine hangs may be fully busy.",
        at_most_one=True,
    ),
    lines(
        "How busy is the memory?",
        _SCOPE.highest("vllmwatch_gpu_memory_activity_ratio"),
        of=("vllmwatch_gpu_memory_activity_ratio",),
        at_most_one=True,
    ),
    lines(
        "How fast do the fans turn?",
        _SCOPE.highest("vllmwatch_gpu_fan_speed_ratio"),
        of=("vllmwatch_gpu_fan_speed_ratio",),
        no_data="The cards have no fans of their own",
        at_most_one=True,
    ),
)
_MEMORY = row(
    "Who holds the memory?",
    lines(
        "How much memory is used?",
        _SCOPE.highest("vllmwatch_gpu_memory_used_bytes"),
        of=("vllmwatch_gpu_memory_used_bytes",),
    ),
    lines(
        "Who holds it?",
        _SCOPE.highest("vllmwatch_gpu_held_memory_bytes"),
        of=("vllmwatch_gpu_held_memory_bytes",),
        no_data="The processes cannot be seen",
        alerts=("GpuMemoryHeldByDead", "GpuUsersUnknown"),
    ),
    lines(
        "What do the dead hold?",
        _SCOPE.highest("vllmwatch:gpu:abandoned_memory_bytes:max"),
        of=("vllmwatch:gpu:abandoned_memory_bytes:max",),
        no_data=NONE_FOUND,
        alerts=("GpuMemoryHeldByDead",),
    ),
    lines(
        "How much memory do MIG instances use?",
        _SCOPE.highest("vllmwatch_mig_memory_used_bytes"),
        of=("vllmwatch_mig_memory_used_bytes",),
        no_data="No GPU is cut into instances",
        width=24,
        height=6,
    ),
)
_FAULTS = row(
    "Are they broken?",
    panel(
        "Which XID events came last?",
        Look.TABLE,
        column(
            Query(
                "topk($most, max by (node, gpu, uuid, xid) "
                f"({_SCOPE.select('vllmwatch_gpu_xid_last_timestamp_seconds')}) * 1000)",
                ("node", "gpu", "uuid", "xid"),
            ),
            "When",
            TIMESTAMP,
        ),
        of=("vllmwatch_gpu_xid_last_timestamp_seconds",),
        also="`vllmwatch explain GpuXidCritical` tells what to do about each.",
        width=12,
        no_data=NONE_FOUND,
        alerts=("GpuXidCritical", "GpuXidApplication"),
    ),
    panel(
        "What does the driver ask for?",
        Look.STATES,
        Query(
            "topk($most, max by (node, gpu, uuid, action) "
            f"({_SCOPE.select('vllmwatch_gpu_recovery_action', _ANY_ACTION)}) == 1)",
            ("node", "gpu", "uuid", "action"),
            "{{action}} GPU {{gpu}} ({{node}})",
        ),
        of=("vllmwatch_gpu_recovery_action",),
        also=f"One of {', '.join(RECOVERY_ACTION.values)}.",
        width=12,
        unit=NUMBER,
        no_data=NONE_FOUND,
        values={1.0: Value("asked for", Color.BAD)},
        alerts=("GpuRecoveryNeeded", "GpuDrainNeeded"),
    ),
    lines(
        "Did ECC meet errors that it could not mend?",
        _SCOPE.highest("vllmwatch:gpu:uncorrected_ecc_errors:increase15m"),
        of=("vllmwatch:gpu:uncorrected_ecc_errors:increase15m",),
        no_data="ECC is off, or the cards have none",
        limits=Limits(bad_above=0.0),
        alerts=("GpuEccUncorrected",),
    ),
    lines(
        "How many rows of memory were replaced?",
        _SCOPE.highest("vllmwatch_gpu_remapped_rows"),
        of=("vllmwatch_gpu_remapped_rows",),
        no_data="The cards cannot replace rows",
        alerts=("GpuRowRemapFailed",),
    ),
    lines(
        "How many pages were taken out of use?",
        _SCOPE.highest("vllmwatch:gpu:retired_pages:sum"),
        of=("vllmwatch:gpu:retired_pages:sum",),
        no_data="Cards since Ampere replace rows instead",
        limits=Limits(care_above=59.0),
        alerts=("GpuPagesRetired",),
    ),
    panel(
        "Does a row wait to be replaced, or could it not be?",
        Look.STATES,
        _SCOPE.highest("vllmwatch_gpu_row_remap_pending", word="waits"),
        _SCOPE.highest("vllmwatch_gpu_row_remap_failure", word="failed"),
        of=("vllmwatch_gpu_row_remap_pending", "vllmwatch_gpu_row_remap_failure"),
        width=24,
        height=6,
        unit=NUMBER,
        no_data="The cards cannot replace rows",
        values=_YES,
        alerts=("GpuDrainNeeded", "GpuRowRemapFailed"),
    ),
)
_LINKS = row(
    "Are the links whole?",
    lines(
        "How many PCIe lanes does each use?",
        _SCOPE.lowest("vllmwatch_gpu_pcie_link_width", word="uses"),
        _SCOPE.lowest("vllmwatch_gpu_pcie_link_width_max", word="could use"),
        of=("vllmwatch_gpu_pcie_link_width", "vllmwatch_gpu_pcie_link_width_max"),
        alerts=("GpuPcieNarrow",),
    ),
    lines(
        "Which generation of PCIe?",
        _SCOPE.lowest("vllmwatch_gpu_pcie_link_generation"),
        of=("vllmwatch_gpu_pcie_link_generation",),
        also="Falls while the GPU is idle.",
    ),
    lines(
        "Does the PCIe link err?",
        _SCOPE.rate("vllmwatch_gpu_pcie_replays_total", by=_CARD),
        of=("vllmwatch_gpu_pcie_replays_total",),
        unit=EVENTS_PER_SECOND,
    ),
    lines(
        "Which NVLinks are down?",
        _SCOPE.highest("vllmwatch:gpu:nvlinks_down:count"),
        of=("vllmwatch:gpu:nvlinks_down:count",),
        no_data="The GPUs have no NVLinks",
        limits=Limits(bad_above=0.0),
        alerts=("GpuNvlinkDown",),
    ),
    lines(
        "Which NVLinks err?",
        _SCOPE.highest("vllmwatch:gpu:nvlink_errors:increase1h"),
        of=("vllmwatch:gpu:nvlink_errors:increase1h",),
        no_data="The GPUs have no NVLinks",
        limits=Limits(care_above=3.0),
        alerts=("GpuNvlinkErrors",),
    ),
    lines(
        "How much goes over NVLink?",
        _SCOPE.rate("vllmwatch_gpu_nvlink_transmit_bytes_total", by=_CARD, word="out"),
        _SCOPE.rate("vllmwatch_gpu_nvlink_receive_bytes_total", by=_CARD, word="in"),
        of=("vllmwatch_gpu_nvlink_transmit_bytes_total", "vllmwatch_gpu_nvlink_receive_bytes_total"),
        unit=BYTES_PER_SECOND,
        no_data="The driver does not count it",
    ),
)

BOARD = Dashboard(
    Board.GPU,
    "GPUs and nodes",
    "Is a GPU too hot, slow, broken or gone, and whom does it carry?",
    _SCOPE.variables,
    (_WELL, _HEAT, _POWER, _MEMORY, _FAULTS, _LINKS),
)
