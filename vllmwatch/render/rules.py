"""alerts/rules/*.yml: rule files of Prometheus."""

from collections.abc import Callable
from typing import Any

import yaml

from vllmwatch.render import mark
from vllmwatch.spec.recording import Group

_WIDTH = 10_000


class Text(str):
    """An expression, which stands in a block of its own lines."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """A dumper that writes expressions as they are and gives lists an indentation."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002, ARG002
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, text: Text) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


_Dumper.add_representer(Text, _represent_text)


def dump(data: Any) -> str:
    """Return YAML with keys in the given order, one line a text, and expressions in blocks."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


Rule = dict[str, Any]


def render_rules(group: Group, change: Callable[[Rule], Rule] = lambda rule: rule) -> str:
    """Return the rule file of a group of recordings, each as `change` makes it."""
    rules = [change({"record": each.name, "expr": Text(indented(each.expression))}) for each in group.recordings]
    entry = {"name": group.name, "interval": f"{group.interval_seconds}s", "rules": rules}
    return mark.comment(f"# {group.help}\n{dump({'groups': [entry]})}")


def indented(expression: str) -> str:
    """Return an expression of several lines with each line in as many parentheses as are open before it."""
    depth = 0
    lines = []
    for line in expression.splitlines():
        closing = len(line) - len(line.lstrip(")"))
        lines.append("  " * max(depth - closing, 0) + line)
        depth += line.count("(") - line.count(")")
    return "\n".join(lines)


def rule_path(group: Group) -> str:
    """Return where the rule file of a group lies in the checkout."""
    return f"alerts/rules/{group.theme}.yml"
