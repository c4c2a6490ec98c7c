"""What a fetch raises when it will not go on: a reason of the fixed list, and what exactly happened."""

from vllmwatch.spec.reason import Reason


class RefusedError(Exception):
    """A page that is not taken, or cannot be asked for."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
