"""Words in which the stories are told: a box with servers, engines and GPUs, and what the recordings say of them.

Series carry the labels of a scrape (`job`, `instance`) so that a recording that lets them through is found out.
"""

from vllmwatch.spec.story import Check, Sample, Series

NODE = "box"
SERVER = "box:8000"
MODEL = "llama"
_SCRAPE = {"job": "vllmwatch", "instance": "box:9700"}


def series(name: str, values: str, **labels: str) -> Series:
    """Return a series of a scrape; labels given here win over those of the scrape."""
    every = _SCRAPE | labels
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(every.items()))
    return Series(f"{name}{{{pairs}}}", values)


def of_engine(
    name: str, values: str, engine: str = "0", server: str = SERVER, model_name: str = MODEL, **labels: str
) -> Series:
    """Return a series of an engine."""
    return series(name, values, node=NODE, server=server, engine=engine, model_name=model_name, **labels)


def of_server(name: str, values: str, server: str = SERVER, **labels: str) -> Series:
    """Return a series of a server."""
    return series(name, values, node=NODE, server=server, **labels)


def target(
    values: str, server: str = SERVER, model_name: str = MODEL, version: str = "0.32.0", node: str = NODE, **labels: str
) -> Series:
    """Return what is known of a target."""
    facts = {"url": f"http://{server}/metrics", "origin": "static", "role": "server"}
    return series(
        "vllmwatch_target_info",
        values,
        **({"node": node, "server": server, "version": version, "model_name": model_name} | facts | labels),
    )


def carried(
    values: str,
    uuid: str,
    server: str = SERVER,
    engine: str = "0",
    rank: str = "TP0",
    parent_uuid: str = "",
    node: str = NODE,
    **labels: str,
) -> Series:
    """Return the join of a GPU and an engine."""
    who = {"node": node, "server": server, "engine": engine, "rank": rank}
    what = {"uuid": uuid, "gpu": uuid[-1], "parent_uuid": parent_uuid}
    return series("vllmwatch_engine_gpu_info", values, **who, **what, **labels)


def of_gpu(name: str, values: str, uuid: str, node: str = NODE, **labels: str) -> Series:
    """Return a series of a GPU."""
    return series(name, values, node=node, uuid=uuid, gpu=uuid[-1], **labels)


def expect(time: str, recording: str, *samples: Sample) -> Check:
    """Return a check of all samples of a recording; without samples it must be absent."""
    return Check(time, f"vllmwatch:{recording}", samples)


def engine_says(
    value: float, engine: str = "0", server: str = SERVER, model_name: str = MODEL, **labels: str
) -> Sample:
    """Return a sample of an engine."""
    return Sample({"node": NODE, "server": server, "engine": engine, "model_name": model_name} | labels, value)


def server_says(value: float, server: str = SERVER, model_name: str = MODEL, node: str = NODE, **labels: str) -> Sample:
    """Return a sample of a server."""
    return Sample({"node": node, "server": server, "model_name": model_name} | labels, value)


def model_says(value: float, model_name: str = MODEL, **labels: str) -> Sample:
    """Return a sample of a model."""
    return Sample({"model_name": model_name} | labels, value)


def gpu_says(value: float, uuid: str, node: str = NODE, **labels: str) -> Sample:
    """Return a sample of a GPU, or, with more labels, of a GPU in its role for a server or an engine."""
    return Sample({"node": node, "uuid": uuid} | labels, value)


def one_engine(time: str, figure: str, value: float, **labels: str) -> tuple[Check, ...]:
    """Return the checks of a figure of the only engine of the only server of a model, which all levels share."""
    return (
        expect(time, f"engine:{figure}", engine_says(value, **labels)),
        expect(time, f"server:{figure}", server_says(value, **labels)),
        expect(time, f"model:{figure}", model_says(value, **labels)),
    )


def one_server(time: str, figure: str, value: float, **labels: str) -> tuple[Check, ...]:
    """Return the checks of a figure of the only server of a model, which both levels share."""
    return (
        expect(time, f"server:{figure}", server_says(value, **labels)),
        expect(time, f"model:{figure}", model_says(value, **labels)),
    )


def nothing(time: str, *recordings: str) -> tuple[Check, ...]:
    """Return the checks that recordings are absent."""
    return tuple(expect(time, recording) for recording in recordings)
