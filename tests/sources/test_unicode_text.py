"""What can be written down, and what is written in the place of what cannot."""

import pytest

from vllmwatch.sources.unicode_text import is_line, is_unicode, require_line, writable


@pytest.mark.parametrize(
    ("text", "unicode", "line"),
    [
        ("gpu é 模型", True, True),
        ("", True, True),
        ("a\ud800", False, True),
        ("a\n", True, False),
        ("\x7f", True, False),
    ],
)
def test_texts_are_told_apart(text: str, unicode: bool, line: bool) -> None:
    assert (is_unicode(text), is_line(text)) == (unicode, line)
    if unicode and line:
        assert require_line(text) == text
        return
    with pytest.raises(ValueError, match="on one line" if unicode else "in Unicode"):
        require_line(text)


def test_what_cannot_be_written_becomes_an_escape() -> None:
    assert writable("a\udcffé") == "a\\udcffé"
