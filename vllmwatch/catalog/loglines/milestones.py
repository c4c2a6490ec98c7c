"""Lines of normal life: how a server starts and how long it takes, what it does every ten seconds, its requests.

Read in vLLM 0.32 (vllm/v1/metrics/loggers.py and the files that each line names) and seen in its logs; older wordings
are from the releases that wrote them, which the examples show.
"""

from vllmwatch.spec.logline import Figure, Milestone

_GIB = 1024.0**3
_PERCENT = 0.01

THROUGHPUT = Milestone(
    "throughput",
    "Avg prompt (?:throughput|tput): ",
    (
        (
            (
                "Engine 001: Avg prompt throughput: 512.4 tokens/s, Avg generation throughput: 88.0 tokens/s, "
                "Running: 8 reqs, Waiting: 5 reqs, Deferred: 2 reqs, Preemptions: 3, GPU KV cache usage: 97.5%, "
                "Prefix cache hit rate: 41.0%"
            ),
            {
                "engine": 1,
                "prompt_tokens_per_second": 512.4,
                "generation_tokens_per_second": 88,
                "requests_running": 8,
                "requests_waiting": 5,
                "requests_deferred": 2,
                "preemptions": 3,
                "kv_cache_usage_ratio": 0.975,
                "prefix_cache_hit_ratio": 0.41,
            },
        ),
        (
            (
                "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 51.5 tokens/s, "
                "Running: 3 reqs, Waiting: 2 reqs, KV fetch: 1 waiting to start, 2 in progress, 4 completed waiting, "
                "GPU KV cache usage: 12.0%, Prefix cache hit rate: 3.0%, External prefix cache hit rate: 77.0%, "
                "MM cache hit rate: 50.0%"
            ),
            {
                "engine": 0,
                "prompt_tokens_per_second": 0,
                "generation_tokens_per_second": 51.5,
                "requests_running": 3,
                "requests_waiting": 2,
                "kv_fetches_waiting": 1,
                "kv_fetches_running": 2,
                "kv_fetches_completed": 4,
                "kv_cache_usage_ratio": 0.12,
                "prefix_cache_hit_ratio": 0.03,
                "external_prefix_cache_hit_ratio": 0.77,
                "multi_modal_cache_hit_ratio": 0.5,
            },
        ),
        (
            (
                "Avg prompt throughput: 3.5 tokens/s, Avg generation throughput: 20.0 tokens/s, Running: 2 reqs, "
                "Swapped: 1 reqs, Pending: 7 reqs, GPU KV cache usage: 25.0%, CPU KV cache usage: 50.0%."
            ),
            {
                "prompt_tokens_per_second": 3.5,
                "generation_tokens_per_second": 20,
                "requests_running": 2,
                "requests_swapped": 1,
                "requests_waiting": 7,
                "kv_cache_usage_ratio": 0.25,
            },
        ),
        (
            (
                "Avg prompt tput: 4.5 toks/s, Avg generation tput: 26.5 toks/s, Reqs Running: 1, Waiting: 2, "
                "GPU KV cache used: 50.0%, Prefix cache hit rate: 0.0%"
            ),
            {
                "prompt_tokens_per_second": 4.5,
                "generation_tokens_per_second": 26.5,
                "requests_running": 1,
                "requests_waiting": 2,
                "kv_cache_usage_ratio": 0.5,
                "prefix_cache_hit_ratio": 0,
            },
        ),
    ),
    ("vLLM API server version 0.9.2",),
    (
        Figure("engine", r"Engine ([0-9]+): "),
        Figure("engines", r"([0-9]+) Engines Aggregated: "),
        Figure("prompt_tokens_per_second", r"Avg prompt (?:throughput|tput): ([0-9.]+)"),
        Figure("generation_tokens_per_second", r"Avg generation (?:throughput|tput): ([0-9.]+)"),
        Figure("requests_running", r"Running: ([0-9]+)"),
        Figure("requests_swapped", r"Swapped: ([0-9]+)"),
        Figure("requests_waiting", r"(?:Waiting|Pending): ([0-9]+)"),
        Figure("requests_deferred", r"Deferred: ([0-9]+)"),
        Figure("kv_fetches_waiting", r"KV fetch: ([0-9]+) waiting to start"),
        Figure("kv_fetches_running", r"waiting to start, ([0-9]+) in progress"),
        Figure("kv_fetches_completed", r"in progress, ([0-9]+) completed waiting"),
        Figure("preemptions", r"Preemptions: ([0-9]+)"),
        Figure("kv_cache_usage_ratio", r"[A-Z]+ KV cache (?:usage|used): ([0-9.]+)%", _PERCENT),
        Figure("prefix_cache_hit_ratio", r"(?:^|[,:] )(?:GPU: )?Prefix cache hit rate: ([0-9.]+)%", _PERCENT),
        Figure("requests_corrupted", r"Corrupted: ([0-9]+)"),
        Figure("external_prefix_cache_hit_ratio", r"External prefix cache hit rate: ([0-9.]+)%", _PERCENT),
        Figure("multi_modal_cache_hit_ratio", r"MM cache hit rate: ([0-9.]+)%", _PERCENT),
    ),
)
_SPECULATION = Milestone(
    "speculation",
    "SpecDecoding metrics: ",
    (
        (
            (
                "SpecDecoding metrics: Mean acceptance length: 2.5, Accepted throughput: 70.5 tokens/s, Drafted "
                "throughput: 150.0 tokens/s, Accepted: 705 tokens, Drafted: 1500 tokens, Per-position acceptance rate: "
                "0.700, 0.450, 0.260, Avg Draft acceptance rate: 47.0%"
            ),
            {
                "acceptance_length": 2.5,
                "accepted_tokens": 705,
                "drafted_tokens": 1500,
                "acceptance_ratio": 0.47,
            },
        ),
    ),
    ("Speculative decoding on CPU without Intel OpenMP",),
    (
        Figure("acceptance_length", r"Mean acceptance length: ([0-9.]+)"),
        Figure("accepted_tokens", r"Accepted: ([0-9]+) tokens"),
        Figure("drafted_tokens", r"Drafted: ([0-9]+) tokens"),
        Figure("acceptance_ratio", r"Avg Draft acceptance rate: ([0-9.]+)%", _PERCENT),
    ),
)

