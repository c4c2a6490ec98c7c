"""A page read line by line into families: what each declares, and which lines are its samples."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from vllmwatch.sources.vllm.text import Header, LineError, Sample, read_header, read_sample
from vllmwatch.spec.upstream import PARTS

_SUFFIXES: dict[str, tuple[str, ...]] = {
    **{str(kind): (*parts, "_created") for kind, parts in PARTS.items()},
    "counter": ("_total", "_created"),
    "gaugehistogram": ("_bucket", "_gsum", "_gcount"),
    "info": ("_info",),
}
_END = b"# EOF"


@dataclass(slots=True)
class DraftFamily:
    """A family as its page has it: name, TYPE ("" where it is not said), HELP (escaped as on the page)."""

    name: str
    kind: str = ""
    help: str = ""
    samples: list[tuple[int, Sample]] = field(default_factory=list)
    """Line number and sample."""


@dataclass(slots=True)
class Draft:
    """A page as read: its lines, its families in order, and the lines that are not in the format."""

    lines: list[bytes]
    families: dict[str, DraftFamily]
    invalid: list[int]
    ended: bool
    """Whether the last line was ended, and an OpenMetrics page had its end mark."""


def read_draft(body: bytes, *, openmetrics: bool, complete: bool) -> Draft:
    """Read a page. Of one that ended early, the last family is left out, since more of it may have been to come."""
    draft = Draft(body.split(b"\n"), {}, [], ended=complete and body.endswith(b"\n"))
    if openmetrics:
        draft.ended = complete and body.rstrip().endswith(_END)
    current: DraftFamily | None = None
    for number, line in enumerate(draft.lines):
        text = line.strip()
        if not text or (openmetrics and text == _END):
            continue
        try:
            if text.startswith(b"#"):
                header = read_header(line)
                current = _apply_header(draft, header) if header else current
            else:
                sample = read_sample(line)
                current, name = _family_of(draft, current, sample.name)
                current.samples.append((number, sample if name == sample.name else replace(sample, name=name)))
        except LineError:
            draft.invalid.append(number)
    draft.ended = draft.ended and not _is_cut(draft)
    if not draft.ended and draft.families:
        _leave_out_last(draft, current)
    return draft


def _is_cut(draft: Draft) -> bool:
    """Whether the last line is unreadable, as where a page was cut within it and a line feed put behind."""
    last = len(draft.lines) - 1
    while last >= 0 and not draft.lines[last].strip():
        last -= 1
    return bool(draft.invalid) and draft.invalid[-1] == last


def _leave_out_last(draft: Draft, current: DraftFamily | None) -> None:
    last = current or next(reversed(draft.families.values()))
    del draft.families[last.name]


def _apply_header(draft: Draft, header: Header) -> DraftFamily:
    family = draft.families.get(header.name)
    if family is None:
        family = draft.families[header.name] = DraftFamily(header.name)
    if header.is_help:
        family.help = family.help or header.text
    else:
        family.kind = family.kind or header.text.strip().lower()
    return family


def _family_of(draft: Draft, current: DraftFamily | None, sample: str) -> tuple[DraftFamily, str]:
    """Return the family that a sample belongs to, and the sample's name as that family has it.

    vLLM's OpenMetrics page writes colons in the names of samples as underscores, but not in those of families.
    """
    if current is not None:
        for name in _names_of(current):
            if sample in (name, name.replace(":", "_")):
                return current, name
    for base in _bases_of(sample):
        family = draft.families.get(base)
        if family is not None and sample in _names_of(family):
            return family, sample
    if sample in draft.families:
        raise LineError("a sample of a name that its family's type does not have")
    family = draft.families[sample] = DraftFamily(sample)
    return family, sample


def _names_of(family: DraftFamily) -> Iterator[str]:
    if family.kind != "histogram":
        yield family.name
    for suffix in _SUFFIXES.get(family.kind, ()):
        yield family.name + suffix


def _bases_of(sample: str) -> Iterator[str]:
    yield sample
    stem, _, _ = sample.rpartition("_")
    yield stem
