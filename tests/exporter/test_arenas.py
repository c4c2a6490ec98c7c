"""The arenas of memory that threads share."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

# Eight threads allocate at the same time; glibc then tells how many arenas there are.
PROGRAM = """
import ctypes, sys, threading
from vllmwatch.exporter.arenas import limit_arenas

if sys.argv[2] == "limited":
    limit_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
meeting = threading.Barrier(8)

def allocate():
    meeting.wait()
    libc.malloc(1000)
    meeting.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
out = libc.fopen(sys.argv[1].encode(), b"w")
libc.malloc_info(0, out)
libc.fclose(out)
"""


def arenas(told: Path, word: str) -> int:
    subprocess.run([sys.executable, "-c", PROGRAM, str(told), word], check=True, timeout=60)
    return told.read_text().count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_many_threads_share_two_arenas(tmp_path: Path) -> None:
    assert arenas(tmp_path / "free", "free") > 2
    assert arenas(tmp_path / "limited", "limited") <= 2
