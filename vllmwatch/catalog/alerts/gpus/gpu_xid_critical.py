"""A GPU raised an XID event after which it serves nobody until it is reset, or more.

## What it means

The driver told of an event within the last quarter of an hour that a restart of the program does not mend:

- the GPU fell off the bus (79) or lost its encryption keys (151): reboot the host;
- no power on its cable (54): repair;
- an error of memory that could not be mended (48, 95, 140), or bad memory that could not be put out of use (64, 156);
- it stopped working, or did not stop when told (46, 109, 158); one of its own processors halted (62, 119, 120, 143);
- a lost NVLink (74, 136, 155), or a refusal for its own security (110): reset the GPU.

## Why it matters

The server on it is dead, hangs, or is about to; with tensor parallelism the whole group is. A restart on the same GPU
fails, or worse, answers wrongly.

## First look

- `journalctl -k --since "1 hour ago" | grep -E "NVRM: Xid"`: the line of the kernel, with the program and more codes.
- `vllmwatch_gpu_xid_last_timestamp_seconds{uuid="…"}`: the other events of this GPU; the first one is the cause.
- `vllmwatch_gpu_recovery_action{uuid="…"}` and `nvidia-smi -q -i UUID`: what the driver asks for.
- The log of the server (`docker logs` or `journalctl -u UNIT`): did the engine die?

## What to do

1. Take the server off this GPU: stop it, and send requests to others.
2. Reset the GPU: stop all that uses it, then `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at
   once). For 79 and 151, and where the reset fails, reboot the node; for 79 cut its power.
3. Start the server again and watch. The same event on the same GPU within days: have the card replaced.

## When it lies

46 and 109 may be a fault of a kernel of the program, if several GPUs raise it and always with the same model. 74 comes
on both ends of a link: the fault is at one of them, or between. The alert ends half an hour after the last event, be it
mended or not; `GpuRecoveryNeeded` tells what the driver still asks for.
"""

from vllmwatch.catalog.alerts.gpus._words import (
    HURT,
    SHORT_UUID,
    WHO,
    A,
    B,
    carrier,
    carrying,
    carrying_nobody,
    known,
    naming_whom,
    of_node,
    reading,
)
from vllmwatch.catalog.recordings.stories.words import NODE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_LAST = "vllmwatch_gpu_xid_last_timestamp_seconds"
_UNPLACED = "vllmwatch_xid_unplaced_last_timestamp_seconds"
_SLOT = "0000:65:00.0"
_OF_GPU = naming_whom("(time() - vllmwatch:gpu:xid_critical_timestamp_seconds:last15m)", "xid")

ALERT = Alert(
    name="GpuXidCritical",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=(*HURT, "xid", "pci_bus_id"),
    expression=f"{_OF_GPU}\nor\ntime() - vllmwatch:node:xid_unplaced_timestamp_seconds:last15m",
    hold="1m",
    keep_firing="15m",
    causes=("GpuLost",),
    summary=f"XID {{{{ $labels.xid }}}} on {SHORT_UUID}{{{{ $labels.pci_bus_id }}}} of {{{{ $labels.node }}}}",
    description=(
        "{{ $labels.uuid }}{{ $labels.pci_bus_id }} of {{ $labels.node }} raised XID {{ $labels.xid }} "
        f"{{{{ $value | humanizeDuration }}}} ago: it needs a reset or more{WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "an event a minute ago, on a GPU that had none before",
            reading(_LAST, then(missing("10m"), steady(600, "50m")), xid="48"),
            *known("1h"),
            *carrier("1h"),
            at("10m"),
            at("12m", carrying(xid="48", pci_bus_id="")),
            at("50m"),
        ),
        fires(
            "an event of a GPU that nobody has seen, known by its slot",
            of_node(_UNPLACED, then(missing("10m"), steady(600, "50m")), pci_bus_id=_SLOT, xid="79"),
            at("10m"),
            at("12m", {"node": NODE, "uuid": "", "server": "", "model_name": "", "xid": "79", "pci_bus_id": _SLOT}),
        ),
        quiet(
            "events of yesterday, which the kernel log still has, and events that are no fault or end a program alone",
            reading(_LAST, then(missing("24m"), steady(60, "10m")), xid="79"),
            of_node(_UNPLACED, then(missing("24m"), steady(60, "10m")), pci_bus_id=_SLOT, xid="79"),
            reading(_LAST, then(missing("20m"), steady(1200, "14m")), xid="31"),
            reading(_LAST, then(missing("20m"), steady(1200, "14m")), xid="45"),
            *known("34m"),
            *carrier("34m"),
            at("22m"),
            at("30m"),
        ),
        messy(
            "scraped twice, one event and then another, both told; one GPU carries nobody, one time is no number",
            reading(_LAST, then(missing("5m"), steady(300, "20m")), xid="95"),
            reading(_LAST, then(missing("10m"), steady(600, "15m")), xid="48"),
            reading(_LAST, then(missing("10m"), steady(600, "15m")), xid="48", job="again"),
            reading(_LAST, then(missing("5m"), steady(300, "20m")), B, xid="119"),
            reading(_LAST, not_a_number("25m"), "GPU-2", xid="79"),
            *known("25m", A, B, "GPU-2"),
            *carrier("25m", A),
            at("9m", carrying(xid="95", pci_bus_id=""), carrying_nobody(B, xid="119", pci_bus_id="")),
            at(
                "14m",
                carrying(xid="48", pci_bus_id=""),
                carrying(xid="95", pci_bus_id=""),
                carrying_nobody(B, xid="119", pci_bus_id=""),
            ),
        ),
    ),
)
