"""Words that the recordings share: who a series is of, and how series become one that is counted once.

A rate is taken of each series, then the greatest among those that show the same thing (several exporters or jobs may
scrape one server), then the sum. Every aggregation names the labels that stay, so labels of a scrape vanish. Series
without `server` were not scraped through the exporter; they are left out.
"""

from vllmwatch.spec.metric import Label, Metric
from vllmwatch.spec.promql import aggregate, labels_text, select
from vllmwatch.spec.recording import LEVELS, Recording
from vllmwatch.spec.unit import Unit

ENGINE = LEVELS["engine"]
SERVER = LEVELS["server"]
MODEL = LEVELS["model"]
WHO = ("node", "server")
ENGINE_OF = ("node", "server", "engine")
DEVICE = ("node", "uuid")

ON_WHO = f"on ({labels_text(WHO)})"
ON_ENGINE = f"on ({labels_text(ENGINE)})"
ON_DEVICE = f"on ({labels_text(DEVICE)})"

FINISHED_REASON = Label("finished_reason", "How the request ended, in vLLM's words.")
TIER = Label("tier", "The tier below the GPU that KV is moved to.")
EDGE = Label("le", "The upper edge of the bucket.")

SERVER_INFO = "vllmwatch:server:info:now"
RUNNING = "vllm:num_requests_running"


def names(labels: tuple[Label, ...]) -> tuple[str, ...]:
    """Return the names of labels."""
    return tuple(label.name for label in labels)


def upstream(metric: str, *matchers: str, window: str = "") -> str:
    """Return a selector of a metric of vLLM's, of the servers that the exporter scrapes."""
    return select(metric, 'server!=""', *matchers, window=window)


def own(metric: Metric, *matchers: str, window: str = "") -> str:
    """Return a selector of a metric of ours."""
    return select(metric, *matchers, window=window)


def of_engine(expression: str, *labels: Label) -> str:
    """Return an engine's series counted once; `labels` stay beside those of an engine."""
    return aggregate("max", (*ENGINE, *names(labels)), expression)


def engine_rate(metric: str, *matchers: str, window: str = "5m", labels: tuple[Label, ...] = ()) -> str:
    """Return the rate of an engine's counter."""
    return of_engine(f"rate({upstream(metric, *matchers, window=window)})", *labels)


def engine_increase(metric: str, *matchers: str, window: str, labels: tuple[Label, ...] = ()) -> str:
    """Return the increase of an engine's counter."""
    return of_engine(f"increase({upstream(metric, *matchers, window=window)})", *labels)


def of_server(per_gpu: str) -> str:
    """Return the sum over a server's GPUs of series by `node` and `server`, with the labels of the server.

    GPUs may be on other nodes than the server, so the server's name alone decides, unless two nodes have the name.
    """
    alone = f"({SERVER_INFO} and on (server) (count by (server) ({SERVER_INFO}) == 1))"
    return (
        f"{alone} * on (server) group_left () sum by (server) (\n{per_gpu}\n)\n"
        f"or\n"
        f"{SERVER_INFO} * {ON_WHO} group_left () sum by ({labels_text(WHO)}) (\n{per_gpu}\n)"
    )


def rolled_up(first: Recording, operator: str = "sum", how: str = "") -> tuple[Recording, ...]:
    """Return a recording of an engine or a server followed by the same figure of the levels above it.

    `how` names the figure above an engine where it is not reckoned like the engine's.
    """
    above = {"engine": ("server", "model"), "server": ("model",)}[first.level]
    chain = [first]
    for level in above:
        labels = (*LEVELS[level], *names(first.own_labels))
        expression = aggregate(operator, labels, chain[-1].name)
        chain.append(
            Recording(level, first.figure, how or first.how, first.help, first.unit, expression, first.own_labels)
        )
    return tuple(chain)


def shares(part: str, whole: str, figure: str, how: str, help_text: str, unit: Unit) -> tuple[Recording, ...]:
    """Return the share of one recording in another at each level; absent where the whole is 0.

    `part` and `whole` are names with `{level}` in place of the level.
    """
    return tuple(
        Recording(
            level,
            figure,
            how,
            help_text,
            unit,
            f"{part.format(level=level)} / ({whole.format(level=level)} > 0)",
        )
        for level in ("engine", "server", "model")
    )
