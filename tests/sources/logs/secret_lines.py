"""Lines of vLLM that hold what a user or a model wrote, with a secret in it, for those who must not keep it."""

import json
from collections.abc import Callable

from hypothesis import strategies as st

SECRET = "Geheimnis7"
HEADS = (
    "(APIServer pid=7) INFO 11-30 19:16:03 [request_logger.py:65] ",
    "(RustFrontend pid=7) DEBUG 11-30 19:16:03 [server/src/lib.rs:65] ",
    "INFO 07-01 12:00:00 [logger.py:39] ",
    "INFO 02-01 06:36:05 logger.py:37] ",
    "2026-09-06 10:00:31,123 - vllm.logger - INFO - ",
    "\x1b[0;36m(ApiServer_1 pid=7)\x1b[0;0m \x1b[32mINFO\x1b[0m 11-30 19:16:03 [a.py:65] ",
    "",
)
# The texts of vLLM 0.2 to 0.33 that hold what a user or a model wrote; %r and %s as there.
MESSAGES: tuple[Callable[[str], str], ...] = (
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
ODD_IDS: tuple[Callable[[str], str], ...] = (
    lambda text: f"Aborted request(s) {text!r}.",
    lambda text: f"Request {text!r} details: prompt: {text!r}.",
)
TEXTS = st.lists(
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


def json_line(message: str, traceback: str) -> str:
    """Return a line as vLLM's JSON formatter writes it."""
    record = {
        "asctime": "2026-11-30 19:36:36,014",
        "levelname": "INFO",
        "name": "vllm.entrypoints.logger",
        "process": 12,
        "message": message,
        "vllm_process_name": "APIServer",
        "exc_info": traceback,
    }
    return json.dumps(record)


def with_traceback(message: str) -> str:
    """Return such a line whose traceback says the same as its message."""
    return json_line(message, f"Traceback (most recent call last):\n  x\nValueError: {message}")
