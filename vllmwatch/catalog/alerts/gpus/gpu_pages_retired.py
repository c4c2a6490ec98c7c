"""A GPU from before Ampere took so many pages of memory out of use that it is wearing out, or waits to do so.

## What it means

The card has retired 60 pages of memory or more, of the 64 that it can; or pages wait for a reboot to be retired.

## Why it matters

With all 64 used up, bad memory stays in use, and errors end the server. From 60 on NVIDIA replaces the card.

## First look

- `nvidia-smi -q -d PAGE_RETIREMENT -i UUID`: how many pages, why, and whether some wait.
- `vllmwatch_gpu_retired_pages{uuid="…"}` over the last months: did it grow?

## What to do

1. Some wait: reboot the node, or reset the GPU with nothing on it (`nvidia-smi --gpu-reset -i UUID`), in a window.
2. 60 or more: have the card replaced (`nvidia-bug-report.sh`, and its serial number).

## When it lies

Pages that were retired long ago and grow no more do no harm; then set a silence for this `uuid`. Cards from Ampere on
replace rows instead, and are not told of here.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_PAGES = "vllmwatch_gpu_retired_pages"
_PENDING = "vllmwatch_gpu_retired_pages_pending"

ALERT = Alert(
    name="GpuPagesRetired",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    # NVIDIA replaces cards with 60 retired pages or more (docs.nvidia.com/deploy/dynamic-page-retirement).
    expression=(
        "vllmwatch:gpu:retired_pages:sum >= 60\n"
        f"or\nvllmwatch:gpu:retired_pages:sum and on (node, uuid) max by (node, uuid) ({_PENDING}) == 1"
    ),
    hold="15m",
    summary=f"Memory of {SHORT_UUID} of {{{{ $labels.node }}}} wears out",
    description="{{ $labels.uuid }} has retired {{ $value }} pages of memory, or some wait for a reboot.",
    board=Board.GPU,
    cases=(
        fires(
            "60 pages of both causes, and none waits",
            reading(_PAGES, then(steady(40, "10m"), steady(41, "30m")), cause="single_bit"),
            reading(_PAGES, then(steady(18, "10m"), steady(19, "30m")), cause="double_bit"),
            reading(_PENDING, steady(0, "40m")),
            at("24m"),
            at("27m", gpu()),
        ),
        fires(
            "two pages, of which one waits",
            reading(_PAGES, steady(2, "40m"), cause="single_bit"),
            reading(_PENDING, then(steady(0, "10m"), steady(1, "30m"))),
            at("24m"),
            at("27m", gpu()),
        ),
        quiet(
            "59 pages, and none waits",
            reading(_PAGES, steady(59, "40m"), cause="single_bit"),
            reading(_PAGES, steady(0, "40m"), cause="double_bit"),
            reading(_PENDING, steady(0, "40m")),
            at("40m"),
        ),
        messy(
            "scraped twice, away for a while; another card says nothing that is a number",
            reading(_PAGES, then(steady(63, "20m"), missing("3m"), steady(63, "10m")), cause="single_bit"),
            reading(_PAGES, steady(63, "33m"), cause="single_bit", job="again"),
            reading(_PAGES, steady(35, "33m"), B, cause="single_bit"),
            reading(_PAGES, steady(35, "33m"), B, cause="single_bit", job="again"),
            reading(_PAGES, not_a_number("33m"), "GPU-2", cause="single_bit"),
            at("30m", gpu()),
        ),
    ),
)
