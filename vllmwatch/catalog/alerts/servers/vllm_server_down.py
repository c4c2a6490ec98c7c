"""A server that answered no longer does.

## What it means

For three minutes a server has not given its metrics, which it gave within the last six hours. One that loads its model
is given half an hour for that. `vllmwatch_target_error` has the reason:

- `refused` and `gone`: the process is dead. `timeout`: it hangs.
- `loading`: it loads, or it dies while it loads and is started again.
- `unauthorized`: the password or token was changed. `not_metrics` and `html`: something else is on its port.

## Why it matters

Users of this server get errors, or wait. Whatever else is known of it, queue, latency, KV cache, is no longer.

## First look

- `curl -s 127.0.0.1:9836/debug/last` on the host that the label `node` names: what the server answered instead.
- `vllmwatch_target_error{server="…"}`, and `vllmwatch_engine_gpu_info{server="…"}` for the GPUs that it had.
- `docker ps -a` or `systemctl status`: the exit code. 137 is the kernel's out-of-memory killer or a kill by hand.
- The last lines of its log: look for `EngineCore encountered a fatal error` and the traceback before it.
- `journalctl -k | grep -i xid` on its host: a GPU that fails takes the server along.

## What to do

1. The process is gone: keep the log, start it again. A model of 70 B takes minutes to load.
2. It died of a GPU (`GpuLost`, `GpuXidCritical`): do what those say first, or it will die again.
3. It died of memory: less `--gpu-memory-utilization`, a shorter `--max-model-len`, more memory for the container.
4. It hangs: `py-spy dump --pid PID` of the API server and of `VLLM::EngineCore`, then restart it.
5. `loading` for half an hour: the log says whether it is one slow load or many that fail. For a model that needs longer
   from your disk, silence it for that time.
6. It was stopped on purpose: silence it, `vllmwatch silence server=NAME --for 1h --comment "taken down"`.

## When it lies

It was stopped on purpose: the exporter cannot know. A server that is taken out of `targets` or of a file of targets is
not told of. A network or a password between exporter and server that changed looks the same, and users may notice
nothing. After an hour (`target_gone_seconds`) a server that was found by its process is forgotten, and the alert ends
though nothing was mended. That a server loads is known only of processes on the exporter's own host.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_UP = "vllmwatch_target_up"
_SUCCESS = "vllmwatch_target_last_success_timestamp_seconds"
_ERROR = "vllmwatch_target_error"
_WHO = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="VllmServerDown",
    theme="servers",
    subject=Subject.SERVER,
    severity=Severity.PAGE,
    expression=(
        "time() - vllmwatch:server:last_up_timestamp_seconds:last6h\n"
        "and on (node, server) (max by (node, server) (vllmwatch_target_up) == 0)\n"
        "unless on (node, server) (\n"
        'max by (node, server) (vllmwatch_target_error{reason="loading"} == 1)\n'
        "and on (node, server) (time() - vllmwatch:server:last_up_timestamp_seconds:last6h < 1800)\n"
        ")"
    ),
    hold="3m",
    keep_firing="2m",
    summary="{{ $labels.server }} is down ({{ $labels.model_name }})",
    description=(
        "{{ $labels.server }}, which serves {{ $labels.model_name }}, has not given its metrics for "
        "{{ $value | humanizeDuration }}."
    ),
    board=Board.SERVER,
    causes=("ModelWithoutServer", "GpuLost", "GpuXidCritical"),
    cases=(
        fires(
            "it answered, and for three minutes does not",
            target(steady(1, "30m")),
            of_server(_UP, then(steady(1, "10m"), steady(0, "20m"))),
            of_server(_SUCCESS, then(rising(1, "10m"), steady(600, "20m"))),
            of_server(_ERROR, then(missing("10m"), steady(1, "20m")), reason="refused"),
            at("12m"),
            at("15m", _WHO),
        ),
        quiet(
            "it is away for two minutes, and loads its model for a quarter of an hour after that",
            target(steady(1, "40m")),
            of_server(_UP, then(steady(1, "10m"), steady(0, "17m"), steady(1, "13m"))),
            of_server(_SUCCESS, then(rising(1, "10m"), steady(600, "17m"), rising(1, "13m", 1620))),
            of_server(_ERROR, then(missing("12m"), steady(1, "15m"), missing("13m")), reason="loading"),
            at("12m"),
            at("20m"),
            at("26m"),
            at("35m"),
        ),
        fires(
            "it loads for more than half an hour, or dies each time it loads",
            target(steady(1, "90m")),
            of_server(_UP, then(steady(1, "10m"), steady(0, "80m"))),
            of_server(_SUCCESS, then(rising(1, "10m"), steady(600, "80m"))),
            of_server(_ERROR, then(missing("10m"), steady(1, "80m")), reason="loading"),
            at("39m"),
            at("45m", _WHO),
        ),
        fires(
            "the host was rebooted: its exporter is back, knows of no page and no model, and the server is not",
            target(then(steady(1, "10m"), "stale")),
            target(then(missing("14m"), steady(1, "46m")), model_name="", version=""),
            of_server(_UP, then(steady(1, "10m"), missing("4m"), steady(0, "46m"))),
            of_server(_SUCCESS, then(rising(1, "10m"), "stale")),
            of_server(_ERROR, then(missing("14m"), steady(1, "46m")), reason="refused"),
            at("16m"),
            at("20m", _WHO),
            at("55m", _WHO),
        ),
        quiet(
            "it was never up",
            target(steady(1, "40m")),
            of_server(_UP, steady(0, "40m")),
            at("30m"),
        ),
        messy(
            "scraped by two jobs, one of which lags behind; another server is well; the model is known from before",
            target(steady(1, "40m")),
            target(steady(1, "40m"), job="again"),
            target(steady(1, "40m"), server="box:8001"),
            of_server(_UP, then(steady(1, "10m"), missing("1m"), steady(0, "29m"))),
            of_server(_UP, then(steady(1, "11m"), steady(0, "29m")), job="again"),
            of_server(_UP, steady(1, "40m"), server="box:8001"),
            of_server(_SUCCESS, then(rising(1, "10m"), steady(600, "30m"))),
            of_server(_SUCCESS, rising(1, "40m"), server="box:8001"),
            at("12m"),
            at("20m", _WHO),
        ),
    ),
)
