"""A GPU no longer answers the driver.

## What it means

The driver works and answers for the other GPUs; for this one it says that it is lost, or says nothing. The GPU has
fallen off the PCIe bus, or its own processor hangs. It does not come back by itself.

## Why it matters

Every server that ran on it is dead or hangs, with all GPUs of its tensor-parallel group, and does not start again on
this node: a restart finds one GPU fewer. The alert names the server that the GPU carried within the last hour.

## First look

- `nvidia-smi` on the node: "Unable to determine the device handle" or "GPU is lost" names the PCI address.
- `journalctl -k --since "1 hour ago" | grep -E "NVRM|Xid|fallen off"`: the event before it, often XID 79.
- `vllmwatch_gpu_info{uuid="…"}`: the slot (`pci_bus_id`) and the serial number, kept while it is lost.

## What to do

1. Take the node out of service: stop the server, and start it where there are GPUs left.
2. Reboot the node. A GPU that is off the bus often needs its power cut: use the BMC, not a warm reboot.
3. It is lost again within days: have its seat, riser and power cable looked at, then have the card replaced.

## When it lies

A reset by hand (`nvidia-smi --gpu-reset`) takes a GPU away for some seconds, and is over before the alert fires. A GPU
that was given to a virtual machine, or taken out while the exporter ran, is missed until the exporter is restarted. A
server that moved to other GPUs is still named for up to two hours.
"""

from vllmwatch.catalog.alerts.gpus._words import (
    HURT,
    SHORT_UUID,
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
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, steady, then

_UP = "vllmwatch_gpu_up"
_DRIVER = of_node("vllmwatch_nvml_up", steady(1, "3h"))

ALERT = Alert(
    name="GpuLost",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=HURT,
    expression=naming_whom("vllmwatch:gpu:lost:count"),
    hold="1m",
    keep_firing="2m",
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} is lost",
    description=(
        "{{ $labels.uuid }} of {{ $labels.node }} does not answer; GPUs of the node that do not: {{ $value }}"
        "{{ with $labels.server }}. It carried {{ $labels.model_name }} on {{ . }}{{ end }}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "one of two GPUs of a server is lost for a minute",
            _DRIVER,
            reading(_UP, then(steady(1, "10m"), steady(0, "10m")), A),
            *known("20m", B),
            *carrier("20m", A, B),
            at("10m30s"),
            at("12m", carrying(A)),
        ),
        quiet(
            "a reset takes half a minute",
            _DRIVER,
            reading(_UP, then(steady(1, "10m"), steady(0, "42s"), steady(1, "10m"))),
            at("11m15s"),
            at("12m"),
        ),
        quiet(
            "the driver is down, which is another fault",
            of_node("vllmwatch_nvml_up", then(steady(1, "10m"), steady(0, "10m"))),
            reading(_UP, then(steady(1, "10m"), steady(0, "10m"))),
            at("18m"),
        ),
        messy(
            "two of three are lost, scraped twice; one carries nobody; the workers of the other go after a while",
            _DRIVER,
            reading(_UP, then(steady(1, "10m"), steady(0, "2h")), A),
            reading(_UP, then(steady(1, "10m"), steady(0, "2h")), A, job="again"),
            reading(_UP, then(steady(1, "10m"), steady(0, "2h")), B),
            reading(_UP, then(steady(1, "10m"), steady(0, "2h")), "GPU-2"),
            reading(_UP, steady(1, "2h10m"), "GPU-2", job="again"),
            reading(_UP, then(steady(1, "10m"), steady(0, "2h")), "GPU-3", node="dark"),
            of_node("vllmwatch_nvml_up", then(steady(1, "10m"), steady(0, "2h")), "dark"),
            *carrier("20m", A),
            at("12m", carrying(A), carrying_nobody(B)),
            at("1h", carrying(A), carrying_nobody(B)),
            at("2h", carrying_nobody(A), carrying_nobody(B)),
        ),
    ),
)
