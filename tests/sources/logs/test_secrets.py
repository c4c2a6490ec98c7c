"""Whatever a user writes and wherever vLLM puts it, nothing of it is in what is kept of a line."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.cli.logs import as_mapping
from vllmwatch.sources.logs.join import Joiner
from vllmwatch.sources.logs.parse import LineReader

SECRET = "Geheimnis7"
_HEADS = (
    "(APIServer pid=7) INFO 11-30 19:16:03 [request_logger.py:65] ",
    "(RustFrontend pid=7) DEBUG 11-30 19:16:03 [server/src/lib.rs:65] ",
    "INFO 07-01 12:00:00 [logger.py:39] ",
    "INFO 02-01 06:36:05 logger.py:37] ",
    "2026-09-06 10:00:31,123 - vllm.logger - INFO - ",
    "\x1b[0;36m(ApiServer_1 pid=7)\x1b[0;0m \x1b[32mINFO\x1b[0m 11-30 19:16:03 [a.py:65] ",
    "",
)
# The texts of vLLM 0.2 to 0.33 that hold what a user or a model wrote; %r and %s as there.
_MESSAGES: tuple[Callable[[str], str], ...] = (
    lambda text: f"Received request cmpl-1-0: params: SamplingParams(n=1, stop=[{text!r}]), lora_request: None.",
    lambda text: (
        f"Received request cmpl-1: prompt: {text!r}, params: SamplingParams(n=1), prompt_token_ids: [1], "
        "lora_request: None."
    ),
    lambda text: (
        f"Received request cmpl-1: prompt: {text!r}, sampling params: SamplingParams(n=1), prompt token ids: [1]."
    ),
    lambda text: f"Received request {text!r}: params: None, lora_request: LoRARequest(lora_name={text!r}).",
    lambda text: f"Request cmpl-1-0 details: prompt: {text!r}, prompt_token_ids: None, prompt_embeds shape: None.",
    lambda text: "Request 5 JSON body: " + json.dumps({"messages": [{"role": "user", "content": text}]}),
    lambda text: f"Generated response chatcmpl-1: output: {text!r}, finish_reason: stop",
    lambda text: f"Generated response chatcmpl-1 (streaming delta): output: {text!r}, finish_reason: None",
    lambda text: (
        f"Generated response chatcmpl-1 (streaming complete): output: {text!r}, output_token_ids: None, "
        "finish_reason: streaming_complete"
    ),
    lambda text: f"response_body={{streaming_complete: content={text!r}, chunks=3}}",
    lambda text: f"response_body={{{json.dumps({'choices': [{'message': {'content': text}}]})}}}",
    lambda text: f"1 validation error for ChatCompletionRequest [type=x, input_value={text!r}, input_type=str]",
    lambda text: f"Request cmpl-1-0 failed (bad request): {text}.",
    lambda text: f"Regex timeout occurred when matching user input: {text}",
    lambda text: f"model_output: {text}",
    lambda text: f"async_request: LLMInputs(prompt={text!r}, multi_modal_data=None)",
    lambda text: f"dumped ModelRequest(messages=[{{'role': 'user', 'content': {text!r}}}])",
)
# Ids that clients gave are short: no piece of a line ends in the middle of one.
_ODD_IDS: tuple[Callable[[str], str], ...] = (
    lambda text: f"Aborted request(s) {text!r}.",
    lambda text: f"Request {text!r} details: prompt: {text!r}.",
)
_TEXTS = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            (
                "', params: ",
                ", finish_reason: stop",
                "CUDA out of memory",
                "Received request x: ",
                "\n",
                '"',
                "\\'",
                "]",
                "INFO:     ",
                " (APIServer pid=1) INFO 01-01 00:00:00 [a.py:1] ",
            )
        ),
    ),
    max_size=4,
).flatmap(lambda parts: st.integers(0, len(parts)).map(lambda at: "".join([*parts[:at], SECRET, *parts[at:]])))


def _kept(lines: Sequence[str]) -> str:
    """Return everything that is kept of lines: each alone, and joined to records as they are printed."""
    reader, joiner = LineReader(LOG_CATALOG), Joiner()
    kept: list[str] = []
    for text in lines:
        line = reader.read(text)
        kept.append(repr(line))
        kept.extend(json.dumps(as_mapping(each, "", datetime(2026, 12, 1))) for each in joiner.add(line))  # noqa: DTZ001
    kept.extend(json.dumps(as_mapping(each, "", datetime(2026, 12, 1))) for each in joiner.end())  # noqa: DTZ001
    return "\n".join(kept)


@given(head=st.sampled_from(_HEADS), message=st.sampled_from((*_MESSAGES, *_ODD_IDS)), text=_TEXTS)
def test_what_users_write_is_not_kept(head: str, message: Callable[[str], str], text: str) -> None:
    assert SECRET not in _kept([(head + message(text)).split("\n")[0]])


@given(message=st.sampled_from(_MESSAGES), text=_TEXTS)
def test_nor_in_json(message: Callable[[str], str], text: str) -> None:
    record = {
        "asctime": "2026-11-30 19:36:36,014",
        "levelname": "INFO",
        "name": "vllm.entrypoints.logger",
        "process": 12,
        "message": message(text),
        "vllm_process_name": "APIServer",
        "exc_info": f"Traceback (most recent call last):\n  x\nValueError: {message(text)}",
    }
    assert SECRET not in _kept([json.dumps(record)])


@given(
    message=st.sampled_from(_MESSAGES),
    text=_TEXTS,
    cuts=st.lists(st.integers(220, 700), max_size=3),
    filler=st.integers(0, 600),
)
def test_nor_in_pieces_of_a_line(message: Callable[[str], str], text: str, cuts: list[int], filler: int) -> None:
    # A user who puts what looks like a prefix where a piece of 16 KiB ends shows nothing but the own prompt.
    assume("INFO" not in text)
    whole = _HEADS[0] + message("x" * filler + text).replace("\n", " ")
    ends = [0, *sorted(set(cuts)), len(whole) + 700]
    assert SECRET not in _kept([whole[start:end] for start, end in pairwise(ends)])


@given(
    before=st.sampled_from(("", "x ", '{"', "(")),
    secret=st.sampled_from(
        (
            "Authorization: Bearer {}",
            "authorization': 'Basic {}'",
            "?api_key={}",
            "api-key: {}",
            '"api_key": "{}"',
            "'api_key': ['{}']",
            "sk-{}abc",
            "hf_{}abcdef",
            "https://user:{}@example.org/",
            "{}@example.org",
            "password={}",
            "HF_TOKEN={}",
        )
    ),
    head=st.sampled_from(_HEADS),
)
def test_what_opens_doors_is_not_kept(before: str, secret: str, head: str) -> None:
    assert SECRET not in _kept([head + "listening " + before + secret.format(SECRET) + " now"])
