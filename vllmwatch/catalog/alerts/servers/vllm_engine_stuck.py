"""An engine has requests and does nothing with them, though the server says that it is well.

## What it means

For two minutes the engine ran requests, made no step and no token, and its KV cache stood still. `/health` may answer
200 all the while: it tests no more than a flag. Reading a long prompt is not this: it moves the KV cache.

## Why it matters

Every request on this engine hangs until its client gives up, and routers go on sending, since the server looks well.

## First look

- `vllmwatch_engine_gpu_info{server="…", engine="…"}`: the GPUs under it. Near 100 % busy at low power is a collective
  operation that waits for a peer; 0 % is a worker that died.
- `pgrep -af VLLM::` lists the processes; `py-spy dump --pid PID` of `VLLM::EngineCore` and of each `VLLM::Worker`: who
  waits for whom.
- `journalctl -k | grep -i xid`, and the log of the server for `NCCL` and `shm_broadcast`.

## What to do

1. Keep the dumps and the log; vLLM's developers will ask for them.
2. Restart the server. Take it out of the router first if there is one.
3. It comes back on the same host: look at NVLink (`GpuNvlinkDown`), PCIe and the GPUs of the group (`GpuStraggler`).

## When it lies

A pooling model has no tokens of its own; it has steps, and is not taken for stuck while it makes them. A
program that paused the engine with its requests in it (`/pause`, for new weights) looks the same.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine, of_server
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, rising, steady, then

_RUNNING = "vllm:num_requests_running"
_TOKENS = "vllm:generation_tokens_total"
_PROMPT = "vllm:prompt_tokens_total"
_STEPS = "vllm:iteration_tokens_total_count"
_KV = "vllm:kv_cache_usage_perc"
_UP = of_server("vllmwatch_target_up", steady(1, "1h"))


def _who(engine: str) -> dict[str, str]:
    return {"node": NODE, "server": SERVER, "engine": engine, "model_name": MODEL}


ALERT = Alert(
    name="VllmEngineStuck",
    theme="servers",
    subject=Subject.ENGINE,
    severity=Severity.PAGE,
    expression="vllmwatch:engine:requests_stuck:min2m > 0",
    hold="1m",
    keep_firing="2m",
    summary="Engine {{ $labels.engine }} of {{ $labels.server }} is stuck ({{ $labels.model_name }})",
    description=(
        "{{ $value }} requests run on engine {{ $labels.engine }} of {{ $labels.server }}, and for two minutes it made "
        "no step and no token."
    ),
    board=Board.SERVER,
    causes=("VllmServerDown", "GpuLost", "GpuXidCritical"),
    cases=(
        fires(
            "it works for ten minutes and then stands still",
            _UP,
            of_engine(_RUNNING, steady(4, "30m")),
            of_engine(_TOKENS, then(rising(20, "10m"), steady(11760, "20m"))),
            of_engine(_PROMPT, then(rising(5, "10m"), steady(2940, "20m"))),
            of_engine(_STEPS, then(rising(5, "10m"), steady(2940, "20m"))),
            of_engine(_KV, then(rising(0.0005, "10m", 0.2), steady(0.5, "20m"))),
            at("11m"),
            at("12m15s"),
            at("15m", _who("0")),
        ),
        quiet(
            "a long prompt is read: no token, and the KV cache fills",
            _UP,
            of_engine(_RUNNING, steady(1, "30m")),
            of_engine(_TOKENS, steady(500, "30m")),
            of_engine(_PROMPT, steady(500, "30m")),
            of_engine(_KV, rising(0.0004, "30m", 0.1)),
            at("10m"),
            at("25m"),
        ),
        quiet(
            "nothing runs",
            _UP,
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_TOKENS, steady(500, "30m")),
            of_engine(_KV, steady(0, "30m")),
            at("20m"),
        ),
        messy(
            "of four engines one is stuck, one idles, one works, one has begun anew; all are scraped twice",
            _UP,
            *(
                of_engine(name, values, engine=engine, job=job)
                for job in ("vllmwatch", "again")
                for engine, running, tokens in (
                    ("0", steady(4, "30m"), steady(900, "30m")),
                    ("1", steady(0, "30m"), steady(900, "30m")),
                    ("2", steady(4, "30m"), rising(20, "30m")),
                    ("3", steady(4, "30m"), then(rising(20, "10m"), rising(20, "20m"))),
                )
                for name, values in ((_RUNNING, running), (_TOKENS, tokens), (_KV, steady(0.4, "30m")))
            ),
            at("20m", _who("0")),
        ),
    ),
)
