"""What changed from one sample to the next, for the log: a line when a target comes, goes or changes its mind."""

from collections.abc import Iterator, Sequence

from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.unicode_text import printable
from vllmwatch.spec.reason import Reason


class Changes:
    """Remembers the state of each target; `told` yields a line for each that is not as it was."""

    def __init__(self) -> None:
        self._states: dict[str, Reason | None] = {}

    def told(self, samples: Sequence[TargetSample]) -> Iterator[str]:
        """Yield a line for each target whose state differs from the last sample."""
        before = self._states
        self._states = {sample.target.server: sample.reason for sample in samples}
        for sample in samples:
            server = sample.target.server
            if server not in before or before[server] != sample.reason:
                yield _line(sample)
        for server in before.keys() - self._states.keys():
            yield f"{server} is watched no more"


def _line(sample: TargetSample) -> str:
    server = sample.target.server
    if sample.reason is None:
        known = ", ".join(filter(None, (sample.facts.model_name, sample.facts.version)))
        return f"{server} is up" + (f" ({known})" if known else "")
    if sample.reason is Reason.LOADING:
        return f"{server} is loading"
    return f"{server} is down: {sample.reason}" + (f" ({printable(sample.detail)})" if sample.detail else "")
