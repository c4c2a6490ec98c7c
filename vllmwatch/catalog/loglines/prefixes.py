"""How lines of vLLM's logs begin, from 0.2 to 0.33, and what in them is no text.

Read in the formatters of vLLM 0.32 and seen in its logs; older shapes are from logs in vLLM's issues. Before the prefix
there may be what VLLM_LOGGING_PREFIX says, what `docker compose logs` puts there, or a progress bar without an end.
"""

from vllmwatch.spec.logline import Prefix

CLEANINGS: tuple[str, ...] = (
    "(\x1b\\[[0-9;?]*[A-Za-z])",  # colors
    "(\r+)$",  # vLLM ends the lines of one message with both
    "^(\r(?:[^\r]*\r)*)[^\r]",  # a progress bar writes over what it wrote
)
LEVELS: dict[str, str] = {
    "DEBUG": "debug",
    "TRACE": "debug",
    "INFO": "info",
    "WARNING": "warning",
    "WARN": "warning",
    "ERROR": "error",
    "CRITICAL": "critical",
    "FATAL": "critical",
    "I": "info",
    "W": "warning",
    "E": "error",
    "F": "critical",
}
JSON_KEYS: dict[str, str] = {
    "process": "vllm_process_name",
    "pid": "process",
    "level": "levelname",
    "time": "asctime",
    "source": "name",
    "message": "message",
    "traceback": "exc_info",
}

_LEAD = "(?P<lead>.{0,160}?)"
_SHORT_LEAD = "(?P<lead>(?:[A-Za-z0-9_.-]+ +[|] )?)"
_PROCESS = r"\((?P<process>[A-Z][A-Za-z0-9_.:-]*)(?: rank=(?P<rank>[0-9]+))? pid=(?P<pid>[0-9]+)(?:, ip=[^)]*)?\) ?"
_LEVEL = "(?P<level>DEBUG|TRACE|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
_DAY = "[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
_YEAR_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_MESSAGE = "(?P<message>.*)$"

