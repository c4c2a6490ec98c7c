"""docs/reference/metrics.md: every metric of the exporter's page, ours and vLLM's."""

from collections.abc import Sequence

from vllmwatch.catalog import exporter, gpu, joined, logs, vllm
from vllmwatch.render import mark
from vllmwatch.render.tables import code, table
from vllmwatch.spec.metric import Label, Metric
from vllmwatch.spec.upstream import NEWEST, Scope, UpstreamMetric

OWN_SECTIONS: tuple[tuple[str, tuple[Metric, ...]], ...] = (
    ("GPUs", gpu.METRICS),
    ("The join", joined.METRICS),
    ("Logs", logs.METRICS),
    ("Targets and the exporter", exporter.METRICS),
)

_INTRODUCTION = """\
# Metrics

What `/metrics` of `vllmwatch exporter` serves. Names of our own begin with `vllmwatch_` and are in base units. A value
that cannot be read leaves no sample: absence is never 0. Metrics of vLLM keep their names, those of vLLM 0.32, whatever
release serves them."""


def render_metrics_page() -> str:
    """Return the page; raises ValueError when a section has no metrics."""
    parts = [_INTRODUCTION]
    for title, metrics in OWN_SECTIONS:
        _require_some(title, metrics)
        parts += [f"## {title}", _own_table(metrics)]
    own = [metric for _, metrics in OWN_SECTIONS for metric in metrics]
    parts += ["## Labels", *_labels(own), "## vLLM", *_upstream(vllm.METRICS)]
    return mark.markdown("\n\n".join(parts))


def _own_table(metrics: Sequence[Metric]) -> str:
    rows = [
        (
            code(metric.name),
            str(metric.kind),
            metric.unit.word,
            ", ".join(code(label.name) for label in metric.labels),
            metric.help,
        )
        for metric in sorted(metrics, key=lambda metric: metric.name)
    ]
    return table(("name", "kind", "unit", "labels", "meaning"), rows)


def _labels(metrics: Sequence[Metric]) -> list[str]:
    """Return the table of all labels, then for each closed set of values a table of them."""
    labels = sorted({(label.name, label.help): label for metric in metrics for label in metric.labels}.items())
    parts = [table(("label", "meaning"), [(code(label.name), label.help) for _, label in labels])]
    for label, names in _closed_labels(metrics):
        rows = [(code(value), meaning) for value, meaning in sorted(label.values.items())]
        used_by = ", ".join(code(name) for name in names)
        parts += [f"### {used_by}: values of {code(label.name)}", table(("value", "meaning"), rows)]
    return parts


def _closed_labels(metrics: Sequence[Metric]) -> list[tuple[Label, list[str]]]:
    """Return each label with a closed set of values once, with the names of all metrics that have just this set."""
    found: list[tuple[Label, list[str]]] = []
    for metric in sorted(metrics, key=lambda metric: metric.name):
        for label in metric.labels:
            same = [names for known, names in found if (known.name, known.values) == (label.name, label.values)]
            if same:
                same[0].append(metric.name)
            elif label.values:
                found.append((label, [metric.name]))
    return sorted(found, key=lambda entry: (entry[0].name, entry[1]))


def _upstream(metrics: Sequence[UpstreamMetric]) -> list[str]:
    _require_some("vLLM", metrics)
    by_scope = [(scope, [metric for metric in metrics if metric.scope is scope]) for scope in Scope]
    introduction = (
        "Every series has `server` and `node`, those of an engine `engine` too. "
        f"Compared with releases up to {NEWEST}. Families that are not listed pass through as they are."
    )
    parts = [introduction]
    for scope, chosen in by_scope:
        parts += [f"### Of the {scope}", _upstream_table(chosen)]
    return parts


def _upstream_table(metrics: Sequence[UpstreamMetric]) -> str:
    rows = [
        (
            code(metric.name),
            str(metric.kind),
            metric.unit,
            ", ".join(code(label) for label in metric.labels),
            _history(metric),
            f"{metric.help} {_condition(metric)}".strip(),
        )
        for metric in sorted(metrics, key=lambda metric: metric.name)
    ]
    return table(("name", "kind", "unit", "labels of its own", "names, by release", "meaning"), rows)


def _history(metric: UpstreamMetric) -> str:
    spans = []
    for name in metric.names:
        span = f"since {name.since}" if name.until == NEWEST else f"{name.since} to {name.until}"
        spans.append(f"{code(name.name)} {span}")
    return "; ".join(spans)


def _condition(metric: UpstreamMetric) -> str:
    return f"Only with: {metric.condition}." if metric.condition else ""


def _require_some(title: str, metrics: Sequence[object]) -> None:
    if not metrics:
        raise ValueError(f"metrics.md: nothing to write under {title!r}")
