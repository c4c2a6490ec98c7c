"""The quick way through a page of known series gives what the slow way gives."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exporter.vllm.pages import RECORDED, fetched, text_of, translator, values
from vllmwatch.exporter.vllm import translator as translator_module
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator

PAGES = sorted(RECORDED.glob("*.prom"))
LINE = re.compile(rb"^([^#\n]\S*(?:\{.*\})?) (\S+)$", re.MULTILINE)
numbers = st.one_of(
    st.floats(allow_nan=True).map(lambda value: repr(value).replace("inf", "Inf").replace("nan", "NaN")),
    st.integers(-(10**50), 10**50).map(str),
    st.sampled_from(["+Inf", "1e999", "abc", "", "1 2", "-1.0", "0x10", "1_0"]),
)


def is_openmetrics(path: Path) -> bool:
    return "openmetrics" in path.name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_plan_of_a_page_fits_the_next(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = translator()
    first = one.translate(fetched(path.read_bytes(), openmetrics=is_openmetrics(path)))
    monkeypatch.setattr(translator_module, "make_plan", None)
    # A value of -1 is left: where it means unknown, a value in its place makes a new plan.
    changed = LINE.sub(lambda found: found[0] if found[2] == b"-1.0" else found[1] + b" 42.5", path.read_bytes())
    second = one.translate(fetched(changed, openmetrics=is_openmetrics(path)))
    assert isinstance(first, TranslatedPage)
    assert isinstance(second, TranslatedPage)
    assert set(second.values) == {b"42.5"}
    assert len(second.values) == len(first.values)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_quick_and_slow_agree_whatever_the_values(data: st.DataObject) -> None:
    names = ["vllm:num_requests_running", "vllm:gpu_prefix_cache_hit_rate", "odd"]
    before = [data.draw(numbers) for _ in names]
    after = [data.draw(numbers) for _ in names]

    def page(given_values: list[str]) -> str:
        return "".join(f'{name}{{model_name="m"}} {value}\n' for name, value in zip(names, given_values, strict=True))

    kept, fresh = translator(), translator()
    kept.translate(fetched(page(before)))
    assert outcome(kept, page(after)) == outcome(fresh, page(after))


def outcome(one: Translator, page: str) -> object:
    result = one.translate(fetched(page))
    return (text_of(result), result.reason, result.plan.facts) if isinstance(result, TranslatedPage) else result


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.replace('le="0.3"', 'le="0.4"'),
        lambda page: page + 'vllm:new{engine="0"} 1\n',
        lambda page: page.replace("\n\n", "\nvllm:filled 1\n"),
        lambda page: page.replace("# TYPE vllm:a gauge\n", ""),
    ],
    ids=["edge", "more", "blank line filled", "type gone"],
)
def test_a_changed_page_gets_a_new_plan(change: object) -> None:
    page = '# TYPE vllm:a gauge\nvllm:a 1\n\n# TYPE vllm:h histogram\nvllm:h_bucket{le="0.3"} 1\n'
    assert callable(change)
    one = translator()
    one.translate(fetched(page))
    assert outcome(one, change(page)) == outcome(translator(), change(page))


def test_an_unknown_value_comes_and_goes() -> None:
    name = "vllm:gpu_prefix_cache_hit_rate"
    one = translator()
    seen = []
    for value in ("-1.0", "-1.0", "0.5", "0.6", "-1.0", "0.7"):
        result = one.translate(fetched(f"# TYPE {name} gauge\n{name} {value}\n"))
        assert isinstance(result, TranslatedPage)
        seen.append(list(values(text_of(result), name).values()))
    assert seen == [[], [], [0.5], [0.6], [], [0.7]]


def test_a_page_that_ends_early_after_a_whole_one_is_not_taken_for_whole() -> None:
    page = "# TYPE vllm:a gauge\nvllm:a 123\n# TYPE vllm:b gauge\nvllm:b 456\n"
    one = translator()
    one.translate(fetched(page))
    cut = one.translate(fetched(page[:-2], complete=False))
    assert isinstance(cut, TranslatedPage)
    assert "vllm:b{" not in text_of(cut)


def test_timestamps_and_exemplars_are_left_out_both_ways() -> None:
    one = translator()
    for value in ("7", "8"):
        result = one.translate(fetched(f'vllm:a {value} 1785000000123\nvllm:b {value} # {{t="x"}} 1\n'))
        assert isinstance(result, TranslatedPage)
        assert set(result.values) == {value.encode()}


def test_a_blank_value_on_a_page_with_timestamps_costs_its_line() -> None:
    one = translator()
    one.translate(fetched("vllm:a 7 1785000000123\nvllm:b 8 1785000000123\n"))
    result = one.translate(fetched("vllm:a  \nvllm:b 9 1785000000123\n"))
    assert isinstance(result, TranslatedPage)
    assert result.values == (b"9",)
