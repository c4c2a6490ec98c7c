"""Stories of faults of GPUs: each is told once, on the right card, and idle, unwired and unknown are no faults."""

from vllmwatch.catalog.recordings.stories.words import (
    MODEL,
    NODE,
    SERVER,
    carried,
    expect,
    gpu_says,
    nothing,
    of_gpu,
    series,
    target,
)
from vllmwatch.spec.story import Sample, Series, Story

_TIME = "30m"
_STEADY = "1x120"
_A, _B = "GPU-0", "GPU-1"
_XID = "vllmwatch_gpu_xid_last_timestamp_seconds"


def _node(name: str, values: str, node: str = NODE, **labels: str) -> Series:
    return series(name, values, node=node, **labels)


def _of_both(name: str, first: str, second: str, **labels: str) -> tuple[Series, Series]:
    return (of_gpu(name, first, _A, **labels), of_gpu(name, second, _B, **labels))


_HEAT = (
    of_gpu("vllmwatch_gpu_temperature_celsius", "84x120", _A),
    of_gpu("vllmwatch_gpu_temperature_celsius", "86x120", _A, job="again"),
    of_gpu("vllmwatch_gpu_temperature_threshold_celsius", "89x120", _A, kind="slowdown"),
    of_gpu("vllmwatch_gpu_temperature_threshold_celsius", "92x120", _A, kind="shutdown"),
    of_gpu("vllmwatch_gpu_temperature_threshold_celsius", "105x120", _A, kind="memory_max"),
    of_gpu("vllmwatch_gpu_memory_temperature_celsius", "100x120", _A),
    of_gpu("vllmwatch_gpu_temperature_margin_celsius", "9 8 7x118", _B),
    of_gpu("vllmwatch_gpu_temperature_margin_threshold_celsius", "-2x120", _B, kind="slowdown"),
    of_gpu("vllmwatch_gpu_temperature_margin_threshold_celsius", "-8x120", _B, kind="shutdown"),
    of_gpu("vllmwatch_gpu_memory_temperature_celsius", "94x120", _B),
    of_gpu("vllmwatch_gpu_temperature_margin_celsius", "0x120", "GPU-2"),
    of_gpu("vllmwatch_gpu_temperature_margin_threshold_celsius", "-2x120", "GPU-2", kind="slowdown"),
)
_THROTTLE = (
    # A counter counts, whatever the samples of the state show; where there is none, the samples do.
    of_gpu("vllmwatch_gpu_throttle_seconds_total", "0+6x120", _A, reason="hardware_thermal_slowdown"),
    of_gpu("vllmwatch_gpu_throttle_seconds_total", "0+3x120", _A, reason="software_thermal_slowdown"),
    of_gpu("vllmwatch_gpu_throttle_seconds_total", "0+30x120", _A, reason="software_power_cap"),
    of_gpu("vllmwatch_gpu_throttle_seconds_total", "0x120", _A, reason="hardware_power_brake"),
    of_gpu("vllmwatch_gpu_throttle_active", _STEADY, _A, reason="hardware_power_brake"),
    of_gpu("vllmwatch_gpu_throttle_active", _STEADY, _B, reason="hardware_power_brake"),
    of_gpu("vllmwatch_gpu_throttle_active", _STEADY, _B, reason="software_power_cap"),
    of_gpu("vllmwatch_gpu_throttle_active", "0x120", _B, reason="hardware_thermal_slowdown"),
)
_LINKS = (
    *_of_both("vllmwatch_gpu_nvlink_up", "1x20 0x100", _STEADY, link="0"),
    *_of_both("vllmwatch_gpu_nvlink_up", "1x20 0x100", "0x120", link="1"),
    of_gpu("vllmwatch_gpu_nvlink_up", "1x20 0x100", _A, link="1", job="again"),
    of_gpu("vllmwatch_gpu_nvlink_up", "1x20 0x100", "GPU-2", link="0"),
    of_gpu("vllmwatch_gpu_mig_mode", _STEADY, "GPU-2"),
    of_gpu("vllmwatch_gpu_mig_mode", "0x120", _A),
    of_gpu("vllmwatch_gpu_nvlink_errors_total", "0x120 4x120", _A, link="0", kind="replay"),
    of_gpu("vllmwatch_gpu_nvlink_errors_total", "0x120 4x120", _A, link="0", kind="replay", job="again"),
    of_gpu("vllmwatch_gpu_nvlink_errors_total", "0x120 2x120", _A, link="1", kind="recovery"),
    of_gpu("vllmwatch_gpu_nvlink_errors_total", "0+900x240", _A, link="1", kind="crc"),
)

