"""What other systems put before vLLM's names when they pass them on."""

CANONICAL = "vllm:"

KNOWN: tuple[str, ...] = ("ray_vllm:", "ray_vllm_", "kserve_vllm:", "vllm_")
"""Prefixes that stand in place of `vllm:`: Ray Serve's (with a colon before 0.11, an underscore since), KServe's,
and that of exporters that allow no colon. One that ends in an underscore counts only before a name of the catalogue."""

CHURNING_LABELS: tuple[str, ...] = ("SessionName", "WorkerId")
"""Labels of Ray's that change at each restart, so that every restart would begin new series. They are left out
unless they are all that tells two series of a page apart."""
