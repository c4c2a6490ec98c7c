"""Rules for servers that Prometheus scrapes itself: told apart by `job` and `instance` in place of `node` and `server`.

Such pages come as vLLM writes them, so these rules hold for the releases that have the names of 0.32. What only the
exporter knows is absent: which GPU carries which engine, and with it energy and cost.
"""

import re
from collections.abc import Iterable
from typing import Any

from vllmwatch.catalog.exporter import TARGET_INFO, TARGET_UP
from vllmwatch.render import mark
from vllmwatch.render.rules import Text, dump
from vllmwatch.spec.promql import is_like

OF_GPUS = frozenset({"energy", "cost", "utilization", "stragglers", "gpus"})
"""The themes of recordings that are about GPUs, which keep the labels that they have."""
ALERTS_OF_OTHERS = frozenset({"gpus", "efficiency", "watchers"})
"""The themes of alerts that are about others than servers."""
GROUP = "vllmwatch-direct"
_LABELS = {"node": "job", "server": "instance"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# A label in a list of labels, in a selector, or in a template; and not a part of a name such as vllmwatch:server:…
_LABEL = re.compile(r"(?<![\w:$.])(node|server)(?![\w:])|(?<=\$labels\.)(node|server)\b")


def as_direct(text: str) -> str:
    """Return an expression, a selector or a template with the labels of a scrape; texts in quotes stay."""
    parts = []
    place = 0
    for quoted in _STRING.finditer(text):
        parts += [_renamed(text[place : quoted.start()]), quoted.group()]
        place = quoted.end()
    return "".join([*parts, _renamed(text[place:])])


def template_as_direct(text: str) -> str:
    """Return a template of an annotation with the labels of a scrape."""
    return re.sub(r"\$labels\.(node|server)\b", lambda match: f"$labels.{_LABELS[match[1]]}", text)


def rule_as_direct(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule as it is written with the labels of a scrape."""
    changed = {**rule, "expr": Text(as_direct(rule["expr"]))}
    if "annotations" in rule:
        changed["annotations"] = {name: template_as_direct(text) for name, text in rule["annotations"].items()}
    return changed


def labels_as_direct(theme: str, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that alerts of a theme have in place of ours."""
    return tuple(label if theme in ALERTS_OF_OTHERS else _LABELS.get(label, label) for label in labels)


def render_direct_rules(jobs: str) -> str:
    """Return the rule file that says in our series what Prometheus knows of targets; `jobs` is a pattern of jobs."""
    who = "job, instance"
    of_jobs = is_like("job", jobs)
    rules = [
        {"record": TARGET_UP.name, "expr": Text(f"max by ({who}) (up{{{of_jobs}}})")},
        {
            "record": TARGET_INFO.name,
            "expr": Text(f"group by ({who}, model_name) (vllm:num_requests_running{{{of_jobs}}})"),
            "labels": {"role": "server"},
        },
    ]
    return mark.comment(dump({"groups": [{"name": GROUP, "interval": "15s", "rules": rules}]}))


def _renamed(text: str) -> str:
    return _LABEL.sub(lambda match: _LABELS[match[1] or match[2]], text)