PREFIXES: tuple[Prefix, ...] = (
    Prefix(
        "uvicorn",
        "all; with the process from 0.10.1 to 0.30",
        f"^{_SHORT_LEAD}(?:{_PROCESS})?{_LEVEL}: +{_MESSAGE}",
        (
            (
                'INFO:     192.0.2.9:40000 - "GET /metrics HTTP/1.1" 200 OK',
                {"level": "INFO", "message": '192.0.2.9:40000 - "GET /metrics HTTP/1.1" 200 OK'},
            ),
            (
                "(ApiServer_1 pid=121) WARNING:  Invalid HTTP request received.",
                {
                    "process": "ApiServer_1",
                    "pid": "121",
                    "level": "WARNING",
                    "message": "Invalid HTTP request received.",
                },
            ),
        ),
        ("ValueError: INFO: x", "RuntimeError: x"),
    ),
    Prefix(
        "torch",
        "all: PyTorch's own lines",
        r"^(?:\[rank(?P<rank>[0-9]+)\]: ?)?\[(?P<level>[IWEF])(?:[0-9]{3,4} [0-9:.]+)? ?"
        rf"(?P<source>[A-Za-z0-9_./-]+:[0-9]+)\] {_MESSAGE}",
        (
            (
                "[rank0]:[E1206 18:44:12.715298746 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught",
                {
                    "rank": "0",
                    "level": "E",
                    "source": "ProcessGroupNCCL.cpp:607",
                    "message": "[Rank 0] Watchdog caught",
                },
            ),
            (
                "[W1130 19:18:57.254765394 utils.cpp:68] Warning: NUMA binding",
                {"level": "W", "source": "utils.cpp:68", "message": "Warning: NUMA binding"},
            ),
            ("[E ProcessGroupNCCL.cpp:563] x", {"level": "E", "source": "ProcessGroupNCCL.cpp:563", "message": "x"}),
        ),
        ("[1.5] x",),
    ),
    Prefix(
        "dated",
        "all: loggers of programs around vLLM, and of a logging configuration of one's own",
        rf"^{_SHORT_LEAD}\[?(?P<time>{_YEAR_DAY})\]? *(?:[|-] *)?(?:(?P<source>[A-Za-z_][A-Za-z0-9_.]*) *[|-] *)?"
        rf"\[?{_LEVEL}\]? *(?:[|:-] *)?{_MESSAGE}",
        (
            (
                "2026-09-06 10:00:31,123 - vllm.engine.metrics - INFO - Avg prompt throughput: 1.0 tokens/s",
                {
                    "time": "2026-09-06 10:00:31,123",
                    "source": "vllm.engine.metrics",
                    "level": "INFO",
                    "message": "Avg prompt throughput: 1.0 tokens/s",
                },
            ),
            (
                "[2026-09-06T10:00:31.5Z] [ERROR] engine is dead",
                {"time": "2026-09-06T10:00:31.5Z", "level": "ERROR", "message": "engine is dead"},
            ),
        ),
        ("2026-09-06 was a Sunday",),
    ),
    Prefix(
        "kernel",
        "all: the kernel's log as dmesg prints it",
        r"^\[ *(?P<time>[0-9]+\.[0-9]+|[A-Z][a-z]{2} [A-Z][a-z]{2} +[0-9]+ [0-9:]{8} [0-9]{4})\] " + _MESSAGE,
        (
            (
                "[171167.620236] NVRM: Xid (PCI:0000:04:00): 31, pid=5, name=python3",
                {"time": "171167.620236", "message": "NVRM: Xid (PCI:0000:04:00): 31, pid=5, name=python3"},
            ),
            (
                "[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119",
                {"time": "Sun Feb 23 16:24:18 2025", "message": "NVRM: Xid (PCI:0000:9b:00): 119"},
            ),
        ),
        ("[rank0]: x",),
    ),
    Prefix(
        "vllm",
        "all, with the process from 0.10.1 on and one bracket up to 0.7; also the Rust front end",
        f"^{_LEAD}(?:{_PROCESS})?{_LEVEL} (?P<time>(?:[0-9]{{4}}-)?{_DAY}(?:[.,][0-9]+)?) "
        rf"\[?(?P<source>[^\]\s]+:[0-9]+)\] ?{_MESSAGE}",
        (
            (
                "(APIServer pid=9115) INFO 11-30 19:16:03 [api_utils.py:286] non-default args: {'port': 8111}",
                {
                    "process": "APIServer",
                    "pid": "9115",
                    "level": "INFO",
                    "time": "11-30 19:16:03",
                    "source": "api_utils.py:286",
                    "message": "non-default args: {'port': 8111}",
                },
            ),
            (
                "INFO 07-01 12:00:00 [loggers.py:116] Engine 000: Running: 1 reqs",
                {
                    "level": "INFO",
                    "time": "07-01 12:00:00",
                    "source": "loggers.py:116",
                    "message": "Engine 000: Running: 1 reqs",
                },
            ),
            (
                "(VllmWorker rank=1 pid=2445156) ERROR 05-10 16:00:15 [multiproc_executor.py:470] Traceback",
                {
                    "process": "VllmWorker",
                    "rank": "1",
                    "pid": "2445156",
                    "level": "ERROR",
                    "time": "05-10 16:00:15",
                    "source": "multiproc_executor.py:470",
                    "message": "Traceback",
                },
            ),
            (
                "(RustFrontend pid=36) INFO 05-27 15:38:24 [server/src/lib.rs:133] starting OpenAI server",
                {
                    "process": "RustFrontend",
                    "pid": "36",
                    "level": "INFO",
                    "time": "05-27 15:38:24",
                    "source": "server/src/lib.rs:133",
                    "message": "starting OpenAI server",
                },
            ),
            (
                "vllm-1  | (Worker_DP0_TP1 pid=7) DEBUG 01-02 03:04:05 [v1/.../worker/gpu_worker.py:9]",
                {
                    "lead": "vllm-1  | ",
                    "process": "Worker_DP0_TP1",
                    "pid": "7",
                    "level": "DEBUG",
                    "time": "01-02 03:04:05",
                    "source": "v1/.../worker/gpu_worker.py:9",
                    "message": "",
                },
            ),
            (
                "[blue] (RayWorkerWrapper pid=88, ip=192.0.2.7) WARNING 2026-02-03 04:05:06,789 [a.py:1] x",
                {
                    "lead": "[blue] ",
                    "process": "RayWorkerWrapper",
                    "pid": "88",
                    "level": "WARNING",
                    "time": "2026-02-03 04:05:06,789",
                    "source": "a.py:1",
                    "message": "x",
                },
            ),
            (
                "INFO 02-01 06:36:05 llm_engine.py:921] # GPU blocks: 7453, # CPU blocks: 2048",
                {
                    "level": "INFO",
                    "time": "02-01 06:36:05",
                    "source": "llm_engine.py:921",
                    "message": "# GPU blocks: 7453, # CPU blocks: 2048",
                },
            ),
            (
                "(VllmWorkerProcess pid=31) ERROR 12-16 21:40:15 engine.py:135] x",
                {
                    "process": "VllmWorkerProcess",
                    "pid": "31",
                    "level": "ERROR",
                    "time": "12-16 21:40:15",
                    "source": "engine.py:135",
                    "message": "x",
                },
            ),
        ),
        (
            "INFO:     Application startup complete.",
            "[W1130 19:18:57.25 utils.cpp:68] Warning: x",
        ),
    ),
    Prefix(
        "process_alone",
        "0.10.1 to 0.30: what is printed without a logger",
        f"^{_SHORT_LEAD}{_PROCESS}{_MESSAGE}",
        (
            (
                "(EngineCore pid=104) Traceback (most recent call last):",
                {"process": "EngineCore", "pid": "104", "message": "Traceback (most recent call last):"},
            ),
        ),
        ("Process EngineCore:", "(see pid=4) x"),
    ),
)
