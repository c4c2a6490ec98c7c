"""One GPU of an engine is slower than the others, and all wait for it.

## What it means

For ten minutes in which the engine worked, this GPU's clock was more than 15 % below the median of the engine's GPUs
(`figure` is `sm_clock`), or it has fewer PCIe lanes than they have (`pcie_width`).

## Why it matters

With tensor parallelism every step waits for the slowest GPU, so one slow card of eight costs the work of all eight.
Neither utilization nor the latency of one GPU shows it: the others look busy while they wait.

## First look

- `vllmwatch:engine_gpu:sm_clock:ratio_avg5m{server="…"}`, and beside it `vllmwatch:engine_gpu:power:ratio_avg5m` and
  `vllmwatch:engine_gpu:temperature_difference_celsius:avg5m`: slow and hot is cooling; slow and cool is a limit that
  somebody set, or the power.
- `nvidia-smi -q -d CLOCK,PERFORMANCE,POWER -i UUID`: what holds the clocks down, and locked clocks.
- `nvidia-smi topo -m`, `nvidia-smi --query-gpu=uuid,pcie.link.width.current --format=csv`: its place and its lanes.

## What to do

1. A limit was set on it alone: `nvidia-smi -i UUID -rgc` takes locked clocks back, `-pl WATTS` sets the power.
2. Heat or the power brake: `GpuThermalThrottle` and `GpuPowerBrake` say what to do.
3. Fewer lanes: reseat the card or choose a slot like the others; with NVLink between the GPUs it may do little harm.
4. Nothing of these: run the server on other GPUs, and have the card looked at.

## When it lies

With pipeline parallelism stages may work unevenly by nature, and with cards of different kinds the clocks differ.
While the engine idles nothing is compared.
"""

from vllmwatch.catalog.alerts.gpus._words import A, B, reading
from vllmwatch.catalog.recordings.stories.words import NODE, SERVER, carried, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then
from vllmwatch.spec.story import Series

_CLOCK = "vllmwatch_gpu_clock_hertz"
_LANES = "vllmwatch_gpu_pcie_link_width"
_RUNNING = "vllm:num_requests_running"
_FOUR = (A, B, "GPU-2", "GPU-3")


def _group(lasts: str, *clocks: str, engine: str = "0", running: str = "") -> tuple[Series, ...]:
    """Return an engine on as many GPUs as there are clocks."""
    uuids = _FOUR[: len(clocks)]
    return (
        of_engine(_RUNNING, running or steady(5, lasts), engine),
        *(carried(steady(1, lasts), uuid, engine=engine, rank=f"TP{uuid[-1]}") for uuid in uuids),
        *(reading(_CLOCK, clock, uuid, domain="sm") for uuid, clock in zip(uuids, clocks, strict=True)),
    )


def _slow(uuid: str, figure: str = "sm_clock") -> dict[str, str]:
    return {"node": NODE, "server": SERVER, "engine": "0", "uuid": uuid, "figure": figure}


ALERT = Alert(
    name="GpuStraggler",
    theme="gpus",
    subject=Subject.ENGINE_GPU,
    severity=Severity.TICKET,
    own_labels=("figure",),
    expression=(
        'label_replace(vllmwatch:engine_gpu:sm_clock:ratio_avg5m < 0.85, "figure", "sm_clock", "", "")\n'
        'or\nlabel_replace(vllmwatch:engine_gpu:pcie_width:ratio < 1, "figure", "pcie_width", "", "")'
    ),
    hold="10m",
    causes=("GpuThermalThrottle", "GpuNearSlowdown", "GpuPowerBrake", "GpuPcieNarrow"),
    summary='{{ printf "%.12s" $labels.uuid }} holds up the others of {{ $labels.server }}',
    description=(
        "{{ $labels.figure }} of {{ $labels.uuid }} is {{ $value | humanizePercentage }} of the median of engine "
        "{{ $labels.engine }} of {{ $labels.server }}, on {{ $labels.node }}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "of four GPUs one has four fifths of the clock",
            *_group("40m", *3 * (steady(1.9e9, "40m"),), then(steady(1.9e9, "10m"), steady(1.52e9, "30m"))),
            at("20m"),
            at("27m", _slow("GPU-3")),
        ),
        fires(
            "of four GPUs one has half of the lanes",
            *_group("40m", *4 * (steady(1.9e9, "40m"),)),
            *(reading(_LANES, steady(16, "40m"), uuid) for uuid in _FOUR[:3]),
            reading(_LANES, then(steady(16, "10m"), steady(8, "30m")), _FOUR[3]),
            at("19m"),
            at("22m", _slow("GPU-3", "pcie_width")),
        ),
        quiet(
            "a tenth slower, and with the lanes that the others have",
            *_group("40m", *3 * (steady(1.9e9, "40m"),), steady(1.7e9, "40m")),
            *(reading(_LANES, steady(8, "40m"), uuid) for uuid in _FOUR),
            at("40m"),
        ),
        quiet(
            "slow while nothing runs, and a single GPU",
            *_group("40m", *3 * (steady(1.9e9, "40m"),), steady(0.3e9, "40m"), running=steady(0, "40m")),
            at("40m"),
        ),
        messy(
            "scraped twice, of two data-parallel engines one with a slow card, which is away for a while",
            *_group("40m", *3 * (steady(1.9e9, "40m"),), then(steady(1e9, "20m"), missing("3m"), steady(1e9, "17m"))),
            reading(_CLOCK, steady(1e9, "40m"), _FOUR[3], domain="sm", job="again"),
            of_engine(_RUNNING, steady(5, "40m"), job="again"),
            of_engine(_RUNNING, steady(5, "40m"), "1"),
            *(carried(steady(1, "40m"), uuid, engine="1", rank=f"TP{uuid[-1]}") for uuid in ("GPU-4", "GPU-5")),
            reading(_CLOCK, steady(1e9, "40m"), "GPU-4", domain="sm"),
            reading(_CLOCK, steady(1e9, "40m"), "GPU-5", domain="sm"),
            at("15m", _slow("GPU-3")),
            at("38m", _slow("GPU-3")),
        ),
    ),
)
