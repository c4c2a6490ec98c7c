"""Threads that never hold up the end of the process: what hangs in a driver or a socket dies with it."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")
_Task = tuple[Future[Any], Callable[[], Any]]


class DaemonPool:
    """Runs tasks in daemon threads, which are made as they are needed, up to `most`.

    The executors of the standard library wait for their threads when the interpreter ends, however long that takes.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0
        self._closed = False

    def submit(self, work: Callable[[], ResultT]) -> Future[ResultT]:
        """Run a task, at once where a thread is free or may be made; raises RuntimeError after `close`."""
        future: Future[ResultT] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the threads {self._name} are closed")
            self._unfinished += 1
            grow = self._unfinished > self._threads and self._threads < self._most
            self._threads += grow
            number = self._threads
        self._tasks.put((future, work))
        if grow:
            threading.Thread(target=self._run, name=f"{self._name}-{number}", daemon=True).start()
        return future

    def close(self) -> None:
        """Let the threads end once their tasks are done, without waiting for them."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, work = task
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except BaseException as error:  # noqa: BLE001  it is told to whoever waits
                    self._finish()
                    future.set_exception(error)
                else:
                    self._finish()
                    future.set_result(result)
            else:
                self._finish()
            # A thread that waits must not keep the last page alive.
            del task, future, work

    def _finish(self) -> None:
        with self._lock:
            self._unfinished -= 1
