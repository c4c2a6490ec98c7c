"""The settings of alerts: what is taken, and what is refused with its place and what would do."""

from pathlib import Path

import pytest

from vllmwatch.config import Config, load_config
from vllmwatch.errors import ConfigError
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.receiver import QuietHours, Team

HOOKS = "receivers: [{name: hook, kind: webhook, url_file: /a}, {name: chat, kind: webhook, url_file: /b}]\n"
WHOLE = """\
gpu_temperature_celsius: 80
request_latency_p99_seconds: 5
models:
  org/slow: {request_latency_p99_seconds: 60, kv_cache_usage_ratio: 0.95}
severities: {KvCacheUsageHigh: page}
receivers:
  - {name: phone, kind: pushover, user_key_file: secrets/user, token_file: /run/token}
  - {name: chat, kind: telegram, bot_token_file: secrets/bot, chat_id: -1001}
page_to: [phone]
ticket_to: [chat]
teams:
  batch: {page_to: [chat]}
heartbeat_to: chat
quiet_hours: "22:00-07:00 Europe/Berlin"
"""


def load(text: str, tmp_path: Path, **environment: str) -> Config:
    file = tmp_path / "vllmwatch.yml"
    file.write_text(text)
    return load_config({}, environment, file=file, hostname="here", directory=tmp_path)


def fault(text: str, tmp_path: Path, **environment: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, tmp_path, **environment)
    return caught.value.message.replace(str(tmp_path), "DIR")


def test_all_settings_of_alerts_are_taken(tmp_path: Path) -> None:
    config = load(WHOLE, tmp_path)
    assert (config.gpu_temperature_celsius, config.request_latency_p99_seconds) == (80, 5)
    assert config.models == {"org/slow": {"request_latency_p99_seconds": 60, "kv_cache_usage_ratio": 0.95}}
    assert config.severities == {"KvCacheUsageHigh": Severity.PAGE}
    phone, chat = config.receivers
    # A path in the file is taken from the file's own folder, wherever Alertmanager runs.
    assert phone.values == {"user_key_file": str(tmp_path / "secrets/user"), "token_file": "/run/token"}
    assert (chat.kind.word, chat.values["chat_id"]) == ("telegram", -1001)
    assert config.teams == (Team("batch", ("chat",), ()),)
    assert (config.heartbeat_to, config.quiet_hours) == ("chat", QuietHours("22:00", "07:00", "Europe/Berlin"))


def test_thresholds_of_models_in_seconds_are_durations_too(tmp_path: Path) -> None:
    config = load("models: {m: {request_latency_p99_seconds: 10s, queue_time_p90_seconds: 500ms}}", tmp_path)
    assert config.models == {"m": {"request_latency_p99_seconds": 10, "queue_time_p90_seconds": 0.5}}


def test_a_threshold_may_be_at_an_edge_that_servers_have_beside_the_usual_ones(tmp_path: Path) -> None:
    text = "models:\n  m:\n    request_latency_p99_seconds: 3\n    time_to_first_token_p99_seconds: 2\n"
    edges = "request_latency_edges: [3, 4.5]\ntime_to_first_token_edges: [2]\nqueue_time_p90_seconds: 4.5\n"
    config = load(text + edges, tmp_path)
    assert list(config.request_latency_edges) == [3, 4.5]
    assert load("request_latency_p99_seconds: 3", tmp_path, VLLMWATCH_REQUEST_LATENCY_EDGES="4.5,3").models == {}
    # Those of one histogram are not those of another.
    said = fault(text + edges.replace("time_to_first_token_edges: [2]\n", ""), tmp_path)
    assert said == (
        "DIR/vllmwatch.yml:4: models: m: time_to_first_token_p99_seconds: 2 is no bucket edge, and is never guessed "
        "at; the nearest are 1 and 2.5 (others: time_to_first_token_edges)"
    )


@pytest.mark.parametrize("edges", ["[3, 3]", "[0]", "[.nan]", "[soon]", "3", "[true]"])
def test_edges_are_numbers_each_once(edges: str, tmp_path: Path) -> None:
    assert "request_latency_edges: a list of numbers above 0 is asked for" in fault(
        f"request_latency_edges: {edges}", tmp_path
    )


