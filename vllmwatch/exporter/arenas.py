"""How the C library keeps memory for threads."""

import ctypes
from typing import Final

# mallopt(3), malloc.h.
_M_ARENA_MAX: Final = -8
_ARENAS: Final = 2


def limit_arenas() -> None:
    """Let all threads allocate from two arenas; to be called before threads start. Without glibc, nothing is done.

    By default each thread gets an arena of its own, which keeps what the largest page left in it: a hundred fetching
    threads hold a hundred times that. The interpreter lets one thread allocate at a time anyhow.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    mallopt(_M_ARENA_MAX, _ARENAS)
