"""Look-alikes: the production stack's router exposes `vllm:` names that are sums over its own view of servers.

Counted beside the servers' own series they would count everything twice, so a router's families are given a
prefix of their own.
"""

PREFIX = "vllm_router:"
"""What stands in place of `vllm:` on a router's page."""

MARKERS: frozenset[str] = frozenset(
    {
        "vllm:current_qps",
        "vllm:healthy_pods_total",
        "vllm:avg_decoding_length",
        "vllm:num_prefill_requests",
        "vllm:num_decoding_requests",
    }
)
"""Names that a router has and no vLLM server ever had: one of them makes a page a router's."""
