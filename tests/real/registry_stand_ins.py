"""Stand-ins for what the metrics code of a vLLM release imports beside itself: torch, ray, most of vLLM."""

import importlib.machinery
import inspect
import logging
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic_core import core_schema

# Modules of vLLM that run as they are, where a release has them; all others are stood in for.
REAL = frozenset(
    {
        "vllm.config",
        "vllm.config.cache",
        "vllm.config.utils",
        "vllm.distributed.kv_transfer.kv_connector.v1.hf3fs.hf3fs_connector",
        "vllm.distributed.kv_transfer.kv_connector.v1.hisparse.stats",
        "vllm.distributed.kv_transfer.kv_connector.v1.metrics",
        "vllm.distributed.kv_transfer.kv_connector.v1.mooncake.stats",
        "vllm.distributed.kv_transfer.kv_connector.v1.mooncake.store.metrics",
        "vllm.distributed.kv_transfer.kv_connector.v1.nixl.stats",
        "vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics",
        "vllm.distributed.kv_transfer.kv_connector.v1.umbp.stats",
        "vllm.engine.metrics",
        "vllm.engine.metrics_types",
        "vllm.entrypoints.serve.instrumentator.metrics",
        "vllm.envs",
        "vllm.v1.engine",
        "vllm.v1.kv_cache_layout",
        "vllm.v1.kv_offload.base",
        "vllm.v1.kv_offload.config",
        "vllm.v1.kv_offload.cpu.common",
        "vllm.v1.kv_offload.cpu.spec",
        "vllm.v1.kv_offload.factory",
        "vllm.v1.kv_offload.tiering.backpressure",
        "vllm.v1.kv_offload.tiering.base",
        "vllm.v1.kv_offload.tiering.metrics",
        "vllm.v1.kv_offload.tiering.spec",
        "vllm.v1.metrics.buckets",
        "vllm.v1.metrics.cache_hit_source",
        "vllm.v1.metrics.loggers",
        "vllm.v1.metrics.perf",
        "vllm.v1.metrics.prometheus",
        "vllm.v1.metrics.stats",
        "vllm.v1.metrics.utils",
        "vllm.v1.simple_kv_offload.metrics",
        "vllm.v1.spec_decode.metrics",
    }
)
FOREIGN = frozenset(
    {
        "cloudpickle",
        "huggingface_hub",
        "msgspec",
        "numpy",
        "packaging",
        "ray",
        "regex",
        "safetensors",
        "torch",
        "transformers",
        "zmq",
    }
)


class AnythingType(type):
    """The type of a name that is stood in for: called as a decorator it leaves its argument as it is."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and not options and (inspect.isfunction(arguments[0]) or inspect.isclass(arguments[0])):
            return arguments[0]
        return super().__call__(*arguments, **options)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return anything(name)


def anything(name: str) -> AnythingType:
    """Return a class that can be called, indexed, or inherited from, in place of whatever has this name."""

    def ignore(self: object, *arguments: Any, **options: Any) -> None:
        pass

    members = {
        "__init__": ignore,
        "__init_subclass__": classmethod(ignore),
        "__class_getitem__": classmethod(lambda cls, _: cls),
        "__call__": lambda self, *arguments, **options: arguments[0] if arguments else None,
        "__getattr__": lambda self, attribute: anything(attribute),
        "__get_pydantic_core_schema__": classmethod(lambda *_: core_schema.any_schema()),
    }
    return AnythingType(name, (), members)


class StandIn(ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = f"{self.__name__}.{name}"
        return KNOWN[known] if known in KNOWN else anything(name)


KNOWN: dict[str, Any] = {
    "vllm.logger.init_logger": logging.getLogger,
    "vllm.executor.ray_utils.ray": None,
    "vllm.utils.GiB_bytes": 1 << 30,
    "numpy.sum": sum,
    "regex.compile": re.compile,
}


class Finder:
    """Finds stand-ins for the modules that are not to run, or that are not installed."""

    def __init__(self, source: Path) -> None:
        self._source = source

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Say who loads a module: this finder, or (None) those after it."""
        top = fullname.partition(".")[0]
        there = self._source.joinpath(*fullname.split("."))
        real = fullname in REAL and (there.is_dir() or there.with_suffix(".py").exists())
        if top in FOREIGN or (top == "vllm" and not (real and not self._is_replaced(fullname))):
            spec = importlib.machinery.ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]
            spec.submodule_search_locations = [str(there)]
            return spec
        return None

    def _is_replaced(self, fullname: str) -> bool:
        """Whether it is a package of which a part runs and not the whole: `vllm.config` since it has several."""
        return fullname == "vllm.config" and (self._source / "vllm" / "config" / "cache.py").exists()

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Make the module."""
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is."""
