"""Made-up traffic for the metrics code of vLLM releases: one step of an engine in which five requests end."""

import dataclasses
import importlib
from types import ModuleType
from typing import Any

# Five requests: prompt tokens, generated tokens, and seconds in the queue, in prefill and in decode.
REQUESTS = (
    (12, 64, 0.002, 0.031, 1.4),
    (180, 200, 0.004, 0.09, 4.4),
    (700, 16, 0.8, 0.3, 0.4),
    (1500, 1, 2.1, 0.7, 0.0),
    (40, 500, 0.003, 0.04, 11.0),
)


def figures() -> dict[str, Any]:
    """Return one step's figures under all the names that releases have had for them."""
    prompts = [prompt for prompt, *_ in REQUESTS]
    outputs = [output for _, output, *_ in REQUESTS]
    queue, prefill, decode = ([request[column] for request in REQUESTS] for column in (2, 3, 4))
    first = [waited + filled for waited, filled in zip(queue, prefill, strict=True)]
    whole = [start + rest for start, rest in zip(first, decode, strict=True)]
    between = [0.02, 0.022, 0.024, 0.03, 0.11]
    return {
        "num_running": 4, "num_waiting": 1, "num_swapped": 0, "gpu_cache_usage": 0.3125, "cpu_cache_usage": 0.0,
        "time_to_first_tokens": first, "time_per_output_tokens": between,
        "num_running_sys": 4, "num_waiting_sys": 1, "num_swapped_sys": 0,
        "gpu_cache_usage_sys": 0.3125, "cpu_cache_usage_sys": 0.0,
        "gpu_prefix_cache_hit_rate": -1.0, "cpu_prefix_cache_hit_rate": -1.0,
        "num_prompt_tokens_iter": sum(prompts), "num_generation_tokens_iter": sum(outputs),
        "num_tokens_iter": sum(prompts) + sum(outputs), "num_preemption_iter": 2,
        "time_to_first_tokens_iter": first, "time_per_output_tokens_iter": between,
        "inter_token_latencies_iter": between,
        "time_e2e_requests": whole, "time_queue_requests": queue, "time_prefill_requests": prefill,
        "time_decode_requests": decode, "time_in_queue_requests": queue,
        "time_inference_requests": [e2e - waited for e2e, waited in zip(whole, queue, strict=True)],
        "model_forward_time_requests": [20.0, 31.0], "model_execute_time_requests": [22.0, 35.0],
        "num_prompt_tokens_requests": prompts, "num_generation_tokens_requests": outputs,
        "max_num_generation_tokens_requests": outputs, "max_tokens_requests": [512] * len(outputs),
        "max_num_generation_tokens_iter": outputs, "n_params_iter": [1] * len(outputs),
        "n_requests": [1] * len(outputs), "best_of_requests": [1] * len(outputs),
        "finished_reason_requests": ["stop", "stop", "length", "stop", "stop"],
        "queue_times_iter": queue, "prefill_times_iter": prefill,
        "running_lora_adapters": ["one"], "waiting_lora_adapters": [], "max_lora": "2",
        "num_prompt_tokens": sum(prompts), "num_generation_tokens": sum(outputs), "num_preempted_reqs": 2,
        "num_corrupted_reqs": 1, "num_watermarked_reqs": 3, "num_not_watermarked_reqs": 2,
    }  # fmt: skip


def fitting(kind: type, values: dict[str, Any]) -> Any:
    """Make one of a release's dataclasses of those values that it has fields for."""
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})


def scheduler_stats(stats: ModuleType) -> Any:
    """Return one step of the scheduler."""
    names = {field.name for field in dataclasses.fields(stats.SchedulerStats)}
    values: dict[str, Any] = {
        "num_running_reqs": 4, "num_waiting_reqs": 1, "num_skipped_waiting_reqs": 1,
        "gpu_cache_usage": 0.3125, "kv_cache_usage": 0.3125, "num_corrupted_reqs": 1,
        "running_lora_adapters": {"one": 1}, "waiting_lora_adapters": {},
    }  # fmt: skip
    if "prefix_cache_stats" in names:
        values["prefix_cache_stats"] = stats.PrefixCacheStats(requests=5, queries=2432, hits=640)
    if "connector_prefix_cache_stats" in names:
        values["connector_prefix_cache_stats"] = stats.PrefixCacheStats(requests=5, queries=1792, hits=256)
    if "kv_cache_eviction_events" in names:
        values["kv_cache_eviction_events"] = [stats.KVCacheEvictionEvent(12.0, 3.5, (0.4, 2.0))]
    if "spec_decoding_stats" in names:
        spec_decode = importlib.import_module("vllm.v1.spec_decode.metrics")
        values["spec_decoding_stats"] = fitting(
            spec_decode.SpecDecodingStats,
            {"num_spec_tokens": 3, "num_drafts": 200, "num_draft_tokens": 600, "num_accepted_tokens": 420}
            | {"num_accepted_tokens_per_pos": [180, 140, 100]},
        )
    return fitting(stats.SchedulerStats, values)


def iteration_stats(stats: ModuleType) -> Any:
    """Return one step of the front end, in which all requests end."""
    step = stats.IterationStats()
    known = figures() | {"running_lora_adapters": {"one": 1}, "waiting_lora_adapters": {}}
    for name, value in known.items():
        if name in vars(step):
            setattr(step, name, value)
    if hasattr(step, "prompt_token_stats"):
        total = sum(prompt for prompt, *_ in REQUESTS)
        parts = {"computed": total - 896, "local_cache_hit": 640, "external_kv_transfer": 256}
        step.prompt_token_stats = fitting(stats.PromptTokenStats, parts | {"cached_tokens": 896, "total": total})
    reasons = importlib.import_module("vllm.v1.engine").FinishReason
    for prompt, output, queue, prefill, decode in REQUESTS:
        values = {
            "finish_reason": reasons.LENGTH if output == 16 else reasons.STOP,
            "num_prompt_tokens": prompt, "num_generation_tokens": output, "max_tokens_param": 512,
            "queued_time": queue, "prefill_time": prefill, "decode_time": decode,
            "inference_time": prefill + decode, "e2e_latency": queue + prefill + decode,
            "mean_time_per_output_token": decode / (output - 1) if output > 1 else 0.0,
            "num_cached_tokens": 0, "num_preemptions": 0,
        }  # fmt: skip
        step.finished_requests.append(fitting(stats.FinishedRequestStats, values))
    return step
