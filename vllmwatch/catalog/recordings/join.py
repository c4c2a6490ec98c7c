"""Who is who: a server's model, an engine's GPUs, and how a GPU is shared among servers."""

from vllmwatch.catalog.exporter import TARGET_INFO
from vllmwatch.catalog.joined import ENGINE_GPU_INFO
from vllmwatch.catalog.recordings.terms import DEVICE, ENGINE_OF, ON_DEVICE, SERVER, of_server, own
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import GPUS, Group, Recording
from vllmwatch.spec.unit import COUNT, INFO, RATIO

ENGINE_GPU = "vllmwatch:engine_gpu:info:now"
SHARE = "vllmwatch:server_gpu:share:ratio"
_ENGINE_DEVICE = (*ENGINE_OF, "uuid")
_SERVER_DEVICE = ("node", "server", "uuid")
_OF_INSTANCES = aggregate("max", (*ENGINE_OF, "parent_uuid"), own(ENGINE_GPU_INFO, 'parent_uuid!=""'))

_SERVERS = own(TARGET_INFO, 'role="server"', 'model_name!=""')

SERVER_MODEL = Recording(
    "server",
    "info",
    "now",
    "The model that a server serves, also while it is down; 1 always.",
    INFO,
    f"topk by (node, server) (1, {aggregate('max', SERVER, _SERVERS)})",
)
ENGINE_DEVICES = Recording(
    "engine_gpu",
    "info",
    "now",
    "A GPU that carries a worker of an engine, for a MIG instance the GPU that it is cut from; 1 always.",
    INFO,
    either(
        aggregate("max", _ENGINE_DEVICE, own(ENGINE_GPU_INFO, 'parent_uuid=""')),
        aggregate("max", _ENGINE_DEVICE, f'label_replace({_OF_INSTANCES}, "uuid", "$1", "parent_uuid", "(.+)")'),
    ),
)
ENGINE_DEVICES_REMEMBERED = Recording(
    "engine_gpu",
    "info",
    "last1h",
    "The same, and for a GPU that carries nobody now whom it carried within the last hour; 1 always.",
    INFO,
    f"{ENGINE_GPU} or (last_over_time({ENGINE_GPU}[1h]) unless {ON_DEVICE} {ENGINE_GPU})",
)
SERVERS_OF_GPU = Recording(
    "gpu",
    "servers",
    "count",
    "Servers that a GPU carries.",
    COUNT,
    aggregate("count", DEVICE, aggregate("group", _SERVER_DEVICE, ENGINE_GPU)),
)
SHARE_OF_SERVER = Recording(
    "server_gpu",
    "share",
    "ratio",
    "The share of a GPU that counts as a server's: 1 divided by the servers that the GPU carries.",
    RATIO,
    f"{aggregate('group', _SERVER_DEVICE, ENGINE_GPU)} / {ON_DEVICE} group_left () {SERVERS_OF_GPU}",
)
HELD_GPUS = Recording("server", "held_gpus", "sum", "GPUs of a server, shared ones in part.", GPUS, of_server(SHARE))
MODEL_GPUS = Recording(
    "model",
    "held_gpus",
    "sum",
    "GPUs of all servers of a model, shared ones in part.",
    GPUS,
    aggregate("sum", ("model_name",), HELD_GPUS.name),
)

GROUP = Group(
    "join",
    "Who is who: a server's model, an engine's GPUs, and how a GPU is shared.",
    15,
    (
        SERVER_MODEL,
        ENGINE_DEVICES,
        ENGINE_DEVICES_REMEMBERED,
        SERVERS_OF_GPU,
        SHARE_OF_SERVER,
        HELD_GPUS,
        MODEL_GPUS,
    ),
)
