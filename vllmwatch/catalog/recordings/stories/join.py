"""Stories of the join: GPUs shared, cut, lost and elsewhere."""

from vllmwatch.catalog.recordings.stories.words import (
    carried,
    expect,
    gpu_says,
    model_says,
    server_says,
    target,
)
from vllmwatch.spec.story import Story

_TIME = "5m"
_STEADY = "1x40"
_A, _B = "box:8000", "box:8001"

STORIES: tuple[Story, ...] = (
    Story(
        "two servers on one GPU have half of it each, and another GPU is whole",
        30,
        (
            target(_STEADY),
            target(_STEADY, _B),
            carried(_STEADY, "GPU-0", rank="TP0"),
            carried(_STEADY, "GPU-1", rank="TP1"),
            carried(_STEADY, "GPU-1", _B),
        ),
        (
            expect(_TIME, "server:info:now", server_says(1), server_says(1, _B)),
            expect(
                _TIME,
                "engine_gpu:info:now",
                gpu_says(1, "GPU-0", server=_A, engine="0"),
                gpu_says(1, "GPU-1", server=_A, engine="0"),
                gpu_says(1, "GPU-1", server=_B, engine="0"),
            ),
            expect(_TIME, "gpu:servers:count", gpu_says(1, "GPU-0"), gpu_says(2, "GPU-1")),
            expect(
                _TIME,
                "server_gpu:share:ratio",
                gpu_says(1, "GPU-0", server=_A),
                gpu_says(0.5, "GPU-1", server=_A),
                gpu_says(0.5, "GPU-1", server=_B),
            ),
            expect(_TIME, "server:held_gpus:sum", server_says(1.5), server_says(0.5, _B)),
            expect(_TIME, "model:held_gpus:sum", model_says(2)),
        ),
    ),
    Story(
        "two data-parallel engines of one server on one GPU are one server",
        30,
        (
            target(_STEADY),
            carried(_STEADY, "GPU-0", engine="0", rank="DP0"),
            carried(_STEADY, "GPU-0", engine="1", rank="DP1"),
        ),
        (
            expect(_TIME, "gpu:servers:count", gpu_says(1, "GPU-0")),
            expect(_TIME, "server:held_gpus:sum", server_says(1)),
        ),
    ),
    Story(
        "instances of a MIG parent count as parts of the parent, by servers, and two of one server as one",
        30,
        (
            target(_STEADY),
            target(_STEADY, _B),
            carried(_STEADY, "MIG-1", rank="", parent_uuid="GPU-0"),
            carried(_STEADY, "MIG-2", rank="", parent_uuid="GPU-0"),
            carried(_STEADY, "MIG-3", _B, rank="", parent_uuid="GPU-0"),
        ),
        (
            expect(
                _TIME,
                "engine_gpu:info:now",
                gpu_says(1, "GPU-0", server=_A, engine="0"),
                gpu_says(1, "GPU-0", server=_B, engine="0"),
            ),
            expect(_TIME, "server:held_gpus:sum", server_says(0.5), server_says(0.5, _B)),
        ),
    ),
    Story(
        "a GPU that is lost still names the server that it carried, for an hour",
        30,
        (
            target("1x200"),
            carried("1x200", "GPU-0", rank="TP0"),
            carried("1x20 stale", "GPU-1", rank="TP1"),
        ),
        (
            expect("30m", "engine_gpu:info:now", gpu_says(1, "GPU-0", server=_A, engine="0")),
            expect(
                "1h",
                "engine_gpu:info:last1h",
                gpu_says(1, "GPU-0", server=_A, engine="0"),
                gpu_says(1, "GPU-1", server=_A, engine="0"),
            ),
            expect("1h20m", "engine_gpu:info:last1h", gpu_says(1, "GPU-0", server=_A, engine="0")),
        ),
    ),
    Story(
        "a GPU that went to another server is remembered as that one's alone",
        30,
        (target("1x60"), carried("1x20 stale", "GPU-0"), carried("_x20 1x40", "GPU-0", _B)),
        (expect("20m", "engine_gpu:info:last1h", gpu_says(1, "GPU-0", server=_B, engine="0")),),
    ),
    Story(
        "GPUs on another node count for the server they work for, under the server's node",
        30,
        (
            target(_STEADY),
            carried(_STEADY, "GPU-0", rank="PP0"),
            carried(_STEADY, "GPU-9", rank="PP1", node="other"),
        ),
        (expect(_TIME, "server:held_gpus:sum", server_says(2)),),
    ),
    Story(
        "servers that share a name on two nodes keep their own GPUs",
        30,
        (
            target(_STEADY, "chat"),
            target(_STEADY, "chat", node="other"),
            carried(_STEADY, "GPU-0", "chat"),
            carried(_STEADY, "GPU-8", "chat", node="other"),
            carried(_STEADY, "GPU-9", "chat", node="other", rank="TP1"),
        ),
        (expect(_TIME, "server:held_gpus:sum", server_says(1, "chat"), server_says(2, "chat", node="other")),),
    ),
    Story(
        "one exporter scraped by two jobs shows each GPU once",
        30,
        (
            target(_STEADY),
            target(_STEADY, job="again"),
            carried(_STEADY, "GPU-0"),
            carried(_STEADY, "GPU-0", job="again"),
        ),
        (
            expect(_TIME, "server:info:now", server_says(1)),
            expect(_TIME, "server:held_gpus:sum", server_says(1)),
        ),
    ),
)
