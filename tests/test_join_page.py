"""docs/join.md helps with each reason and names every holder and label."""

import re

from tests.real.places import ROOT
from vllmwatch.catalog.joined import ENGINE_GPU_INFO
from vllmwatch.spec.join import Holder, Unmapped

PAGE = (ROOT / "docs" / "join.md").read_text()


def test_there_is_a_line_of_help_for_each_reason_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)
    assert sorted(reason for reason, _ in rows if reason != "reason") == sorted(Unmapped)


def test_every_holder_and_label_is_named() -> None:
    assert [holder for holder in Holder if f"`{holder}`" not in PAGE] == []
    labels = ", ".join(label.name for label in ENGINE_GPU_INFO.labels)
    assert f"`{ENGINE_GPU_INFO.name}{{{labels}}}`" in PAGE
