"""The flags of an API server that say where it listens and what GPUs it takes, as vLLM's parser reads them; pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# The default of --port: vllm/entrypoints/openai/cli_args.py, the same since 0.1.
DEFAULT_PORT = 8000
# More ranks than a host has GPUs: any process may write what it likes on its command line.
_MAX_LOCAL_RANKS = 64
_MAX_DIGITS = 9
_MAX_PORT = 65_535

# The flags of interest, each with the shortest abbreviation that argparse still takes for it
# (tried with the parser of 0.32), and whether a value follows.
_FLAGS: tuple[tuple[str, str, bool], ...] = (
    ("port", "por", True),
    ("host", "ho", True),
    ("uds", "ud", True),
    ("config", "config", True),
    ("headless", "hea", False),
    ("grpc", "grpc", False),
    ("ssl-certfile", "ssl-certf", True),
    ("ssl-keyfile", "ssl-k", True),
    ("data-parallel-size", "data-parallel-size", True),
    ("data-parallel-size-local", "data-parallel-size-l", True),
    ("data-parallel-multi-port-external-lb", "data-parallel-m", False),
    ("tensor-parallel-size", "te", True),
    ("pipeline-parallel-size", "pi", True),
)
_TAKES_VALUE = {name: takes_value for name, _, takes_value in _FLAGS}
_SHORT = {
    "-dp": "data-parallel-size",
    "-dpl": "data-parallel-size-local",
    "-dpm": "data-parallel-multi-port-external-lb",
    "-tp": "tensor-parallel-size",
    "-pp": "pipeline-parallel-size",
}


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Where a server listens and how it spreads over GPUs, by its own words.

    `port` is None when it was not said (vLLM's default applies); `ports` below gives one port a rank.
    `config_file` is the path of a file of further flags, not read here. The parallel sizes are those on this host:
    `data_parallel_local` engines of `pipeline_parallel` stages of `tensor_parallel` GPUs each.
    """

    port: int | None = None
    host: str | None = None
    uds: str | None = None
    config_file: str | None = None
    headless: bool = False
    grpc: bool = False
    tls: bool = False
    rank_count: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel_local: int = 1

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports on which metrics pages are served, one for each rank with a port of its own."""
        first = DEFAULT_PORT if self.port is None else self.port
        return tuple(range(first, min(first + self.rank_count, _MAX_PORT + 1)))


def read_flags(arguments: tuple[str, ...], file_values: Mapping[str, str] | None = None) -> ServerFlags:
    """Read the arguments of an API server; those of its `--config` file, where given, lose against them.

    As in vLLM, a flag may be abbreviated, may have `_` for `-`, and may carry its value after `=`.
    """
    values = dict(file_values or {})
    values.update(_flags(arguments))
    multi_port = "data-parallel-multi-port-external-lb" in values
    port = _number(values.get("port"))
    return ServerFlags(
        port=port if port is None or port <= _MAX_PORT else None,
        host=values.get("host") or None,
        uds=values.get("uds") or None,
        config_file=values.get("config"),
        headless="headless" in values,
        grpc="grpc" in values,
        tls="ssl-certfile" in values or "ssl-keyfile" in values,
        rank_count=_local_ranks(values) if multi_port else 1,
        tensor_parallel=_size(values.get("tensor-parallel-size")),
        pipeline_parallel=_size(values.get("pipeline-parallel-size")),
        data_parallel_local=_local_ranks(values),
    )


def flag_name(word: str) -> str | None:
    """Return the full name of the flag that a word is, without dashes, or None for a flag of no interest."""
    if word in _SHORT:
        return _SHORT[word]
    if not word.startswith("--"):
        return None
    given = word[2:].replace("_", "-")
    if given in _TAKES_VALUE:
        return given
    return next((name for name, least, _ in _FLAGS if name.startswith(given) and given.startswith(least)), None)


def _flags(arguments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(arguments):
        word, equals, value = arguments[position].partition("=")
        position += 1
        name = flag_name(word)
        if name is None:
            continue
        if _TAKES_VALUE[name] and not equals:
            value = arguments[position] if position < len(arguments) else ""
            position += 1
        yield name, value


def _local_ranks(values: Mapping[str, str]) -> int:
    local = _number(values.get("data-parallel-size-local")) or _number(values.get("data-parallel-size"))
    return min(max(1, local or 1), _MAX_LOCAL_RANKS)


def _size(text: str | None) -> int:
    return max(1, _number(text) or 1)


def _number(text: str | None) -> int | None:
    if text is None or not text.strip().isdecimal() or len(text) > _MAX_DIGITS:
        return None
    return int(text)
