"""No message shows a secret, however wrongly it was given."""

from pathlib import Path

import pytest

from vllmwatch.config import load_config
from vllmwatch.config.file import parse_config
from vllmwatch.errors import ConfigError

SECRET = "s3cret"


@pytest.mark.parametrize(
    "targets",
    [
        '{"url":"gpu1:1","bearer_token":"s3cret"}',
        '[{"url":"gpu1:1","bearer_token":"s3cret"',
        '[{"url":"gpu1:1","bearer_token":["s3cret"]}]',
        '[{"url":"gpu1:1","bearer_token":"s3cret","labels":"password=s3cret"}]',
        '[{"url":"gpu1:1","bearer_token":"s3cret","nope":1}]',
        '[{"http://me:s3cret@gpu1":8000}]',
        "[5, {" + '"http://gpu1:1/?key=s3cret":"x"}]',
        'gpu1:1,{"url":"gpu1:2","bearer_token":"s3cret"}',
        "url: gpu1:1, bearer_token: s3cret",
        "gpu1:1,password=s3cret",
        "gpu1:1,http://me:s3cret@gpu1:1",
        '["gpu1:1?key=s3cret","gpu1:1?key=s3cret2"]',
        "http://me:s3cret@gpu1:port",
        "http://me:s3@s3cret@gpu1:1 x",
        "ftp://gpu1/?key=s3cret",
        "http://me:s3cret@",
        "http://gpu1:0/?key=s3cret",
        "http://[gpu1/?key=s3cret",
        "[" * 100_000,
    ],
)
def test_targets_given_as_a_variable(targets: str) -> None:
    for environment, options in (({"VLLMWATCH_TARGETS": targets}, {}), ({}, {"targets": [targets]})):
        with pytest.raises(ConfigError) as caught:
            load_config(options, environment, file=None, hostname="here", directory=Path("/x"))
        assert SECRET not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "bearer_token: *s3cret",
        "bearer_token: !s3cret x",
        "bearer_token: !!s3cret x",
        "bearer_token: !a!s3cret x",
        "a: &s3cret 1\nb: &s3cret 2\nc: *s3crets",
        "http://me:s3cret@gpu1:8000: 1\nhttp://me:s3cret@gpu1:8000: 2",
        "password: %s3cret",
        "password: @s3cret",
        "password: `s3cret",
        "password: [s3cret",
        "password: 's3cret",
        'password: "s3cret\\q"',
        "password: s3cret: x",
    ],
)
def test_text_that_is_no_yaml(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "vllmwatch.yml")
    assert SECRET not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("http://me:s3cret@gpu1:8000", "x"),
        ("listen", "http://me:s3cret@h:1"),
        ("targets", "http://me:s3cret@gpu1:8000"),
    ],
)
def test_settings_in_the_wrong_place(key: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "vllmwatch.yml"
    file.write_text(f"{key}: {value}\n")
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, file=file, hostname="here", directory=tmp_path)
    assert SECRET not in caught.value.message + caught.value.hint
