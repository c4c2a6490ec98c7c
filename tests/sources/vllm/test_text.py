"""The grammar of a metrics page."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.utils import floatToGoString

from vllmwatch.sources.vllm.text import Header, LineError, format_bound, is_value, read_header, read_sample


def test_labels_are_decoded_whatever_stands_in_them() -> None:
    line = rb'x{path="C:\\m\\d",say="say \"hi\", ok",two="a\nb",brace="} {",hash="a # b"} 1'
    assert read_sample(line).labels == (
        ("path", r"C:\m\d"),
        ("say", 'say "hi", ok'),
        ("two", "a\nb"),
        ("brace", "} {"),
        ("hash", "a # b"),
    )


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        (b"x 1", (), b"1"),
        (b"x{} 0", (), b"0"),
        (b'x{a="1",} 7', (("a", "1"),), b"7"),
        (b'x{ a = "1" , b = "2" } 8', (("a", "1"), ("b", "2")), b"8"),
        (b'  x{a="1"}\t9', (("a", "1"),), b"9"),
        (b'x{a=""} 3', (("a", ""),), b"3"),
        (b"x 1.17e+010", (), b"1.17e+010"),
        (b"x 1 1785000000123", (), b"1"),
        (b'x_bucket{le="1"} 4 # {trace_id="ab } c"} 0.5 1.5', (("le", "1"),), b"4"),
        (b'x_total 1.2e3 # {t="a"} 1', (), b"1.2e3"),
        ('x{m="模型-é🙂"} 5'.encode(), (("m", "模型-é🙂"),), b"5"),
        (b"x NaN", (), b"NaN"),
        (b"x +Inf", (), b"+Inf"),
    ],
)
def test_sample_lines_are_read(line: bytes, labels: tuple[tuple[str, str], ...], value: bytes) -> None:
    sample = read_sample(line)
    assert (sample.labels, sample.value) == (labels, value)
    assert line[sample.value_start :].startswith(value)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"x",
        b"x ",
        b"x one",
        b"x 1_000",
        b"x 0x1p3",
        b"x 1e999",
        b"x -1e400",
        b'x{a="1"',
        b'x{a="1} 2',
        b'x{a="Demo 14" build"} 2',
        b'x{a="1" b="2"} 2',
        b'x{a="1",a="2"} 2',
        b'x{__name__="y"} 2',
        b"x{a=1} 2",
        b'{"x"} 2',
        b"1x 2",
        b'x{a="\xff"} 2',
        b"x 1 later",
        b"x 1 2 3",
        b"<html>",
    ],
)
def test_lines_out_of_format_are_refused(line: bytes) -> None:
    with pytest.raises(LineError):
        read_sample(line)


def test_a_long_line_of_open_quotes_is_refused_quickly() -> None:
    line = b"x{" + b'a="' * 50_000 + b"} 1"
    with pytest.raises(LineError):
        read_sample(line)


def test_headers_are_told_from_comments() -> None:
    assert read_header(b"# HELP x Some  text \\n more") == Header(True, "x", "Some  text \\n more")
    assert read_header(b"# TYPE x counter") == Header(False, "x", "counter")
    assert read_header(b"#TYPE x counter") is None
    assert read_header(b"# EOF is not special here") is None
    with pytest.raises(LineError):
        read_header(b"# HELP x \xff")


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("2", "2.0"),
        ("2.0", "2.0"),
        ("+Inf", "+Inf"),
        ("inf", "+Inf"),
        ("1000000", "1e+06"),
        ("1000000.0", "1e+06"),
        ("8589934592", "8.589934592e+09"),
        ("0.00001", "1e-05"),
        ("0", "0.0"),
        ("abc", "abc"),
    ],
)
def test_bucket_edges_take_one_form(given_text: str, shown: str) -> None:
    assert format_bound(given_text) == shown


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300))
def test_bucket_edges_keep_their_value(value: float) -> None:
    shown = format_bound(repr(value))
    assert float(shown) == value
    if value >= 1e-4:
        assert shown == floatToGoString(value)


@given(st.floats())
def test_every_float_is_a_value(value: float) -> None:
    text = {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, repr(value))
    assert is_value(text.encode())


@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), st.text()))
def test_any_label_value_survives_escaping(labels: dict[str, str]) -> None:
    labels = {name: value.encode("utf-8", "ignore").decode() for name, value in labels.items()}
    escaped = ",".join(
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
        for name, value in labels.items()
    )
    assert dict(read_sample(f"x{{{escaped}}} 1".encode()).labels) == labels
