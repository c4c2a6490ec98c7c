"""Every label name of our own series, once.

Labels with a closed set of values that belong to one layer stand beside its metrics (`gpu.py`, `exporter.py`).
"""

from vllmwatch.spec.metric import Label

NODE = Label("node", "The host that the GPU or the server is on.")
UUID = Label("uuid", "The UUID of the GPU, which survives reboots and reordering.")
GPU = Label("gpu", "The index of the GPU in NVML's order, for people: it moves, so no rule or join uses it.")
PARENT_UUID = Label("parent_uuid", "The UUID of the GPU that a MIG instance is cut from.")
PROFILE = Label("profile", "The MIG profile, such as 3g.40gb.")
SERVER = Label("server", "The stable name of a vLLM server: host:port of its metrics page.")
ENGINE = Label("engine", "The data-parallel rank of an engine within its server.")
