"""What logs of vLLM servers tell of: memory that ran out, starts that failed, errors of GPUs and of what joins them."""

from types import ModuleType

from vllmwatch.catalog.alerts.logs import vllm_fault_logged, vllm_out_of_memory, vllm_start_failed

MODULES: tuple[ModuleType, ...] = (vllm_out_of_memory, vllm_start_failed, vllm_fault_logged)
