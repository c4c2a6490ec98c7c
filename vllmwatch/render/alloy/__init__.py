"""The configuration of Grafana Alloy, which ships logs to Loki; the same as a container and as a service."""

from vllmwatch.render import mark
from vllmwatch.render.alloy.kernel import kernel_stages
from vllmwatch.render.alloy.sources import containers, files, kernel, units
from vllmwatch.render.alloy.stages import server_stages
from vllmwatch.render.alloy.syntax import Attribute, Block, Comment, Expression, Statement, block, quote, write
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.spec.logline import LogCatalog

ALLOY_PATH = "compose/alloy/config.alloy"
_PUSH = "/loki/api/v1/push"
_RECEIVER = Expression("loki.write.loki.receiver")


def render_alloy(catalog: LogCatalog, settings: LogSettings) -> str:
    """Return the text of config.alloy."""
    found: list[Statement] = [block("logging", level="warn")]
    if settings.containers:
        found.extend(containers())
    found.extend(kernel())
    found.extend(units(settings))
    found.extend(files(settings))
    found.append(_process("servers", list(server_stages(catalog, settings))))
    found.append(_process("kernel", list(kernel_stages(catalog))))
    found.append(_write(settings))
    return mark.slashes(write(found))


def _process(label: str, stages: list[Block | Comment]) -> Block:
    return Block("loki.process", label, (Attribute("forward_to", [_RECEIVER]), *stages))


def _write(settings: LogSettings) -> Block:
    url = Expression(f'coalesce(sys.env("VLLMWATCH_LOKI_URL"), {quote(settings.loki_url)}) + {quote(_PUSH)}')
    return block("loki.write", block("endpoint", url=url), label="loki")
