"""Requests to a real vLLM server: streamed and whole, aborted and wrong, all bounded in number and time."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import requests

from tests.real.vllm_server import MODEL_NAME

REQUEST_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Load:
    """A client of one server; `headers` carry an API key where the server asks for one."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()

    def complete(self, prompt: str = "import sys", *, max_tokens: int = 32, stream: bool = False) -> int:
        """Ask for one completion of exactly `max_tokens` tokens and read it to its end; returns the HTTP status."""
        body = {"prompt": prompt, "max_tokens": max_tokens, "ignore_eos": True, "stream": stream}
        return self._post("/v1/completions", body)

    def chat(self, text: str = "hello", *, max_tokens: int = 32, stream: bool = False) -> int:
        """Ask for one chat completion and read it to its end; returns the HTTP status."""
        messages = [{"role": "user", "content": text}]
        body = {"messages": messages, "max_tokens": max_tokens, "ignore_eos": True, "stream": stream}
        return self._post("/v1/chat/completions", body)

    def abort(self, *, max_tokens: int = 1500, after_chunks: int = 3, count: int = 1) -> None:
        """Start streams, one after the other, and close all connections after a few chunks of each."""
        body = {"model": MODEL_NAME, "prompt": "x", "max_tokens": max_tokens, "ignore_eos": True, "stream": True}
        with ExitStack() as streams:
            for _ in range(count):
                answer = requests.post(
                    f"{self.url}/v1/completions",
                    json=body,
                    headers=dict(self.headers),
                    stream=True,
                    timeout=REQUEST_SECONDS,
                )
                chunks = (line for line in streams.enter_context(answer).iter_lines() if line)
                for _ in range(after_chunks):
                    next(chunks)

    def wrong_model(self) -> int:
        """Ask for a model that is not served; returns the HTTP status (404)."""
        return self._post("/v1/completions", {"model": "org/absent", "prompt": "x", "max_tokens": 1})

    def wrong_max_tokens(self) -> int:
        """Ask for a negative number of tokens; returns the HTTP status (400)."""
        return self._post("/v1/completions", {"prompt": "x", "max_tokens": -1})

    def many(self, count: int, *, at_once: int = 4, max_tokens: int = 32) -> list[int]:
        """Ask for `count` completions and chats, streamed and whole in turn; returns the HTTP statuses."""
        with ThreadPoolExecutor(at_once) as pool:
            waiting = [
                pool.submit(
                    self.complete if number % 2 else self.chat,
                    f"request {number} " * (1 + number % 5),
                    max_tokens=max_tokens,
                    stream=number % 4 > 1,
                )
                for number in range(count)
            ]
            return [future.result() for future in waiting]

    def _post(self, path: str, body: dict[str, object]) -> int:
        answer = requests.post(
            self.url + path, json={"model": MODEL_NAME, **body}, headers=dict(self.headers), timeout=REQUEST_SECONDS
        )
        return answer.status_code
