"""What was measured, against what it may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """One ratio. `most` is what it may be: a budget, or an aim where `budget` is false; None where it only informs."""

    what: str
    ratio: float
    detail: str
    most: float | None = None
    budget: bool = False

    @property
    def missed(self) -> bool:
        """Whether a budget is not kept."""
        return self.budget and self.most is not None and self.ratio > self.most

    def line(self) -> str:
        """Return the figure as one line of the report."""
        return f"  {self.what:<62} {self.ratio:7.3f}  {self._judged():<24} {self.detail}"

    def _judged(self) -> str:
        if self.most is None:
            return ""
        kept = self.ratio <= self.most
        if self.budget:
            return f"budget {self.most:g}: {'kept' if kept else 'MISSED'}"
        return f"aim {self.most:g}: {'reached' if kept else 'not reached'}"


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that were taken together, or why they could not be."""

    title: str
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the section as text."""
        return "\n".join(
            [self.title, *(figure.line() for figure in self.figures), *(f"  {note}" for note in self.notes)]
        )


def compare(
    what: str, ours: Sequence[float], others: Sequence[float], *, most: float | None = None, budget: bool = False
) -> Figure:
    """Return the ratio of two costs in seconds, each the median of what was measured in turn."""
    one, other = median(ours), median(others)
    return Figure(what, one / other, f"{milliseconds(one)} against {milliseconds(other)}", most, budget)


def milliseconds(seconds: float) -> str:
    """Return a time as text."""
    return f"{seconds * 1e3:.2f} ms"
