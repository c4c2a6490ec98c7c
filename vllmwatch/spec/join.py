"""The fixed words of the join: who holds a GPU's memory, and why a GPU in use is not mapped."""

from enum import StrEnum


class Holder(StrEnum):
    """Who holds memory of a GPU."""

    SERVER = "server"
    OTHER = "other"
    DEAD = "dead"
    UNSEEN = "unseen"


HOLDER_MEANINGS: dict[str, str] = {
    Holder.SERVER: "a vLLM server that is a target",
    Holder.OTHER: "a process that belongs to no target, be it vLLM's or not",
    Holder.DEAD: "a process that no longer exists; a reset of the GPU or a restart of the driver frees it",
    Holder.UNSEEN: "a process that cannot be seen from where the exporter runs",
}


class Unmapped(StrEnum):
    """Why a GPU in use is not mapped to an engine, or not by what its processes say."""

    NO_PROCESS_LIST = "no_process_list"
    EMPTY_PROCESS_LIST = "empty_process_list"
    PID_NAMESPACE = "pid_namespace"
    HIDDEN = "hidden"
    ELSEWHERE = "elsewhere"
    RAY = "ray"
    OFFLINE = "offline"
    ORPHANED = "orphaned"
    NO_TARGET = "no_target"
    DEVICE_ORDER = "device_order"


UNMAPPED_MEANINGS: dict[str, str] = {
    Unmapped.NO_PROCESS_LIST: "the driver lists no processes on this GPU",
    Unmapped.EMPTY_PROCESS_LIST: "the GPU is busy or full, and the driver's list of processes is empty",
    Unmapped.PID_NAMESPACE: (
        "the driver gives process numbers of another PID namespace than the exporter's; run it with the host's"
    ),
    Unmapped.HIDDEN: "the system hides processes of other users (hidepid); run the exporter as root",
    Unmapped.ELSEWHERE: "vLLM workers whose API server is on another node; `servers` in the configuration names it",
    Unmapped.RAY: "workers of Ray, whose processes do not say whose they are; `servers` names the server",
    Unmapped.OFFLINE: "a program uses an engine of vLLM's without a server (offline inference)",
    Unmapped.ORPHANED: "vLLM processes whose server is gone still hold the GPU",
    Unmapped.NO_TARGET: "a vLLM server on this host holds the GPU and is no target",
    Unmapped.DEVICE_ORDER: (
        "the variables of the server do not tell which GPUs it has: numbers on cards of different kinds without "
        "CUDA_DEVICE_ORDER=PCI_BUS_ID, or a container that was given its GPUs in another way"
    ),
}