STORIES: tuple[Story, ...] = (
    Story(
        "a GPU names each server that it carries with its model, also one on another node and one without a model",
        30,
        (
            *(of_gpu("vllmwatch_gpu_up", _STEADY, uuid) for uuid in (_A, _B, "GPU-2", "GPU-3")),
            target(_STEADY),
            target(_STEADY, "far:8000", "mistral", node="far"),
            carried(_STEADY, _A, rank="TP0"),
            carried(_STEADY, _A, engine="1", rank="TP0"),
            carried(_STEADY, _A, "far:8000"),
            carried(_STEADY, _B, "new:8000"),
            carried("1x20 stale", "GPU-3", rank="TP1"),
        ),
        (
            expect(
                _TIME,
                "gpu:info:last1h",
                gpu_says(1, _A, server=SERVER, model_name=MODEL),
                gpu_says(1, _A, server="far:8000", model_name="mistral"),
                gpu_says(1, _B, server="new:8000", model_name=""),
                gpu_says(1, "GPU-2", server="", model_name=""),
                gpu_says(1, "GPU-3", server=SERVER, model_name=MODEL),
            ),
        ),
    ),
    Story(
        "a GPU is lost when it does not answer and the driver does",
        30,
        (
            *_of_both("vllmwatch_gpu_up", "1x40 0x80", "1x40 0x80"),
            of_gpu("vllmwatch_gpu_up", "1x40 0x80", _A, job="again"),
            of_gpu("vllmwatch_gpu_up", _STEADY, "GPU-2"),
            of_gpu("vllmwatch_gpu_up", "1x40 0x80", "GPU-3", node="other"),
            _node("vllmwatch_nvml_up", _STEADY),
            _node("vllmwatch_nvml_up", "1x40 0x80", "other"),
        ),
        (
            *nothing("15m", "gpu:lost:count"),
            expect(_TIME, "gpu:lost:count", gpu_says(2, _A), gpu_says(2, _B)),
            expect(_TIME, "node:gpus_up:count", Sample({"node": NODE}, 1)),
            *nothing(_TIME, "node:gpus_missing:max6h"),
        ),
    ),
    Story(
        "a node misses the GPUs that nobody knows after a restart of the exporter, and none that was exchanged",
        30,
        (
            of_gpu("vllmwatch_gpu_up", _STEADY, _A),
            of_gpu("vllmwatch_gpu_up", "1x20 stale", _B),
            of_gpu("vllmwatch_gpu_up", "1x20 0x20 stale", "GPU-2", node="other"),
            of_gpu("vllmwatch_gpu_up", "_x30 1x90", "GPU-3", node="other"),
        ),
        (
            *nothing("8m", "node:gpus_missing:max6h"),
            expect(_TIME, "node:gpus_missing:max6h", Sample({"node": NODE}, 1)),
        ),
    ),
    Story(
        "what the driver asks for, and rows that could not be remapped, are counted by node",
        30,
        (
            *_of_both("vllmwatch_gpu_row_remap_failure", _STEADY, "0x120"),
            *_of_both("vllmwatch_gpu_row_remap_pending", _STEADY, _STEADY),
            of_gpu("vllmwatch_gpu_recovery_action", _STEADY, _A, action="none"),
            of_gpu("vllmwatch_gpu_recovery_action", _STEADY, _B, action="gpu_reset"),
        ),
        (
            expect(_TIME, "gpu:row_remap_failed:count", gpu_says(1, _A)),
            expect(_TIME, "gpu:row_remap_pending:count", gpu_says(2, _A), gpu_says(2, _B)),
            expect(_TIME, "gpu:recovery_asked:count", gpu_says(1, _B, action="gpu_reset")),
        ),
    ),
    Story(
        "an XID event is news for a quarter of an hour, the last of its class alone, and old ones of the boot are none",
        30,
        (
            of_gpu(_XID, "_x10 300x110", _A, xid="48"),
            of_gpu(_XID, "_x20 600x100", _A, xid="95"),
            of_gpu(_XID, "_x20 600x100", _A, xid="31"),
            of_gpu(_XID, "_x20 600x100", _A, xid="45"),
            of_gpu(_XID, "0x120", _B, xid="79"),
            _node("vllmwatch_xid_unplaced_last_timestamp_seconds", "_x20 600x100", pci_bus_id="0000:65:00.0", xid="79"),
            _node("vllmwatch_xid_unplaced_last_timestamp_seconds", "_x20 600x100", pci_bus_id="0000:65:00.0", xid="31"),
        ),
        (
            expect(
                "8m",
                "gpu:xid_critical_timestamp_seconds:last15m",
                gpu_says(300, _A, xid="48"),
                gpu_says(0, _B, xid="79"),
            ),
            expect("20m", "gpu:xid_critical_timestamp_seconds:last15m", gpu_says(600, _A, xid="95")),
            expect(
                "20m",
                "node:xid_unplaced_timestamp_seconds:last15m",
                Sample({"node": NODE, "pci_bus_id": "0000:65:00.0", "xid": "79"}, 600),
            ),
            *nothing("26m", "node:xid_unplaced_timestamp_seconds:last15m"),
            expect("20m", "gpu:xid_application_timestamp_seconds:last15m", gpu_says(600, _A, xid="31")),
            *nothing(
                "26m", "gpu:xid_critical_timestamp_seconds:last15m", "gpu:xid_application_timestamp_seconds:last15m"
            ),
        ),
    ),
    Story(
        "a card is held against its own limits, absolute or as margins; a margin that never moves is no reading",
        30,
        _HEAT,
        (
            expect(_TIME, "gpu:slowdown_margin_celsius:now", gpu_says(3, _A), gpu_says(9, _B)),
            expect(_TIME, "gpu:memory_max_celsius:now", gpu_says(105, _A), gpu_says(95, _B)),
        ),
    ),
    Story(
        "time held down by heat is not added up over its reasons, and the power brake has a figure of its own",
        30,
        _THROTTLE,
        (
            expect(_TIME, "gpu:thermal_throttle:ratio_rate5m", gpu_says(0.2, _A), gpu_says(0, _B)),
            expect(_TIME, "gpu:power_brake:ratio_rate5m", gpu_says(0, _A), gpu_says(1, _B)),
        ),
    ),
    Story(
        "an uncorrected error counts when it comes, and neither corrected ones nor those of the card's life do",
        30,
        (
            *_of_both("vllmwatch_gpu_ecc_errors_total", "3x40 4x80", "7x120", kind="uncorrected", lifetime="volatile"),
            of_gpu("vllmwatch_gpu_ecc_errors_total", "0+1x120", _B, kind="corrected", lifetime="volatile"),
            of_gpu("vllmwatch_gpu_ecc_errors_total", "0+1x120", _B, kind="uncorrected", lifetime="aggregate"),
            *_of_both("vllmwatch_gpu_retired_pages", "4x120", "0x120", cause="single_bit"),
            *_of_both("vllmwatch_gpu_retired_pages", "2x120", "1x120", cause="double_bit"),
        ),
        (
            expect("25m", "gpu:uncorrected_ecc_errors:increase15m", gpu_says(1, _A), gpu_says(0, _B)),
            expect("45m", "gpu:uncorrected_ecc_errors:increase15m", gpu_says(0, _A), gpu_says(0, _B)),
            expect("45m", "gpu:retired_pages:sum", gpu_says(6, _A), gpu_says(1, _B)),
        ),
    ),
    Story(
        "how busy a GPU was over a quarter of an hour",
        30,
        (*_of_both("vllmwatch_gpu_utilization_ratio", "0.5x120", "0x20 1x100"),),
        (expect(_TIME, "gpu:utilization_ratio:avg15m", gpu_says(0.5, _A), gpu_says(1, _B)),),
    ),
    Story(
        "an NVLink is down when it was up; those that never were, and those of a GPU cut by MIG, are not",
        30,
        _LINKS,
        (
            *nothing("9m", "gpu:nvlinks_down:count"),
            expect(_TIME, "gpu:nvlinks_down:count", gpu_says(2, _A)),
            expect("1h10m", "gpu:nvlink_errors:increase1h", gpu_says(6, _A)),
        ),
    ),
    Story(
        "memory is abandoned when its process is dead or its server is gone, and not while somebody else computes",
        30,
        (
            of_gpu("vllmwatch_gpu_held_memory_bytes", "3e9x120", _A, holder="dead", server=""),
            of_gpu("vllmwatch_gpu_held_memory_bytes", "2e9x120", _A, holder="other", server=""),
            of_gpu("vllmwatch_gpu_held_memory_bytes", "4e9x120", _B, holder="other", server=""),
            of_gpu("vllmwatch_gpu_held_memory_bytes", "1e9x120", _B, holder="dead", server=""),
            of_gpu("vllmwatch_gpu_held_memory_bytes", "9e9x120", _B, holder="server", server=SERVER),
            of_gpu("vllmwatch_gpu_unmapped", _STEADY, _B, reason="orphaned"),
            of_gpu("vllmwatch_gpu_held_memory_bytes", "5e9x120", "GPU-2", holder="other", server=""),
            of_gpu("vllmwatch_gpu_unmapped", _STEADY, "GPU-2", reason="offline"),
        ),
        (expect(_TIME, "gpu:abandoned_memory_bytes:max", gpu_says(3e9, _A), gpu_says(5e9, _B)),),
    ),
)
