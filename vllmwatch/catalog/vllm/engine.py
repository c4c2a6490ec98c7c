"""Engines and features: sleep, adapters, speculation, diffusion, weight updates."""

from vllmwatch.catalog.vllm.declare import SERVER, counter, gauge, histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    gauge(
        name("vllm:engine_sleep_state", "0.11.1"),
        says="Whether the engine is awake or sleeps, and how deeply.",
        unit="1 for the present state",
        labels=("sleep_state",),
    ),
    histogram(
        name("vllm:sleep_mode_operation_duration_seconds", "0.32.0"),
        says="Time of putting the engine to sleep or waking it.",
        unit="seconds",
        scope=SERVER,
        labels=("operation",),
        condition="the sleep API of the development mode",
    ),
    gauge(
        name("vllm:sleep_mode_operations_in_flight", "0.32.0"),
        says="Sleep and wake operations under way.",
        unit="operations",
        scope=SERVER,
        condition="the sleep API of the development mode",
    ),
    histogram(
        name("vllm:rl_weight_update_operation_duration_seconds", "0.32.0"),
        says="Time of the steps of a weight update.",
        unit="seconds",
        scope=SERVER,
        labels=("operation",),
        condition="the weight-update API of the development mode",
    ),
    gauge(
        name("vllm:rl_weight_update_operations_in_flight", "0.32.0"),
        says="Weight updates under way.",
        unit="operations",
        scope=SERVER,
        condition="the weight-update API of the development mode",
    ),
    gauge(
        name("vllm:lora_requests_info", "0.6.4"),
        says="Adapters that run and wait; the row with the greatest value is the present one.",
        unit="seconds since the epoch",
        scope=SERVER,
        labels=(
            "max_lora",
            "running_lora_adapters",
            "waiting_lora_adapters",
        ),
        condition="--enable-lora",
    ),
    counter(
        name("vllm:spec_decode_num_drafts_total", "0.8.5"),
        says="Drafts made by the speculator.",
        unit="drafts",
        condition="--speculative-config",
    ),
    counter(
        name("vllm:spec_decode_num_draft_tokens_total", "0.5.3"),
        says="Tokens proposed by the speculator.",
        unit="tokens",
        condition="--speculative-config",
    ),
    counter(
        name("vllm:spec_decode_num_accepted_tokens_total", "0.5.3"),
        says="Proposed tokens that were accepted.",
        unit="tokens",
        condition="--speculative-config",
    ),
    counter(
        name("vllm:spec_decode_num_accepted_tokens_per_pos_total", "0.8.5"),
        says="Proposed tokens that were accepted, by position in the draft.",
        unit="tokens",
        labels=("position",),
        condition="--speculative-config",
    ),
    counter(
        name("vllm:spec_decode_num_emitted_tokens_total", "0.5.3", "0.9.2"),
        says="Tokens emitted with speculation (V0 engine).",
        unit="tokens",
        condition="--speculative-config",
    ),
    gauge(
        name("vllm:spec_decode_draft_acceptance_rate", "0.5.3", "0.9.2"),
        says="Share of proposed tokens that were accepted (V0 engine).",
        unit="ratio",
        condition="--speculative-config",
    ),
    gauge(
        name("vllm:spec_decode_efficiency", "0.5.3", "0.9.2"),
        says="Tokens emitted as a share of the most possible (V0 engine).",
        unit="ratio",
        condition="--speculative-config",
    ),
    counter(
        name("vllm:diffusion_num_denoising_steps_total", "0.24.0"),
        says="Denoising steps.",
        unit="steps",
        condition="a diffusion language model",
    ),
    counter(
        name("vllm:diffusion_num_canvas_positions_total", "0.24.0"),
        says="Canvas positions worked on.",
        unit="positions",
        condition="a diffusion language model",
    ),
    counter(
        name("vllm:diffusion_num_committed_tokens_total", "0.24.0"),
        says="Tokens committed.",
        unit="tokens",
        condition="a diffusion language model",
    ),
)
