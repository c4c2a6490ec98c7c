"""Words that the alerts about GPUs share: how whom a fault hurts is named, and the box in which cases play."""

from collections.abc import Mapping

from vllmwatch.catalog.recordings.gpus import WHOM
from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, carried, of_gpu, series, target
from vllmwatch.spec.case import steady
from vllmwatch.spec.story import Series

HURT = ("server", "model_name")
"""The labels of an alert that names whom a GPU carries; both are absent from a GPU that carries nobody."""
SHORT_UUID = '{{ printf "%.12s" $labels.uuid }}'
"""A GPU's UUID as far as people read it."""
WHO = "{{ with $labels.server }}; it carries {{ $labels.model_name }} on {{ . }}{{ end }}"
"""Whom a GPU carries, at the end of a sentence."""
A, B = "GPU-0", "GPU-1"


def naming_whom(fault: str, *copied: str) -> str:
    """Return a fault of GPUs with the labels of whom each carries: once a server, once where it carries nobody.

    `copied` are labels that the fault has beside those of a GPU.
    """
    return f"{fault}\n* on (node, uuid) group_right ({', '.join(copied)}) {WHOM.name}"


def gpu(uuid: str = A, **labels: str) -> Mapping[str, str]:
    """Return the labels of an alert about a GPU."""
    return {"node": NODE, "uuid": uuid} | labels


def carrying(uuid: str = A, server: str = SERVER, **labels: str) -> Mapping[str, str]:
    """Return the labels of an alert about a GPU that carries a server."""
    return gpu(uuid, server=server, model_name=MODEL, **labels)


def carrying_nobody(uuid: str = A, **labels: str) -> Mapping[str, str]:
    """Return the labels of an alert about a GPU that carries nobody."""
    return gpu(uuid, server="", model_name="", **labels)


def reading(name: str, values: str, uuid: str = A, node: str = NODE, **labels: str) -> Series:
    """Return a series of a GPU."""
    return of_gpu(name, values, uuid, node, **labels)


def known(lasts: str, *uuids: str) -> tuple[Series, ...]:
    """Return that GPUs answer for a time."""
    return tuple(of_gpu("vllmwatch_gpu_up", steady(1, lasts), uuid) for uuid in uuids or (A,))


def carrier(lasts: str, *uuids: str) -> tuple[Series, ...]:
    """Return that a server runs on GPUs for a time, with two data-parallel engines on each; it stays a target."""
    return (
        target(steady(1, "4h")),
        *(carried(steady(1, lasts), uuid, engine=engine) for uuid in uuids or (A,) for engine in ("0", "1")),
    )


def of_node(name: str, values: str, node: str = NODE, **labels: str) -> Series:
    """Return a series of a node."""
    return series(name, values, node=node, **labels)