_STARTS: tuple[Milestone, ...] = (
    Milestone(
        "engine_starting",
        r"Initializing an? (?:V[01] )?LLM engine|vLLM (?:API )?server version",
        (
            ("Initializing a V1 LLM engine (v0.32.0) with config: model='./tiny'", {}),
            ("Initializing an LLM engine (v0.5.4) with config: model='m'", {}),
            ("vLLM API server version 0.9.2", {}),
        ),
    ),
    Milestone(
        "model_loading",
        "Starting to load model ",
        (("Starting to load model ./tiny...", {}),),
        ("Loading weights took 0.05 seconds",),
    ),
    Milestone(
        "weights_progress",
        "Loading [a-z_]+ checkpoint shards: ",
        (
            (
                "Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:01<00:01,  1.00s/it]",
                {"done_ratio": 0.5},
            ),
        ),
        figures=(Figure("done_ratio", r"([0-9]+)% Completed", _PERCENT),),
    ),
    Milestone(
        "weights_loaded",
        "Loading weights took ",
        (("Loading weights took 12.5 seconds", {"duration_seconds": 12.5}),),
        figures=(Figure("duration_seconds", r"took ([0-9.]+) seconds"),),
    ),
    Milestone(
        "model_loaded",
        "Model loading took |Loading model weights took ",
        (
            (
                "Model loading took 2.0 GiB memory and 4.500000 seconds",
                {"memory_bytes": 2147483648, "duration_seconds": 4.5},
            ),
            ("Loading model weights took 14.5 GB", {"memory_bytes": 15569256448}),
        ),
        figures=(
            Figure("memory_bytes", r"took ([0-9.]+) Gi?B", _GIB),
            Figure("duration_seconds", r"([0-9.]+) seconds"),
        ),
    ),
    Milestone(
        "compiled",
        r"torch\.compile (?:took|takes) ",
        (("torch.compile took 24.5 s in total", {"duration_seconds": 24.5}),),
        figures=(Figure("duration_seconds", r"([0-9.]+) s in total"),),
    ),
    Milestone(
        "kv_cache_memory",
        "Available KV cache memory: ",
        (("Available KV cache memory: 8.0 GiB", {"memory_bytes": 8589934592}),),
        figures=(Figure("memory_bytes", r"memory: ([0-9.]+) GiB", _GIB),),
    ),
    Milestone(
        "kv_cache_size",
        "KV cache size: |Maximum concurrency for |# (?:GPU|CPU|cuda|cpu|xpu|tpu) blocks: ",
        (
            (
                "GPU KV cache size: 1,048,576 tokens, Maximum concurrency for 2,048 tokens per request: 512.00x",
                {"kv_cache_tokens": 1048576, "tokens_per_request": 2048, "requests_at_once": 512},
            ),
            (
                "Maximum concurrency for 8192 tokens per request: 4.50x",
                {"tokens_per_request": 8192, "requests_at_once": 4.5},
            ),
            ("# GPU blocks: 7453, # CPU blocks: 2048", {"gpu_blocks": 7453, "cpu_blocks": 2048}),
        ),
        figures=(
            Figure("kv_cache_tokens", r"KV cache size: ([0-9,]+) tokens"),
            Figure("tokens_per_request", r"Maximum concurrency for ([0-9,]+) tokens"),
            Figure("requests_at_once", r"per request: ([0-9.]+)x"),
            Figure("gpu_blocks", r"# (?:GPU|cuda) blocks: ([0-9]+)"),
            Figure("cpu_blocks", r"# (?:CPU|cpu) blocks: ([0-9]+)"),
        ),
    ),
    Milestone(
        "graphs_captured",
        "Graph capturing finished in ",
        (
            (
                "Graph capturing finished in 21 secs, took 0.5 GiB",
                {"duration_seconds": 21, "memory_bytes": 536870912},
            ),
        ),
        figures=(
            Figure("duration_seconds", r"finished in ([0-9.]+) secs?"),
            Figure("memory_bytes", r"took ([0-9.]+) GiB", _GIB),
        ),
    ),
    Milestone(
        "engine_started",
        r"init engine \(",
        (
            ("init engine (profile, create kv cache, warmup model) took 1.75 s", {"duration_seconds": 1.75}),
            (
                "init engine (profile, create kv cache, warmup model) took 61.50 s (compilation: 20.00 s)",
                {"duration_seconds": 61.5},
            ),
            ("init engine (profile, create kv cache, warmup model) took 88.25 seconds", {"duration_seconds": 88.25}),
        ),
        figures=(Figure("duration_seconds", r"\) took ([0-9.]+) s"),),
    ),
    Milestone(
        "listening",
        "Starting vLLM (?:API )?server ",
        (
            ("Starting vLLM server on http://0.0.0.0:8000", {}),
            ("Starting vLLM API server 0 on http://0.0.0.0:8000", {}),
        ),
    ),
    Milestone("ready", "Application startup complete", (("Application startup complete.", {}),)),
    Milestone(
        "stopping",
        r"^(?:Shutting down|Waiting for application shutdown|Application shutdown complete|Finished server process)",
        (("Shutting down", {}), ("Finished server process [3707]", {})),
    ),
)

