"""The exporter's arithmetic of windows and quantiles is that of a real Prometheus, on series of every kind."""

import math
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from vllmwatch.exporter.figures.quantile import histogram_quantile
from vllmwatch.exporter.figures.window import Window
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

INTERVAL_SECONDS = 15
STEPS = 80
FUNCTIONS: dict[str, Callable[[Window], float | None]] = {
    "increase": Window.increase,
    "rate": Window.rate,
    "delta": Window.delta,
    "deriv": Window.slope,
    "avg_over_time": Window.average,
    "sum_over_time": Window.total,
    "min_over_time": Window.least,
    "max_over_time": Window.most,
    "changes": Window.changes,
    "resets": Window.resets,
}


def counter(dice: random.Random) -> list[float | None]:
    """Return a counter that stands still, rises, begins anew, and is not seen at times."""
    value = float(dice.choice((0, 3, 900)))
    samples: list[float | None] = []
    for _ in range(STEPS):
        value = 0.0 if dice.random() < 0.05 else value + dice.choice((0, 0, 1, 7.5))
        samples.append(None if dice.random() < 0.2 else value)
    return samples


def gauge(dice: random.Random) -> list[float | None]:
    """Return a gauge that is not seen at times."""
    return [None if dice.random() < 0.3 else round(dice.uniform(-3, 3), 2) for _ in range(STEPS)]


def window(samples: list[float | None], end: int, seconds: int) -> Window:
    seen = [
        (step * INTERVAL_SECONDS, value)
        for step, value in enumerate(samples)
        if value is not None and end - seconds < step * INTERVAL_SECONDS <= end
    ]
    return Window([at for at, _ in seen], [value for _, value in seen], end, seconds)


def check(
    program: Prometheus, folder: Path, series: dict[str, str], expected: dict[tuple[str, int], float | None]
) -> None:
    tests = {
        "interval": f"{INTERVAL_SECONDS}s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f"round(({expression}) * 1e6) / 1e6",
                "eval_time": f"{at}s",
                "exp_samples": []
                if value is None
                else [{"labels": "{}", "value": math.floor(value * 1e6 + 0.5) / 1e6}],
            }
            for (expression, at), value in expected.items()
        ],
    }
    file = folder / "tests.yml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "15s", "tests": [tests]}))
    promtool = program.path.with_name("promtool")
    played = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, timeout=120, check=False)
    assert played.returncode == 0, played.stderr + played.stdout


def test_windows_are_those_of_prometheus(newest_prometheus: Prometheus, tmp_path: Path) -> None:
    dice = random.Random(20261130)
    series: dict[str, str] = {}
    expected: dict[tuple[str, int], float | None] = {}
    for number in range(24):
        samples = counter(dice) if number % 2 else gauge(dice)
        name = f"x{number}"
        series[name] = " ".join("_" if value is None else f"{value:g}" for value in samples)
        for end, seconds in ((600, 300), (607, 120), (1000, 60), (1190, 900)):
            for function, reckoned in FUNCTIONS.items():
                if number % 2 or function not in {"increase", "rate", "resets"}:
                    expected[f"{function}({name}[{seconds}s])", end] = reckoned(window(samples, end, seconds))
    assert sum(value is not None for value in expected.values()) > 300
    check(newest_prometheus, tmp_path, series, expected)


def test_quantiles_are_those_of_prometheus(newest_prometheus: Prometheus, tmp_path: Path) -> None:
    dice = random.Random(20261201)
    series: dict[str, str] = {}
    expected: dict[tuple[str, int], float | None] = {}
    for number in range(30):
        edges = [*sorted(dice.sample((0.01, 0.1, 0.5, 1.0, 2.0, 2.5, 30.0), dice.randint(1, 7))), math.inf]
        total = 0.0
        buckets: dict[float, float] = {}
        for edge in edges:
            total += dice.choice((0, 0, 1, 5, 0.25))
            buckets[edge] = total
            series[f'h{number}{{le="{"+Inf" if edge == math.inf else edge}"}}'] = f"{total:g}x5"
        for quantile in (0.5, 0.9, 0.99):
            value = histogram_quantile(quantile, buckets)
            expected[f"histogram_quantile({quantile}, h{number}) > -1", 30] = value
    assert sum(value is not None for value in expected.values()) > 60
    check(newest_prometheus, tmp_path, series, expected)
