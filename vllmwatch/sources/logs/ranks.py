"""The ranks that vLLM writes into the names of its processes: `Worker_DP0_TP1` is rank 0 of data, 1 of tensor."""

import re

_RANK = re.compile(r"_(DP|PP|PCP|TP|DCP|EP)([0-9]+)")


def ranks(process: str) -> dict[str, int]:
    """Return the ranks by their kind in lower case, `tp` say; none where the name has none."""
    return {kind.lower(): int(number) for kind, number in _RANK.findall(process)}
