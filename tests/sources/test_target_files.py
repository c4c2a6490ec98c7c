"""Files of targets in the form of Prometheus: read, read again, and survived when broken."""

import json
import os
import time
from pathlib import Path

import pytest

from vllmwatch.sources import target_files
from vllmwatch.sources.discovery import Discovered
from vllmwatch.sources.target import Origin
from vllmwatch.sources.target_files import SIZE_LIMIT_BYTES, FileTargets


def urls(source: FileTargets) -> list[str]:
    return [target.url for target in source.discover().targets]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "targets.yml"


def test_yaml_and_json_say_the_same(tmp_path: Path) -> None:
    group = {"targets": ["gpu1:8000", "localhost:8001"], "labels": {"rack": "7"}}
    (tmp_path / "a.json").write_text(json.dumps([group]))
    (tmp_path / "b.yml").write_text("- targets: [gpu1:8000, 'localhost:8001']\n  labels: {rack: 7}\n")
    by_json, by_yaml = (FileTargets([str(tmp_path / name)], "node1").discover() for name in ("a.json", "b.yml"))
    assert by_json == by_yaml
    assert [(target.server, target.node, dict(target.labels)) for target in by_json.targets] == [
        ("gpu1:8000", "gpu1", {"rack": "7"}),
        ("node1:8001", "node1", {"rack": "7"}),
    ]
    assert {target.origin for target in by_json.targets} == {Origin.FILE_SD}


def test_special_labels_make_the_address_and_are_not_exported(file: Path) -> None:
    file.write_text(
        "- targets: ['gpu1']\n"
        "  labels: {__scheme__: https, __metrics_path__: /stats, __param_a: x y, __meta_zone: z, zone: no, rev: 010}\n"
    )
    (target,) = FileTargets([str(file)], "node1").discover().targets
    assert target.url == "https://gpu1:443/stats?a=x%20y"
    assert target.server == "gpu1:443/stats"
    assert target.labels == {"zone": "no", "rev": "010"}


def test_labels_server_and_node_are_the_names_of_the_target(file: Path) -> None:
    file.write_text("- targets: ['10.0.0.7:8000']\n  labels: {server: chat, node: gpu7}\n")
    (target,) = FileTargets([str(file)], "node1").discover().targets
    assert (target.server, target.node, dict(target.labels)) == ("chat", "gpu7", {})


def test_a_pattern_takes_all_files_that_match_and_new_ones_later(tmp_path: Path) -> None:
    (tmp_path / "b.yml").write_text("- targets: ['b:1']\n")
    source = FileTargets([f"{tmp_path}/*.yml"], "node1")
    assert urls(source) == ["http://b:1/metrics"]
    (tmp_path / "a.yml").write_text("- targets: ['a:1']\n")
    assert urls(source) == ["http://a:1/metrics", "http://b:1/metrics"]


def test_a_changed_file_is_read_again(file: Path) -> None:
    file.write_text("- targets: ['a:1']\n")
    source = FileTargets([str(file)], "node1")
    assert urls(source) == ["http://a:1/metrics"]
    file.write_text("- targets: ['b:1']\n")
    os.utime(file, ns=(1, 1))
    assert urls(source) == ["http://b:1/metrics"]


def test_a_replaced_file_of_the_same_size_and_time_is_read_again(file: Path) -> None:
    file.write_text("- targets: ['a:1']\n")
    os.utime(file, ns=(1, 1))
    source = FileTargets([str(file)], "node1")
    assert urls(source) == ["http://a:1/metrics"]
    fresh = file.with_suffix(".new")
    fresh.write_text("- targets: ['b:1']\n")
    os.utime(fresh, ns=(1, 1))
    fresh.rename(file)
    assert urls(source) == ["http://b:1/metrics"]


