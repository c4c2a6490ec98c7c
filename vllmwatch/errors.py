"""The one family of errors that a user sees: what is wrong, where, and what to do next."""


class VllmwatchError(Exception):
    """A fault that the user can mend.

    `message` says what is wrong and where, in one line; `hint` says what to do next. The command line prints
    both without a traceback and exits non-zero.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(VllmwatchError):
    """A setting, a configuration file or an environment variable that cannot be used."""


class StartError(VllmwatchError):
    """A program of the stack, or what it needs, that could not be started."""
