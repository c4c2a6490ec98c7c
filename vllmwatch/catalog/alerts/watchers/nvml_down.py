"""The driver of a host that had GPUs does not answer.

## What it means

For five minutes NVML could not be used on a host on which it could within the last day. `vllmwatch_nvml_error` has the
reason: `timeout` is a driver that hangs, `driver_not_loaded` one that is gone, `unknown_error` often a container that
lost its devices, `version_mismatch` an update without a restart.

## Why it matters

Nothing is known of the GPUs of this host. A driver that hangs often takes its servers along a little later.

## First look

- `nvidia-smi` on the host: does it answer? In the container of the exporter too?
- `journalctl -k | grep -iE 'nvrm|xid'`.
- `vllmwatch_nvml_error{node="…"}`.

## What to do

1. `version_mismatch`: the driver was updated; restart the host, or unload and load the modules when nothing runs.
2. A container alone: start it again. systemd takes devices away from containers at a `daemon-reload`; name the devices
   by CDI, or use cgroupfs.
3. The driver hangs: empty the host and restart it.

## When it lies

The driver is updated at this moment.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UP = "vllmwatch_nvml_up"
_WHO = {"node": NODE}

ALERT = Alert(
    name="NvmlDown",
    theme="watchers",
    subject=Subject.NODE,
    severity=Severity.TICKET,
    expression=(
        "(max by (node) (vllmwatch_nvml_up) == 0)\n"
        "and on (node) (max by (node) (max_over_time(vllmwatch_nvml_up[1d])) == 1)"
    ),
    hold="5m",
    keep_firing="5m",
    summary="The GPU driver on {{ $labels.node }} does not answer",
    description="NVML could be used on {{ $labels.node }} within the last day and cannot now (it says {{ $value }}).",
    board=Board.GPU,
    cases=(
        fires(
            "it answered and does not",
            series(_UP, then(steady(1, "10m"), steady(0, "30m")), node=NODE),
            at("14m"),
            at("16m", _WHO),
        ),
        quiet(
            "away for four minutes",
            series(_UP, then(steady(1, "10m"), steady(0, "4m"), steady(1, "20m")), node=NODE),
            at("13m"),
            at("20m"),
        ),
        quiet("a host without GPUs", series(_UP, steady(0, "40m"), node=NODE), at("30m")),
        messy(
            "one of two hosts; scraped twice, and a page is missing",
            series(_UP, then(steady(1, "10m"), missing("1m"), steady(0, "30m")), node=NODE),
            series(_UP, then(steady(1, "11m"), steady(0, "30m")), node=NODE, job="again"),
            series(_UP, steady(1, "41m"), node="other"),
            at("25m", _WHO),
        ),
    ),
)
