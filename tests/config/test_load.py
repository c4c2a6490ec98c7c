"""Which place wins, what each form accepts, and where values are said to come from."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.config import Config, find_file, load_config
from vllmwatch.config.file import SIZE_LIMIT_BYTES
from vllmwatch.errors import ConfigError
from vllmwatch.spec.setting import Form


def load(
    text: str | None = None,
    *,
    tmp_path: Path = Path("/nowhere"),
    options: dict[str, object] | None = None,
    environment: dict[str, str] | None = None,
) -> Config:
    file = None
    if text is not None:
        file = tmp_path / "vllmwatch.yml"
        file.write_text(text)
    return load_config(options or {}, environment or {}, file=file, hostname="here", directory=Path("/somewhere"))


def faults(environment: dict[str, str] | None = None, options: dict[str, object] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(environment=environment, options=options)
    return caught.value.message


def test_config_has_a_field_for_each_setting_and_no_other() -> None:
    derived = {"listen_host", "listen_port", "origins", "file"}
    assert {field.name for field in fields(Config)} - derived == {setting.key for setting in SETTINGS}


def test_with_nothing_given_each_setting_has_its_default() -> None:
    config = load()
    assert set(config.origins.values()) == {"default"}
    worked_out = {"node": "here", "runbook_base_url": "http://localhost:9836/runbooks"}
    for setting in SETTINGS:
        expected: object = worked_out.get(setting.key, setting.default)
        if setting.form in {Form.MODELS, Form.SEVERITIES}:
            expected = {}
        assert getattr(config, setting.key) == expected, setting.key
    assert (config.listen_host, config.listen_port) == ("127.0.0.1", 9836)


@pytest.mark.parametrize(
    ("listen", "runbooks"),
    [
        ("127.0.0.1:9555", "http://localhost:9555/runbooks"),
        (":9555", "http://localhost:9555/runbooks"),
        ("[::]:9555", "http://localhost:9555/runbooks"),
        ("127.0.0.2:9836", "http://127.0.0.2:9836/runbooks"),
        ("10.1.2.3:9836", "http://10.1.2.3:9836/runbooks"),
        ("[fd00::3]:9836", "http://[fd00::3]:9836/runbooks"),
        ("box:9836", "http://box:9836/runbooks"),
    ],
)
def test_links_to_runbooks_lead_to_where_the_exporter_listens_unless_they_are_set(listen: str, runbooks: str) -> None:
    assert load(options={"listen": listen}).runbook_base_url == runbooks
    own = {"VLLMWATCH_RUNBOOK_BASE_URL": "https://watch.example/runbooks"}
    assert load(options={"listen": listen}, environment=own).runbook_base_url == "https://watch.example/runbooks"


def test_options_win_over_environment_over_file_over_default(tmp_path: Path) -> None:
    text = "series_limit: 3\nredirect_limit: 3\nbody_limit_bytes: 3000\n"
    config = load(
        text,
        tmp_path=tmp_path,
        environment={"VLLMWATCH_SERIES_LIMIT": "2", "VLLMWATCH_REDIRECT_LIMIT": "2"},
        options={"series_limit": "1"},
    )
    assert (config.series_limit, config.redirect_limit, config.body_limit_bytes) == (1, 2, 3000)
    assert config.origins["redirect_limit"] == "VLLMWATCH_REDIRECT_LIMIT"
    assert config.origins["body_limit_bytes"] == f"{tmp_path}/vllmwatch.yml:3"
    assert config.origins["target_gone_seconds"] == "default"


def test_the_origin_of_a_switch_is_the_option_that_was_typed() -> None:
    assert load(options={"discover": False}).origins["discover"] == "--no-discover"
    assert load(options={"discover": True}).origins["discover"] == "--discover"


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90.0), ("1.5", 1.5), ("10s", 10.0), ("250ms", 0.25), ("5m", 300.0), ("2h", 7200.0), ("1d", 86400.0)],
)
def test_durations_are_seconds(written: str, seconds: float, tmp_path: Path) -> None:
    assert load(environment={"VLLMWATCH_TARGET_GONE_SECONDS": written}).target_gone_seconds == seconds
    assert load(f"target_gone_seconds: {written}\n", tmp_path=tmp_path).target_gone_seconds == seconds


@pytest.mark.parametrize(
    ("written", "size"), [("4096", 4096), ("32MiB", 33_554_432), ("1GB", 10**9), ("2 kB", 2000), ("64KiB", 65_536)]
)
def test_sizes_are_bytes(written: str, size: int, tmp_path: Path) -> None:
    assert load(environment={"VLLMWATCH_BODY_LIMIT_BYTES": written}).body_limit_bytes == size
    assert load(f"body_limit_bytes: {written}\n", tmp_path=tmp_path).body_limit_bytes == size


@pytest.mark.parametrize(
    ("written", "value"), [("no", False), ("Off", False), ("0", False), ("TRUE", True), ("1", True)]
)
def test_switches_of_the_environment_are_words_people_use(written: str, value: bool) -> None:
    assert load(environment={"VLLMWATCH_NVML": written}).nvml is value


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [(":9836", "0.0.0.0", 9836), ("[::1]:80", "::1", 80), ("localhost:0", "localhost", 0), ("[::]:1", "::", 1)],
)
def test_listen_is_split_into_host_and_port(written: str, host: str, port: int) -> None:
    config = load(environment={"VLLMWATCH_LISTEN": written})
    assert (config.listen_host, config.listen_port) == (host, port)


def test_an_empty_variable_is_not_set_except_where_a_text_may_be_empty() -> None:
    config = load(environment={"VLLMWATCH_NODE": "", "VLLMWATCH_LISTEN": "", "VLLMWATCH_KERNEL_LOG": ""})
    assert (config.node, config.listen, config.kernel_log) == ("here", "127.0.0.1:9836", "")
    assert config.origins["kernel_log"] == "VLLMWATCH_KERNEL_LOG"


def test_lists_of_the_environment_stand_between_commas_or_in_json() -> None:
    assert load(environment={"VLLMWATCH_DROP_LABELS": "pod, zone,"}).drop_labels == ("pod", "zone")
    config = load(environment={"VLLMWATCH_TARGETS": '[{"url": "gpu1:8000", "server": "chat"}, "gpu2:8000"]'})
    assert [target.server for target in config.targets] == ["chat", "gpu2:8000"]


def test_a_broken_json_list_says_where_it_is() -> None:
    assert faults({"VLLMWATCH_TARGETS": '["a:1"'}).startswith("VLLMWATCH_TARGETS: targets: a list in JSON begins there")


def test_an_unknown_variable_is_refused_with_the_nearest_right_one() -> None:
    message = faults({"VLLMWATCH_TARGET": "gpu1:8000", "VLLMWATCH_ZZZ": "1", "PATH": "/bin"})
    assert message.splitlines() == [
        "VLLMWATCH_TARGET: unknown variable; did you mean VLLMWATCH_TARGETS?",
        "VLLMWATCH_ZZZ: unknown variable",
    ]


def test_variables_that_others_own_are_let_be() -> None:
    others = {"VLLMWATCH_CONFIG": "", "VLLMWATCH_STATE": "/s", "VLLMWATCH_FAKE_NVML": "f", "VLLMWATCH_TEST_X": "1"}
    assert load(environment=others).node == "here"


def test_variables_that_kubernetes_makes_of_a_service_are_let_be() -> None:
    made = {
        "VLLMWATCH_SERVICE_HOST": "10.96.0.7",
        "VLLMWATCH_SERVICE_PORT": "9836",
        "VLLMWATCH_SERVICE_PORT_HTTP": "9836",
        "VLLMWATCH_PORT": "tcp://10.96.0.7:9836",
        "VLLMWATCH_PORT_9836_TCP": "tcp://10.96.0.7:9836",
        "VLLMWATCH_PORT_9836_TCP_ADDR": "10.96.0.7",
        "VLLMWATCH_EXPORTER_SERVICE_HOST": "10.96.0.8",
        "VLLMWATCH_EXPORTER_PORT": "tcp://10.96.0.8:9836",
    }
    assert set(load(environment=made).origins.values()) == {"default"}
    assert faults({"VLLMWATCH_PORT": "9836"}).startswith("VLLMWATCH_PORT: unknown variable")


def test_all_faults_of_all_places_are_said_at_once() -> None:
    message = faults({"VLLMWATCH_NVML": "maybe", "VLLMWATCH_ZZZ": "1"}, options={"log_level": "loud"})
    assert sorted(message.splitlines()) == [
        "--log-level: one of debug, info, warning, error is asked for, not 'loud'",
        "VLLMWATCH_NVML: true or false is asked for, not 'maybe'",
        "VLLMWATCH_ZZZ: unknown variable",
    ]


def test_a_wrong_value_that_loses_is_refused_all_the_same(tmp_path: Path) -> None:
    text = "body_limit_bytes: big\nseries_limit: many\nnode: rack7\ntargets:\n  - 'gpu1:8000'\n  - 'gpu2:99999'\n"
    winners: dict[str, object] = {"body_limit_bytes": "4096", "series_limit": "7", "targets": ["gpu3:8000"]}
    with pytest.raises(ConfigError) as caught:
        load(text, tmp_path=tmp_path, options=winners, environment={"VLLMWATCH_SERIES_LIMIT": "few"})
    places = [line.replace(f"{tmp_path}/", "").split(" is ")[0] for line in caught.value.message.splitlines()]
    assert sorted(places) == [
        "VLLMWATCH_SERIES_LIMIT: a whole number",
        "vllmwatch.yml:1: body_limit_bytes: a number of bytes (32MiB works too)",
        "vllmwatch.yml:2: series_limit: a whole number",
        "vllmwatch.yml:6: targets[1]: 'gpu2:99999'",
    ]
    with pytest.raises(ConfigError, match=r"vllmwatch.yml:1: log_level: one of"):
        load("log_level: loud\n", tmp_path=tmp_path, environment={"VLLMWATCH_LOG_LEVEL": "info"})


def test_a_right_value_that_loses_and_an_empty_variable_are_no_faults(tmp_path: Path) -> None:
    config = load(
        "series_limit: 5\n",
        tmp_path=tmp_path,
        options={"series_limit": "7"},
        environment={"VLLMWATCH_SERIES_LIMIT": ""},
    )
    assert (config.series_limit, config.origins["series_limit"]) == (7, "option series_limit")


def test_credentials_of_an_address_are_never_shown() -> None:
    assert "s3cret" not in faults({"VLLMWATCH_TARGETS": "http://me:s3/s3cret@gpu1"})
    assert "s3cret" not in faults(options={"targets": "http://me:s3cret@gpu 1"})


def test_paths_in_the_file_start_at_the_file_and_others_at_the_working_directory(tmp_path: Path) -> None:
    text = "target_files: [sd/*.yml]\ntargets:\n  - {url: 'https://gpu1', bearer_token_file: token, ca_file: /ca.pem}\n"
    config = load(text, tmp_path=tmp_path)
    assert config.target_files == (f"{tmp_path}/sd/*.yml",)
    assert config.targets[0].access.bearer_token_file == f"{tmp_path}/token"
    assert config.targets[0].access.ca_file == "/ca.pem"
    assert load(options={"target_files": ["sd.json"]}).target_files == ("/somewhere/sd.json",)


def test_the_node_from_any_place_names_targets_on_loopback(tmp_path: Path) -> None:
    text = "node: rack7\ntargets: ['localhost:8000', 'gpu1:8000']\n"
    assert [target.server for target in load(text, tmp_path=tmp_path).targets] == ["rack7:8000", "gpu1:8000"]
    over = load(text, tmp_path=tmp_path, environment={"VLLMWATCH_NODE": "rack8"})
    assert [(target.server, target.node) for target in over.targets] == [("rack8:8000", "rack8"), ("gpu1:8000", "gpu1")]


def test_merge_keys_share_access_between_targets(tmp_path: Path) -> None:
    text = "targets:\n  - &first {url: 'gpu1:8000', bearer_token: s3cret}\n  - {<<: *first, url: 'gpu2:8000'}\n"
    targets = load(text, tmp_path=tmp_path).targets
    assert [(target.url, target.access.bearer_token) for target in targets] == [
        ("http://gpu1:8000/metrics", "s3cret"),
        ("http://gpu2:8000/metrics", "s3cret"),
    ]
    assert "s3cret" not in repr(targets)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "\ufeffnvml: true\n"])
def test_a_file_that_says_little_is_no_fault(text: str, tmp_path: Path) -> None:
    assert load(text, tmp_path=tmp_path).nvml is True


def test_a_file_that_refers_to_itself_is_refused_and_not_followed_for_ever(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unconstructable recursive node"):
        load("targets: &a [*a]\n", tmp_path=tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yml"
    big = tmp_path / "big.yml"
    big.write_bytes(b"#" * (SIZE_LIMIT_BYTES + 1))
    for path, why in ((missing, "there is no such file"), (tmp_path, "this is a directory"), (big, "larger than")):
        with pytest.raises(ConfigError) as caught:
            load_config({}, {}, file=path, hostname="here", directory=tmp_path)
        assert caught.value.message.startswith(f"{path}: {why}")


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")
def test_a_file_of_another_user_is_named(tmp_path: Path) -> None:
    file = tmp_path / "vllmwatch.yml"
    file.write_text("nvml: true\n")
    file.chmod(0o600)
    tmp_path.chmod(0o711)
    child = os.fork()
    if child == 0:
        os.setuid(65_534)
        try:
            load_config({}, {}, file=file, hostname="here", directory=tmp_path)
        except ConfigError as error:
            os._exit(0 if error.message.endswith("cannot be read: Permission denied") else 1)
        except PermissionError:
            os._exit(2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_file_is_looked_for_in_order(tmp_path: Path) -> None:
    system, local = tmp_path / "etc.yml", tmp_path / "vllmwatch.yml"
    named = {"VLLMWATCH_CONFIG": "/named.yml"}
    assert find_file(None, {}, tmp_path, system) is None
    system.touch()
    assert find_file(None, {}, tmp_path, system) == system
    local.touch()
    assert find_file(None, {"VLLMWATCH_CONFIG": ""}, tmp_path, system) == local
    assert find_file(None, named, tmp_path, system) == Path("/named.yml")
    assert find_file(Path("chosen.yml"), named, tmp_path, system) == Path("chosen.yml")
