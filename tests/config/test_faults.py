"""Every way to be wrong has its file, and every file its message."""

from pathlib import Path

import pytest

from vllmwatch.config import load_config
from vllmwatch.errors import ConfigError

DATA = Path(__file__).parents[1] / "data" / "config"

# The file (bad-NAME.yml) and the whole message, less the name of the file.
FAULTS: tuple[tuple[str, str], ...] = (
    ("address-as-key", "FILE:2: targets[0].http://***@gpu1:8000: unknown key"),
    (
        "address-as-key-and-port",
        (
            "FILE:2: targets[0].http://***@gpu1: a key of a target is asked for; for an address leave the blank out: "
            "http://***@gpu1:8000"
        ),
    ),
    ("alias", "FILE:1: not valid YAML: a value begins with *, which makes it an alias; put it in quotes"),
    (
        "blank-in-address",
        "FILE:2: targets[0].gpu1: a key of a target is asked for; for an address leave the blank out: gpu1:8000",
    ),
    (
        "bearer-line",
        "FILE:3: targets[0].bearer_token: a text on one line is asked for, without control characters",
    ),
    ("bearer-not-ascii", "FILE:3: targets[0].bearer_token: a token is asked for that a header can carry: ASCII alone"),
    ("bracket", "FILE:2: not valid YAML: expected ',' or ']', but got '<stream end>'"),
    ("bytes", "FILE:1: body_limit_bytes: a number of bytes (32MiB works too) is asked for, not '32 megs'"),
    ("choice", "FILE:1: log_level: one of debug, info, warning, error is asked for, not 'loud'"),
    ("control-character", "FILE: a character that YAML does not allow: U+0001"),
    ("credentials-twice", "FILE:2: targets[0]: credentials are given twice: in the address, and beside it"),
    ("date", "FILE:1: node: a text is asked for, not a date; put it in quotes"),
    ("drop-le", "FILE:1: drop_labels: label 'le' cannot be dropped: series that differ would become one"),
    ("empty-text", "FILE:1: node: a text is asked for, not an empty one"),
    ("empty-password", "FILE:4: targets[0].password: a text is asked for, not an empty one"),
    ("empty-password-in-address", "FILE:2: targets[0]: the password in the address is empty"),
    ("fraction", "FILE:1: series_limit: a whole number is asked for, not 1.5"),
    ("indentation", "FILE:2: not valid YAML: a second ': ' on the line, or wrong indentation; put the value in quotes"),
    ("half-character", "FILE:1: node: a text in Unicode is asked for (UTF-8, no half of a character)"),
    (
        "half-character-in-target",
        (
            "FILE:3: targets[0].server: a text in Unicode is asked for (UTF-8, no half of a character)\n"
            "FILE:5: targets[1].labels: label 'rack': a text in Unicode is asked for"
        ),
    ),
    ("half-character-in-list", "FILE:1: drop_labels: a list of texts is asked for, and item 2 is '\\ud800'"),
    ("infinite", "FILE:1: target_gone_seconds: a number of seconds (90s, 5m, 1h work too) is asked for, not inf"),
    (
        "ipv6-without-brackets",
        "FILE:2: targets[0]: '::1:8000' is no address: http://host:port is asked for, an IPv6 address in brackets",
    ),
    ("key-twice", "FILE:3: key 'node' stands twice (first on line 1)"),
    ("label-name", "FILE:3: targets[0].labels: 'rack-no' is no name of a label"),
    ("label-number", "FILE:3: targets[0].labels: label 'rack': a text is asked for, not 12; put it in quotes"),
    ("label-reserved", "FILE:3: targets[0].labels: label 'le' belongs to the series themselves"),
    ("list-as-key", "FILE:1: a key must be a text"),
    ("list-as-text", "FILE:1: target_files: a list of texts is asked for, not 'targets/*.yml'; write [targets/*.yml]"),
    ("list-of-numbers", "FILE:1: metric_prefixes: a list of texts is asked for, and item 2 is 5"),
    (
        "many",
        (
            "FILE:3: unknown key 'foo'\nFILE:2: listen: host:port is asked for, not 1; for this "
            "host alone write '127.0.0.1:1', for all addresses ':1'\nFILE:1: node: a text is asked for, not "
            "false (yes, no, on and off are true and false in YAML); put it in quotes"
        ),
    ),
    ("negative", "FILE:1: target_gone_seconds: at least 0 is asked for, not -1"),
    (
        "norway",
        (
            "FILE:1: node: a text is asked for, not false (yes, no, on and off are true and false in YAML); "
            "put it in quotes"
        ),
    ),
    ("not-utf-8", "FILE:1: byte 0xe9 is not UTF-8"),
    ("nothing", "FILE:1: node: a text is asked for, not nothing"),
    ("number-for-boolean", "FILE:1: nvml: true or false is asked for, not 0"),
    ("number-for-text", "FILE:1: node: a text is asked for, not 17; put it in quotes"),
    ("offset", "FILE:2: scrape_timeout_offset_seconds (2) must be less than scrape_timeout_seconds (1, from FILE:1)"),
    ("one-text", "FILE:1: settings are asked for, each on a line as 'key: value'"),
    ("password-alone", "FILE:2: targets[0]: a password without a username"),
    (
        "port-as-number",
        (
            "FILE:1: listen: host:port is asked for, not 9836; for this host alone write "
            "'127.0.0.1:9836', for all addresses ':9836'"
        ),
    ),
    ("port-too-large", "FILE:1: listen: a port of at most 65535 is asked for, not 98360"),
    ("prefix", "FILE:1: metric_prefixes: '9_' cannot begin the name of a metric"),
    (
        "port-of-target-too-large",
        (
            "FILE:2: targets[0]: 'gpu1:99999' is no address: its port is greater than 65535, the greatest that there "
            "is\nFILE:3: targets[1]: 'http://gpu1:70000/metrics' is no address: its port is greater than 65535, the "
            "greatest that there is"
        ),
    ),
    ("no-boolean", "FILE:1: discover: true or false is asked for, not 'maybe'"),
    ("quoted-boolean", "FILE:1: discover: true or false is asked for, not 'no'; leave the quotes out"),
    (
        "scheme",
        (
            "FILE:2: targets[0]: 'ftp://gpu1/metrics' is no address of a metrics page: it starts with "
            "neither http:// nor https://"
        ),
    ),
    ("seconds", "FILE:1: scrape_timeout_seconds: a number of seconds (90s, 5m, 1h work too) is asked for, not 'soon'"),
    (
        "secret-as-address",
        (
            "FILE:2: targets[0]: 'bearer_token:***' is no address: http://host:port is asked for, an IPv6 address in "
            "brackets"
        ),
    ),
    ("secret-number", "FILE:3: targets[0].bearer_token: a text is asked for, not a number; put it in quotes"),
    ("secret-with-tag", "FILE:3: not valid YAML: a value begins with !, which makes it a tag; put it in quotes"),
    (
        "secrets-in-queries",
        (
            "FILE:3: targets[1]: http://gpu1:8000/metrics?*** and http://gpu1:8000/metrics?*** (FILE:2: targets[0]) "
            "would both be the server 'gpu1:8000'; give one of them a name with the key server"
        ),
    ),
    ("tab", "FILE:2: a tab stands where YAML asks for spaces"),
    ("target-unknown-key", "FILE:3: targets[0].bearer: unknown key; did you mean 'bearer_token'?"),
    ("target-without-url", "FILE:2: targets[0]: the key url is missing"),
    (
        "targets-as-text",
        (
            "FILE:1: targets: a list of addresses, or of mappings with the key url is asked for, not "
            "'gpu1:8000'; write [gpu1:8000]"
        ),
    ),
    ("tls-for-http", "FILE:2: targets[0]: ca_file is for https, and the address is http"),
    ("top-level-list", "FILE:1: settings are asked for, each on a line as 'key: value'"),
    ("two-documents", "FILE:2: a second document begins; one is asked for"),
    ("two-secrets", "FILE:2: targets[0]: bearer_token and bearer_token_file are both given; one is enough"),
    (
        "two-targets-one-name",
        (
            "FILE:3: targets[1]: http://gpu1:8000/metrics and http://gpu1:8000/metrics (FILE:2: targets[0]) "
            "would both be the server 'gpu1:8000'; give one of them a name with the key server"
        ),
    ),
    ("unknown-key", "FILE:2: unknown key 'scrape_timeout'; did you mean 'scrape_timeout_seconds'?"),
)


@pytest.mark.parametrize(("name", "message"), FAULTS, ids=[name for name, _ in FAULTS])
def test_each_fault_is_named_with_its_place(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    file = Path(f"bad-{name}.yml")
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, file=file, hostname="here", directory=DATA)
    assert caught.value.message == message.replace("FILE", str(file))
    assert caught.value.hint


def test_every_bad_file_has_a_row() -> None:
    assert {path.stem.removeprefix("bad-") for path in DATA.glob("bad-*.yml")} == {name for name, _ in FAULTS}


@pytest.mark.parametrize("name", [name for name, _ in FAULTS])
def test_no_message_shows_a_secret(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, file=DATA / f"bad-{name}.yml", hostname="here", directory=DATA)
    shown = caught.value.message + caught.value.hint
    assert "s3cret" not in shown
    assert "12345678" not in shown
