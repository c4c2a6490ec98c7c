"""What is taken for a pattern is what Prometheus takes for one."""

import json
import subprocess
from pathlib import Path

import pytest

from vllmwatch.config.patterns import require_pattern
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

PATTERNS = (
    "box.*",
    "a|b",
    "[a*+]+x",
    "[]x]",
    "[a[b]",
    "[[:alpha:]_]+",
    "[^[:^digit:]]",
    r"\pN+\p{Greek}",
    r"\Qa(b\E",
    r"\Qa(b",
    r"a\z",
    "(?i)vllm",
    "a(?i)b",
    "(?i-s:a)b",
    "(?U:a+)",
    "(?)a",
    r"(\(?s)",
    "(?P<name>a)",
    r"\(\?=",
    "a+?",
    r"x\+\+",
)
NO_PATTERNS = (
    "(",
    "a)",
    "[",
    "[b-a]",
    "*a",
    "a**",
    "a++",
    "(?=a)",
    "(?!a)",
    "(?<=a)b",
    "(?<!a)b",
    "(?>a)",
    "(?P<n>a)(?P=n)",
    r"(a)\1",
    "(?#why)a",
    "(?x)a",
    "(?iu:a)",
    "\\",
    "a{2,1}",
)


def is_taken_by_prometheus(program: Prometheus, pattern: str, folder: Path) -> bool:
    """Tell whether a rule with the pattern passes promtool."""
    rule = {"record": "a", "expr": f"up{{job=~{json.dumps(pattern)}}}"}
    path = folder / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "a", "rules": [rule]}]}))
    words = ["check", "rules", str(path)]
    return subprocess.run([program.promtool, *words], capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_prometheus_takes_is_taken(newest_prometheus: Prometheus, pattern: str, tmp_path: Path) -> None:
    require_pattern(pattern)
    assert is_taken_by_prometheus(newest_prometheus, pattern, tmp_path)


@pytest.mark.parametrize("pattern", NO_PATTERNS)
def test_what_prometheus_refuses_is_refused(newest_prometheus: Prometheus, pattern: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pattern"):
        require_pattern(pattern)
    assert not is_taken_by_prometheus(newest_prometheus, pattern, tmp_path)
