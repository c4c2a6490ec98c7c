"""Where CI runs, a test that a missing peer would skip fails: nothing there may go untested in silence."""

import os
from collections.abc import Generator

import pytest

REQUIRED_MARKS = ("real_vllm", "real_prometheus", "real_alertmanager", "fake_nvml")
# A real server takes a minute to start, and a loaded machine longer.
REAL_VLLM_TIMEOUT_SECONDS = 600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test of a required peer into a failure that carries the reason."""
    report = yield
    required = any(item.get_closest_marker(mark) for mark in REQUIRED_MARKS)
    if os.environ.get("CI") and required and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"a skip is a failure in CI: {reason}"
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests of a real vLLM the time that it needs to start."""
    for item in items:
        if item.get_closest_marker("real_vllm") and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(REAL_VLLM_TIMEOUT_SECONDS))
