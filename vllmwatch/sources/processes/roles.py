"""What a process of vLLM is, by its title or its command line; pure."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

# setproctitle with VLLM_PROCESS_NAME_PREFIX, "VLLM" unless changed: vllm/utils/system_utils.py, set_process_title.
_TITLE = re.compile(r"(?P<prefix>\w+)::(?P<role>[A-Za-z]+)(?:_(?P<suffix>\w+))?")
_PYTHON = re.compile(r"python(\d+(\.\d+)*)?t?|pypy3?")
# Options of the Python interpreter that take their value as a word of its own.
_PYTHON_VALUE_OPTIONS = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_SERVER_MODULES = frozenset({"vllm.entrypoints.openai.api_server"})
_COMMAND_MODULES = frozenset({"vllm", "vllm.entrypoints.cli.main"})
_SERVER_SCRIPT = "vllm/entrypoints/openai/api_server.py"


# The ranks in the suffix of a title: vllm/v1/executor/multiproc_executor.py, setup_proc_title_and_log_prefix. Those of
# expert (EP) and decode-context (DCP) parallelism follow from the others.
_RANK = re.compile(r"(?:^|_)([A-Z]+)([0-9]{1,6})(?=_|$)")
_WORKER_RANKS = ("PP", "PCP", "TP")


class Role(StrEnum):
    """The part that a process plays in a vLLM server."""

    SERVER = "server"
    API_SERVER = "api_server"
    ENGINE = "engine"
    WORKER = "worker"
    COORDINATOR = "coordinator"
    RAY = "ray"


_TITLES: dict[str, Role] = {
    "APIServer": Role.API_SERVER,
    "ApiServer": Role.API_SERVER,
    "ExternalLBRank": Role.API_SERVER,
    "DPSupervisor": Role.SERVER,
    "EngineCore": Role.ENGINE,
    "Worker": Role.WORKER,
    "DPCoordinator": Role.COORDINATOR,
}


@dataclass(frozen=True, slots=True)
class Ranks:
    """What a title says of a process's place: the data-parallel rank of its engine, and its own within that engine.

    `worker` is in vLLM's own words (TP0, PP1_TP0), empty where the title names none.
    """

    data_parallel: int | None = None
    worker: str = ""


def role_of(arguments: tuple[str, ...]) -> Role | None:
    """Return the role of a process, or None for one that is no part of vLLM as far as its own words go."""
    if not arguments:
        return None
    if arguments[0].startswith("ray::"):
        return Role.RAY
    if titled := title_role(arguments):
        return titled
    return Role.SERVER if server_arguments(arguments) is not None else None


def title_role(arguments: tuple[str, ...]) -> Role | None:
    """Return the role that a process title names, or None where there is no title of vLLM's."""
    match = _TITLE.fullmatch(arguments[0]) if len(arguments) == 1 else None
    return None if match is None else _TITLES.get(match["role"])


def title_ranks(arguments: tuple[str, ...]) -> Ranks:
    """Return the ranks in a title such as VLLM::Worker_DP1_PP0_TP3_EP7; other titles and command lines name none."""
    match = _TITLE.fullmatch(arguments[0]) if len(arguments) == 1 else None
    if match is None or match["role"] not in _TITLES:
        return Ranks()
    found = dict(_RANK.findall(match["suffix"] or ""))
    worker = "_".join(f"{kind}{found[kind]}" for kind in _WORKER_RANKS if kind in found)
    return Ranks(int(found["DP"]) if "DP" in found else None, worker)


def is_python(arguments: tuple[str, ...]) -> bool:
    """Return whether a command line is that of a Python interpreter."""
    return bool(arguments) and _PYTHON.fullmatch(PurePath(arguments[0]).name) is not None


def server_arguments(arguments: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the arguments of the API server that a command line starts, or None when it starts none.

    Known are `vllm serve …`, `python -m vllm.entrypoints.openai.api_server …` and the same by the path of the script.
    A shell, a pager or a container client that merely has these words among its own arguments is none.
    """
    words = _after_interpreter(arguments)
    if not words:
        return None
    if words[0] in _SERVER_MODULES or words[0].endswith(_SERVER_SCRIPT):
        return words[1:]
    is_command = words[0] in _COMMAND_MODULES or PurePath(words[0]).name == "vllm"
    return words[2:] if is_command and words[1:2] == ("serve",) else None


def _after_interpreter(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program and its arguments; for Python, the module or script that it runs."""
    if not is_python(arguments):
        # A module's name means a program to Python alone.
        return arguments if arguments and PurePath(arguments[0]).name == "vllm" else ()
    position = 1
    while position < len(arguments):
        word = arguments[position]
        if word == "-m":
            return arguments[position + 1 :]
        if word.startswith("-m"):
            return (word[2:], *arguments[position + 1 :])
        if word == "-c" or not word.startswith("-"):
            return arguments[position:]
        position += 2 if word in _PYTHON_VALUE_OPTIONS else 1
    return ()
