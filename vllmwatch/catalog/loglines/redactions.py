"""What in a log nobody may keep: what users wrote, what models answered, and what opens doors.

vLLM writes prompts with `--enable-log-requests` (all releases up to 0.11; later at level DEBUG), answers with
`--enable-log-outputs`, bodies at DEBUG and with VLLM_DEBUG_LOG_API_SERVER_RESPONSE, and texts that a parser of tools or
a check of requests could not read at any level. Parameters of a request may hold what users wrote (stop words, a
grammar), so of a request no more than its id, and why it ended, is kept.
"""

from vllmwatch.spec.logline import Redaction

# Where a text of a user or a model begins, and goes on to the end: quotes within it follow no rule.
_PAYLOAD_WORDS = (
    "prompt",
    "prompts",
    "prompt_token_ids",
    "prompt_embeds",
    "output_token_ids",
    "token_ids",
    "messages",
    "user input",
    "[Mm]odel[ _]output",
    "raw output",
    "delta_text",
    "current_text",
    "previous_text",
    "response_body",
    "request_body",
    "JSON body",
    "raw_request",
    "content",
    "reasoning_content",
    "input_value",
    "input_text",
    "system_prompt",
    "sampling_params",
)

# A client may give a request its id, in which it can write what it likes: only what looks like an id is kept as one.
_ID = "[A-Za-z0-9._-]{0,256}"

