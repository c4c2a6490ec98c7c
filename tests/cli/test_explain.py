"""`vllmwatch explain`."""

import pytest

from tests.cli.command_line import CommandLine


@pytest.mark.parametrize("name", ["GpuLost", "gpulost", "gpu_lost"])
def test_an_alert_is_explained_by_its_name_or_that_of_its_page(run: CommandLine, name: str) -> None:
    outcome = run("explain", name)
    assert outcome.code == 0
    assert outcome.out.startswith("# GpuLost\n\n")
    assert "\n## What to do\n" in outcome.out
    assert "\n## The rule\n" in outcome.out


def test_a_threshold_of_the_settings_is_in_the_explanation(run: CommandLine) -> None:
    assert "`gpu_temperature_celsius`" in run("explain", "GpuTemperatureHigh").out


def test_without_a_name_all_alerts_are_listed_each_with_one_line(run: CommandLine) -> None:
    listed = run("explain").out.splitlines()
    assert "GpuLost" in {line.split()[0] for line in listed}
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed)


def test_an_alert_that_there_is_not_is_refused_with_the_nearest(run: CommandLine) -> None:
    outcome = run("explain", "GpuLots")
    assert outcome.code == 1
    assert outcome.err == "error: there is no alert 'GpuLots'\nhint: Did you mean GpuLost?\n"
