"""rules/dcgm.yml: our GPU series, recorded from those of NVIDIA's dcgm-exporter, for those who run that one."""

from typing import Any

from vllmwatch.catalog import gpu, gpu_health
from vllmwatch.catalog.dcgm import DCGM_METRICS, NO_VALUE_FROM, TEMPERATURE, XID_COUNT
from vllmwatch.render import mark
from vllmwatch.render.rules import Text, dump, indented
from vllmwatch.spec.foreign import ForeignMetric
from vllmwatch.spec.promql import aggregate, either

GROUP = "vllmwatch-dcgm"
INTERVAL = "15s"
_GPU = ("node", "uuid", "gpu")
_LOST_SECONDS = "1h"
# A MIG instance's series bear the number of the instance; the GPU's own do not.
_WHOLE = 'GPU_I_ID=""'


def render_dcgm_rules() -> str:
    """Return the rule file; it stands before all others, which read what it records."""
    rules = [_rule(each) for each in DCGM_METRICS]
    rules += [_up(), _nvml(), _info(), *_xids()]
    head = "# GPU series of vllmwatch by the metrics of dcgm-exporter, whose label Hostname is the node.\n"
    return mark.comment(head + dump({"groups": [{"name": GROUP, "interval": INTERVAL, "rules": rules}]}))


def _rule(foreign: ForeignMetric) -> dict[str, Any]:
    series = either(*(_ours(_selector(name)) for name in foreign.names))
    expression = aggregate("max", _GPU, f"\n{series}\n")
    if foreign.bit is not None:
        expression = f"floor({expression} / {2**foreign.bit}) % 2"
    if foreign.equals is not None:
        expression = f"({expression} == {foreign.equals}) * 0 + 1"
    if foreign.conversion:
        expression = f"{expression} {foreign.conversion}"
    rule: dict[str, Any] = {"record": foreign.metric.name, "expr": Text(indented(expression))}
    return rule | ({"labels": dict(foreign.labels)} if foreign.labels else {})


def _selector(name: str, *, window: str = "") -> str:
    """Return the series of whole GPUs, with no value where DCGM has none."""
    if window:
        return f"last_over_time({name}{{{_WHOLE}}}[{window}])"
    return f"({name}{{{_WHOLE}}} < {NO_VALUE_FROM:.0e})"


def _ours(series: str) -> str:
    """Return series with our labels; `gpu` is called so there too."""
    uuid = f'label_replace({series}, "uuid", "$1", "UUID", "(.+)")'
    return f'label_replace({uuid}, "node", "$1", "Hostname", "(.+)")'


def _up() -> dict[str, Any]:
    """A GPU of which DCGM says nothing any more is lost; DCGM does not say so itself."""
    now = aggregate("group", _GPU, f"\n{either(*(_ours(_selector(name)) for name in TEMPERATURE))}\n")
    once = either(*(_ours(_selector(name, window=_LOST_SECONDS)) for name in TEMPERATURE))
    before = aggregate("group", _GPU, f"\n{once}\n")
    return {"record": gpu.GPU_UP.name, "expr": Text(indented(f"{now}\nor\n{before} * 0"))}


def _nvml() -> dict[str, Any]:
    series = either(*(_ours(_selector(name)) for name in TEMPERATURE))
    return {"record": gpu.NVML_UP.name, "expr": Text(indented(aggregate("group", ("node",), f"\n{series}\n")))}


def _info() -> dict[str, Any]:
    named = either(
        *(f'label_replace({_ours(_selector(name))}, "name", "$1", "modelName", "(.+)")' for name in TEMPERATURE)
    )
    return {"record": gpu.GPU_INFO.name, "expr": Text(indented(aggregate("group", (*_GPU, "name"), f"\n{named}\n")))}


def _xids() -> list[dict[str, Any]]:
    """When an XID came last, which the counter over a window tells to within that window."""
    series = _ours(f"({XID_COUNT} > 0)")
    last = aggregate("group", (*_GPU, "xid"), series)
    name = gpu_health.GPU_XID_LAST.name
    text = f"{last} * 0 + time()\nor\nlast_over_time({name}[{_LOST_SECONDS}])"
    return [{"record": name, "expr": Text(indented(text))}]
