"""Energy: watts of all GPUs of a server, busy and idle apart, and joules a token."""

from vllmwatch.catalog.gpu import GPU_ENERGY, GPU_POWER
from vllmwatch.catalog.recordings.join import SHARE
from vllmwatch.catalog.recordings.terms import (
    DEVICE,
    MODEL,
    ON_DEVICE,
    ON_WHO,
    RUNNING,
    WHO,
    of_engine,
    of_server,
    own,
    upstream,
)
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import JOULES_PER_TOKEN, Group, Recording
from vllmwatch.spec.unit import RATIO, WATTS

WINDOWS: tuple[str, ...] = ("5m", "1h")
POWER_OF_GPU = "vllmwatch:gpu:power_watts:avg1m"
POWER_OF_SHARE = "vllmwatch:server_gpu:power_watts:avg1m"
POWER = "vllmwatch:server:power_watts:avg1m"
RUNNING_NOW = aggregate("sum", WHO, of_engine(upstream(RUNNING)))
# A server of which one GPU has no reading has no figure: less than all of its GPUs would be a wrong one.
ALL_GPUS_READ = f"{POWER_OF_SHARE}\nunless on (server) ({SHARE} unless {POWER_OF_SHARE})"
TOKENS: tuple[tuple[str, str], ...] = (("token", "tokens"), ("generation_token", "generation_tokens"))


def _above(figure: str, how: str, help_text: str) -> Recording:
    name = f"vllmwatch:server:{figure}:{how}"
    return Recording("model", figure, how, help_text, WATTS, aggregate("sum", MODEL, name))


_POWER: tuple[Recording, ...] = (
    Recording(
        "gpu",
        "power_watts",
        "avg1m",
        "Power of a GPU, by its counter of energy, or by its reading of power where it has none.",
        WATTS,
        either(
            aggregate("max", DEVICE, f"rate({own(GPU_ENERGY, window='1m')})"),
            aggregate("max", DEVICE, f"avg_over_time({own(GPU_POWER, window='1m')})"),
        ),
    ),
    Recording(
        "server_gpu",
        "power_watts",
        "avg1m",
        "Power of a GPU as far as it counts as a server's.",
        WATTS,
        f"{SHARE} * {ON_DEVICE} group_left () {POWER_OF_GPU}",
    ),
    Recording(
        "server",
        "power_watts",
        "avg1m",
        "Power of all GPUs of a server, shared ones in part; absent unless each has a reading.",
        WATTS,
        of_server(ALL_GPUS_READ),
    ),
    _above("power_watts", "avg1m", "Power of all GPUs of all servers of a model."),
)


def _moment(word: str, condition: str, when: str) -> Recording:
    return Recording(
        "server",
        f"power_{word}_watts",
        "now",
        f"Power of a server at moments in which {when}, 0 at others.",
        WATTS,
        f"{POWER} * {ON_WHO} group_left () ({RUNNING_NOW} {condition} bool 0)",
    )


def _averages(window: str) -> tuple[Recording, ...]:
    averages = [
        Recording(
            "server",
            f"power_{word}_watts",
            f"avg{window}",
            f"Power drawn {what}, averaged over all moments of the window.",
            WATTS,
            f"avg_over_time(vllmwatch:server:power_{word}_watts:now[{window}])",
        )
        for word, what in (("busy", "while any request runs"), ("idle", "while none runs"))
    ]
    above = [_above(each.figure, each.how, each.help) for each in averages]
    shares = []
    for level in ("server", "model"):
        idle, busy = (f"vllmwatch:{level}:power_{word}_watts:avg{window}" for word in ("idle", "busy"))
        help_text = "Share of the energy that was drawn while no request ran."
        expression = f"{idle} / ({idle} + {busy} > 0)"
        shares.append(Recording(level, "energy_idle", f"ratio_avg{window}", help_text, RATIO, expression))
    return (*averages, *above, *shares)


def _joules(token: str, tokens: str) -> tuple[Recording, ...]:
    """Return joules a token of a server and of a model, over the servers of the model that have both figures."""
    busy = "vllmwatch:server:power_busy_watts:avg5m"
    rate = f"vllmwatch:server:{tokens}:rate5m"
    # Without the watts of the whole window the tokens of the rest would be free.
    whole = f"({busy} and vllmwatch:server:power_busy_watts:now offset 5m)"
    what = "of a prompt or an answer" if tokens == "tokens" else "of an answer"
    help_text = f"Energy drawn while busy, for prompts and answers alike, by each token {what}."
    sums = [aggregate("sum", MODEL, f"{first} and {second}") for first, second in ((whole, rate), (rate, whole))]
    return (
        Recording(
            "server",
            f"energy_per_{token}_joules",
            "avg5m",
            help_text,
            JOULES_PER_TOKEN,
            f"({whole} > 0) / ({rate} > 0)",
        ),
        Recording(
            "model",
            f"energy_per_{token}_joules",
            "avg5m",
            help_text,
            JOULES_PER_TOKEN,
            f"({sums[0]} > 0)\n/\n({sums[1]} > 0)",
        ),
    )


GROUP = Group(
    "energy",
    "Watts of all GPUs of a server, busy and idle apart, and joules a token.",
    15,
    (
        *_POWER,
        _moment("busy", ">", "any request runs"),
        _moment("idle", "==", "none runs"),
        *(recording for window in WINDOWS for recording in _averages(window)),
        *(recording for token, tokens in TOKENS for recording in _joules(token, tokens)),
    ),
)