def test_an_unchanged_file_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("- targets: ['a:1']\n")
    source = FileTargets([str(file)], "node1")
    first = source.discover()
    monkeypatch.setattr(FileTargets, "_read", lambda *_: pytest.fail("read again"))
    assert source.discover() == first


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("", "a list of groups is asked for"),
        ("- targets: ['a:1'\n", "not valid YAML"),
        ("targets: ['a:1']\n", "a list of groups is asked for"),
        ("- ['a:1']\n", "group 1: the keys targets and labels"),
        ("- targets: a:1\n", "group 1: targets: a list of texts"),
        ("- target: ['a:1']\n", "group 1: the keys targets and labels"),
        ("- targets: [{a: 1}]\n", "group 1: targets: a list of texts"),
        ("- {targets: [], labels: [a]}\n", "group 1: labels: a mapping"),
        ("- {targets: [], labels: {a: {b: c}}}\n", "group 1: labels: a mapping"),
        ("- {targets: [], labels: {a-b: c}}\n", "'a-b' is no name of a label"),
    ],
)
def test_a_broken_file_keeps_the_last_good_list_and_says_so_until_it_is_mended(
    file: Path, broken: str, why: str
) -> None:
    good = "- targets: ['a:1', 'b:1']\n"
    file.write_text(good)
    source = FileTargets([str(file)], "node1")
    assert source.discover().problems == ()
    file.write_text(broken)
    for _ in range(2):
        found = source.discover()
        assert [target.url for target in found.targets] == ["http://a:1/metrics", "http://b:1/metrics"]
        (problem,) = found.problems
        assert problem.startswith(f"{file}: ")
        assert why in problem
        assert problem.endswith("the last good list stays")
    file.write_text("- targets: ['c:1']\n")
    assert source.discover().problems == ()
    assert urls(source) == ["http://c:1/metrics"]


@pytest.mark.parametrize("text", ['[{"targets": ["a:1"', "", "[" * 100_000])
def test_half_a_json_file_is_broken(text: str, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(text)
    found = FileTargets([str(file)], "node1").discover()
    assert found.targets == ()
    assert "not valid JSON" in found.problems[0]


def test_a_binary_or_huge_file_is_broken(file: Path) -> None:
    file.write_bytes(b"- targets: ['\xff\xfe']\n")
    assert "can't decode" in FileTargets([str(file)], "node1").discover().problems[0]
    file.write_bytes(b"#" * (SIZE_LIMIT_BYTES + 1))
    assert "larger than" in FileTargets([str(file)], "node1").discover().problems[0]


def test_a_file_that_is_gone_takes_its_targets_with_it(file: Path) -> None:
    file.write_text("- targets: ['a:1']\n")
    source = FileTargets([str(file)], "node1")
    assert urls(source) == ["http://a:1/metrics"]
    file.unlink()
    found = source.discover()
    assert found.targets == ()
    assert found.problems == (f"{file}: no such file of targets",)


def test_a_file_that_cannot_be_read_keeps_the_last_good_list_and_is_tried_again(file: Path) -> None:
    file.write_text("- targets: ['a:1']\n")
    source = FileTargets([str(file)], "node1")
    assert urls(source) == ["http://a:1/metrics"]
    file.unlink()
    file.mkdir()
    found = source.discover()
    assert [target.url for target in found.targets] == ["http://a:1/metrics"]
    assert found.problems == (f"{file}: not a regular file; the last good list stays",)
    file.rmdir()
    file.write_text("- targets: ['b:1']\n")
    assert urls(source) == ["http://b:1/metrics"]


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("http://a:1", "is no host:port"),
        ("a:1/metrics", "is no host:port"),
        ("a:port", "is no address"),
        ("", "is no address"),
    ],
)
def test_a_target_that_is_none_leaves_the_others(file: Path, target: str, why: str) -> None:
    file.write_text(f"- targets: ['{target}', 'b:1']\n")
    found = FileTargets([str(file)], "node1").discover()
    assert [entry.url for entry in found.targets] == ["http://b:1/metrics"]
    assert why in found.problems[0]