def test_a_pattern_of_jobs_may_have_what_re2_has_beyond_python(tmp_path: Path) -> None:
    for pattern in (r"vllm-\pL+", r"(?P<of>a|b)\(\?=x", r"vllm\d+"):
        assert load(f"direct_jobs: '{pattern}'", tmp_path).direct_jobs == pattern


def test_a_variable_holds_json(tmp_path: Path) -> None:
    models = '{"org/m": {"request_latency_p99_seconds": 10}}'
    assert load("", tmp_path, VLLMWATCH_MODELS=models).models == {"org/m": {"request_latency_p99_seconds": 10}}
    assert fault("", tmp_path, VLLMWATCH_MODELS="org/m").startswith("VLLMWATCH_MODELS: models: JSON is asked for")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "request_latency_p99_seconds: 3",
            (
                "DIR/vllmwatch.yml:1: request_latency_p99_seconds: 3 is no bucket edge, and is never guessed at; "
                "the nearest are 2.5 and 5"
            ),
        ),
        (
            "kv_cache_usage_ratio: 90",
            "kv_cache_usage_ratio: a ratio between 0 and 1 is asked for, not 90; did you mean 0.9?",
        ),
        ("models: {a: {availability_objective_ratio: 99.9}}", "is asked for, not 99.9; did you mean 0.999?"),
        ("gpu_temperature_celsius: -3", "at least 0 is asked for, not -3"),
        ("gpu_temperature_celsius: warm", "a number is asked for, not 'warm'"),
        ("models: 3", "models: a mapping of models to mappings of thresholds to values is asked for, not 3"),
        ("models: {org/m: 3}", "DIR/vllmwatch.yml:1: models: org/m: a mapping of thresholds is asked for, not 3"),
        (
            "models:\n  org/m:\n    request_latency: 3",
            "unknown threshold 'request_latency'; did you mean 'request_latency_p99_seconds'?",
        ),
        ("models: {org/m: {gpu_temperature_celsius: 80}}", "unknown threshold 'gpu_temperature_celsius'"),
        ("models: {org/m: {kv_cache_usage_ratio: high}}", "kv_cache_usage_ratio: a number is asked for, not 'high'"),
        ("models: {org/m: {request_latency_p99_seconds: 7}}", "the nearest are 5 and 10"),
        ("severities: {KvCacheUsage: page}", "there is no alert 'KvCacheUsage'; did you mean 'KvCacheUsageHigh"),
        (
            "severities: {KvCacheUsageHigh: critical}",
            "KvCacheUsageHigh: one of page, ticket, none is asked for, not 'cr",
        ),
        ("receivers: [{kind: slack}]", "receivers[0]: name: letters, digits, '_', '.' and '-' are asked for"),
        ("receivers: [{name: a, kind: fax}]", "receivers[0]: kind: one of slack, pagerduty, email, msteams, discord,"),
        ("receivers: [{name: a, kind: slack}]", "receivers[0]: the key api_url_file is missing"),
        (
            "receivers: [{name: a, kind: slack, api_url: https://hooks.example/hidden}]",
            "receivers[0]: unknown key 'api_url'; did you mean 'api_url_file'?",
        ),
        ("receivers: [{name: a, kind: webhook}]", "receivers[0]: one of the keys url and url_file is asked for"),
        (
            "receivers: [https://hooks.example/hidden]",
            "a mapping with the keys name and kind is asked for, not that text",
        ),
        (
            "receivers: [{name: a, kind: telegram, bot_token_file: x, chat_id: me}]",
            "chat_id: a whole number (64 bits, not 0) is asked for, not 'me'",
        ),
        (
            "receivers: [{name: a, kind: telegram, bot_token_file: x, chat_id: 0}]",
            "(64 bits, not 0) is asked for, not 0",
        ),
        (
            f"receivers: [{{name: a, kind: telegram, bot_token_file: x, chat_id: {2**63}}}]",
            "chat_id: a whole number (64",
        ),
        ("receivers: [{name: a, kind: teams}]", "is asked for, not 'teams'; did you mean 'msteams'?"),
        ("receivers: [{name: a, kind: 'https://u:hidden@x'}]", "webhook is asked for, not that text"),
        (
            "receivers: [{name: a, kind: slack, api_url_file: 'https://hooks.example/hidden'}]",
            "api_url_file: the path of a file with a secret is asked for, not that text",
        ),
        (
            "receivers: [{name: a, kind: webhook, url: 'ftp://x/'}]",
            "url: an address such as https://host/path, without user and pas",
        ),
        ("receivers: [{name: a, kind: webhook, url: 'http://u:hidden@x/'}]", "without user and password is asked for"),
        (
            "receivers: [{name: a, kind: ntfy, url: ntfy.sh/x}]",
            "url: an address such as https://host/path, without user and pas",
        ),
        (
            "receivers: [{name: a, kind: email, to: t, from: f, smarthost: mail}]",
            "a host and a port such as mail.example",
        ),
        (
            "receivers: [{name: a, kind: email, to: t, from: f, smarthost: ':25'}]",
            "a host and a port such as mail.exam",
        ),
        ("receivers: [{name: a, kind: slack, api_url_file: x, channel: '{{ c'}]", "channel: a text is asked for"),
        ("models: {7: {kv_cache_usage_ratio: 0.8}}", "models: a text is asked for, not 7; put it in quotes"),
        ("models: {'': {kv_cache_usage_ratio: 0.8}}", "models: the name of a model is asked for, not an empty one"),
        ('models: {"a\\nb": {kv_cache_usage_ratio: 0.8}}', "a text on one line is asked for"),
        (
            "models: {m: {queue_time_p90_seconds: .nan}}",
            "queue_time_p90_seconds: a number of seconds (90s, 5m, 1h work",
        ),
        (
            f"models: {{m: {{request_latency_p99_seconds: {'9' * 400}}}}}",
            "request_latency_p99_seconds: a number of sec",
        ),
        (f"request_latency_p99_seconds: {'9' * 400}", "request_latency_p99_seconds: a number of seconds"),
        (f"gpu_temperature_celsius: {'9' * 400}", "gpu_temperature_celsius: a number is asked for"),
        ("direct_jobs: 'vllm('", "direct_jobs: this is no pattern: missing )"),
        ("direct_jobs: 'vllm(?!x)'", "direct_jobs: Prometheus's patterns (RE2) know no '(?!'"),
        ("grafana_url: 'http://g/?a=b'", "grafana_url: an address such as http://host:9090 is asked for, without '?'"),
        ("grafana_url: 'http://g/{{x}}'", "is asked for, without '{'"),
        ("page_to: [phone]", "DIR/vllmwatch.yml:1: page_to: there is no receiver 'phone'; `receivers` names none"),
        (f"{HOOKS}page_to: [phone]", "page_to: there is no receiver 'phone'; there are: hook, chat"),
        (f"{HOOKS}page_to: [hok]", "page_to: there is no receiver 'hok'; did you mean 'hook'?"),
        ("heartbeat_to: phone", "heartbeat_to: there is no receiver 'phone'"),
        ("teams: {a: {page_to: [phone]}}", "teams: a: there is no receiver 'phone'"),
        ("teams: {a: {pages: [phone]}}", "teams: a: a mapping with the keys page_to and ticket_to is asked for"),
        (
            "quiet_hours: at night",
            "quiet_hours: two times and a time zone, such as 22:00-07:00 Europe/Berlin is asked for",
        ),
        ("quiet_hours: 25:00-07:00 UTC", "quiet_hours: two times and a time zone"),
        ("quiet_hours: ٢٢:00-07:00 UTC", "quiet_hours: two times and a time zone"),
        ("quiet_hours: 22:00-07:00 Europe/Atlantis", "quiet_hours: there is no time zone 'Europe/Atlantis'"),
        ("quiet_hours: 07:00-07:00 UTC", "quiet_hours: from 07:00 to 07:00 is no time, or all of it"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, message: str, tmp_path: Path) -> None:
    said = fault(text, tmp_path)
    assert message in said
    assert "hidden" not in said
    assert "\n" not in said


@pytest.mark.parametrize("value", ["0", "1", "100", "-90", "101"])
def test_no_ratio_is_made_of_what_is_no_percentage_of_one(value: str, tmp_path: Path) -> None:
    assert "did you mean" not in fault(f"kv_cache_usage_ratio: {value}", tmp_path)
