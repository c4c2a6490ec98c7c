"""PromQL is put together as it is written by hand, and its names and labels are told from its text."""

from vllmwatch.spec.promql import aggregate, either, is_none_of, is_one_of, is_text, label_lists, names_in, select


def test_a_selector_has_its_matchers_and_its_window() -> None:
    assert select("vllm:x", 'le="2.0"', 'server!=""', window="5m") == 'vllm:x{le="2.0",server!=""}[5m]'
    assert select("vllm:x") == "vllm:x"


def test_an_aggregation_names_the_labels_that_stay() -> None:
    assert aggregate("sum", ("node", "server"), "x") == "sum by (node, server) (x)"


def test_alternatives_stand_in_their_order() -> None:
    assert either("a", "b", "c") == "a\nor\nb\nor\nc"


def test_names_are_told_from_labels_and_texts() -> None:
    expression = (
        'sum by (vllmx) (rate(vllm:a_total{b="vllm:no"}[5m])) / vllmwatch:server:c:rate5m + vllmwatch_d + http_e'
    )
    assert list(names_in(expression)) == ["vllm:a_total", "vllmwatch:server:c:rate5m", "vllmwatch_d", "http_e"]


def test_lists_of_labels_are_found_with_the_word_before_them() -> None:
    expression = "sum by (a, b) (x) * on (c) group_left () y unless ignoring(d) z"
    assert list(label_lists(expression)) == [
        ("by", ("a", "b")),
        ("on", ("c",)),
        ("group_left", ()),
        ("ignoring", ("d",)),
    ]


def test_matchers_of_names_match_these_names_and_no_others() -> None:
    assert is_text("model_name", 'a"\\b') == r'model_name="a\"\\b"'
    assert is_one_of("model_name", ["org/a-1.5", "b"]) == r'model_name=~"org/a-1\\.5|b"'
    assert is_none_of("model_name", ["(x"]) == r'model_name!~"\\(x"'
