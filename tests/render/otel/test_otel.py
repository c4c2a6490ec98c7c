"""The Collector's configuration says of lines what Alloy's says, and uses what the Collector's pages name."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.real.record_logs import FOLDER
from tests.render.alloy.interpreter import compiled
from tests.render.alloy.shipped import metadata, shipped
from tests.render.alloy.test_stages import _EXAMPLES
from tests.render.otel.collector import EVERYWHERE, PAGES, Record, holds, run
from tests.sources.logs.secret_lines import HEADS, MESSAGES, SECRET, TEXTS, json_line
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.render.otel import EXAMPLE, OTEL_PATH, render_otel
from vllmwatch.render.otel.inverted import inverted

ROOT = Path(__file__).parents[3]
_TWO = LogSettings(files=(("a:1", "/srv/a.log"), ("b:2", "/srv/b.log")), time_zone="Europe/Berlin")
_LOGS = sorted(FOLDER.glob("*.log"))
# The Collector's reference (v0.162) of the receiver, the exporter and the storage, as far as it is used.
_RECEIVER = {
    "include",
    "include_file_path",
    "start_at",
    "preserve_leading_whitespaces",
    "preserve_trailing_whitespaces",
    "storage",
    "resource",
    "operators",
}
_EXPORTER = {"endpoints", "api_key", "logs_index", "sending_queue"}


@cache
def configuration(settings: LogSettings = EXAMPLE) -> dict[str, Any]:
    """Return the configuration as the Collector has it once it has read its variables."""
    found: dict[str, Any] = _unescaped(yaml.safe_load(render_otel(LOG_CATALOG, settings)))
    return found


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        assert "$" not in value.replace("$$", "") or value.startswith("${env:"), value
        return value.replace("$$", "$")
    if isinstance(value, list):
        return [_unescaped(each) for each in value]
    if isinstance(value, dict):
        return {key: _unescaped(each) for key, each in value.items()}
    return value


def operators(settings: LogSettings = EXAMPLE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(iter(configuration(settings)["receivers"].values()))["operators"]
    return found


def sent(lines: list[str]) -> list[Record]:
    return run(operators(), lines)


def test_only_what_the_pages_name_is_used() -> None:
    for operator in operators():
        assert set(operator) - EVERYWHERE <= PAGES[operator["type"]], operator["type"]
    found = configuration(_TWO)
    assert set(found) == {"extensions", "receivers", "exporters", "service"}
    assert all(set(receiver) == _RECEIVER for receiver in found["receivers"].values())
    assert set(found["exporters"]["elasticsearch"]) == _EXPORTER
    assert found["service"]["pipelines"]["logs"] == {
        "receivers": ["filelog/1", "filelog/2"],
        "exporters": ["elasticsearch"],
    }


def test_each_file_has_its_server() -> None:
    receivers = configuration(_TWO)["receivers"].values()
    assert [(each["include"], each["resource"]["server"]) for each in receivers] == [
        (["/srv/a.log"], "a:1"),
        (["/srv/b.log"], "b:2"),
    ]
    assert {each["location"] for each in operators(_TWO) if each["type"] == "time_parser"} == {"Europe/Berlin"}


def test_without_files_there_is_nothing_to_ship() -> None:
    with pytest.raises(ValueError, match="no file of logs is named"):
        render_otel(LOG_CATALOG, LogSettings())


def test_every_pattern_is_one_of_re2() -> None:
    patterns = [each["regex"] for each in operators() if "regex" in each]
    assert len(patterns) > len(LOG_CATALOG.prefixes) + len(LOG_CATALOG.redactions)
    for pattern in patterns:
        compiled(pattern)
    for each in operators():
        for key in ("if", "expr", "is_first_entry"):
            if key in each:
                holds(each[key], Record("x", {"json": None, "told": "x", "time": "", "level": ""}))


def test_the_committed_file_is_the_example() -> None:
    assert (ROOT / OTEL_PATH).read_text() == render_otel(LOG_CATALOG, EXAMPLE)


@pytest.mark.parametrize("line", _EXAMPLES)
def test_the_examples_of_the_catalogue_are_read_as_alloy_reads_them(line: str) -> None:
    _same(sent([line]), [line])


@pytest.mark.parametrize("path", _LOGS, ids=lambda path: path.stem)
def test_logs_of_real_servers_are_read_as_alloy_reads_them(path: Path) -> None:
    lines = path.read_bytes().decode().removesuffix("\n").split("\n")
    found = sent(lines)
    assert len(found) > 50
    _same(found, lines)


def _same(found: list[Record], lines: list[str]) -> None:
    expected = shipped(lines)
    assert [record.body for record in found] == [entry.line for entry in expected]
    for record, entry in zip(found, expected, strict=True):
        level = {"level": entry.labels["level"]} if "level" in entry.labels else {}
        assert record.attributes == metadata(entry) | level
        assert (record.severity != "") == ("level" in record.attributes)


@given(head=st.sampled_from(HEADS), message=st.sampled_from(MESSAGES), text=TEXTS)
def test_what_users_write_does_not_reach_elasticsearch(head: str, message: Callable[[str], str], text: str) -> None:
    assert SECRET not in repr(sent([(head + message(text)).split("\n")[0]]))


@given(message=st.sampled_from(MESSAGES), text=TEXTS)
def test_nor_in_json(message: Callable[[str], str], text: str) -> None:
    assert SECRET not in repr(sent([json_line(message(text), message(text))]))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("key=(x+) end", ("(key=)(?:x+)( end)", "${1}*${2}")),
        ("(?i)a(b)|c(d)e", ("(?i)(a)(?:b)()|(c)(?:d)(e)", "${1}${3}*${2}${4}")),
        (r"[(|]\((x|y)[)]", (r"([(|]\()(?:x|y)([)])", "${1}*${2}")),
        ("(?:a|b)([^])]+)$", ("((?:a|b))(?:[^])]+)($)", "${1}*${2}")),
    ],
)
def test_a_pattern_is_turned_inside_out(pattern: str, expected: tuple[str, str]) -> None:
    found = inverted(pattern, "*")
    assert (found.pattern, found.text) == expected


@pytest.mark.parametrize("pattern", ["a", "(a)(b)", "a(?:b(c))", "(a)|b"])
def test_a_pattern_without_one_group_in_each_branch_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="one group is asked for"):
        inverted(pattern, "*")