@pytest.mark.parametrize("label", ["engine", "le", "model_name", "quantile"])
def test_a_label_that_the_series_have_themselves_is_left_out_and_the_target_stays(file: Path, label: str) -> None:
    file.write_text(f"- {{targets: ['a:1'], labels: {{{label}: '1', rack: '7'}}}}\n- targets: ['b:1']\n  labels:\n")
    found = FileTargets([str(file)], "node1").discover()
    assert [(entry.url, dict(entry.labels)) for entry in found.targets] == [
        ("http://a:1/metrics", {"rack": "7"}),
        ("http://b:1/metrics", {}),
    ]
    assert found.problems == (f"{file}: label '{label}' belongs to the series themselves; it is left out",)


def test_a_label_does_not_take_the_place_of_the_address(file: Path) -> None:
    file.write_text("- {targets: ['a:1', 'b:1'], labels: {__address__: 'c:1'}}\n")
    assert urls(FileTargets([str(file)], "node1")) == ["http://a:1/metrics", "http://b:1/metrics"]


def test_a_pipe_is_not_waited_for(file: Path) -> None:
    file.write_text("- targets: ['a:1']\n")
    source = FileTargets([str(file)], "node1")
    assert urls(source) == ["http://a:1/metrics"]
    file.unlink()
    os.mkfifo(file)
    began = time.monotonic()
    found = source.discover()
    assert time.monotonic() - began < 1
    assert [entry.url for entry in found.targets] == ["http://a:1/metrics"]
    assert found.problems == (f"{file}: not a regular file; the last good list stays",)


def test_a_pipe_that_takes_the_place_of_a_file_while_it_is_opened_is_not_waited_for(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(ValueError, match="not a regular file"):
        target_files._content(file)


def test_a_device_is_not_read() -> None:
    found = FileTargets(["/dev/zero"], "node1").discover()
    assert found == Discovered((), ("/dev/zero: not a regular file; the last good list stays",))


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"server": "\ud800"}, "server: a text in Unicode is asked for"),
        ({"team": "x\udcff"}, "team: a text in Unicode is asked for"),
        ({"__param_key": "\ud800"}, "__param_key: a text in Unicode is asked for"),
        ({"server": "a\nb"}, "server: a text on one line is asked for"),
        ({"node": "a\x00"}, "node: a text on one line is asked for"),
        ({"__metrics_path__": "/a\x00"}, "is no address"),
    ],
)
def test_a_target_with_names_that_are_no_text_is_left_out(tmp_path: Path, labels: dict[str, str], why: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps([{"targets": ["a:1"], "labels": labels}, {"targets": ["b:1"]}]))
    found = FileTargets([str(file)], "node1").discover()
    assert [entry.url for entry in found.targets] == ["http://b:1/metrics"]
    (problem,) = found.problems
    assert why in problem
    assert problem.encode().decode() == problem


@pytest.mark.parametrize(
    "group",
    [
        {"targets": ["me:s3cret@a:1"], "labels": {"engine": "1", "server": "\ud800"}},
        {"targets": ["me:s3cret@a:port"]},
        {"targets": ["me:s3cret@a:1/x"]},
        {"targets": ["a:port"], "labels": {"__param_key": "s3cret"}},
        {"targets": ["a:1?key=s3cret"]},
        {"targets": ["a:1"], "labels": {"__param_key": "s3cret", "server": "\n"}},
    ],
)
def test_no_problem_shows_a_secret(tmp_path: Path, group: dict[str, object]) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps([group]))
    found = FileTargets([str(file)], "node1").discover()
    assert found.problems
    assert "s3cret" not in "".join(found.problems)


def test_paths_and_parameters_beyond_ascii_are_encoded(file: Path) -> None:
    file.write_text("- {targets: ['a:1'], labels: {__metrics_path__: /m/模型 b, __param_q: é}}\n", encoding="utf-8")
    assert urls(FileTargets([str(file)], "node1")) == ["http://a:1/m/%E6%A8%A1%E5%9E%8B%20b?q=%C3%A9"]