_REQUESTS: tuple[Milestone, ...] = (
    Milestone(
        "request_received",
        "^Received request ",
        (("Received request cmpl-1-0: [redacted]", {}),),
        ("Invalid HTTP request received.",),
    ),
    Milestone("request_added", "^Added request ", (("Added request cmpl-1-0-b225f340.", {}),)),
    Milestone(
        "request_aborted",
        r"^Aborted request|^Request \S+ aborted",
        (("Aborted request(s) cmpl-1-0-8903.", {}), ("Request cmpl-1-0 aborted.", {})),
        ("Request cmpl-1-0 failed (engine dead).",),
    ),
    Milestone(
        "request_failed",
        r"^Request \S+ failed",
        (("Request cmpl-1-0 failed (engine dead).", {}),),
        ("Request cmpl-1-0 aborted.",),
    ),
    Milestone(
        "response",
        "^Generated response ",
        (("Generated response cmpl-1 (streaming complete): [redacted], finish_reason: stop", {}),),
    ),
    Milestone(
        "preempted",
        "is preempted by ",
        (("Sequence group cmpl-1 is preempted by PreemptionMode.RECOMPUTE mode", {}),),
        ("Preemptions: 3",),
    ),
    Milestone("route", "^Route: /", (("Route: /health, Methods: GET", {}),)),
)

MILESTONES: tuple[Milestone, ...] = (THROUGHPUT, _SPECULATION, *_STARTS, *_REQUESTS)
REQUEST_ID = (
    r"(?:Received request|Added request|Aborted request\(s\)|Generated response|Request|Sequence group) "
    r"([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)"
)
ACCESS = r'^(?:\S+ )?- "[A-Z]+ \S+ HTTP/[0-9.]+" [0-9]{3}'
PROBE = r'^(?:\S+ )?- "GET /(?:health|ping|metrics)/?(?:\?\S*)? HTTP/[0-9.]+" 2[0-9]{2}\b'