REDACTIONS: tuple[Redaction, ...] = (
    Redaction(
        "odd_id",
        "the id of a request that does not look like one",
        rf"(?s)(?:Received|Added|Aborted) request(?:\(s\))? ([A-Za-z0-9._,-]{{0,256}}[^A-Za-z0-9._,:\s-].*)|"
        rf"Generated response ({_ID}[^A-Za-z0-9._:\s-].*)|"
        rf"Request ({_ID}[^A-Za-z0-9._\s-].*?) (?:details|JSON body|aborted|failed)",
        (
            ("Received request 'mine': params: None", "Received request [redacted]"),
            ("Aborted request(s) cmpl-1,me@home.", "Aborted request(s) [redacted]"),
            ("Generated response <b>x: output: 'a'", "Generated response [redacted]"),
            ("Request {mine} aborted.", "Request [redacted] aborted."),
        ),
        ("Received request cmpl-1: [redacted]", "Aborted request(s) cmpl-1,cmpl-2.", "Request cmpl-1 aborted."),
        payload=True,
    ),
    Redaction(
        "request",
        "what a request asks for, prompt and parameters alike",
        r"(?s)Received request [^\s:]{0,256}[:\s] *(.*)",
        (
            (
                "Received request chatcmpl-9241: params: SamplingParams(n=1, stop=['secret']), lora_request: None.",
                "Received request chatcmpl-9241: [redacted]",
            ),
            (
                "Received request cmpl-1-0: prompt: 'my secret', params: SamplingParams(n=1), prompt_token_ids: [1]",
                "Received request cmpl-1-0: [redacted]",
            ),
        ),
        ("Added request cmpl-1-0-b225f340.",),
        payload=True,
    ),
    Redaction(
        "answer",
        "what a model answered; why it ended stays",
        r"(?s)Generated response [^\s:]{0,256}(?: \([a-z ]*\))?[:\s] *(.*?)"
        r"(?:, finish_reason: (?:None|stop|length|abort|error|repetition|tool_calls|streaming_complete))?$",
        (
            (
                (
                    "Generated response chatcmpl-9 (streaming delta): output: 'a, finish_reason: stop', "
                    "finish_reason: length"
                ),
                "Generated response chatcmpl-9 (streaming delta): [redacted], finish_reason: length",
            ),
            ("Generated response cmpl-1: output: 'cut off", "Generated response cmpl-1: [redacted]"),
        ),
        payload=True,
    ),
    Redaction(
        "details",
        "prompts, tokens and bodies as they are written at level DEBUG",
        r"(?s)(?:Request|Generated response) [^\s:]{1,256}(?: \([a-z ]*\))? (?:details|JSON body): *(.*)",
        (
            (
                "Request cmpl-1-0 details: prompt: 'my secret', prompt_token_ids: [1, 2].",
                "Request cmpl-1-0 details: [redacted]",
            ),
        ),
        payload=True,
    ),
    Redaction(
        "refusal",
        "why a request was refused, which may hold what it asked",
        r"(?s)Request \S{1,256} failed \(bad request\): *(.*)",
        (
            (
                "Request cmpl-1-0 failed (bad request): 'my secret' is long.",
                "Request cmpl-1-0 failed (bad request): [redacted]",
            ),
        ),
        ("Request cmpl-1-0 failed (engine dead).",),
        payload=True,
    ),
    Redaction(
        "payload",
        "a text of a user or a model behind its name",
        r"(?s)(?:^|[\s,;:({\['\"\\])(?:" + "|".join(_PAYLOAD_WORDS) + r"|['\"]arguments)\\?['\"]? ?[:=]\s*(\S.*)",
        (
            (
                "1 validation error: input_value='my secret', input_type=str",
                "1 validation error: input_value=[redacted]",
            ),
            ('body: {"model": "m", "messages": [{"role": "user"}]}', 'body: {"model": "m", "messages": [redacted]'),
            (
                "Regex timeout occurred when matching user input: x",
                "Regex timeout occurred when matching user input: [redacted]",
            ),
            ("response_body={streaming_complete: content='x', chunks=3}", "response_body=[redacted]"),
        ),
        (
            "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s",
            "Detected the chat template content format to be 'string'.",
            "error: argument --port: expected one argument",
            "vllm: error: unrecognized arguments: --chunked-prefill",
        ),
        payload=True,
    ),
    Redaction(
        "authorization",
        "what is sent as authorization",
        r"(?i)\b(?:bearer|basic) +([A-Za-z0-9._~+/=-]{6,})|"
        r"authorization\\?['\"]?(?: *[:=] *|%3D)\\?['\"]?(?:[a-z]{3,9} +)?([^'\",;\\\[]{3,})(?:['\",;\\]|$)",
        (
            ("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted]"),
            ("{'authorization': 'mine-1'}", "{'authorization': '[redacted]'}"),
        ),
        ("basic block",),
    ),
    Redaction(
        "key",
        "a key or a password behind its name",
        r"(?i)(?:api[_-]?keys?|(?:access|auth|hf|refresh|bearer|id)[_-]token|secret(?:[_-]key)?|passw(?:or)?d)"
        r"\\?['\"]?(?: *[:=] *|%3D)(?:\[ *\\?['\"]|\\?['\"])?([^\s'\",;&)}\]\\\[*][^\s'\",;&)}\]\\]{2,})",
        (
            ("GET /v1/models?api_key=mine-1 HTTP/1.1", "GET /v1/models?api_key=[redacted] HTTP/1.1"),
            ("{'api_key': ['mine-1'], 'port': 1}", "{'api_key': ['[redacted]'], 'port': 1}"),
            ('{"password": "mine"}', '{"password": "[redacted]"}'),
        ),
        ("num_tokens=4", "the API key is missing", "{'api_key': '***'}"),
    ),
    Redaction(
        "known_key",
        "a key that its own form tells",
        r"\b((?:sk|pk|rk)-[A-Za-z0-9_-]{8,}|hf_[A-Za-z0-9]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{16}"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        (("the key sk-abcdefgh1234 is wrong", "the key [redacted] is wrong"),),
        ("sk-learn", "task-abcdefghijkl"),
    ),
    Redaction(
        "user_of_address",
        "user and password of an address",
        r"\b[a-z][a-z0-9+.-]{0,30}://([^\s/@'\"]{1,256})@",
        (("https://me:mine@example.org/x", "https://[redacted]@example.org/x"),),
        ("https://example.org/a@b",),
    ),
    Redaction(
        "mail",
        "a mail address",
        r"\b([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24})\b",
        (("from ada@example.org,", "from [redacted],"),),
        ("git@localhost", "org/model@main"),
    ),
)
