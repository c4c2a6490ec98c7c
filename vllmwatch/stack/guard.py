"""Becomes a program that the kernel ends when the parent dies: `guard.py PARENT_PID PROGRAM ARGUMENT…`.

Run as a script by `vllmwatch up`, since the wish must be spoken between fork and exec, where threads forbid more.
It stands alone: standard library only, nothing of this package.
"""

import ctypes
import os
import signal
import sys

# linux/prctl.h
_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Set the parent-death signal to SIGTERM, which exec keeps, and become the program."""
    parent, *command = arguments
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit(0)
    try:
        os.execv(command[0], command)  # noqa: S606  # the command is ours
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
