"""The reference pages name everything that the catalogue declares."""

import re

import pytest
import yaml

from vllmwatch.catalog import exporter, gpu, joined, logs, vllm
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.catalog.settings import SERVER_KEYS, SETTINGS, TARGET_KEYS
from vllmwatch.render import metrics_page
from vllmwatch.render.artifacts import Artifact, rendered
from vllmwatch.render.command_page import CommandHelp, render_command_page
from vllmwatch.render.config_file import FoundTarget, render_config_file
from vllmwatch.render.metrics_page import render_metrics_page
from vllmwatch.render.settings_page import render_settings_page
from vllmwatch.render.tables import table
from vllmwatch.spec.setting import MAPPINGS


def cells(page: str) -> list[list[str]]:
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def test_every_metric_is_on_the_page_once_with_its_meaning() -> None:
    rows = {row[0]: row for row in cells(render_metrics_page()) if len(row) >= 5}
    names = [row[0] for row in cells(render_metrics_page()) if len(row) >= 5 and row[0].startswith("`")]
    assert len(names) == len(set(names))
    for metric in (*gpu.METRICS, *joined.METRICS, *logs.METRICS, *exporter.METRICS):
        labels = ", ".join(f"`{label.name}`" for label in metric.labels)
        assert rows[f"`{metric.name}`"][1:] == [str(metric.kind), metric.unit.word, labels, metric.help]
    for upstream in vllm.METRICS:
        row = rows[f"`{upstream.name}`"]
        assert (row[1], row[2]) == (str(upstream.kind), upstream.unit)
        assert all(f"`{name.name}` " in row[4] for name in upstream.names)
    own = len(gpu.METRICS) + len(joined.METRICS) + len(logs.METRICS) + len(exporter.METRICS)
    assert len(names) == own + len(vllm.METRICS)


def test_every_value_of_a_closed_label_is_on_the_page_with_its_meaning() -> None:
    rows = [row for row in cells(render_metrics_page()) if len(row) == 2]
    for metric in (*gpu.METRICS, *joined.METRICS, *logs.METRICS, *exporter.METRICS):
        for label in metric.labels:
            assert [f"`{label.name}`", label.help] in rows
            for value, meaning in label.values.items():
                assert [f"`{value}`", meaning.replace("|", "\\|")] in rows


def test_each_table_of_values_names_its_metrics_and_stands_once() -> None:
    headings = [line for line in render_metrics_page().splitlines() if line.startswith("### `")]
    assert len(headings) == len(set(headings))
    for metric in (*gpu.METRICS, *joined.METRICS, *logs.METRICS, *exporter.METRICS):
        for label in metric.labels:
            ending = f": values of `{label.name}`"
            naming = [line for line in headings if line.endswith(ending) and f"`{metric.name}`" in line]
            assert len(naming) == (1 if label.values else 0), (metric.name, label.name)
    assert "### `vllmwatch_gpu_clock_hertz`, `vllmwatch_gpu_clock_max_hertz`: values of `domain`" in headings


def test_the_releases_of_a_name_are_said() -> None:
    (row,) = [row for row in cells(render_metrics_page()) if row[0] == "`vllm:kv_cache_usage_perc`"]
    assert "`vllm:kv_cache_usage_perc` since 0.9.2" in row[4]
    assert re.search(r"`vllm:gpu_cache_usage_perc` 0\.2\.3 to 0\.\d+\.\d+", row[4])


def test_a_section_without_metrics_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_page, "OWN_SECTIONS", (("GPUs", ()),))
    with pytest.raises(ValueError, match="nothing to write under 'GPUs'"):
        render_metrics_page()


def test_every_setting_and_key_of_a_target_is_on_the_page() -> None:
    page = render_settings_page()
    for setting in SETTINGS:
        section = page.partition(f"\n## {setting.key}\n")[2].partition("\n## ")[0]
        assert setting.help in section
        assert f"`{setting.environment}`" in section
        assert setting.option is None or f"`{setting.option}`" in section
    targets, _, rest = page.partition("\n## Keys of a target\n")[2].partition("\n## Keys of a server\n")
    servers, _, receivers = rest.partition("\n## Keys of a receiver\n")
    assert len(cells(receivers)) - 2 == sum(len(kind.keys) for kind in RECEIVER_KINDS)
    for text, keys in ((targets, TARGET_KEYS), (servers, SERVER_KEYS)):
        assert [row[0] for row in cells(text)][2:] == [f"`{setting.key}`" for setting in keys]


def test_the_example_file_with_each_comment_taken_away_holds_every_default() -> None:
    lines = [re.sub(r"^#(?=[a-z_0-9]+:)", "", line) for line in render_config_file().splitlines()]
    values = yaml.safe_load("\n".join(line for line in lines if not line.startswith("#")))
    assert values.keys() == {setting.key for setting in SETTINGS}
    for setting in SETTINGS:
        plain: object = list(setting.default) if isinstance(setting.default, tuple) else setting.default
        plain = {} if setting.form in MAPPINGS else plain
        assert values[setting.key] == (plain or None if setting.key == "targets" else plain), setting.key


def test_found_servers_are_targets_in_force() -> None:
    text = render_config_file([FoundTarget("http://a:1/metrics", "here"), FoundTarget("http://b:1", "x", stable=False)])
    assert yaml.safe_load(text) == {"targets": ["http://a:1/metrics"]}


def test_a_page_of_no_commands_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to write"):
        render_command_page(())
    page = render_command_page((CommandHelp("x y", "x y [OPTIONS]", "Does x.", (("--z", "A | B."),)),))
    assert (
        "## x y\n\n```text\nx y [OPTIONS]\n```\n\nDoes x.\n\n| option | meaning |\n| --- | --- |\n| `--z` | A \\| B. |"
        in page
    )


def test_generating_nothing_or_an_unmarked_file_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to generate"):
        rendered(())
    with pytest.raises(ValueError, match=r"a\.md: a generated file begins with the mark"):
        rendered((Artifact("a.md", lambda: "hello"),))
    with pytest.raises(ValueError, match="says something"):
        rendered((Artifact("a.md", lambda: render_command_page((CommandHelp("x", "x", "X.", ()),)).splitlines()[0]),))


def test_a_row_of_another_width_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 cells in a table of 2 columns"):
        table(("a", "b"), [("a",)])
